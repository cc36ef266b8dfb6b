"""ThreadConfig as ndb_mgmd parses it: what it refuses, and how many threads of each type it names.

Limits: resources/ndb/threads.json (8.x) and the answers of a 7.4.10 management server.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from ndbplan.base.resources import read_json
from ndbplan.ndb.features import features
from ndbplan.ndb.threads.layout import ThreadCounts, thread_number
from ndbplan.ndb.values import BadValueError, parse_cpu_list
from ndbplan.ndb.version import NdbVersion

_BEFORE_8 = {"main": 1, "ldm": 32, "recv": 16, "rep": 1, "io": 1, "watchdog": 1, "tc": 32, "send": 16}
_NOT_EXECUTING = ("io", "watchdog", "idxbld", "recover")
_MAY_OVERLAP = ("idxbld", "recover")
"""Threads whose CPU sets may share CPUs with others (not permanent in m_entries)."""
_AT_LEAST_ONE = ("recv", "io", "watchdog")
_WITH_NOSEND = ("main", "ldm", "tc", "rep")
_BINDINGS = ("cpubind", "cpubind_exclusive", "cpuset", "cpuset_exclusive")
_ITEM = re.compile(r"\s*+([A-Za-z_]*)\s*+(?:(=)\s*+(\{)([^{}]*)(\})?)?\s*+")


@cache
def _newer_limits() -> dict[str, int]:
    return {row["type"]: row["max"] for row in read_json("ndb/threads.json")["thread_types"]}


def limits(version: NdbVersion) -> dict[str, int]:
    """Most threads of each type."""
    known = features(version)
    if known.thread_types_of_8:
        return _newer_limits()
    most = dict(_BEFORE_8)
    if known.index_build_threads:
        most["idxbld"] = 1
    return most


def check_thread_config(text: str, version: NdbVersion) -> dict[str, int]:
    """Threads that a ThreadConfig names, by type. Raises BadValueError for what ndb_mgmd refuses."""
    return _checked(text, version)[0]


def _checked(text: str, version: NdbVersion) -> tuple[dict[str, int], _Bound]:
    most = limits(version)
    counts: dict[str, int] = {}
    bound = _Bound()
    position = 0
    while position < len(text):
        match = _ITEM.match(text, position)
        assert match is not None
        kind = match[1].lower()
        if kind not in most:
            raise BadValueError(f"names the thread type '{match[1]}'; there are {', '.join(most)}")
        if match[2] and not match[5]:
            raise BadValueError(f"lacks the closing brace behind {kind}")
        counts[kind] = counts.get(kind, 0) + (_parameters(kind, match[4], version, bound) if match[2] else 1)
        position = match.end()
        if position < len(text):
            if text[position] != ",":
                shown = text[position : position + 10]
                raise BadValueError(f"is not readable near '{shown}'; write type={{count=n}},type")
            position += 1
            if position == len(text) and not features(version).thread_config_comma_at_end:
                raise BadValueError("ends with a comma")
    for kind, count in counts.items():
        if count > most[kind]:
            raise BadValueError(f"asks for {count} {kind} threads; at most {most[kind]}")
    _refuse_combinations(counts, version)
    bound.refuse_overlaps()
    return counts, bound


class CpuShortage(NamedTuple):
    """CPUs of LockExecuteThreadToCPU left for threads that have none of their own, and those threads."""

    cpus: int
    threads: int
    refused: bool
    """Whether ndb_mgmd refuses it: with TC or send threads or several that receive."""


def cpu_shortage(
    cpus: tuple[int, ...], counts: ThreadCounts, text: str | None, version: NdbVersion
) -> CpuShortage | None:
    """What is short of CPUs in LockExecuteThreadToCPU; None when they suffice.

    `text` is ThreadConfig, or None when MaxNoOfExecutionThreads counts the threads. As do_bindings in
    mt_thr_config.cpp: CPUs bound in ThreadConfig do not count, nor do the threads bound to them. Raises
    BadValueError for a ThreadConfig that is refused.
    """
    stated, bound = _checked(text, version) if text is not None else ({}, _Bound())
    if text is None:
        each = {
            "main": 1,
            "rep": 1,
            "recv": counts.recv,
            "ldm": counts.ldm,
            "tc": counts.tc,
            "send": counts.send,
        }
    else:
        least = 0 if features(version).thread_counts_at_least else 1
        each = {kind: max(stated.get(kind, 1), least) for kind in ("main", "ldm", "recv", "rep")}
        each |= {kind: stated.get(kind, 0) for kind in ("tc", "send", "query")}
    left = set(cpus) - bound.taken
    threads = sum(each.values()) - bound.threads
    if not left or len(left) >= threads:
        return None
    return CpuShortage(len(left), threads, bool(each["tc"] or each["send"] or each["recv"] != 1))


@dataclass
class _Bound:
    """CPUs that threads are bound to, as do_bindings in thr_config.cpp goes through them."""

    sets: list[frozenset[int]] = field(default_factory=list)
    single: set[int] = field(default_factory=set)
    taken: set[int] = field(default_factory=set)
    """CPUs that LockExecuteThreadToCPU no longer offers."""
    threads: int = 0
    """Executing threads that are bound."""

    def add(self, kind: str, name: str, cpus: tuple[int, ...], count: int) -> None:
        """Note one binding; cpubind takes a CPU for each thread, and cpubind_exclusive leaves no trace."""
        executes = kind not in _NOT_EXECUTING
        self.threads += count if executes else 0
        if name == "cpubind":
            used = sorted(set(cpus))[:count]
            self.single.update(used)
            self.taken.update(used if executes else ())
        elif name != "cpubind_exclusive" and kind not in _MAY_OVERLAP:
            self.taken.update(cpus)
            if frozenset(cpus) not in self.sets:
                self.sets.append(frozenset(cpus))

    def refuse_overlaps(self) -> None:
        """Raises BadValueError when CPU sets overlap without being equal, or hold a CPU bound alone."""
        for number, one in enumerate(self.sets):
            for other in self.sets[number + 1 :]:
                if one & other:
                    raise BadValueError(f"has CPU sets that overlap in CPU {min(one & other)}")
            if one & self.single:
                raise BadValueError(f"binds CPU {min(one & self.single)} alone and in a CPU set")


def _parameters(kind: str, text: str, version: NdbVersion, bound: _Bound) -> int:
    """Threads that one `{…}` adds."""
    stated = _named(text, version)
    if "thread_prio" in stated and _number("realtime", stated.get("realtime", "0")):
        raise BadValueError(f"sets both realtime and thread_prio for {kind}; only one is possible")
    bindings = [name for name in _BINDINGS if name in stated]
    if len(bindings) > 1:
        raise BadValueError(f"sets {' and '.join(bindings)} for {kind}; only one is possible")
    if kind in _NOT_EXECUTING:
        for name in ("spintime", "nosend", "spintime" if features(version).nosend else "thread_prio"):
            if name in stated:
                raise BadValueError(f"sets {name} for {kind}, which executes no blocks")
    if kind == "idxbld":
        for name in ("thread_prio", "realtime"):
            if name in stated:
                raise BadValueError(f"sets {name} for idxbld, which takes none")
    if "nosend" in stated and kind not in _WITH_NOSEND:
        raise BadValueError(f"sets nosend for {kind}; only {', '.join(_WITH_NOSEND)} can have it")
    if "thread_prio" in stated and not 0 <= _number("thread_prio", stated["thread_prio"]) <= 10:
        raise BadValueError("thread_prio must be between 0 and 10")
    for name in ("spintime", "nosend", "realtime"):
        if name in stated:
            _number(name, stated[name])
    cpus: tuple[int, ...] = ()
    for name in bindings:
        if not re.fullmatch(r"[0-9, \t-]+", stated[name]):
            raise BadValueError(f"gives {name} '{stated[name][:20]}', which is not a list of CPUs")
        cpus = parse_cpu_list(stated[name])
    count = _number("count", stated["count"]) if "count" in stated else 1
    if bindings and bindings[0].startswith("cpubind") and count > len(cpus):
        raise BadValueError(f"binds {count} {kind} threads to {len(cpus)} CPUs")
    if bindings:
        bound.add(kind, bindings[0], cpus, count)
    if count == 0 and features(version).thread_counts_at_least and kind in _AT_LEAST_ONE:
        raise BadValueError(f"asks for no {kind} thread; at least 1")
    return count


def _named(text: str, version: NdbVersion) -> dict[str, str]:
    """The parameters inside one pair of braces."""
    known = ["count", "cpubind", "cpuset", "realtime", "spintime"]
    if features(version).exclusive_bindings:
        known += ["cpubind_exclusive", "cpuset_exclusive", "thread_prio"]
    if features(version).nosend:
        known.append("nosend")
    stated: dict[str, str] = {}
    last = ""
    if features(version).thread_config_comma_at_end and text.endswith(",") and text != ",":
        text = text[:-1]
    for part in text.split(",") if text.strip() else ():
        name, equals, value = part.partition("=")
        name = name.strip().lower()
        if not equals:
            # A further CPU of the list before it: cpubind=1,2,5-6.
            if last in _BINDINGS and re.fullmatch(r"\s*[0-9]+\s*(-\s*[0-9]+\s*)?", part):
                stated[last] += f",{part}"
                continue
            raise BadValueError(f"is not readable near '{part.strip()[:20]}'")
        if name not in known:
            raise BadValueError(f"names the parameter '{name[:20]}'; there are {', '.join(known)}")
        if name in stated:
            raise BadValueError(f"sets {name} twice")
        if not value.strip():
            raise BadValueError(f"gives {name} no value")
        stated[name] = value.strip()
        last = name
    return stated


def _number(name: str, text: str) -> int:
    number = thread_number(text.strip())
    if number is None:
        raise BadValueError(f"gives {name} the value '{text[:20]}', which is not a whole number")
    return number


def _refuse_combinations(counts: dict[str, int], version: NdbVersion) -> None:
    least = 0 if features(version).thread_counts_at_least else 1
    ldm, possible = max(counts.get("ldm", 1), least), features(version).ldm_counts
    if possible and ldm not in possible:
        allowed = ", ".join(map(str, possible))
        raise BadValueError(f"asks for {ldm} ldm threads; possible are {allowed}")
    if max(counts.get("main", 1), least) == 0 and counts.get("rep", 1) > 0:
        raise BadValueError("asks for a rep thread without a main thread")
