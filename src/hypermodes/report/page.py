"""From a `Report` to one HTML file: no network, nothing from the input taken for markup or script.

What people read first is plain HTML, escaped by `html.escape`. What the scripts need is JSON in a block that
browsers do not run, and reaches the page as text only. A content security policy allows the script and the
style of the page by their hashes and nothing else: even markup that slipped through could not run or load
anything.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from typing import Any

from hypermodes import __version__
from hypermodes.report.certificates import MEANING, PROOF
from hypermodes.report.content import Column, Listing, Report
from hypermodes.report.wording import number, quantity

SCRIPTS = ("page.js", "colours.js", "view.js", "points.js", "bubbles.js", "icicle.js", "table.js", "start.js")
_NAMED = (24, 8)  # members named on a card, of the first list and the second
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def as_html(report: Report) -> str:
    """The whole page."""
    script = '"use strict";\n(() => {\n' + "\n".join(map(_asset, SCRIPTS)) + "\n})();\n"
    style = _asset("page.css")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": escape(policy),
        "style": style,
        "script": script,
        "data": embedded(report.as_json()),
        "title": escape(report.title),
        "headline": escape(report.headline),
        "story": _paragraphs(report.story),
        "facts": _pairs(report.facts),
        "one": escape(report.noun.one),
        "many": escape(report.noun.many),
        "Many": escape(report.noun.many.capitalize()),
        "meaning": escape(MEANING),
        "verdicts": _pairs((v.word, v.sentence) for v in report.verdicts if _used(report, v)),
        "top": _top(report),
        "picture": _picture(report),
        "tree": _tree(report),
        "notes": _notes(report.notes),
        "version": escape(__version__),
    }
    # One pass, so that what is put in is not searched again.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _asset("page.html"))


def embedded(value: Any) -> str:
    r"""JSON that may stand in a script element: no character in it can end the element, or a line.

    Examples
    --------
    >>> embedded(["</script>"])
    '["\\u003c/script\\u003e"]'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda found: _UNSAFE[found[0]], text)


# -- pieces ---------------------------------------------------------------------------------------------


def _asset(name: str) -> str:
    return files("hypermodes.report").joinpath("assets", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """The hash a policy allows a piece of the page by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _paragraphs(sentences: Iterable[str]) -> str:
    return "\n".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs)


def _notes(notes: Iterable[str]) -> str:
    items = "\n".join(f"<li>{escape(note)}</li>" for note in notes)
    return f'<aside aria-label="What is left out"><ul class="notes">{items}</ul></aside>' if items else ""


def _used(report: Report, verdict: object) -> bool:
    return any(report.verdicts[k] is verdict for k in set(report.verdict_of))


def _top(report: Report) -> str:
    if not report.top:
        return ""
    which = "All" if len(report.top) == len(report.verdict_of) else "The first"
    cards = "\n".join(_card(report, row) for row in report.top)
    return f"""<section id="top" aria-labelledby="top-heading">
<h2 id="top-heading">{which} {escape(report.noun.many)}, in full</h2>
<div class="cards">
{cards}
</div>
</section>"""


def _card(report: Report, row: int) -> str:
    """One group in full: its verdict, its numbers and its members."""
    verdict = report.verdicts[report.verdict_of[row]]
    proof = [column for column in report.columns if column.title in PROOF]
    numbers = [column for column in report.columns if column not in proof]
    mark = "good" if verdict.good else "open"
    return (
        f'<article class="card"><h3><span class="swatch" data-row="{row}"></span>'
        f"{escape(report.noun.one.capitalize())} {row}</h3>"
        f'<details><summary><span class="verdict {mark}">{escape(verdict.word)}</span></summary>'
        f"<p>{escape(verdict.sentence)}</p><dl>{_numbers(proof, row)}</dl></details>"
        f"<dl>{_numbers(numbers, row)}</dl>"
        + "".join(
            _members(listing, row, most) for listing, most in zip(report.listings, _NAMED, strict=False)
        )
        + "</article>"
    )


def _numbers(columns: Iterable[Column], row: int) -> str:
    return _pairs((column.title, _value(column.kind, column.values[row])) for column in columns)


def _members(listing: Listing, row: int, most: int) -> str:
    names, total = listing.rows[row][:most], listing.totals[row]
    items = "".join(f"<li><bdi>{escape(listing.names[k])}</bdi></li>" for k in names)
    more = total - len(names)
    items += f'<li class="more">and {quantity(more)} more</li>' if more else ""
    return f'<h4>{escape(listing.title)} <span>{quantity(total)}</span></h4><ul class="names">{items}</ul>'


def _value(kind: str, value: float | None) -> str:
    return f"{100 * value:.1f}\u00a0%" if kind == "share" and value is not None else number(value)


def _picture(report: Report) -> str:
    if report.picture is None:
        return ""
    if report.picture["kind"] == "points":
        heading, said = "Clusters on the data", report.picture["said"] + " Outliers are grey."
        drawing = "clusters of points in the plane"
    else:
        heading = f"The {report.noun.many} as a drawing"
        said = (
            f"Each bubble is one {report.noun.one}, each dot in it a member, the strongest in the middle. "
            "Lines join bubbles that share members. Zoom in to read all names."
        )
        drawing = f"{report.noun.many} as bubbles of their members"
    return _figure(
        "picture", heading, said, f"Drawing of the {drawing}; the table below has the same as text."
    )


def _tree(report: Report) -> str:
    if report.tree is None:
        return ""
    drawn = report.tree["ends"]
    said = report.tree["said"] + (
        " Each bar is a group, as wide as it is large; it parts where it ends. Lower is tighter."
    )
    if drawn < report.tree["leaves"]:
        said += f" Small groups are part of what they hang on: {quantity(drawn)} ends are drawn."
    label = f"Tree of {report.noun.many}; bars from everything at the top to the tightest at the bottom."
    return _figure("tree", "The tree", said, label)


def _figure(name: str, heading: str, said: str, label: str) -> str:
    return f"""<section id="{name}" aria-labelledby="{name}-heading">
<h2 id="{name}-heading">{escape(heading)}</h2>
<p id="{name}-said">{escape(said)}</p>
<noscript><p class="notes">The drawing needs scripts, which are switched off here.</p></noscript>
<figure class="plot" id="{name}-plot" data-label="{escape(label)}"></figure>
</section>"""
