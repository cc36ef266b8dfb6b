"""The HTML in a real browser: no error, no request, nothing that axe finds, it prints."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import axe_core_python
import pikepdf
import pytest

from ndbplan.demo.files import DEMOS, project_of
from ndbplan.demo.page import page as demo_of
from report.conftest import Example

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
pytestmark = pytest.mark.skipif(not BROWSER, reason="no browser")
_ALWAYS = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=8000")


def browse(page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    home = page.parent / "browser"
    command = [BROWSER, *_ALWAYS, f"--user-data-dir={home}", *options, page.as_uri()]
    environment = {**os.environ, "HOME": str(page.parent)}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=environment)


@pytest.fixture(scope="module", params=["report", "demo"])
def page(request: pytest.FixtureRequest, example: Example, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / f"{request.param}.html"
    path.write_bytes(example.html.encode() if request.param == "report" else demo_page())
    return path


def demo_page() -> bytes:
    demo = DEMOS.find("slow-disk").value
    # Without the last scene: comparing four variants takes longest.
    demo = demo.model_copy(update={"scenes": demo.scenes[:-1]})
    return demo_of(demo, demo.starts[0], project_of(demo, demo.starts[0]))


RUN_AXE = (
    "axe.run().then(found => { const told = document.createElement('pre'); told.id = 'axe-found';"
    "told.textContent = JSON.stringify(found.violations.map(one => [one.id, one.nodes.length, "
    "one.nodes[0].html.slice(0, 200), one.nodes[0].failureSummary]));"
    "document.body.append(told); });"
)


@pytest.mark.parametrize("dark", [False, True])
def test_no_error_no_request_and_nothing_that_axe_finds(page: Path, dark: bool) -> None:
    script = next(Path(axe_core_python.__path__[0]).rglob("axe.min.js")).read_text("utf-8")
    asked, log = page.parent / f"axe-{dark}.html", page.parent / f"net-{dark}.json"
    scripts = f"<script>{script}</script><script>{RUN_AXE}</script></body>"
    asked.write_text(page.read_text("utf-8").replace("</body>", scripts), encoding="utf-8")
    options = ("--blink-settings=preferredColorScheme=0",) if dark else ()
    done = browse(asked, *options, "--enable-logging=stderr", f"--log-net-log={log}", "--dump-dom")
    found = re.search(r'<pre id="axe-found">(.*?)</pre>', done.stdout, re.S)
    assert found is not None, done.stdout[-500:]
    assert json.loads(unescape(found[1])) == []
    assert re.findall(r"CONSOLE.*", done.stderr) == []
    urls = set(re.findall(r'"url":"(https?:[^"]+)"', log.read_text("utf-8", "replace")))
    assert {url for url in urls if not re.search(r"google|gstatic|chrome", url)} == set()


KEYS = """<script>
const seen = [];
for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "Escape"]) {
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  seen.push([document.querySelectorAll("main > section:not([hidden])").length, place.textContent]);
}
document.body.dataset.seen = JSON.stringify(seen);
</script></body>"""


def test_scenes_are_stepped_by_keys(tmp_path: Path) -> None:
    path = tmp_path / "keys.html"
    path.write_text(demo_page().decode().replace("</body>", KEYS), encoding="utf-8")
    found = re.search(r'data-seen="([^"]*)"', browse(path, "--dump-dom").stdout)
    assert found is not None
    assert json.loads(unescape(found[1])) == [
        [1, "1 of 8"], [1, "2 of 8"], [1, "1 of 8"], [1, "8 of 8"], [1, "8 of 8"], [9, "all scenes"],
    ]  # fmt: skip


ENDS = """<script>
const ends = [];
for (let n = 1; n < scenes.length; n++) {
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  const drawn = scenes[n].querySelector(".tiles + figure, .tiles + details").getBoundingClientRect();
  ends.push([scrollY, drawn.top > 0, drawn.bottom <= innerHeight, drawn.right <= innerWidth]);
}
document.body.dataset.ends = JSON.stringify(ends);
</script></body>"""


def test_what_a_scene_is_about_is_seen_without_scrolling(tmp_path: Path) -> None:
    """What replays for four seconds would be over before anybody had it on the screen."""
    path = tmp_path / "ends.html"
    path.write_text(demo_page().decode().replace("</body>", ENDS), encoding="utf-8")
    found = re.search(r'data-ends="([^"]*)"', browse(path, "--window-size=1366,768", "--dump-dom").stdout)
    assert found is not None
    assert json.loads(unescape(found[1])) == [[0, True, True, True]] * 8


def test_it_prints(page: Path) -> None:
    printed = page.parent / "printed.pdf"
    browse(page, f"--print-to-pdf={printed}", "--no-pdf-header-footer")
    with pikepdf.open(printed) as pdf:
        assert len(pdf.pages) > 5
