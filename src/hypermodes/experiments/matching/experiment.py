"""An experiment is a comparison, or several: what ``run`` of a module is."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hypermodes.experiments.matching.comparison import Study, compare
from hypermodes.experiments.matching.journal import Run
from hypermodes.experiments.matching.problems import Problem
from hypermodes.progress import Progress

_QUICK = 2  # draws that show that it runs


@dataclass(frozen=True)
class Part:
    """One comparison.

    Attributes
    ----------
    study : Study
        What is compared, and how it is shown.
    problems : function of ``quick`` and the number of draws
        All problems, or few and small ones.
    folder : str
        Where it is written within the folder of the experiment; there itself if empty.
    beside : function of the runs, optional
        One more part of the text, as in `compare`.
    """

    study: Study
    problems: Callable[[bool, int], Iterable[Problem]]
    folder: str = ""
    beside: Callable[[Sequence[Run]], str] | None = None


class Experiment:
    """Comparisons that are run one after the other.

    Parameters
    ----------
    *parts : Part
        The comparisons.
    """

    def __init__(self, *parts: Part) -> None:
        self.parts = parts

    def __call__(
        self,
        folder: Path,
        *,
        seeds: int = 50,
        quick: bool = False,
        methods: list[str] | None = None,
        progress: Progress = None,
        resume: bool = False,
    ) -> str:
        """Run `compare` for every part, with ``seeds`` draws a setting or more; the summaries.

        With ``resume``, runs of an earlier call that are in the folder are not run again.
        """
        draws = min(seeds, _QUICK) if quick else seeds
        return "\n\n".join(
            compare(
                folder / part.folder,
                part.study,
                part.problems(quick, draws),
                methods,
                progress,
                part.beside,
                resume,
            )
            for part in self.parts
        )
