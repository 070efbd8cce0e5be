"""The paper's experiments as commands: data, every method, rows, a picture and a summary.

``hypermodes reproduce fig5`` is `fig5.run`, and so on. `methods` and `iterations` are the tables of what is
compared, `running` runs them over settings and seeds, `pictures` and `reports` say what came out.
"""
