"""Ties between items, and coordinates of few dimensions made from them."""

from hypermodes.layout.api import layout as layout
from hypermodes.layout.ties import Ties as Ties
