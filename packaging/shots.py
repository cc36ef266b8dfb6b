"""Screenshots of the main states of the window, made by the program itself: `python packaging/shots.py DIR`.

With --guide only those that the README and the guide show, into resources/guide/images.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

GUIDE = ("gallery-light", "simulation-dark", "distribution-light", "operations-dark", "telecom-dark")
_SIZE = (1440, 900)


def main(arguments: list[str]) -> int:
    """Make the pictures; prints their paths."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as home:
        for name in ("CONFIG", "STATE", "DATA"):
            os.environ[f"XDG_{name}_HOME"] = home
        wanted = GUIDE if "--guide" in arguments else tuple(SHOTS)
        folder = (
            Path("resources/guide/images") if "--guide" in arguments else Path(*arguments[:1] or ["shots"])
        )
        folder.mkdir(parents=True, exist_ok=True)
        from ndbplan.desktop.start import make_application

        app: Any = make_application()
        for name in wanted:
            for old in folder.glob(f"{name}.png"):
                old.unlink()
            path = folder / f"{name}.png"
            _take(app, name, path)
            print(path, flush=True)
    return 0


def _take(app: Any, name: str, path: Path) -> None:
    from ndbplan.desktop.start import open_window

    sample, arrange = SHOTS[name]
    window = open_window(app, sample=sample)
    window.resize(*_SIZE)
    window.actions_table["theme_dark" if name.endswith("dark") else "theme_light"].trigger()
    app.processEvents()
    if sample is not None:
        window.finish_building()
        _wait(app, lambda: window.panels.estimates.is_fresh)
        window.canvas.fit()
    arrange(app, window)
    _settle(app)
    window.grab().save(os.fspath(path))
    window.document.undo_stack.setClean()
    window.close()
    window.deleteLater()
    app.processEvents()


def _wait(app: Any, condition: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        app.processEvents()
        if time.monotonic() > deadline:
            raise TimeoutError("the window never came to rest")


def _settle(app: Any, seconds: float = 0.4) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        app.processEvents()


def _nothing(_app: Any, _window: Any) -> None:
    pass


def _tab(name: str) -> Callable[[Any, Any], None]:
    def arrange(_app: Any, window: Any) -> None:
        window.panels.analyses.show_tab(name)

    return arrange


def _select(*ids: str) -> Callable[[Any, Any], None]:
    def arrange(_app: Any, window: Any) -> None:
        window.selection.set(ids)

    return arrange


def _simulated(app: Any, window: Any) -> None:
    window.selection.set(("data1-c0d1",))
    window.simulate()
    panel = window.panels.analyses.panel("Simulation")
    _wait(app, lambda: panel.result is not None)


def _both(*steps: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    def arrange(app: Any, window: Any) -> None:
        for step in steps:
            step(app, window)

    return arrange


SHOTS: dict[str, tuple[str | None, Callable[[Any, Any], None]]] = {
    "gallery-light": (None, _nothing),
    "gallery-dark": (None, _nothing),
    "starter-light": ("starter", _both(_tab("Memory"), _select("host-a1"))),
    "starter-dark": ("starter", _both(_tab("Memory"), _select("ndb1"))),
    "simulation-dark": ("redo-overload", _simulated),
    "simulation-light": ("redo-overload", _simulated),
    "distribution-light": ("add-nodes", _tab("Distribution")),
    "distribution-dark": ("add-nodes", _tab("Distribution")),
    "operations-light": ("add-nodes", _tab("Operations")),
    "operations-dark": ("add-nodes", _tab("Operations")),
    "problems-dark": ("redo-overload", _tab("Problems")),
    "export-light": ("starter", _tab("Export preview")),
    "telecom-dark": ("telecom-144", _tab("Distribution")),
    "table-light": ("terabyte-load", _both(_tab("Memory"), _select("customer"))),
}
"""Name of each picture: the sample it opens (None: the gallery) and what is done in the window."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
