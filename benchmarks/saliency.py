"""How good and how fast saliency is: pictures with marked objects, every method on the same superpixels.

    python benchmarks/saliency.py                  # every method; prints and saves tables
    python benchmarks/saliency.py --quick          # three pictures
    python benchmarks/saliency.py hypergraph_shift robust_background

The pictures are those of `ecssd` in the folder HYPERMODES_DATA points at. F has β² = 0.3: its maximum over
thresholds, of precision and recall that are means over pictures, and at twice the mean of the map; MAE is the
mean absolute error. OpenCV's methods take part if opencv-contrib-python is installed. Superpixels are SLIC
with 250 segments and compactness 30; the first method, our default, makes its own.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results"


def megapixel() -> list[str]:
    """Seconds for one photograph of a megapixel: wall clock and processor, the median of five."""
    from skimage.data import astronaut

    import hypermodes as hm

    image = np.kron(astronaut(), np.ones((2, 2, 1), np.uint8))
    hm.saliency(image)  # compile
    walls, processors = [], []
    for _ in range(5):
        wall, processor = time.perf_counter(), time.process_time()
        hm.saliency(image)
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    height, width = image.shape[:2]
    return [
        f"A photograph of {width} x {height} pixels, warm: {np.median(walls):.2f} s "
        f"({np.median(processors):.2f} s of processor time)."
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("methods", nargs="*", default=None, help="some methods; a wrong name lists them")
    parser.add_argument("--quick", action="store_true", help="three pictures")
    arguments = parser.parse_args()

    from hypermodes.experiments import fig1
    from hypermodes.experiments.salient import ecssd, ecssd_folder, opencv_has_saliency
    from hypermodes.files import write_csv

    folder = ecssd_folder()
    if folder is None:
        sys.exit("HYPERMODES_DATA: expected a folder with ecssd in it; there is none")
    try:
        compared = fig1.chosen(arguments.methods or None)
    except ValueError as error:
        sys.exit(str(error))
    if not opencv_has_saliency():
        print("OpenCV: left out, opencv-contrib-python is not installed", file=sys.stderr)
    examples = list(ecssd(folder, 3 if arguments.quick else None))
    runs = fig1.measure(compared, examples, True)
    lines = [fig1.report(compared, runs, examples), "", *megapixel()]
    print("\n".join(lines))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "saliency.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_csv(RESULTS / "saliency.csv", fig1.Run._fields, [run for rows in runs.values() for run, _ in rows])


if __name__ == "__main__":
    main()
