"""Mutated files of every format, read by the project and by plain parsers that share no code with it."""
