"""``hypermodes saliency``: what stands out in a picture."""

import argparse
from pathlib import Path

from hypermodes.cli.options import Commands, command, whole

_EXAMPLES = """\
  hypermodes saliency photo.jpg
  hypermodes saliency photo.jpg --out pictures --cuts 1
"""


def add_to(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = command(
        commands,
        "saliency",
        _run,
        help="what stands out in a picture; write a map, a mask and an overlay",
        description="Find what stands out in a picture by the modes of its regions; write a map, a mask and "
        "an overlay as PNG.",
        examples=_EXAMPLES,
    )
    parser.add_argument(
        "image", type=Path, metavar="PICTURE", help="a picture file; colour, grey or transparent"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where to write; beside the picture if not given"
    )
    parser.add_argument(
        "--superpixels",
        type=whole(1),
        default=250,
        metavar="N",
        help="pieces it is cut into, about (default: 250)",
    )
    parser.add_argument(
        "--cuts", type=whole(1), default=3, metavar="N", help="ways to cut it that are averaged (default: 3)"
    )
    parser.add_argument("--not-centred", action="store_true", help="do not expect it near the middle")


def _run(arguments: argparse.Namespace) -> None:
    from hypermodes.saliency_pictures import write_saliency

    written = write_saliency(
        arguments.image,
        arguments.out,
        superpixels=arguments.superpixels,
        cuts=arguments.cuts,
        centred=not arguments.not_centred,
    )
    print(written.summary())
