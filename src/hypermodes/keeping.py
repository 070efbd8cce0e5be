"""Answers that are found once and kept."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Self = TypeVar("Self")
How = ParamSpec("How")
Answer = TypeVar("Answer")


def kept(method: Callable[Concatenate[Self, How], Answer]) -> Callable[Concatenate[Self, How], Answer]:
    """Call the method of a frozen value once and keep its answer; its arguments say how, never what."""
    name = f"_{method.__name__}_kept"

    @wraps(method)
    def answer(self: Self, /, *args: How.args, **kwargs: How.kwargs) -> Answer:
        state: dict[str, Any] = vars(self)
        if name not in state:
            state[name] = method(self, *args, **kwargs)
        found: Answer = state[name]
        return found

    return answer
