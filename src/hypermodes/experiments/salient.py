"""What saliency is compared on and with: pictures, and every method on the same superpixels."""

import csv
import os
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hypermodes.baselines import saliency as baselines
from hypermodes.construct.superpixels import Superpixels, slic_superpixels
from hypermodes.images import as_picture, enlarge, read_image
from hypermodes.saliency import saliency
from hypermodes.scene import see

OWN_PICTURES = ("astronaut.png", "camera.png", "chelsea.png", "coffee.png", "coins.png", "rocket.jpg",
                "motorcycle_left.png")  # fmt: skip


class Example(NamedTuple):
    """A picture, the object that people marked in it if anybody did, and its superpixels."""

    name: str
    image: np.ndarray
    truth: np.ndarray | None
    superpixels: Superpixels


def ecssd(folder: Path, limit: int | None = None) -> Iterator[Example]:
    """The pictures of ECSSD with their masks, those that are there of its index, cut by SLIC (250, 30)."""
    with open(folder / "index.csv", newline="") as file:
        names = [row["name"] for row in csv.DictReader(file)]
    there = [name for name in names if (folder / "images" / f"{name}.jpg").exists()]
    for name in there[:limit]:
        image = read_image(folder / "images" / f"{name}.jpg")
        truth = read_image(folder / "masks" / f"{name}.png") > 127
        yield Example(name, image, truth, cut(image))


def ecssd_folder() -> Path | None:
    """Where ECSSD is, by the environment variable HYPERMODES_DATA; None if it is not there."""
    folder = Path(os.environ.get("HYPERMODES_DATA", "")) / "ecssd"
    return folder if os.environ.get("HYPERMODES_DATA") and (folder / "index.csv").is_file() else None


def own_pictures(names: tuple[str, ...] = OWN_PICTURES) -> Iterator[Example]:
    """Photographs that come with scikit-image; nobody marked anything in them."""
    import skimage

    for name in names:
        path = Path(skimage.__file__).parent / "data" / name
        if path.exists():
            image = read_image(path)
            yield Example(Path(name).stem, image, None, cut(image))


def cut(image: np.ndarray) -> Superpixels:
    """The superpixels that all methods are given."""
    return slic_superpixels(as_picture(image, longest=400).rgb, 250, compactness=30.0)


class Mapper(NamedTuple):
    """A method under the name that tables show, from an example to a map of its picture's size."""

    label: str
    run: Callable[[Example], np.ndarray]


def _default(example: Example) -> np.ndarray:
    return saliency(example.image).map


def _one_cut(example: Example) -> np.ndarray:
    return full_size(example, see(example.superpixels).values)


def _modes(example: Example) -> np.ndarray:
    return full_size(example, see(example.superpixels).figure)


def _baseline(example: Example, *, name: str) -> np.ndarray:
    return full_size(example, baselines.METHODS[name](example.superpixels))


def _opencv(example: Example, *, kind: str) -> np.ndarray:
    opencv: Any = import_module("cv2")
    colour = np.round(as_picture(example.image).rgb * 255).astype(np.uint8)
    done, found = getattr(opencv.saliency, f"StaticSaliency{kind}_create")().computeSaliency(
        np.ascontiguousarray(colour[:, :, ::-1])
    )
    if not done:
        raise ValueError(f"OpenCV found no saliency in {example.name}")
    found = np.asarray(found, dtype=np.float64)
    return found / max(found.max(), 1e-12)


def full_size(example: Example, values: np.ndarray) -> np.ndarray:
    """Values of superpixels as a map of the picture's size."""
    height, width = example.image.shape[:2]
    return enlarge(example.superpixels.paint(values), (height, width))


def methods() -> dict[str, Mapper]:
    """From an example to a map, by name; OpenCV's if its contributed modules are installed."""
    known = {
        "hypergraph_shift": Mapper("hypergraph shift (default: three cuts)", _default),
        "one_cut": Mapper("hypergraph shift, these superpixels", _one_cut),
        "modes": Mapper("hypergraph shift, modes alone", _modes),
    }
    labels = {
        "graph_shift": "graph shift, cues and read-out ours",
        "graph_shift_modes": "graph shift, modes alone",
        "robust_background": "robust background detection",
        "manifold_ranking": "manifold ranking",
    }
    known |= {name: Mapper(label, partial(_baseline, name=name)) for name, label in labels.items()}
    if opencv_has_saliency():
        known["spectral_residual"] = Mapper(
            "OpenCV spectral residual", partial(_opencv, kind="SpectralResidual")
        )
        known["fine_grained"] = Mapper("OpenCV fine-grained", partial(_opencv, kind="FineGrained"))
    return known


def opencv_has_saliency() -> bool:
    """Whether OpenCV is here with its contributed modules (opencv-contrib-python)."""
    try:
        return hasattr(import_module("cv2"), "saliency")
    except ImportError:
        return False
