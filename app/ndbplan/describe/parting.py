"""Where two runs part, in words: one sentence, from what clients see back to the cause.

sentence(parting(one, other))
'From 7:12 on error 1221 refuses 40 tx/s instead of 0 tx/s, because … since a backup starts at 7:05.'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndbplan.base.units import format_clock, format_memory

if TYPE_CHECKING:
    from ndbplan.simulate.parting.chain import Link
    from ndbplan.simulate.parting.given import Difference
    from ndbplan.simulate.parting.parted import Parting

_WORDS = {
    "error": "error {code} refuses {here} instead of {there}",
    "waiting": "{here} instead of {there} wait for redo",
    "accepted": "{here} instead of {there} are accepted",
    "latency": "a transaction takes {here} instead of {there}",
    "fill": "the redo buffer of {where} holds {here} instead of {there}",
    "log": "the redo log of {where} has {here} instead of {there} in use",
    "made": "{where} makes {here} instead of {there} of log",
    "written": "the log of {where} is written with {here} instead of {there}",
    "checkpoint": "the checkpoint of {where} gets {here} instead of {there}",
    "target": "checkpoints of {where} are set to {here} instead of {there}",
    "lcp": "checkpoints take {here} instead of {there} of {where}",
    "backup": "a backup takes {here} instead of {there} of {where}",
    "data_files": "data files take {here} instead of {there} of {where}",
    "undo": "undo log takes {here} instead of {there} of {where}",
}
NOWHERE = "The two runs do not part."


def sentence(found: Parting | None) -> str:
    """One sentence; of runs that do not part another one."""
    if found is None:
        return NOWHERE
    cause = _cause(found)
    if not found.chain:
        return f"From {format_clock(found.at_s)} on the runs part, since {cause}; clients see nothing of it."
    first, *others = (_link(link) for link in found.chain)
    because = "".join(f", because {each}" for each in others)
    begin = format_clock(found.chain[0].at_s)
    parts = "" if found.at_s == found.chain[0].at_s else f" The runs part at {format_clock(found.at_s)}."
    return f"From {begin} on {first}{because}, since {cause}.{parts}"


def _cause(found: Parting) -> str:
    event, cause = found.event, found.cause
    if event is not None:
        return f"{event.text} at {format_clock(event.at_s)}" + ("" if event.is_here else " in the other run")
    return given(cause)


def given(one: Difference) -> str:
    """What two runs were given that differs: `bandwidth of a1 nvme0 is 60 MB/s instead of 120 MB/s`."""
    what = f"{one.what} of {one.where}" if one.where else one.what
    if one.here is None or one.there is None:
        return f"{what} differs"
    here, there = (format_memory(value, one.unit) for value in (one.here, one.there))
    return f"{what} is {here} instead of {there}"


def _link(link: Link) -> str:
    kind, _, code = link.what.partition(" ")
    here, there = (format_memory(value, link.unit) for value in (link.here, link.there))
    return _WORDS[kind].format(code=code, where=link.where, here=here, there=there)
