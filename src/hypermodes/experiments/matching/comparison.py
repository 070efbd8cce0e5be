"""Run matchers on problems, and say what came out: every run, tables, a picture, a verdict."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from hypermodes.construct.correspondences import Features
from hypermodes.experiments.matching.journal import Run, Subject, earlier_runs, journal
from hypermodes.experiments.matching.methods import Given, Matcher, chosen
from hypermodes.experiments.matching.problems import ALL, Problem
from hypermodes.experiments.pictures import Curve, add_legend, draw_curves, save_picture, titled
from hypermodes.experiments.reports import left_out, markdown, notes, write_text
from hypermodes.files import make_folder, write_csv
from hypermodes.plotting import pyplot
from hypermodes.progress import Progress, tracker

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LIMIT = 60.0  # seconds of one run after which a method is left out where there are more candidates
OURS = "hypergraph_shift"
_SHAPE = np.random.default_rng(0).normal(size=(12, 2))
WARM_UP = (Features(_SHAPE), Features(_SHAPE[::-1] + 1.0))


@dataclass(frozen=True)
class Study:
    """What is compared, and how it is shown.

    Attributes
    ----------
    stem : str
        Name of the picture.
    title : str
        Over the picture and the text.
    axis : str
        What a setting is.
    protocol : str
        How the problems are made, for the text.
    by_group : bool
        Whether the groups are on the axis and the settings are panels; else the other way round.
    """

    stem: str
    title: str
    axis: str
    protocol: str
    by_group: bool = False


def compare(
    folder: Path,
    study: Study,
    problems: Iterable[Problem],
    methods: list[str] | None,
    progress: Progress,
    beside: Callable[[Sequence[Run]], str] | None = None,
    resume: bool = False,
) -> str:
    """Run it all, write ``runs.csv``, ``summary.csv``, ``summary.md`` and a picture; the summary.

    ``beside`` makes one more part of the text out of the runs, such as the numbers of the paper. With
    ``resume``, what earlier calls left in the folder is not run again, and methods that they ran on all the
    problems are compared as well.
    """
    compared = chosen(methods)
    every = list(problems)
    make_folder(folder)
    earlier = earlier_runs(folder) if resume else {}
    if methods is not None:
        done = [
            name
            for name in chosen(None)
            if earlier and all(_subject(name, problem) in earlier for problem in every)
        ]
        compared = chosen([*methods, *done])
    runs = []
    with journal(folder, earlier) as keep:
        for run in outcomes(compared, every, progress, earlier=earlier):
            runs.append(run)
            if run.subject not in earlier:
                keep(run)
    head, rows = summary(compared, runs)
    parts = [
        f"# {study.title}",
        study.protocol,
        f"Matching rate (true pairs found / true pairs), mean over groups ± standard error, by {study.axis}; "
        "seconds are the median of a run at the last setting, candidates and affinity being there already "
        "(hypermodes.match makes its own). 'All points' asks it for as many pairs as the others give; by "
        "itself it leaves unmatched what does not go together.",
        markdown(head, rows) + left_out(compared, runs),
        cores(compared, runs),
        verdict(compared, runs, study.axis),
        *([beside(runs)] if beside else []),
        *by_group(compared, runs, study.axis),
    ]
    text = "\n\n".join(part for part in parts if part)
    write_csv(folder / "summary.csv", head, rows)
    write_text(folder / "summary.md", text)
    save_picture(folder / f"{study.stem}.png", lambda: picture(study, compared, runs))
    return f"{text}\n\nwritten: {folder / study.stem}.png, runs.csv, summary.csv, summary.md"


def outcomes(
    methods: Mapping[str, Matcher],
    problems: Sequence[Problem],
    progress: Progress = None,
    limit: float = LIMIT,
    earlier: Mapping[Subject, Run] = MappingProxyType({}),
) -> Iterator[Run]:
    """Run every method on every problem; all are given the same candidates, affinity and triples.

    What is among the ``earlier`` runs is taken from there.
    """
    too_slow: dict[str, int] = {}
    with tracker(progress, len(problems) * len(methods), "matching") as advance:
        tiny = Given.of(*WARM_UP)
        for method in methods.values():
            method.run(tiny)  # compile and import, so that no run is timed with that
        for problem in problems:
            size = len(problem.left.points) * len(problem.right.points)
            given = None
            for name, method in methods.items():
                subject = _subject(name, problem)
                most = too_slow.get(name, size)
                if run := earlier.get(subject):
                    if run.seconds > limit:
                        too_slow[name] = size
                    yield run
                elif most < size:
                    note = f"left out: over {limit:g} s at {most} candidates"
                    yield Run(*subject, *(np.nan,) * 6, note)
                else:
                    given = given or Given.of(problem.left, problem.right)
                    run = _timed(subject, method, given, problem)
                    if run.seconds > limit:
                        too_slow[name] = size
                    yield run
                advance(1)


def _timed(subject: Subject, method: Matcher, given: Given, problem: Problem) -> Run:
    if method.needs:
        getattr(given, method.needs)
    begin = time.perf_counter()
    answer = method.run(given)
    seconds = time.perf_counter() - begin
    core = np.empty((0, 2)) if answer.core is None else answer.core
    return Run(
        *subject,
        float(len(answer.pairs)),
        problem.rate(answer.pairs),
        problem.precision(answer.pairs),
        float(len(core)) if answer.core is not None else np.nan,
        problem.precision(core),
        seconds,
        "",
    )


def _subject(name: str, problem: Problem) -> Subject:
    sizes = len(problem.left.points), len(problem.right.points), len(problem.truth)
    return name, problem.group, problem.name, float(problem.setting), problem.draw, *sizes


def mean_and_error(runs: Iterable[Run], value: Callable[[Run], float]) -> tuple[float, float]:
    """Mean over groups of the mean over problems, and its standard error.

    Draws of one pair of images are not independent: they are averaged first, and the error is that of the
    means of pairs. A group with a single pair is taken to vary as the others do.
    """
    found: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        if (number := value(run)) == number:
            found.setdefault(run.group, {}).setdefault(run.name, []).append(number)
    if not found:
        return np.nan, np.nan
    means, variances = [], []
    for names in found.values():
        each = [np.mean(values) for values in names.values()]
        means.append(np.mean([value for values in names.values() for value in values]))
        variances.append(np.var(each, ddof=1) / len(each) if len(each) > 1 else np.nan)
    known = [variance for variance in variances if variance == variance]
    error = np.sqrt(np.mean(known) / len(means)) if known else np.nan
    return float(np.mean(means)), float(error)


def rate_of(
    runs: Iterable[Run], method: str, *, group: object = None, setting: object = None
) -> tuple[float, float]:
    """Rate of a method and its error, in one group or all, at one setting or all.

    None if it was left out somewhere: what remains are the easier problems.
    """
    mine = [
        run
        for run in runs
        if run.method == method and group in (None, run.group) and setting in (None, run.setting)
    ]
    return (np.nan, np.nan) if any(run.note for run in mine) else mean_and_error(mine, lambda run: run.rate)


def summary(methods: Mapping[str, Matcher], runs: Sequence[Run]) -> tuple[list[str], list[list[object]]]:
    """A row a method, best mean first; a column a setting."""
    settings = _settings(runs)

    def row(name: str) -> list[object]:
        mine = [run for run in runs if run.method == name]
        cells = [_pm(rate_of(mine, name, setting=setting)) for setting in settings]
        times = [run.seconds for run in mine if run.setting == settings[-1] and run.seconds == run.seconds]
        return [
            methods[name].label + "*" * (name in notes(runs)),
            *cells,
            f"{np.median(times):.2g}" if times else "–",
        ]

    def merit(name: str) -> float:
        return float(np.nanmean([run.rate for run in runs if run.method == name] or [np.nan]))

    order = sorted(methods, key=lambda name: -merit(name) if merit(name) == merit(name) else np.inf)
    return ["method", *map(_shown, settings), "seconds"], [row(name) for name in order]


def cores(methods: Mapping[str, Matcher], runs: Sequence[Run]) -> str:
    """Pairs that a method stands behind, before any completion, and how many of them are true."""
    settings = _settings(runs)
    rows: list[list[object]] = []
    for name, method in methods.items():
        mine = [run for run in runs if run.method == name and run.core == run.core]
        if mine:
            rows.append([method.label])
            for setting in settings:
                here = [run for run in mine if run.setting == setting]
                precision = _pm(mean_and_error(here, lambda run: run.core_precision))
                rows[-1].append(f"{precision} of {mean_and_error(here, lambda run: run.core)[0]:.1f}")
    if not rows:
        return ""
    said = "Pairs that a method stands behind, before anything is completed: precision, and their number."
    return f"{said}\n\n{markdown(['method', *map(_shown, settings)], rows)}"


def verdict(methods: Mapping[str, Matcher], runs: Sequence[Run], axis: str) -> str:
    """Ours against the best other at each setting, with the paired difference over the same problems."""
    if OURS not in methods:
        return ""
    lines = []
    for setting in _settings(runs):
        here = [run for run in runs if run.setting == setting]
        means = {name: rate_of(here, name)[0] for name in methods}
        rivals = {
            name: mean
            for name, mean in means.items()
            if methods[name].family != methods[OURS].family and mean == mean
        }
        if not rivals or means[OURS] != means[OURS]:
            continue
        best = max(rivals, key=lambda name: rivals[name])
        rank = 1 + sum(mean > means[OURS] for mean in rivals.values())
        theirs = {(run.group, run.name, run.draw): run.rate for run in here if run.method == best}
        ahead = [
            run._replace(rate=run.rate - theirs.get((run.group, run.name, run.draw), np.nan))
            for run in here
            if run.method == OURS
        ]
        paired = rate_of(ahead, OURS)
        lines.append(
            [_shown(setting), means[OURS], f"{rank} of {len(rivals) + 1}",
             f"{methods[best].label} {means[best]:.3f}", _pm(paired, "+.3f")]
        )  # fmt: skip
    head = [axis, methods[OURS].label, "rank", "best other", "difference, same problems"]
    return markdown(head, lines) if lines else ""


def by_group(methods: Mapping[str, Matcher], runs: Sequence[Run], axis: str) -> list[str]:
    """One table a group, if there are several."""
    groups = list(dict.fromkeys(run.group for run in runs))
    if len(groups) < 2:
        return []
    tables = []
    for group in groups:
        rows: list[list[object]] = [
            [method.label, *(_pm(rate_of(runs, name, group=group, setting=at)) for at in _settings(runs))]
            for name, method in methods.items()
        ]
        tables.append(f"{group}\n\n{markdown([axis, *map(_shown, _settings(runs))], rows)}")
    return tables


def picture(study: Study, methods: Mapping[str, Matcher], runs: Sequence[Run]) -> "Figure":
    """Rates with bars of one standard error: a panel a group against settings, or the other way round."""
    groups, settings = list(dict.fromkeys(run.group for run in runs)), _settings(runs)
    panels: Sequence[object] = settings if study.by_group else groups
    marks: Sequence[object] = groups if study.by_group else settings
    figure, axes = pyplot().subplots(
        1,
        len(panels),
        figsize=(4.2 * len(panels) + 3.2, 4.8),
        sharey=True,
        layout="constrained",
        squeeze=False,
    )
    for axis, panel in zip(axes[0], panels, strict=True):
        curves = []
        for name in methods:
            cells = []
            for at, mark in enumerate(marks):
                group, setting = (mark, panel) if study.by_group else (panel, mark)
                mean, error = rate_of(runs, name, group=group, setting=setting)
                if mean == mean:
                    cells.append((at, mean, 0.0 if error != error else error))
            curves.append(Curve(name, *np.array(cells, dtype=float).reshape(-1, 3).T))
        if study.by_group:  # groups have no order: markers side by side, no lines
            spread = np.linspace(-0.3, 0.3, len(curves)) if len(curves) > 1 else np.zeros(1)
            curves = [curve._replace(x=curve.x + dx) for curve, dx in zip(curves, spread, strict=True)]
            draw_curves(axis, curves, linestyle="none")
        else:
            draw_curves(axis, curves)
        labels = [mark if isinstance(mark, str) else _shown(float(mark)) for mark in marks]  # type: ignore[arg-type]
        axis.set_xticks(range(len(marks)), labels=labels)
        title = f"{study.axis}: {_shown(float(panel))}" if study.by_group else str(panel)  # type: ignore[arg-type]
        y = "matching rate" if panel == panels[0] else ""
        titled(axis, title, "" if study.by_group else study.axis, y)
    axes[0, 0].set_ylim(-0.02, 1.02)
    add_legend(figure, methods, notes(runs))
    figure.suptitle(f"{study.title}: means, bars of one standard error", x=0.01, ha="left", fontsize=11)
    return figure


def _settings(runs: Iterable[Run]) -> list[float]:
    return sorted({run.setting for run in runs})


def _shown(setting: float) -> str:
    return "all" if setting == ALL else f"{setting:g}"


def _pm(value: tuple[float, float], form: str = ".3f") -> str:
    mean, error = value
    if mean != mean:
        return "–"
    return f"{mean:{form}}" + ("" if error != error else f" ± {error:.3f}")
