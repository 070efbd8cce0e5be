"""Matching experiments: problems with known answers, every method on the same affinity, tables and pictures.

A file a data set makes `problems.Problem`\\ s: `pascal`, `voc`, `house`, `synthetic`, `adelaide`. The real data
are found by the environment variable ``HYPERMODES_DATA``.
"""
