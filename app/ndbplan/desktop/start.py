"""Start: from the process to a window that answers, loading as little as that takes.

Nothing here imports charts, the simulation kernel or the SQL parser; the panels that need them are built
when the window is already on the screen.
"""

from __future__ import annotations

import gc
import os
import sys

from ndbplan.base.errors import UserError
from ndbplan.base.files import NO_LINKS
from ndbplan.base.kept import keeping
from ndbplan.desktop.one_process import hand_over

# What is imported here is imported before collections are off: see `make_application`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from PySide6.QtWidgets import QApplication

    from ndbplan.desktop.document.preferences import Preferences
    from ndbplan.desktop.main_window import MainWindow
    from ndbplan.desktop.windows import Windows
    from ndbplan.plan.project import Project

_SWITCH_S = 0.001
_LISTEN_MS = 300
"""By then the first window is on the screen."""
_FIRST_PAINT_MS = 30
"""The window is painted and takes input before the rest is built."""

_LONGEST_LOG_BYTES = 1_000_000
_LEAVING_MS = 500
"""For threads that are about to stop; the window is gone already."""


class NoDisplayError(UserError):
    """There is no screen to open a window on."""


def main(argv: list[str] | None = None) -> int:
    """Entry point of the window: `ndbplan-window [PLAN]`."""
    from pathlib import Path

    arguments = sys.argv[1:] if argv is None else argv
    try:
        return run(Path(arguments[0]) if arguments else None)
    except UserError as error:
        sys.stderr.write(f"ndbplan: {error.line}\n")
        return 2


def run(path: Path | None = None, sample: str | None = None, variant: str = "") -> int:
    """Open the window on a plan file, a sample, or what was open last; returns when all are closed.

    `variant`: which one of the file is shown; nothing: the first.

    Where a window of the same user runs on the same screen, its process opens the file, and this one ends.
    Raises NoDisplayError without a display.
    """
    _need_display()
    if sample is None and hand_over(path, variant):
        return 0
    app = make_application()
    with keeping():
        from PySide6.QtCore import QTimer

        from ndbplan.desktop.windows import Windows

        windows = Windows(app, open_window)
        windows.start(path, sample, variant)
        _report_faults(windows)
        QTimer.singleShot(_LISTEN_MS, windows, windows.listen)
        code = app.exec()
        windows.end()
        app.processEvents()
    _leave(code)
    return code


def _leave(code: int) -> None:
    """End the process at once when a thread does not: such as one that compiles, which nobody can stop."""
    from ndbplan.desktop.document.tasks import wait_for_leaving

    if not wait_for_leaving(_LEAVING_MS):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def make_application() -> QApplication:
    """The application object with the program's look. Raises NoDisplayError."""
    _need_display()
    # Searches while modules load find nothing to free; later `garbage.Collector` does them.
    gc.disable()
    _import_model()
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QGuiApplication
    from PySide6.QtWidgets import QApplication

    QGuiApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
    running = QApplication.instance()
    app = running if isinstance(running, QApplication) else _started()
    app.setApplicationName("ndbplan")
    app.setApplicationDisplayName("")
    app.setDesktopFileName("ndbplan")
    return app


def _import_model() -> None:
    """Load what needs no Qt before Qt, which reads the source of each module that is imported after it."""
    # Plans have no plugins of pydantic, and the search for some reads what is said of every package.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    import platformdirs  # noqa: F401 — loading it is the aim

    import ndbplan.base.quantity
    import ndbplan.configuration.deployment
    import ndbplan.configuration.node_groups
    import ndbplan.describe.colouring
    import ndbplan.describe.estimated
    import ndbplan.describe.titles
    import ndbplan.edits.arrange
    import ndbplan.edits.events
    import ndbplan.edits.first_steps
    import ndbplan.edits.palette
    import ndbplan.edits.variants
    import ndbplan.plan.samples  # noqa: F401 — loading it is the aim


def _started() -> QApplication:
    from PySide6.QtWidgets import QApplication

    app = QApplication(["ndbplan", "-style", "fusion"])
    app.setProperty("style", "fusion")
    return app


def open_window(
    app: QApplication,
    path: Path | None = None,
    sample: str | None = None,
    preferences: Preferences | None = None,
    *,
    is_first: bool = True,
    project: Project | None = None,
) -> MainWindow:
    """A shown window with the plan in it; the panels follow in the next turns of the event loop.

    Of file, sample and `project` one is named; of none: what was open last, else the samples to choose from.
    """
    from PySide6.QtCore import QTimer

    from ndbplan.base.units import use_system
    from ndbplan.desktop.document.preferences import APPEARANCE, UNITS, Preferences
    from ndbplan.desktop.look import theme

    preferences = preferences or Preferences()
    if is_first:
        use_system(preferences.get(UNITS))
        theme.install(app, preferences.get(APPEARANCE))
    from ndbplan.desktop.main_window import MainWindow

    window = MainWindow(preferences)
    window.resize(window.size().boundedTo(window.screen().availableSize()))
    window.appearance.mark_theme()
    window.appearance.mark_units()
    reopened = False
    if path is not None:
        window.files.open(path)
    elif sample is not None:
        window.open_sample(sample)
    elif project is not None:
        window.files.start_with(lambda: project)
    else:
        last = window.session.file if is_first else None
        if is_first:
            window.session.forget_file()
        reopened = last is not None and window.files.open(last)
        if not reopened:
            window.show_gallery()
    window.show()
    if reopened:
        window.session.restore_view()
    QTimer.singleShot(_FIRST_PAINT_MS, window, lambda: _when_shown(window, sample, is_first=is_first))
    return window


def _when_shown(window: MainWindow, sample: str | None, *, is_first: bool = True) -> None:
    from PySide6.QtCore import QTimer

    from ndbplan.desktop.arrangement import fit_the_screen
    from ndbplan.desktop.compiler import Compiler
    from ndbplan.desktop.garbage import Collector
    from ndbplan.desktop.recovery_offer import offer_recovery

    if window.build_next():
        QTimer.singleShot(0, window, lambda: _when_shown(window, sample, is_first=is_first))
        return
    fit_the_screen(window)
    if sample is not None:
        # As from the gallery: on the panel and moment that are its point.
        window.tour.start(sample)
    Collector(window)
    if not is_first:
        return
    offer_recovery(window)
    Compiler(window)
    # What has been loaded and built stays as long as the program: no search need look at it.
    gc.freeze()
    # A thread that computes lets the window have its turn after a millisecond instead of five.
    sys.setswitchinterval(_SWITCH_S)


def _need_display() -> None:
    if sys.platform.startswith("linux") and not any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    ):
        raise NoDisplayError(
            "there is no display to open a window on (DISPLAY and WAYLAND_DISPLAY are not set)",
            fix="use the commands, such as 'ndbplan samples' or 'ndbplan check PLAN'; see 'ndbplan --help'",
        )


def _report_faults(windows: Windows) -> None:
    """A fault of the program is said in the message bar and written to a log; the plan stays open."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            windows.quit()
            return
        if isinstance(error, UserError):
            # Such as an action on what an undo has removed meanwhile: nothing is wrong with the program.
            line = error.line
        else:
            import traceback

            log = _written_down("".join(traceback.format_exception(kind, error, trace)))
            line = (
                f"That step failed because of a fault of the program ({kind.__name__}); the plan is as it "
                f"was. Details are in {log}."
            )
        if windows.open_windows:
            windows.active.messages.say("error", line)

    sys.excepthook = hook


def _written_down(text: str) -> Path:
    """The log of faults, with this one: for its user only, as values of a plan may stand in it."""
    from pathlib import Path

    import platformdirs

    log = Path(platformdirs.user_state_dir("ndbplan")) / "faults.log"
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | NO_LINKS, 0o600), "ab") as out:
            # One that comes back at each painting would fill the disk.
            if out.tell() > _LONGEST_LOG_BYTES:
                out.truncate(0)
            out.write(f"{text}\n".encode("utf-8", "backslashreplace"))
    except OSError:
        sys.stderr.write(text)
    return log


if __name__ == "__main__":
    sys.exit(main())
