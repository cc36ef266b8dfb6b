"""ThreadConfig as management servers parse it."""

from __future__ import annotations

import pytest

from ndbplan.ndb.thread_config import check_thread_config
from ndbplan.ndb.values import BadValueError
from ndbplan.ndb.version import NdbVersion

V84 = NdbVersion.parse("8.4")


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("ldm={count=4},main,rep,recv", {"ldm": 4, "main": 1, "rep": 1, "recv": 1}),
        ("LDM={COUNT=2}", {"ldm": 2}),
        ("ldm={cpubind=0},ldm={cpubind=1}", {"ldm": 2}),
        ("ldm={count=2,cpubind=1,2,3},tc={cpuset=1-2}", {"ldm": 2, "tc": 1}),
        ("main={count=0},rep={count=0},recv,ldm={count=0}", {"main": 0, "rep": 0, "recv": 1, "ldm": 0}),
    ],
)
def test_counts(text: str, counts: dict[str, int]) -> None:
    assert check_thread_config(text, V84) == counts


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("ldm={count=2", "closing brace"),
        ("ldm=2", "not readable near '=2'"),
        ("wd", "thread type 'wd'"),
        ("ldm,", "ends with a comma"),
        ("ldm;tc", "not readable near ';tc'"),
        ("ldm={count=333}", "at most 332"),
        ("io={count=2}", "at most 1"),
        ("io={spintime=5}", "executes no blocks"),
        ("ldm={count=2,cpubind=1}", "binds 2 ldm threads to 1 CPUs"),
        ("ldm={count=x}", "no whole number"),
        ("ldm={thread_prio=11}", "between 0 and 10"),
        ("main={count=0},rep", "rep thread without a main thread"),
    ],
)
def test_what_is_refused(text: str, part: str) -> None:
    with pytest.raises(BadValueError, match=part):
        check_thread_config(text, V84)


@pytest.mark.parametrize(
    ("version", "count", "possible"),
    [("7.4", 10, False), ("7.5", 10, True), ("7.6", 20, True), ("7.6", 5, False), ("8.0", 5, True)],
)
def test_ldm_counts_by_version(version: str, count: int, possible: bool) -> None:
    text = f"ldm={{count={count}}}"
    if possible:
        assert check_thread_config(text, NdbVersion.parse(version)) == {"ldm": count}
    else:
        with pytest.raises(BadValueError, match="possible are"):
            check_thread_config(text, NdbVersion.parse(version))
