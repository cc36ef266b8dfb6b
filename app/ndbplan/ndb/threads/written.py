"""ThreadConfig as ndb_mgmd writes it out for threads that a number decided, with the CPUs they are bound to.

    written_threads(counts, cpus=(0, 1))      # "main={cpubind=0},ldm={cpubind=1},recv={cpubind=0},..."

After do_parse, do_bindings and getConfigString in thr_config.cpp (mt_thr_config.cpp before 8.0), whose own
tests are among ours, and the threads that 7.4.10 and 8.4.8 printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from ndbplan.ndb.threads.layout import ThreadCounts

_KINDS = ("main", "ldm", "recv", "rep", "tc", "send")
"""Executing threads in the order in which they are written."""
LONGEST_SPIN_US = 9000
"""Longest spintime, in microseconds: the data node takes this for more (NDB source, thr_config.cpp)."""
CLASSIC_THREADS = ThreadCounts(ldm=1, tc=0, recv=0, send=0, main=1, rep=0, query=0)
"""What __ndbmt_classic=1 is written out as: the threads that one ndbd had."""


def written_threads(
    counts: ThreadCounts, cpus: Sequence[int] = (), spin_us: int = 0, *, realtime: bool = False
) -> str:
    """The text for threads with so many CPUs in LockExecuteThreadToCPU, SchedulerSpinTimer and
    RealtimeScheduler."""
    threads = [kind for kind in _KINDS for _ in range(getattr(counts, kind))]
    parts = []
    for kind, cpu in zip(threads, _cpus_of(threads, sorted(set(cpus))), strict=True):
        said = [] if cpu is None else [f"cpubind={cpu}"]
        said += [f"spintime={min(spin_us, LONGEST_SPIN_US)}"] if spin_us else []
        said += ["realtime=1"] if realtime else []
        parts.append(kind + (f"={{{','.join(said)}}}" if said else ""))
    if realtime:
        # Behind rep and before tc; nothing else is said of them.
        last = len([kind for kind in threads if kind not in ("tc", "send")])
        parts[last:last] = ["io={realtime=1}", "watchdog={realtime=1}"]
    return ",".join(parts)


def _cpus_of(threads: list[str], cpus: list[int]) -> Sequence[int | None]:
    """The CPU of each thread; None: it is not bound."""
    if not cpus:
        return [None] * len(threads)
    if len(cpus) >= len(threads):
        return cpus[: len(threads)]
    ldm = threads.count("ldm")
    if len(cpus) > ldm:
        # Each LDM thread has its own; main and rep share the next, and the others the one behind that.
        of_ldm, rest = iter(cpus[:ldm]), cpus[ldm:]
        main, recv = rest[0], rest[1] if len(rest) > 1 else rest[0]
    else:
        main = recv = cpus[0]
        of_ldm = cycle(cpus[1:] or cpus)
    shared = {"main": main, "rep": main, "recv": recv}
    return [next(of_ldm) if kind == "ldm" else shared.get(kind) for kind in threads]
