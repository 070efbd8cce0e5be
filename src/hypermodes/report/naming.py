"""What to call vertices and points: their labels, or the names somebody gave them."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

Names = Mapping[Any, Any] | Sequence[Any] | str | None

USUAL = ("name", "label")  # attributes in which files keep what people call a vertex


def vertex_names(hypergraph: Any, names: Names) -> Callable[[Any], Any]:
    """A function from the label of a vertex to what it is called.

    If nothing is given, the attribute ``name`` or ``label`` that the file has for its vertices, if it tells
    them apart.
    """
    if hypergraph is None:
        return given_names((), names, "vertex")
    labels = hypergraph.vertices
    if names is None:
        for attribute in USUAL:
            called = _attribute(hypergraph, attribute)
            if called and len({str(x) for x in called}) == len(called) and None not in called:
                return given_names(labels, called, "vertex")
    if isinstance(names, str):
        called = _attribute(hypergraph, names)
        if not called or all(x is None for x in called):
            raise ValueError(f"names: expected an attribute that vertices have; none has {names!r}")
        pairs = zip(labels, called, strict=True)
        return given_names(labels, [label if x is None else x for label, x in pairs], "vertex")
    return given_names(labels, names, "vertex")


def edge_names(hypergraph: Any, names: Names) -> Callable[[Any], Any]:
    """The same for hyperedges: by the attribute that names vertices, or else ``name`` or ``label``."""
    if hypergraph is None or hypergraph.annotations is None:
        return lambda label: label
    for attribute in (names,) if isinstance(names, str) else USUAL:
        called = hypergraph.annotations.edges.attribute(attribute)
        told = [str(x) for x in called if x is not None]
        if told and (isinstance(names, str) or len(set(told)) == len(told)):
            known = {label: x for label, x in zip(hypergraph.labels, called, strict=True) if x is not None}
            return lambda label: known.get(label, label)
    return lambda label: label


def given_names(labels: Sequence[Hashable], names: Names, what: str) -> Callable[[Any], Any]:
    """The same for anything that has labels."""
    if names is None:
        return lambda label: label
    if isinstance(names, Mapping):
        return lambda label: names.get(label, label)
    try:
        n = None if isinstance(names, str | bytes) else len(names)
    except TypeError:  # a number, or whatever
        n = None
    if n != len(labels):
        got = f"the text {names!r}" if isinstance(names, str) else f"{names!r}" if n is None else f"{n}"
        raise ValueError(f"names: expected {len(labels)} names, one a {what}, or a mapping; got {got}")
    called = dict(zip(labels, names, strict=True))
    return lambda label: called[label]


def _attribute(hypergraph: Any, name: str) -> list[Any]:
    """One attribute of every vertex, as the file gave it; nothing if there was no file."""
    annotations = getattr(hypergraph, "annotations", None)
    return [] if annotations is None else annotations.vertices.attribute(name)
