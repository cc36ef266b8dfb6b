"""When checkpoints follow one another, and how much redo log they make necessary.

Source: Dbdih::execTCGETOPSIZECONF and Dblqh::setLogTail; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from ndbplan.base.quantity import Quantity, Term
from ndbplan.configuration.settings import NodeSettings
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.checkpoint_speed import is_partial
from ndbplan.estimate.load.demand import NodeLoad
from ndbplan.estimate.load.redo import log_bytes_per_part

_LEAST_RATE = 1e-3
"""Slower log, in bytes per second, never fills anything."""


def least_interval_s(
    settings: NodeSettings, constants: Constants, load: NodeLoad | None, begin_s: float
) -> float:
    """From the begin of a checkpoint to that of the next at least, in seconds.

    Until enough was written for all data nodes (`begin_s`), or the log of a part is short, and that is known.
    """
    rate = load.hottest_log_part[1] * constants["redo_page_overhead"].value if load is not None else 0.0
    if rate < _LEAST_RATE:
        return 0.0
    spans = constants["redo_span_partial_lcp" if is_partial(settings) else "redo_span_full_lcp"].value
    room = constants["redo_forces_checkpoint"].value * log_bytes_per_part(settings)
    return min(begin_s, room / rate / max(1.0, spans - 1.0)) + constants["lcp_first_s"].value


def redo_span(
    constants: Constants,
    log_bytes: int,
    load: NodeLoad | None,
    duration: Quantity,
    in_parts: bool,
    waits_s: float,
) -> tuple[Quantity, Quantity]:
    """(log that must fit until checkpoints have made it superfluous, as a share of the log) of one part.

    Where checkpoints wait for enough to be written, that is added for each but the last.
    """
    span = constants["redo_span_partial_lcp" if in_parts else "redo_span_full_lcp"]
    part, rate = load.hottest_log_part if load is not None else (0, 0.0)
    every = duration.named("duration of a checkpoint") + constants["lcp_pause_s"]
    log = Quantity.stated(f"log records of part {part}", rate, "bytes/s", "workload")
    seconds = (span * every).in_unit("s")
    if waits_s > 0:
        seconds += Quantity.stated(
            "until enough is written", waits_s * max(0.0, span.value - 1.0), "s", "formula"
        )
    needed = (seconds * log * constants["redo_page_overhead"]).in_unit("bytes")
    size = Term("log of one part", log_bytes, "bytes", "NoOfFragmentLogFiles × FragmentLogFileSize")
    fill = needed.scaled(1 / log_bytes if log_bytes else 0.0, "fraction", (needed.as_term("needed"), size))
    return needed, fill
