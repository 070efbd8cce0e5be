"""The paper's experiments as commands: data, every method, rows, a picture and a summary.

``hypermodes reproduce fig5`` is `fig5.run`, and so on; `EXPERIMENTS` says which module has which. `methods`
and `iterations` are the tables of what is compared in the figures, `running` runs them over settings and
seeds, `pictures` and `reports` say what came out. Table 1 and what belongs to it are in `matching`; the sets,
methods and measures of Table 2 in `shape_sets`, `shape_methods` and `shape_scores`.
"""

EXPERIMENTS = {
    "fig1": "hypermodes.experiments.fig1",
    "fig5": "hypermodes.experiments.fig5",
    "fig6": "hypermodes.experiments.fig6",
    "table1": "hypermodes.experiments.matching.voc",
    "table2": "hypermodes.experiments.table2",
    "cars": "hypermodes.experiments.matching.pascal",
    "house": "hypermodes.experiments.matching.house",
    "points": "hypermodes.experiments.matching.synthetic",
    "structures": "hypermodes.experiments.matching.adelaide",
}
"""Modules by what they reproduce; ``run(folder, seeds=, quick=, methods=, progress=)`` of each does it."""

RESUMABLE = ("table1", "cars", "house", "points")
"""Those that keep every run as it is done; ``run`` of these takes ``resume=``."""
