"""A person before the screen: a real X server, a real window manager, real mouse and keyboard events.

    with Screen(1366, 768) as screen, Person(screen, "starter") as person:
        person.click("place('Simulate')")
        person.until("resting()")

Each click, drag, chord of keys and typed text is one action (`actions`).
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

NEEDED = ("Xvfb", "openbox", "xdotool")
_EYE = Path(__file__).with_name("eye.py")
_HAND = Path(__file__).with_name("hand.py")
_PATIENCE_S = 120.0
_STEPS_OF_A_DRAG = 4
_LAST_LOOK = (
    "[window.isActiveWindow(), type(focus).__name__, focus.accessibleName(), getattr(focus, 'text', str)(),"
    " dialog(), tip(), window.messages.text, window.selection.ids, resting()]"
)


def missing() -> list[str]:
    """Programs that these tests need and that are not installed."""
    return [name for name in NEEDED if shutil.which(name) is None]


class Screen:
    """An X server with a window manager of its own."""

    def __init__(self, width: int, height: int) -> None:
        self._size = f"{width}x{height}x24"
        self._programs: list[subprocess.Popen[bytes]] = []
        self.environment: dict[str, str] = {}

    def __enter__(self) -> Screen:
        told, tell = os.pipe()
        server = ["Xvfb", "-displayfd", str(tell), "-screen", "0", self._size, "-nolisten", "tcp"]
        self._start(server, pass_fds=(tell,))
        os.close(tell)
        with os.fdopen(told) as answer:
            assert select.select([answer], [], [], _PATIENCE_S)[0], "the X server does not start"
            self.environment = {**os.environ, "DISPLAY": f":{answer.readline().strip()}"}
        self.environment.pop("WAYLAND_DISPLAY", None)
        self._start(["openbox", "--sm-disable"])
        return self

    def _start(self, command: list[str], **more: Any) -> None:
        env = self.environment or None
        quiet = subprocess.DEVNULL
        self._programs.append(subprocess.Popen(command, env=env, stdout=quiet, stderr=quiet, **more))

    def __exit__(self, *_what: object) -> None:
        for program in reversed(self._programs):
            program.terminate()
            program.wait()


class Person:
    """Uses the program on a screen, and sees what is there."""

    def __init__(self, screen: Screen, plan: str = "") -> None:
        """`plan`: a sample or a file; nothing: what was open last."""
        environment = {**screen.environment, "QT_QPA_PLATFORM": "xcb"}
        self._environment = environment
        self.actions = 0
        command = [sys.executable, str(_EYE), *([plan] if plan else [])]
        self._program = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Person:
        self.until("window.isActiveWindow() and resting()")
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._program.kill()
        self._program.communicate()

    @property
    def process_id(self) -> int:
        """Of the program."""
        return self._program.pid

    def ended(self) -> None:
        """Wait until the program has ended by itself."""
        assert self._program.wait(_PATIENCE_S) == 0

    # Seeing

    def look(self, expression: str) -> Any:
        """What an expression says of the program now."""
        return self._ask(f"look {expression}")

    def until(self, expression: str) -> Any:
        """Wait until an expression is true; fails when that takes too long."""
        return self._ask(f"until {expression}")

    def find(self, where: str) -> tuple[int, int]:
        """The place on the screen of what an expression finds, once it stays there."""
        x, y = self._ask(f"still {where}")
        return x, y

    def _ask(self, line: str) -> Any:
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.write(line + "\n")
        self._program.stdin.flush()
        if not select.select([self._program.stdout], [], [], _PATIENCE_S)[0]:
            # An `until` never answers where it does not come true: a last look says what is there instead.
            raise AssertionError(f"{line}: not within {_PATIENCE_S:g} s; {self._what_is_there()}")
        answer = json.loads(self._program.stdout.readline())
        assert not (isinstance(answer, dict) and "fault" in answer), f"{line}: {answer}"
        return answer

    def _what_is_there(self) -> str:
        """Who has the keyboard, and what the window says."""
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.write(f"look {_LAST_LOOK}\n")
        self._program.stdin.flush()
        return self._program.stdout.readline() if select.select([self._program.stdout], [], [], 5)[0] else "?"

    # Doing

    def click(self, where: str, *, button: int = 1, times: int = 1, keys: str = "") -> None:
        """Click at what an expression finds, as soon as it is there; `keys` are held."""
        self.actions += 1
        x, y = self.find(where)
        held, free = ([f"key{move}", keys] if keys else [] for move in ("down", "up"))
        self._do("mousemove", x, y, *held, "click", "--repeat", times, "--delay", 60, button, *free)

    def drag(self, source: str, target: str, keys: str = "") -> None:
        """Drag from what one expression finds to another."""
        self.actions += 1
        (x, y), (to_x, to_y) = self.find(source), self.find(target)
        self._do("mousemove", x, y, *(["keydown", keys] if keys else []), "mousedown", 1)
        for step in range(1, _STEPS_OF_A_DRAG + 1):
            share = step / _STEPS_OF_A_DRAG
            self._do("mousemove", round(x + (to_x - x) * share), round(y + (to_y - y) * share))
            # The program has seen it when it answers.
            self.look("True")
        self._do("mousemove", to_x + 1, to_y)
        self.look("True")
        self._do("mouseup", 1, *(["keyup", keys] if keys else []))

    def hover(self, where: str) -> None:
        """Move the mouse to what an expression finds."""
        self._do("mousemove", *self.find(where))

    def bring(self, address: str, target: str, says: str, done: str) -> None:
        """Drag a file from another program to what an expression finds, until it is done with it.

        `address`: as a file manager or a browser hands it over; `says`: true while it hangs over the window.
        """
        self.actions += 1
        to_x, to_y = self.find(target)
        command = [sys.executable, str(_HAND), address]
        with subprocess.Popen(command, env=self._environment, stdout=subprocess.PIPE, text=True) as hand:
            try:
                assert hand.stdout is not None
                assert hand.stdout.readline() == "here\n"
                self._do("mousemove", 8, 8, "mousedown", 1, "mousemove", 12, 12)
                for shift in (-30, -10, 0):
                    self._do("mousemove", to_x + shift, to_y)
                    self.look("True")
                self.until(says)
                self._do("mouseup", 1)
                self.until(done)
            finally:
                hand.kill()

    def press(self, keys: str) -> None:
        """Press a key or a chord, such as `ctrl+z`."""
        self.actions += 1
        self._do("key", "--clearmodifiers", keys)

    def write(self, text: str) -> None:
        """Type a text; a line break at its end is Enter."""
        self.actions += 1
        self._do("type", "--delay", 8, "--", text.removesuffix("\n"))
        if text.endswith("\n"):
            self._do("key", "Return")

    def _do(self, *arguments: object) -> None:
        subprocess.run(["xdotool", *map(str, arguments)], env=self._environment, check=True, timeout=30)
