"""``hypermodes match``: which features of two pictures belong to each other."""

import argparse
from pathlib import Path

from hypermodes.cli.options import Commands, command, whole

_EXAMPLES = """\
  hypermodes match left.jpg right.jpg
  hypermodes match left.jpg right.jpg --out found --max-features 500
"""


def add_to(commands: "Commands[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = command(
        commands,
        "match",
        _run,
        help="match the features of two pictures; write a picture and a table",
        description="Match the features of two pictures, several objects as several groups, and leave out "
        "what has no counterpart. Writes matches.png, the pictures side by side, and matches.csv.",
        examples=_EXAMPLES,
    )
    for side in ("left", "right"):
        parser.add_argument(side, type=Path, metavar=side.upper(), help="a picture file")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("hypermodes-match"),
        metavar="FOLDER",
        help="where to write (default: hypermodes-match)",
    )
    parser.add_argument(
        "--max-features",
        type=whole(2),
        default=1500,
        metavar="N",
        help="most features of a picture (default: 1500)",
    )


def _run(arguments: argparse.Namespace) -> None:
    from hypermodes import plotting

    plotting.pyplot().switch_backend("agg")  # without matplotlib, fail before the work and not after it

    from hypermodes.files import folder_to_fill, replacing
    from hypermodes.image_matching import grey_picture, match_images

    # no folder is made for pictures that cannot be read
    pictures = grey_picture("left", arguments.left), grey_picture("right", arguments.right)
    with folder_to_fill(arguments.out):
        found = match_images(*pictures, max_features=arguments.max_features)
        with (
            replacing(arguments.out / "matches.png") as picture,
            replacing(arguments.out / "matches.csv") as table,  # both or neither
        ):
            found.save_csv(table)
            plotting.match_picture(found).savefig(picture, format="png")
    print(f"{found!r}\nwritten: {arguments.out / 'matches.png'}, matches.csv")
