"""While nobody needs it yet, a process of its own compiles simulation and key hashing at low priority."""

from __future__ import annotations

import subprocess
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from ndbplan.desktop.document.tasks import Outcome, Task
    from ndbplan.desktop.main_window import MainWindow


class Compiler(QObject):
    """Has compiled what this machine has not compiled yet; ends with the window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.process: subprocess.Popen[bytes] | None = None
        window.tasks.start(_is_missing, self._compile)

    def _compile(self, missing: Outcome) -> None:
        from ndbplan.simulate.kernel.ready import in_a_process

        if not missing.value:
            return
        command, environment = in_a_process("--idle")
        try:
            self.process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            # Who needs it has it compiled, then, and says so.
            return
        self.destroyed.connect(partial(_end, self.process))


def _is_missing(_task: Task) -> bool:
    from ndbplan.simulate import prepare

    return not prepare.is_complete()


def _end(process: subprocess.Popen[bytes], _compiler: object = None) -> None:
    process.terminate()
    process.wait()
