"""Matching experiments: problems with known answers, every method on the same affinity, tables and pictures.

A file a data set, with the problems it makes and a ``run`` for `hypermodes reproduce`: `voc` (Table 1 of the
paper), `pascal`, `house`, `synthetic`, and `adelaide` for several structures. The real data are found by the
environment variable ``HYPERMODES_DATA``. `comparison` runs the `methods` and says what came out.
"""
