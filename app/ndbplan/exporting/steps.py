"""What a runbook is made of: steps, and the commands inside them, each with the place where it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ndbplan.base.quantity import Quantity


@dataclass(frozen=True)
class Shell:
    """A command on a host."""

    host: str
    command: str


@dataclass(frozen=True)
class Management:
    """A command of the management client."""

    command: str


@dataclass(frozen=True)
class Sql:
    """SQL statements on the host of an SQL node."""

    host: str
    statements: tuple[str, ...]
    instance: str = ""
    """`@51` when the host runs several SQL nodes."""


@dataclass(frozen=True)
class Copy:
    """A file of the exported folder, copied to a host."""

    file: str
    host: str
    target: str


@dataclass(frozen=True)
class WaitStarted:
    """Wait until data nodes report that they are started."""

    node_ids: tuple[int, ...]
    timeout_s: int = 3600


Command = Shell | Management | Sql | Copy | WaitStarted


@dataclass(frozen=True)
class Step:
    """One step of a runbook: it is done or not done, and can be taken up again at."""

    name: str
    """Short name, unique in the runbook."""
    title: str
    text: str
    """What happens and what to look at, for people."""
    commands: tuple[Command, ...] = ()
    destructive: str = ""
    """What is lost or interrupted; the script asks before it goes on. Nothing: harmless."""
    expected: Quantity | None = None
    """How long it takes, from the estimates."""


@dataclass(frozen=True)
class RunbookPart:
    """A procedure of several steps."""

    name: Literal["start", "rolling-restart", "add-nodes"]
    title: str
    text: str
    steps: tuple[Step, ...]
