"""The page in a real browser, without a screen: it opens, answers, and runs nothing that is not its own.

Needs Chromium and its driver (Debian: ``apt-get install chromium chromium-driver``) and selenium; skips,
saying so, where one of them is missing.
"""

import json
import shutil
from itertools import pairwise

import numpy as np
import pytest

import hypermodes as hm
from report_results import HOSTILE, communities, crescents, hostile_modes, meetings

PHONE, DESK = (375, 812), (1200, 900)


@pytest.fixture(scope="module")
def chromium():
    """One browser for all tests of the file. It gets the path of its driver: nothing is downloaded."""
    webdriver = pytest.importorskip(
        "selenium.webdriver", reason="selenium is not installed: no browser to test in"
    )
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.service import Service

    binary = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        missing = " and ".join(["chromium"] * (binary is None) + ["chromedriver"] * (driver is None))
        pytest.skip(f"{missing} not installed: no browser to test the report in")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--hide-scrollbars",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    try:
        browser = webdriver.Chrome(options=options, service=Service(driver))
    except WebDriverException as error:
        pytest.skip(f"the browser does not start: {error.msg}")
    yield browser
    browser.quit()


class Page:
    """A report that is open in the browser, and what people do with it."""

    def __init__(self, browser):
        self.browser = browser

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def one(self, selector):
        (found,) = self.all(selector)
        return found

    def texts(self, selector):
        return self.run(
            "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector
        )

    def until(self, script, *arguments):
        """Wait until a script says yes."""
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.browser, 20, 0.02).until(lambda _: self.run(f"return {script}", *arguments))

    def actions(self):
        from selenium.webdriver.common.action_chains import ActionChains

        return ActionChains(self.browser, duration=0)

    def bring(self, selector):
        """Scroll an element into the middle, and let the page settle."""
        element = self.one(selector)
        self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        return element

    def zoom(self, selector):
        self.run("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return float(self.one(selector).get_attribute("data-zoom"))

    def rows(self):
        lines = "return [...document.querySelectorAll('tbody tr[data-line]')].map(row => row.dataset.line)"
        return [int(row) for row in self.run(lines)]

    def resize(self, size):
        width, height = size
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500},
        )

    def errors(self):
        return [entry["message"] for entry in self.browser.get_log("browser")]

    def fits(self):
        return self.run("return document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.fixture
def show(chromium, tmp_path):
    """Write a report and open it; whatever a test does, there are no errors in the end."""
    opened = []

    def write_and_open(result, size=DESK, scheme="light", **how):
        path = tmp_path / "page.html"
        hm.write_report(result, path, **how)
        page = Page(chromium)
        page.resize(size)
        chromium.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {
                "features": [
                    {"name": "prefers-color-scheme", "value": scheme},
                    {"name": "prefers-reduced-motion", "value": "reduce"},  # no scrolling under the pointer
                ]
            },
        )
        chromium.get(path.as_uri())
        page.until("document.documentElement.dataset.ready === 'yes'")
        opened.append(page)
        return page

    yield write_and_open
    for page in opened[-1:]:
        assert page.errors() == []


RESULTS = {
    "modes": lambda: (hm.find_modes(meetings()), {}),
    "points": lambda: (lambda c: (c[0], {"points": c[1]}))(crescents()),
    "points in five dimensions": lambda: (lambda c: (c[0], {"points": c[1] @ np.ones((2, 5))}))(crescents()),
    "points that are not given": lambda: (crescents()[0], {}),
    "communities": lambda: (communities(), {}),
    "no modes": lambda: (hm.find_modes(hm.Hypergraph.from_edges([[1, 2], [3]])), {}),
    "one mode": lambda: (hm.find_modes(hm.Hypergraph.from_edges([[1, 2], [2, 3]])), {}),
    "one point": lambda: (hm.cluster([[1.0, 2.0]]), {"points": [[1.0, 2.0]]}),
    "outliers only": lambda: (lambda x: (hm.cluster(x, threshold=1.0), {"points": x}))(
        np.random.default_rng(0).normal(size=(60, 2))
    ),
    "names of every kind": lambda: (
        hm.find_modes(hm.Hypergraph.from_edges({None: [1, None, ("a", 2)], 3: [None, "x" * 10_000]})), {},
    ),
    "points far from zero": lambda: (lambda x: (hm.cluster(x), {"points": x + 1e17}))(
        np.random.default_rng(0).normal(size=(60, 2)) * 10
    ),
    "points far apart": lambda: (lambda x: (hm.cluster(x), {"points": x}))(
        np.random.default_rng(0).normal(size=(60, 2)) * (1, 1e12)
    ),
    "no clusters": lambda: (communities(0), {}),
    "a matrix": lambda: (hm.find_modes(hm.MatrixAffinity(1 - np.eye(4))), {}),
}  # fmt: skip


@pytest.mark.parametrize("kind", RESULTS)
def test_it_opens_without_errors_and_without_scrolling_sideways(show, kind):
    result, how = RESULTS[kind]()
    page = show(result, PHONE, **how)
    for toggle in range(min(2, len(page.all(".open-row")))):
        page.run("document.querySelectorAll('.open-row')[arguments[0]].click()", toggle)
    assert page.fits()
    page.resize(DESK)
    assert page.fits()
    for plot in page.all("canvas, svg"):  # drawings go with the width of the page
        page.until("Math.abs(arguments[0].clientWidth - arguments[0].parentElement.clientWidth) < 4", plot)
    assert page.run("return performance.getEntriesByType('resource').length") == 0
    assert page.one("h1").text


def test_the_table_filters_by_member_and_says_how_many(show):
    modes = hm.find_modes(meetings())
    page = show(modes)
    status = page.one("[role=status]")
    assert status.text == f"{len(modes)} modes"
    page.one("input[type=search]").send_keys("PERSON 20")
    expected = [k for k in range(len(modes)) if any("person 20" in v for v in modes.vertices(k))]
    assert page.rows() == expected
    assert 0 < len(expected) < len(modes)
    assert status.text == f"{len(expected)} of {len(modes)} modes"
    assert status.get_attribute("aria-live") == "polite"
    page.one("input[type=search]").send_keys(" nobody")
    assert page.rows() == []
    assert page.texts("tbody td") == ["Nothing fits the filter."]


def test_the_table_sorts_by_mouse_and_by_keyboard(show):
    clusters, points = crescents()
    page = show(clusters, points=points)
    heads = dict(zip(page.texts("thead button"), page.all("thead button"), strict=True))

    def sorting():
        marks = page.run(
            "return [...document.querySelectorAll('thead th')].map(t => t.getAttribute('aria-sort'))"
        )
        return {mark for mark in marks if mark not in (None, "none")}

    densities = [mode.density for mode in clusters.modes()]
    heads["Density"].click()
    assert page.rows() == np.argsort(-np.array(densities), kind="stable").tolist()
    assert sorting() == {"descending"}
    heads["Density"].send_keys("\ue007")  # Enter
    assert page.rows() == np.argsort(densities, kind="stable").tolist()
    assert sorting() == {"ascending"}
    heads["Cluster"].send_keys(" ")
    assert page.rows() == list(range(clusters.n_clusters))


def test_a_row_opens_with_its_certificate_in_words(show):
    page = show(hm.find_modes(meetings()))
    toggle = page.all(".open-row")[0]
    toggle.click()
    assert page.all(".open-row")[0].get_attribute("aria-expanded") == "true"
    assert "local maximum of the density" in page.one("td.details").text
    assert "person" in page.one("td.details").text
    page.all(".open-row")[0].click()
    assert page.all("td.details") == []


def test_thousands_of_rows_come_in_pages(show):
    n = 3000
    edges = [[3 * k, 3 * k + 1, 3 * k + 2][a : a + 2] for k in range(n) for a in (0, 1)]
    page = show(hm.find_modes(hm.Hypergraph.from_edges(edges)))
    assert page.rows() == list(range(25))
    page.run("document.querySelector('.pages button:last-child').click()")
    assert page.rows() == list(range(25, 50))
    assert page.one(".pages span").text == "Page 2 of 120"
    page.one("input[type=search]").send_keys("8999")
    assert page.rows() == [2999]


def test_the_plot_of_points_answers_to_the_pointer(show):
    clusters, points = crescents()
    page = show(clusters, points=points, names=[f"point <{k}>" for k in range(len(points))])
    canvas = page.bring("#picture canvas")
    drawn = json.loads(page.run("return document.getElementById('data').textContent"))["picture"]
    # Where the picture puts the first point: everything fits into 88 % of the frame, one scale both ways.
    low, extent = np.array(drawn["low"]), np.array(drawn["extent"])
    size = np.array(page.run("return [arguments[0].clientWidth, arguments[0].clientHeight]", canvas))
    scale = (0.88 * size / extent).min()
    right, up = np.round((points[0] - low - extent / 2) * scale).astype(int).tolist()
    page.actions().move_to_element_with_offset(canvas, right, -up).perform()
    page.until("!document.querySelector('#picture .tip').hidden")
    tip = page.one("#picture .tip").text.splitlines()
    nearby = np.flatnonzero(np.linalg.norm((points - points[0]) * scale, axis=1) < 3)
    assert tip[0] in {f"point <{k}>" for k in nearby}
    label = clusters.labels[int(tip[0][7:-1])]
    assert tip[1].startswith("Outlier" if label < 0 else f"Cluster {label}")
    page.actions().move_to_element(page.one("h1")).perform()
    page.until("document.querySelector('#picture .tip').hidden")


@pytest.mark.parametrize("plot", ["#picture canvas", "#tree svg"])
@pytest.mark.parametrize("kind", ["modes", "points", "communities"])
def test_plots_zoom_by_wheel_buttons_and_keys_and_come_back(show, plot, kind):
    result, how = RESULTS[kind]()
    page = show(result, **how)
    element = page.bring(plot)
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

    origin = ScrollOrigin.from_element(element)
    figure = plot.split()[0]
    steps = {
        "wheel": lambda: page.actions().scroll_from_origin(origin, 0, -200).perform(),
        "button": lambda: page.run(f"document.querySelector('{figure} .tools button').click()"),
        "key": lambda: element.send_keys("+"),
    }
    for step in steps.values():
        before = page.zoom(plot)
        step()
        assert page.zoom(plot) > before
    element.send_keys("0")
    assert page.zoom(plot) == 1
    at = page.run("return scrollY")
    page.actions().scroll_from_origin(origin, 0, 120).perform()  # nothing to zoom out of: the page scrolls
    page.until("scrollY > arguments[0]", at)
    assert page.zoom(plot) == 1


def test_two_fingers_zoom(show):
    page = show(*RESULTS["modes"]()[:1], size=PHONE)
    page.bring("#picture canvas")
    page.run("""
        const canvas = document.querySelector('#picture canvas'), box = canvas.getBoundingClientRect();
        const touch = (type, id, x, y) => canvas.dispatchEvent(new PointerEvent(type, {pointerId: id,
            pointerType: 'touch', clientX: box.left + x, clientY: box.top + y}));
        touch('pointerdown', 11, 150, 150); touch('pointerdown', 12, 200, 150);
        touch('pointermove', 12, 300, 150);
        touch('pointerup', 11, 150, 150); touch('pointerup', 12, 300, 150);""")
    assert page.zoom("#picture canvas") == pytest.approx(3, rel=0.01)


@pytest.mark.parametrize("plot", ["#picture canvas", "#tree svg"])
def test_a_tap_shows_what_is_there_and_it_stays(show, plot):
    page = show(*RESULTS["communities"]()[:1], size=PHONE)
    element = page.bring(plot)
    box = page.run("const box = arguments[0].getBoundingClientRect(); return [box.x, box.y]", element)
    bubble = json.loads(page.run("return document.getElementById('data').textContent"))["picture"]
    if plot == "#tree svg":
        right, down = 20, 6
    else:  # the middle of the first bubble; everything fits into 88 % of the frame
        x, y, r = (np.array(bubble[key]) for key in "xyr")
        low, high = np.array([(x - r).min(), (y - r).min()]), np.array([(x + r).max(), (y + r).max()])
        size = np.array(page.run("return [arguments[0].clientWidth, arguments[0].clientHeight]", element))
        scale = (0.88 * size / (high - low)).min()
        right, down = size / 2 + ((x[0], y[0]) - (low + high) / 2) * (scale, -scale)
    finger = {"x": float(box[0] + right), "y": float(box[1] + down)}
    for kind, points in (("touchStart", [finger]), ("touchEnd", [])):
        page.browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    figure = plot.split()[0]
    page.until(f"!document.querySelector('{figure} .tip').hidden")
    page.zoom(plot)
    assert page.one(f"{figure} .tip").text.startswith("Cluster 0" if figure == "#picture" else "Everything")


def test_the_drawing_of_modes_can_be_walked_by_keys_and_is_read_out(show):
    modes = hm.find_modes(meetings())
    page = show(modes)
    canvas = page.bring("#picture canvas")
    assert "modes as bubbles" in canvas.get_attribute("aria-label")
    heard = []
    for _ in range(3):
        canvas.send_keys("n")
        heard.append(page.texts("#picture [aria-live]")[0])
    assert len(set(heard)) == 3
    assert all(text.startswith("Mode ") and "person" in text for text in heard)
    canvas.send_keys("p")
    assert page.texts("#picture [aria-live]")[0] == heard[1]
    canvas.send_keys("\ue007")  # Enter picks it in the table too
    assert page.run("return document.querySelector('tr.chosen').dataset.line") in heard[1]


def test_the_tree_can_be_walked_by_keys_and_is_read_out(show):
    clusters, points = crescents()
    page = show(clusters, points=points)
    tree = page.bring("#tree svg")
    tree.send_keys("\ue015")  # down
    assert page.texts("#tree [aria-live]")[0].startswith("Everything")
    tree.send_keys("\ue015")
    below = page.texts("#tree [aria-live]")[0]
    assert not below.startswith("Everything")
    tree.send_keys("\ue014")  # right
    assert page.texts("#tree [aria-live]")[0] != below
    tree.send_keys("\ue007")
    assert page.zoom("#tree svg") > 1


def test_a_hundred_thousand_points_answer(show):
    rng = np.random.default_rng(0)
    n = 120_000
    labels = np.repeat([0, 1, 2, -1], n // 4)
    points = rng.normal(size=(n, 2)) + labels[:, None] * 6
    result = hm.Clusters(
        labels, labels, np.ones(n), np.zeros(n), np.zeros(3), None, None, labels, None, None, None, None
    )
    page = show(result, points=points)
    assert "100,000 of 120,000 points" in page.one("#found").text
    canvas = page.bring("#picture canvas")
    page.actions().move_to_element(canvas).perform()
    for _ in range(3):
        canvas.send_keys("+")
    assert page.zoom("#picture canvas") > 4
    coloured = """
        const canvas = document.querySelector('#picture canvas');
        const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const seen = new Set();
        for (let k = 0; k < pixels.length; k += 4) {
            if (pixels[k + 3] === 255) seen.add(pixels.slice(k, k + 3).join());
        }
        return [...seen];"""
    canvas.send_keys("0")
    page.zoom("#picture canvas")
    assert {"0,114,178", "166,99,0", "0,125,90"} <= set(page.run(coloured))


def test_picking_a_cluster_marks_it_everywhere(show):
    clusters, points = crescents()
    page = show(clusters, points=points)
    button = page.bring(".legend [data-pick='1']")
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert page.run("return document.querySelector('tr.chosen').dataset.line") == "1"
    assert page.run("return document.querySelectorAll('.icicle rect.faded').length") > 0
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert page.all("tr.chosen") == []


def test_light_and_dark_follow_the_system_and_the_button(show):
    paper = "return getComputedStyle(document.body).backgroundColor"
    page = show(hm.find_modes(meetings()), scheme="dark")
    assert page.run(paper) == "rgb(20, 23, 29)"
    page.one("#theme").click()
    assert page.run(paper) == "rgb(255, 255, 255)"
    assert page.one("#theme").text == "Dark"
    page = show(hm.find_modes(meetings()), scheme="light")
    assert page.run(paper) == "rgb(255, 255, 255)"
    page.one("#theme").click()
    assert page.run(paper) == "rgb(20, 23, 29)"


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_hostile_names_are_shown_and_do_nothing(show, size):
    page = show(hostile_modes(), size, title=HOSTILE[0])
    canvas = page.bring("#picture canvas")
    page.actions().move_to_element(canvas).perform()
    for key in "nnn+++":
        canvas.send_keys(key)
    page.run("document.querySelectorAll('thead button').forEach(button => button.click())")
    page.run("document.querySelector('.open-row').click()")
    page.one("input[type=search]").send_keys("</script>")
    assert page.rows()
    assert page.run("return window.hacked") is None
    assert page.one("h1").text == HOSTILE[0]
    assert page.all("main img, main svg[onload], main script") == []
    assert HOSTILE[1] in page.texts("bdi")
    assert "\\u202eturned\\u2066 round\\u2069" in page.texts("bdi")
    assert page.fits()


def test_the_policy_stops_scripts_that_are_not_the_page_s(show):
    page = show(hm.find_modes(meetings(2)))
    page.run("""
        const script = document.createElement('script');
        script.textContent = 'window.hacked = 1';
        document.body.append(script);
        const image = document.createElement('img');
        image.setAttribute('onerror', 'window.hacked = 2');
        image.src = 'data:,';
        document.body.append(image);""")
    page.until("document.images[0].complete")
    assert page.run("return window.hacked") is None
    assert any("Content Security Policy" in message for message in page.errors())


def test_a_screen_reader_finds_its_way(show):
    page = show(*RESULTS["points"]()[:1], points=crescents()[1])
    assert page.run("return document.documentElement.lang") == "en"
    levels = page.run(
        "return [...document.querySelectorAll('h1, h2, h3, h4')].map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    for landmark in ("header", "main", "footer", "nav[aria-label]"):
        assert page.one(landmark)
    assert page.one("table caption").text
    unnamed = """
        const named = (e) => e.matches('button') && e.textContent.trim() || e.getAttribute('aria-label')
            || e.labels && e.labels.length || document.getElementById(e.getAttribute('aria-labelledby'));
        return [...document.querySelectorAll('button, input, select, canvas, svg, section')]
            .filter(e => !named(e)).map(e => e.outerHTML)"""
    assert page.run(unnamed) == []
    page.run("document.querySelector('#picture .tools button').focus()")
    page.actions().send_keys("\ue004").perform()  # Tab: the focus can be seen
    assert page.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
