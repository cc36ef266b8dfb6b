"""Threads of a data node from MaxNoOfExecutionThreads, ThreadConfig or AutomaticThreadConfig.

    thread_counts(version, {"MaxNoOfExecutionThreads": 8}, cores=8).ldm      # 4

Tables: resources/ndb/threads.json (8.x, source code) and threads-7.4.10.json (printed by the program).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ndbplan.base.errors import UserError
from ndbplan.base.resources import read_json
from ndbplan.ndb.features import features
from ndbplan.ndb.version import NdbVersion

_DEFAULT_THREADS = 2
"""MaxNoOfExecutionThreads where it is not stated (manual)."""
THREAD_PARAMETERS = (
    "MaxNoOfExecutionThreads",
    "ThreadConfig",
    "AutomaticThreadConfig",
    "NumCPUs",
    "__ndbmt_lqh_threads",
    "__ndbmt_classic",
)
"""Parameters that decide on the threads of a data node."""
_ITEM = re.compile(r"\s*+([a-z]+)\s*+(?:=\s*+\{([^{}]*)\})?\s*+(?:,|$)", re.I)
_COUNT = re.compile(r"(?:^|,)\s*count\s*=\s*([+0-9a-fx]{1,12})\s*(?=,|$)", re.I)
_NUMBER = re.compile(r"\+?(?:0[xX]([0-9a-fA-F]{1,8})|(0[0-7]{0,11})|([1-9][0-9]{0,9}))")


def thread_number(text: str) -> int | None:
    """A number inside ThreadConfig; None for what is none.

    The text chooses the base, so `010` is 8 (my_strtoll in ParseThreadConfiguration::parse_unsigned).
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    hexadecimal, octal, decimal = match.groups()
    number = int(hexadecimal, 16) if hexadecimal else int(octal, 8) if octal else int(decimal)
    return number if number < 2**32 else None


class ThreadConfigError(UserError, ValueError):
    """A ThreadConfig that the data node would refuse."""


@dataclass(frozen=True, slots=True)
class ThreadCounts:
    """Threads of each kind in one data node."""

    ldm: int
    tc: int
    recv: int
    send: int
    main: int
    rep: int
    query: int
    recover: int = 0
    """Threads that only help at restart (8.0.23 and later)."""

    @property
    def block_threads(self) -> int:
        """All but the send threads: those with a job buffer of their own."""
        return self.main + self.rep + self.ldm + self.tc + self.recv + self.query + self.recover

    @property
    def ldm_instances(self) -> int:
        """LDM instances that hold fragments: one even when no thread is set apart for them."""
        return max(1, self.ldm)


@cache
def thread_types() -> dict[str, dict[str, int]]:
    """The types of threads of 8.x by name, with the most there may be of each (`max`)."""
    return {row["type"]: row for row in read_json("ndb/threads.json")["thread_types"]}


@cache
def _by_execution_threads(newer: bool) -> dict[int, dict[str, int]]:
    source = read_json("ndb/threads.json")["max_execution_threads"] if newer else None
    rows = (source or read_json("ndb/threads-7.4.10.json"))["rows"]
    return {row["MaxNoOfExecutionThreads"]: row for row in rows}


@cache
def _automatic_rows() -> tuple[dict[str, Any], ...]:
    return tuple(read_json("ndb/threads.json")["automatic"]["rows"])


def is_automatic(version: NdbVersion, parameters: Mapping[str, int | str | None]) -> bool:
    """Whether AutomaticThreadConfig decides the threads; it wins over the two other parameters."""
    return features(version).automatic_threads and _number(parameters, "AutomaticThreadConfig", 0) == 1


def thread_counts(
    version: NdbVersion, parameters: Mapping[str, int | str | None], cores: int
) -> ThreadCounts:
    """Threads of a data node (ndbmtd; ndbd before 7.0) with these parameters on a host with `cores` CPUs.

    Raises ThreadConfigError for a ThreadConfig the data node would refuse.
    """
    known = features(version)
    if not known.multithreaded_node:
        return ThreadCounts(ldm=1, tc=0, recv=0, send=0, main=1, rep=0, query=0)
    if is_automatic(version, parameters):
        return _automatic(_number(parameters, "NumCPUs", 0) or max(1, cores))
    text = str(parameters.get("ThreadConfig") or "").strip()
    if text and known.thread_config:
        return parse_thread_config(version, text)
    # The old settings of developers count without ThreadConfig only (THRConfig::do_parse of three numbers).
    if _number(parameters, "__ndbmt_classic", 0) == 1:
        return _for_execution_threads(version, _DEFAULT_THREADS)
    counts = _for_execution_threads(version, _number(parameters, "MaxNoOfExecutionThreads", _DEFAULT_THREADS))
    own = _number(parameters, "__ndbmt_lqh_threads", 0)
    return replace(counts, ldm=own) if own else counts


def _number(parameters: Mapping[str, int | str | None], name: str, default: int) -> int:
    value = parameters.get(name)
    if value is None or value == "":
        return default
    try:
        return int(value)
    except ValueError:
        return default


def _for_execution_threads(version: NdbVersion, threads: int) -> ThreadCounts:
    known = features(version)
    most, rows = known.execution_threads_most, _by_execution_threads(known.thread_counts_of_8)
    row = rows[min(max(threads, min(rows)), most)]
    return ThreadCounts(
        ldm=row["ldm"], tc=row["tc"], recv=row["recv"], send=row["send"], main=1, rep=1, query=0
    )


def _automatic(cpus: int) -> ThreadCounts:
    rows = _automatic_rows()
    row = next((r for r in rows if r["num_cpus"][0] <= cpus <= r["num_cpus"][1]), rows[-1])
    ldm, query = row["ldm"], row["query"]
    recover = max(0, cpus - (ldm + query) - query)
    if ldm == 0:
        recover = max(0, recover - 1)
    return ThreadCounts(
        ldm=ldm,
        tc=row["tc"],
        recv=row["recv"],
        send=row["send"],
        main=row["main"],
        rep=row["rep"],
        query=query,
        recover=recover,
    )


def parse_thread_config(version: NdbVersion, text: str) -> ThreadCounts:
    """Threads that a ThreadConfig names; main, ldm, recv and rep are one each unless it says otherwise.

    Raises ThreadConfigError for what the data node would refuse.
    """
    counts: dict[str, int] = {}
    limits = thread_types()
    position = 0
    while position < len(text):
        match = _ITEM.match(text, position)
        if match is None:
            raise ThreadConfigError(
                f"'{text[position : position + 40]}' is not of the form type or type={{count=n,...}}",
                where="ThreadConfig",
                fix="write for example ldm={count=4},main,recv,rep",
            )
        position = match.end()
        kind = match[1].lower()
        if kind not in limits:
            raise ThreadConfigError(
                f"there is no thread type '{match[1]}'",
                where="ThreadConfig",
                fix=f"use {', '.join(limits)}",
            )
        stated = _COUNT.search(match[2] or "")
        number = thread_number(stated[1]) if stated else None
        counts[kind] = counts.get(kind, 0) + (1 if number is None else number)
    for kind, count in counts.items():
        if count > limits[kind]["max"]:
            raise ThreadConfigError(
                f"{count} {kind} threads; at most {limits[kind]['max']}",
                where="ThreadConfig",
                fix=f"lower the count of {kind}",
            )
    smallest = 0 if features(version).thread_counts_at_least else 1
    for kind in ("main", "ldm", "recv", "rep"):
        counts[kind] = max(counts.get(kind, 1), 1 if kind == "recv" else smallest)
    counts = {kind: counts.get(kind, 0) for kind in limits}
    _refuse_impossible(counts)
    return ThreadCounts(
        ldm=counts["ldm"],
        tc=counts["tc"],
        recv=counts["recv"],
        send=counts["send"],
        main=counts["main"],
        rep=counts["rep"],
        query=counts["query"],
        recover=counts["recover"],
    )


def _refuse_impossible(counts: dict[str, int]) -> None:
    ldm, query = counts["ldm"], counts["query"]
    if ldm == 0 and (counts["tc"] or counts["rep"] or query or counts["recv"] != 1):
        raise ThreadConfigError(
            "no ldm thread, but "
            f"tc {counts['tc']}, rep {counts['rep']}, query {query}, recv {counts['recv']}",
            where="ThreadConfig",
            fix="without ldm threads set tc, rep and query to count=0 and recv to count=1",
        )
    if ldm and query % ldm:
        raise ThreadConfigError(
            f"{query} query threads are not a multiple of {ldm} ldm threads",
            where="ThreadConfig",
            fix=f"use {max(1, round(query / ldm)) * ldm} query threads",
        )
