"""The command line: the same work as the window, without one.

Results go to stdout, progress and messages to stderr. Exit code 0: done, 1: the plan has errors, 2: wrong
usage or unreadable input. What goes wrong is said in one line: what, where, what to do.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import click


def all_commands() -> click.Group:
    """The command with all its subcommands."""
    # They define the commands.
    from ndbplan.cli import (  # noqa: F401 — they register
        advice,
        answers,
        changes,
        compare,
        demos,
        failures,
        hardware,
        keys,
        lessons,
        loads,
        money,
        operations,
        plans,
        reports,
        settings,
        side_by_side,
        sizing,
        sweep,
        training,
        variants,
        window,
    )
    from ndbplan.cli.group import ndbplan

    return ndbplan


def main() -> None:
    """Entry point of `ndbplan`."""
    import click

    from ndbplan.base.errors import UserError
    from ndbplan.base.garbage import seldom_collecting
    from ndbplan.base.kept import keeping
    from ndbplan.cli.group import ReaderGoneError

    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        # Host and table names may hold signs that the terminal has not; they never end the program.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        with seldom_collecting(), keeping():
            code = all_commands()(prog_name="ndbplan", standalone_mode=False)
        sys.stdout.flush()
    except UserError as error:
        _fail(error.line, exit_code(error))
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "ndbplan"
        _fail(f"{error.format_message().rstrip('.')} — see {command} --help", 2)
    except (click.Abort, KeyboardInterrupt):
        _fail("stopped", 130)
    except (BrokenPipeError, ReaderGoneError):
        # Whoever read the output has seen enough; nothing may be flushed into the closed pipe at the end.
        _silence(sys.stdout)
    except OSError as error:
        # Files have their own messages; what is left is the output itself.
        _silence(sys.stdout)
        _fail(
            f"the output cannot be written ({error.strerror or error}) — free space or name another place", 2
        )
    except Exception as error:
        if os.environ.get("NDBPLAN_TRACEBACK"):
            raise
        _fail(
            f"this is a fault of the program: {type(error).__name__}: {error} — report it, with what "
            "NDBPLAN_TRACEBACK=1 shows",
            2,
        )
    else:
        sys.exit(code if isinstance(code, int) else 0)


def exit_code(error: Exception) -> int:
    """2: the input could not be read, the command was wrong, or who was to do the work is not there; 1: the
    plan itself has the error."""
    from ndbplan.advise.executors import UnreachableError
    from ndbplan.base.files import FileError
    from ndbplan.cli.parameters import UsageError

    return 2 if isinstance(error, FileError | UsageError | UnreachableError) else 1


def _open_what_is_closed() -> None:
    """A program may be started without the three usual files."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 — open until the program ends
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 — open until the program ends
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 — open until the program ends


def _silence(stream: TextIO) -> None:
    """Let nothing be flushed into it at the end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _fail(line: str, code: int) -> None:
    print("ndbplan:", " ".join(line.split()), file=sys.stderr)
    sys.exit(code)
