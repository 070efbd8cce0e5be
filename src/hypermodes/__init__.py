"""Find the modes of hypergraphs, each with a certificate anyone can check.

The public names are loaded when they are first used (PEP 562), so that ``import hypermodes`` and
``hypermodes --help`` cost no more than the interpreter.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from hypermodes.affinity import Affinity as Affinity
    from hypermodes.affinity import HyperedgeAffinity as HyperedgeAffinity
    from hypermodes.affinity import MatrixAffinity as MatrixAffinity
    from hypermodes.annotations import Annotations as Annotations
    from hypermodes.certificate import Certificate as Certificate
    from hypermodes.certificate import certify as certify
    from hypermodes.changes import Changes as Changes
    from hypermodes.changes import compare as compare
    from hypermodes.changes import removal as removal
    from hypermodes.cluster import Clusters as Clusters
    from hypermodes.cluster import HypergraphClusters as HypergraphClusters
    from hypermodes.cluster import cluster as cluster
    from hypermodes.construct.correspondences import Candidates as Candidates
    from hypermodes.construct.correspondences import Features as Features
    from hypermodes.construct.correspondences import candidate_pairs as candidate_pairs
    from hypermodes.construct.correspondences import correspondence_hypergraph as correspondence_hypergraph
    from hypermodes.construct.correspondences import pairwise_affinity as pairwise_affinity
    from hypermodes.construct.pairwise import pairwise_hypergraph as pairwise_hypergraph
    from hypermodes.construct.points import knn_hypergraph as knn_hypergraph
    from hypermodes.dynamics import FaceSolve as FaceSolve
    from hypermodes.dynamics import InfectionImmunization as InfectionImmunization
    from hypermodes.dynamics import Replicator as Replicator
    from hypermodes.estimator import HypergraphShift as HypergraphShift
    from hypermodes.folder import open as open  # noqa: A004
    from hypermodes.folder_writer import FolderWriter as FolderWriter
    from hypermodes.folder_writer import write_folder as write_folder
    from hypermodes.hypergraph import Hypergraph as Hypergraph
    from hypermodes.image_matching import ImageMatching as ImageMatching
    from hypermodes.image_matching import match_images as match_images
    from hypermodes.interop.formats import formats as formats
    from hypermodes.interop.formats import read as read
    from hypermodes.interop.formats import write as write
    from hypermodes.interop.hypernetx import from_hypernetx as from_hypernetx
    from hypermodes.interop.hypernetx import to_hypernetx as to_hypernetx
    from hypermodes.interop.networkx import from_networkx as from_networkx
    from hypermodes.interop.networkx import to_networkx as to_networkx
    from hypermodes.interop.xgi import from_xgi as from_xgi
    from hypermodes.interop.xgi import to_xgi as to_xgi
    from hypermodes.layout import layout as layout
    from hypermodes.local_cluster import local_cluster as local_cluster
    from hypermodes.matching import Matching as Matching
    from hypermodes.matching import match as match
    from hypermodes.matching import match_affinity as match_affinity
    from hypermodes.matching import match_groups as match_groups
    from hypermodes.modes import Seeker as Seeker
    from hypermodes.modes import find_modes as find_modes
    from hypermodes.point_tables import PointTable as PointTable
    from hypermodes.point_tables import read_points as read_points
    from hypermodes.report import write_report as write_report
    from hypermodes.result import Mode as Mode
    from hypermodes.result import ModeSet as ModeSet
    from hypermodes.result import Status as Status
    from hypermodes.saliency import Saliency as Saliency
    from hypermodes.saliency import saliency as saliency
    from hypermodes.shape_groups import ShapeGroups as ShapeGroups
    from hypermodes.shape_groups import group_shapes as group_shapes
    from hypermodes.shift import Round as Round
    from hypermodes.shift import shift as shift
    from hypermodes.tree import ModeTree as ModeTree
    from hypermodes.voting import PrintedVoting as PrintedVoting
    from hypermodes.voting import Voting as Voting

_HOME = {
    "Affinity": "affinity",
    "Candidates": "construct.correspondences",
    "Annotations": "annotations",
    "Certificate": "certificate",
    "Changes": "changes",
    "FaceSolve": "dynamics",
    "FolderWriter": "folder_writer",
    "HyperedgeAffinity": "affinity",
    "Features": "construct.correspondences",
    "Hypergraph": "hypergraph",
    "HypergraphShift": "estimator",
    "ImageMatching": "image_matching",
    "InfectionImmunization": "dynamics",
    "Matching": "matching",
    "MatrixAffinity": "affinity",
    "Mode": "result",
    "ModeSet": "result",
    "ModeTree": "tree",
    "PointTable": "point_tables",
    "PrintedVoting": "voting",
    "Replicator": "dynamics",
    "Round": "shift",
    "Saliency": "saliency",
    "Seeker": "modes",
    "ShapeGroups": "shape_groups",
    "Status": "result",
    "Voting": "voting",
    "candidate_pairs": "construct.correspondences",
    "certify": "certificate",
    "Clusters": "cluster",
    "HypergraphClusters": "cluster",
    "cluster": "cluster",
    "layout": "layout",
    "correspondence_hypergraph": "construct.correspondences",
    "compare": "changes",
    "find_modes": "modes",
    "formats": "interop.formats",
    "from_hypernetx": "interop.hypernetx",
    "from_networkx": "interop.networkx",
    "from_xgi": "interop.xgi",
    "group_shapes": "shape_groups",
    "knn_hypergraph": "construct.points",
    "local_cluster": "local_cluster",
    "match": "matching",
    "match_affinity": "matching",
    "match_groups": "matching",
    "match_images": "image_matching",
    "open": "folder",
    "pairwise_hypergraph": "construct.pairwise",
    "pairwise_affinity": "construct.correspondences",
    "read": "interop.formats",
    "read_points": "point_tables",
    "removal": "changes",
    "saliency": "saliency",
    "shift": "shift",
    "to_hypernetx": "interop.hypernetx",
    "to_networkx": "interop.networkx",
    "to_xgi": "interop.xgi",
    "write": "interop.formats",
    "write_folder": "folder_writer",
    "write_report": "report",
}
_SUBMODULES = {"baselines", "construct", "datasets", "interop", "plotting"}

__all__ = ["__version__", *sorted(_HOME.keys() - {"open"})]  # a star import leaves Python's own open alone


class _Package(ModuleType):
    """Keeps ``hypermodes.shift`` the function although a module of that name holds it.

    Python sets a submodule as an attribute of its package when it is first imported, from anywhere;
    that must not hide the public function.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[object, ...]:
        """By name, as modules are: a function that speaks of the package may be sent to other processes."""
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    if name in _HOME:
        value = getattr(import_module(f"hypermodes.{_HOME[name]}"), name)
    elif name in _SUBMODULES:
        value = import_module(f"hypermodes.{name}")
    else:
        raise AttributeError(f"module 'hypermodes' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_SUBMODULES})
