"""The first second in which two runs differ, what is behind it, and what came of it.

    parted = parting(simulate(plan, "peak"), simulate(changed, "peak"))
    parted.at_s, parted.cause.subsystem, [link.what for link in parted.chain]

Both runs have the same random numbers when they have the same seed: what differs then comes from what they
were given. What was given and differs is the candidate, what was recorded and is apart first is the witness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndbplan.base.shapes import Shape
from ndbplan.simulate.model.node_rows import SimulationError
from ndbplan.simulate.parting.chain import Link, links
from ndbplan.simulate.parting.given import Difference, differences
from ndbplan.simulate.parting.observed import Observed, observed

if TYPE_CHECKING:
    from ndbplan.simulate.result import SimulationResult

_WITNESSES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("nodes", ("dead", "accepted", "latency", "target", "written", "log", "fill", "memory")),
    ("rows", ("memory", "space", "checkpoint", "latency", "use")),
    ("load", ("offered", "attempted", "written", "fill", "memory", "undo", "space", "latency")),
    ("processors", ("attempted", "latency")),
    ("network", ("attempted", "latency", "error 1218")),
    ("memory", ("error 827", "error 625")),
    ("operation records", ("error 233", "error 234", "error 245", "error 261")),
    ("redo lag", ("error 1234",)),
    ("redo log", ("error 410", "error 1220")),
    ("redo buffer", ("error 1221",)),
    ("disk data", ("error 1501", "error 1601")),
    ("backup", ("backup", "backup left")),
    ("disks", ("use", "written", "latency", "waiting", "data_files", "undo")),
    ("checkpoints", ("target", "checkpoint", "checkpoint runs", "log")),
    ("clients", ("offered", "attempted", "waiting", "latency", "accepted")),
    ("global checkpoints", ("written", "fill", "log", "checkpoint runs")),
    ("disk data", ("waiting", "attempted", "undo")),
    ("redo lag", ("waiting", "accepted")),
    ("redo log", ("waiting", "accepted", "checkpoint runs", "target")),
    ("redo buffer", ("waiting", "accepted", "fill")),
)
"""What is apart first when a part of the cluster is the reason. What others follow from comes before them."""


@dataclass(frozen=True)
class Happened(Shape):
    """Something that happened in one of the runs alone."""

    JSON = "at_s text is_here"

    at_s: float
    text: str
    is_here: bool
    """In the first of both."""


@dataclass(frozen=True)
class Parting(Shape):
    """Where two runs part, and why."""

    JSON = "at_s cause event chain differs"

    at_s: float
    """Start of the first second (of long runs: of the first stretch) in which anything is apart."""
    cause: Difference
    """What they were given that acts first."""
    event: Happened | None
    """What happened then in one of them alone."""
    chain: tuple[Link, ...]
    """From what clients see, or the first thing that is apart, back to the cause."""
    differs: tuple[Difference, ...]
    """All that they were given that is not the same."""


def parting(one: SimulationResult, other: SimulationResult) -> Parting | None:
    """Where two runs part; None: nowhere. `here` is the first of them.

    Raises SimulationError for runs whose records are of different lengths of time.
    """
    if one.bucket_s != other.bucket_s:
        raise SimulationError(
            f"one run has a record every {one.bucket_s:g} s, the other every {other.bucket_s:g} s",
            where="duration",
            fix="simulate both for the same time",
        )
    series = list(observed(one, other))
    first = {at: bucket for at, each in enumerate(series) if (bucket := each.first_apart()) is not None}
    if not first:
        return None
    bucket = min(first.values())
    apart = [series[at] for at, when in first.items() if when == bucket]
    given = differences(one, other)
    at_s = float(one.times_s[bucket])
    until = [each for each in given if each.from_s < at_s + one.bucket_s]
    cause = _cause(until or given, apart)
    chain = links(one, other, series, bucket)
    return Parting(at_s, cause, _event(one, other, at_s), chain, given)


def _cause(given: Sequence[Difference], apart: list[Observed]) -> Difference:
    """Of what was given and differs, what has a witness and comes before the rest."""
    seen = {each.what for each in apart}
    for subsystem, witnesses in _WITNESSES:
        for one in given:
            if one.subsystem == subsystem and seen.intersection(witnesses):
                return one
    return given[0] if given else Difference("chance", apart[0].what, apart[0].where, None, None, "")


def _event(one: SimulationResult, other: SimulationResult, at_s: float) -> Happened | None:
    """The first thing that happened then in one of them alone."""
    lone = set(one.happened) ^ set(other.happened)
    near = min((each for each in lone if abs(each[0] - at_s) <= one.bucket_s), default=None)
    return None if near is None else Happened(*near, near in one.happened)
