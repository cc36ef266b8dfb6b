"""ThreadConfig as ndb_mgmd parses it: what it refuses, and how many threads of each type it names.

Limits: resources/ndb/threads.json (8.x) and the answers of a 7.4.10 management server.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from ndbplan.ndb.features import features
from ndbplan.ndb.threads.layout import ThreadCounts, thread_number, thread_types
from ndbplan.ndb.values import BadValueError, parse_cpu_list
from ndbplan.ndb.version import NdbVersion

_BEFORE_8 = {"main": 1, "ldm": 32, "recv": 16, "rep": 1, "io": 1, "watchdog": 1, "tc": 32, "send": 16}
_NOT_EXECUTING = ("io", "watchdog", "idxbld", "recover")
_MAY_OVERLAP = ("idxbld", "recover")
"""Threads whose CPU sets may share CPUs with others (not permanent in m_entries)."""
_AT_LEAST_ONE = ("recv", "io", "watchdog")
_WITH_NOSEND = ("main", "ldm", "tc", "rep")
_BINDINGS = ("cpubind", "cpubind_exclusive", "cpuset", "cpuset_exclusive")
_HIGHEST_PRIORITY = 10
_HIGHEST_CPU = 2**32 - 2
"""What a SparseBitmask holds: ThreadConfig has no limit of its own."""
_BLANKS = re.compile(r"\s*+")
_WORD = re.compile(r"[A-Za-z_]*+")
_UP_TO_COMMA = re.compile(r"[^,\s]*+")
_CPUS = re.compile(r"[0-9, -]*+")
_ITEM = re.compile(r"\s*+([A-Za-z_]*)\s*+(?:(=)\s*+(\{)([^{}]*)(\})?)?\s*+")


def limits(version: NdbVersion) -> dict[str, int]:
    """Most threads of each type."""
    known = features(version)
    if known.thread_types_of_8:
        return {name: row["max"] for name, row in thread_types().items()}
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
        if count == 0 and features(version).thread_counts_at_least and kind in _AT_LEAST_ONE:
            raise BadValueError(f"asks for no {kind} thread; at least 1")
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
    numbers, cpu_lists = _Scan(text, version).parameters()
    if "thread_prio" in numbers and numbers.get("realtime", 0):
        raise BadValueError(f"sets both realtime and thread_prio for {kind}; only one is possible")
    if len(cpu_lists) > 1:
        raise BadValueError(f"sets {' and '.join(cpu_lists)} for {kind}; only one is possible")
    if kind in _NOT_EXECUTING:
        for name in ("spintime", "nosend", "spintime" if features(version).nosend else "thread_prio"):
            if name in numbers:
                raise BadValueError(f"sets {name} for {kind}, which executes no blocks")
    if kind == "idxbld":
        for name in ("thread_prio", "realtime"):
            if name in numbers:
                raise BadValueError(f"sets {name} for idxbld, which takes none")
    if "nosend" in numbers and kind not in _WITH_NOSEND:
        raise BadValueError(f"sets nosend for {kind}; only {', '.join(_WITH_NOSEND)} can have it")
    if numbers.get("thread_prio", 0) > _HIGHEST_PRIORITY:
        raise BadValueError(f"thread_prio must be between 0 and {_HIGHEST_PRIORITY}")
    count = numbers.get("count", 1)
    for name, cpus in cpu_lists.items():
        if name.startswith("cpubind") and count > len(cpus):
            raise BadValueError(f"binds {count} {kind} threads to {len(cpus)} CPUs")
        bound.add(kind, name, cpus, count)
    return count


class _Scan:
    """What stands inside one pair of braces, from left to right as parse_params of the product reads it."""

    def __init__(self, text: str, version: NdbVersion) -> None:
        self._text = text
        self._at = 0
        self._version = version
        known = ["count", "cpubind", "cpuset", "realtime", "spintime"]
        if features(version).exclusive_bindings:
            known += ["cpubind_exclusive", "cpuset_exclusive", "thread_prio"]
        self._known = [*known, "nosend"] if features(version).nosend else known

    def parameters(self) -> tuple[dict[str, int], dict[str, tuple[int, ...]]]:
        """Numbers, and lists of CPUs, by their names. Raises BadValueError."""
        numbers: dict[str, int] = {}
        cpu_lists: dict[str, tuple[int, ...]] = {}
        while self._at < len(self._text):
            name = self._name()
            if name in numbers or name in cpu_lists:
                raise BadValueError(f"sets {name} twice")
            if name in _BINDINGS:
                cpu_lists[name] = self._cpus(name)
            else:
                numbers[name] = self._number(name)
            self._comma()
        return numbers, cpu_lists

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        assert match is not None
        self._at = match.end()
        return match[0]

    def _unreadable(self) -> BadValueError:
        return BadValueError(f"is not readable near '{self._text[self._at : self._at + 20]}'")

    def _name(self) -> str:
        self._take(_BLANKS)
        start = self._at
        word = self._take(_WORD)
        self._take(_BLANKS)
        if not word or self._text[self._at : self._at + 1] != "=":
            self._at = start
            raise self._unreadable()
        if word.lower() not in self._known:
            raise BadValueError(f"names the parameter '{word[:20]}'; there are {', '.join(self._known)}")
        self._at += 1
        self._take(_BLANKS)
        return word.lower()

    def _number(self, name: str) -> int:
        text = self._take(_UP_TO_COMMA)
        if not text:
            raise BadValueError(f"gives {name} no value")
        number = thread_number(text)
        if number is None:
            raise BadValueError(f"gives {name} the value '{text[:20]}', which is not a whole number")
        return number

    def _cpus(self, name: str) -> tuple[int, ...]:
        start = self._at
        run = self._take(_CPUS)
        if not run:
            raise BadValueError(f"gives {name} no list of CPUs")
        # The comma before the next parameter is one of the run, and no part of the list.
        text = run.rstrip().removesuffix(",")
        self._at = start + len(text)
        if not text.strip() and features(self._version).cpu_lists_with_gaps:
            return ()
        return parse_cpu_list(text, self._version, _HIGHEST_CPU)

    def _comma(self) -> None:
        self._take(_BLANKS)
        if self._at == len(self._text):
            return
        if self._text[self._at] != ",":
            raise self._unreadable()
        self._at += 1
        if self._at == len(self._text) and not features(self._version).thread_config_comma_at_end:
            raise BadValueError("has a comma before its closing brace")


def _refuse_combinations(counts: dict[str, int], version: NdbVersion) -> None:
    least = 0 if features(version).thread_counts_at_least else 1
    ldm, possible = max(counts.get("ldm", 1), least), features(version).ldm_counts
    if possible and ldm not in possible:
        allowed = ", ".join(map(str, possible))
        raise BadValueError(f"asks for {ldm} ldm threads; possible are {allowed}")
    if max(counts.get("main", 1), least) == 0 and counts.get("rep", 1) > 0:
        raise BadValueError("asks for a rep thread without a main thread")
