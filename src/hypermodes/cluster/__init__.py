"""The one engine for clusters: of points, affinities, distances and hypergraphs."""

from hypermodes.cluster.api import cluster as cluster
from hypermodes.cluster.result import Clusters as Clusters
from hypermodes.cluster.result import HypergraphClusters as HypergraphClusters
