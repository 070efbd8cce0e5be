"""From data to hypergraphs, one kind of data a module."""
