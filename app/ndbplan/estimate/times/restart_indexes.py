"""Rebuilding ordered indexes in a start, which are kept in memory only.

Source: engine model 6 and 16.3; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from math import inf

from ndbplan.base.quantity import Term
from ndbplan.estimate.times.restart_phases import Phase, Starting, at_ldm_threads, era


def rebuild_indexes(start: Starting) -> Phase:
    """Rebuild all ordered indexes, which are kept in memory only; keys in order take less time."""
    fullest = start.fullest
    entries = at_random = 0.0
    if start.data is not None:
        entries, at_random = start.data.index_entries, start.data.random_entries
    # None: each LDM thread builds its own. More than there are LDM threads were not measured to gain.
    threads = start.settings.number("BuildIndexThreads") or inf
    in_order = at_ldm_threads(
        start,
        entries - at_random,
        max(0.0, fullest.index_entries - fullest.random_entries),
        start.per_s("index_build_ldm_rows_per_s"),
        "index entries in the order of their keys",
        "rows",
        threads,
    )
    others = at_ldm_threads(
        start,
        at_random,
        fullest.random_entries,
        start.per_s("index_build_random_ldm_rows_per_s"),
        "index entries in no order",
        "rows",
        threads,
    )
    time = in_order.named("entries in order") + others.named("entries in no order")
    time = time.because(*time.why, era(start))
    if threads < start.ldm:
        limit = Term("threads that build indexes", threads, "", "BuildIndexThreads")
        more = "a larger BuildIndexThreads"
        time, by = time.because(*time.why, limit), "BuildIndexThreads"
        return Phase("rebuild ordered indexes", time, by, more, start.of_threads)
    more = "more LDM threads; PRIMARY KEY USING HASH where no range is read"
    return Phase("rebuild ordered indexes", time, "index threads", more, start.of_threads)
