"""The constants of ties and layouts: value, unit, reason."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LayoutSettings:
    """Constants of the layout.

    Attributes
    ----------
    n_neighbors : int
        Neighbours an item is tied to. 10 to 20 give nearly the same clusters.
    n_dimensions : int
        Coordinates of the layout that clusters are read from. 10 give nearly the same; 2, as in pictures,
        tear hypergraphs.
    epochs : int
        Times that all items move; the step falls linearly to 0. 150 to 500 give nearly the same.
    repulsion : float
        Pairs that repel each other for each unit of ties, as in UMAP. 2 to 10 give nearly the same.
    samples : int
        Items drawn for each item and epoch that stand for these pairs. 10 give nearly the same, 2 cost 0.03.
    most_ties : int
        Ties of a vertex that are looked at in one epoch. A vertex that has more takes turns with them.
    steps : int
        Steps of the random walk that the first positions are smoothed by.
    """

    n_neighbors: int = 15
    n_dimensions: int = 5
    epochs: int = 300
    repulsion: float = 5.0
    samples: int = 5
    most_ties: int = 32
    steps: int = 50


LAYOUT = LayoutSettings()
