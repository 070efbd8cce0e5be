"""Shapes from silhouettes: contours, shape contexts, and how far any two shapes are apart."""
