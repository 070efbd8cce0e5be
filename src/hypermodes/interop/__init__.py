"""Hypergraph files and other libraries' objects, both ways: one format a file."""
