"""ThreadConfig as management servers parse it."""

from __future__ import annotations

import pytest

from ndbplan.ndb.threads.config import check_thread_config
from ndbplan.ndb.threads.layout import parse_thread_config
from ndbplan.ndb.values import BadValueError
from ndbplan.ndb.version import NdbVersion

V84 = NdbVersion.parse("8.4")


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("ldm={count=4},main,rep,recv", {"ldm": 4, "main": 1, "rep": 1, "recv": 1}),
        ("LDM={COUNT=2}", {"ldm": 2}),
        ("ldm={cpubind=0},ldm={cpubind=1}", {"ldm": 2}),
        ("ldm={count=2,cpubind=1,2,3},tc={cpuset=4-5}", {"ldm": 2, "tc": 1}),
        ("recv={count=0},recv", {"recv": 1}),
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
        ("ldm={count=4,}", "a comma before its closing brace"),
        ("ldm={ }", "is not readable near"),
        ("ldm={cpuset= ,}", "list of CPUs is empty"),
        ("ldm;tc", "not readable near ';tc'"),
        ("ldm={count=333}", "at most 332"),
        ("recv={count=0},recv={count=0}", "asks for no recv thread"),
        ("io={count=2}", "at most 1"),
        ("io={spintime=5}", "executes no blocks"),
        ("ldm={count=2,cpubind=1}", "binds 2 ldm threads to 1 CPUs"),
        ("ldm={count=x}", "not a whole number"),
        ("ldm={cpuset}", "not readable near 'cpuset'"),
        ("ldm={cpuset=}", "gives cpuset no list of CPUs"),
        ("ldm={thread_prio=11}", "between 0 and 10"),
        ("main={count=0},rep", "rep thread without a main thread"),
    ],
)
def test_what_is_refused(text: str, part: str) -> None:
    with pytest.raises(BadValueError, match=part):
        check_thread_config(text, V84)


@pytest.mark.parametrize("text", ["ldm={count=4},", "ldm={count=4,}", "ldm={count=4,} ,"])
def test_older_servers_take_a_comma_at_the_end(text: str) -> None:
    assert check_thread_config(text, NdbVersion.parse("7.4")) == {"ldm": 4}
    assert parse_thread_config(NdbVersion.parse("7.4"), text).ldm == 4
    for wrong in (f",{text}", "ldm,,", "ldm={,}", "ldm={count=4,,}", "ldm={count=4, }"):
        with pytest.raises(BadValueError):
            check_thread_config(wrong, NdbVersion.parse("7.4"))


@pytest.mark.parametrize(
    "text",
    [
        "ldm={cpuset= ,}",
        "ldm={cpuset=,,count=1}",
        "ldm={count=1,cpubind=,1,,2,}",
        "ldm={cpubind=1,,count=1}",
        "ldm={cpuset= , ,count=1}",
        "ldm={count=0,cpubind=,}",
        "io={cpuset=,},ldm={cpuset=,}",
    ],
)
def test_older_servers_take_lists_of_cpus_with_gaps(text: str) -> None:
    """parseBitmask of mt_thr_config.cpp and parse_mask.hpp as of 2010."""
    check_thread_config(text, NdbVersion.parse("7.4"))
    with pytest.raises(BadValueError):
        check_thread_config(text, V84)


@pytest.mark.parametrize("version", ["7.4", "8.4"])
def test_lists_of_cpus_that_no_server_reads(version: str) -> None:
    for text in ("cpuset= ", "cpuset=, ", "cpubind=,", "cpubind=1,\t2", "cpuset=1-,2", "cpuset=1;2"):
        with pytest.raises(BadValueError):
            check_thread_config(f"ldm={{{text}}}", NdbVersion.parse(version))
    check_thread_config("ldm={cpubind=1 2-3 , 70000 , count = 2},tc", NdbVersion.parse(version))


@pytest.mark.parametrize(
    ("version", "count", "possible"),
    [
        ("7.3", 10, False),
        ("7.4", 10, True),
        ("7.4", 5, False),
        ("7.6", 20, True),
        ("7.6", 5, False),
        ("8.0", 5, True),
    ],
)
def test_ldm_counts_by_version(version: str, count: int, possible: bool) -> None:
    text = f"ldm={{count={count}}}"
    if possible:
        assert check_thread_config(text, NdbVersion.parse(version)) == {"ldm": count}
    else:
        with pytest.raises(BadValueError, match="possible are"):
            check_thread_config(text, NdbVersion.parse(version))


OK_IN_8 = """main,rep,recv,ldm={cpubind=1-2,5,count=3},ldm
main,rep,recv,ldm={ cpubind = 1- 2, 5 , count = 3 },ldm
main,rep,recv,ldm={count=3,cpubind=1-2,5 },  ldm
main,rep,recv,ldm={cpuset=1-3,count=3,realtime=1,spintime=1 },ldm
main,rep,recv,ldm,io={cpuset=3,4,6}
main,rep,recv,ldm={cpubind=1-3,count=3,thread_prio=10,spintime=1 },ldm
main,rep,recv,ldm={},ldm,tc,tc
main, rep, recv, ldm={count=4, cpuset=1-4}, tc={count=4, cpuset=5,6,7},io={cpubind=8}, idxbld={cpuset=1-8}
main, rep, recv, ldm={count=1, cpubind=1}, idxbld={count=1, cpubind=1}
main, rep, recv, idxbld={cpuset=1-4}, ldm={count=4, cpuset=1-4}
main,rep={count=0},recv,ldm
main={count=0},rep={count=0},recv,ldm={count=0}
ldm={realtime=0,thread_prio=5}"""
REFUSED_IN_8 = """ldm={cpubind=1,tc={cpubind=2}
ldm,ldm,
ldm= {count = 3, }
ldb,ldm
ldm={cpubind= 1 , cpuset=2 },ldm
recv,rep,idxbld={cpuset=1-4}, main={ cpuset=1-3 }, ldm={cpuset=3-4}
main={ cpuset=1-3 }, ldm={cpubind=2}
rep, recv, main={ cpuset=1;3 }, ldm={cpubind=4}
main={ cpuset=1,,3 }, ldm={cpubind=2}
io={ spintime = 0 }
tc,tc,tc={count=161}
tc,tc,tc={count=12345678901}
ldm={cpubind=1-3,count=3,realtime=1,spintime=1 , thread_prio = 10 },ldm
ldm={cpubind=1-3,count=3,thread_prio=-1,spintime=1 },ldm
idxbld={ spintime=12 }
idxbld={realtime=1}
rep={count=1},main={count=0},recv,ldm"""


@pytest.mark.parametrize("text", OK_IN_8.splitlines())
def test_forms_that_the_product_takes(text: str) -> None:
    # Cases by which NDB 8 tests its own parser.
    check_thread_config(text, V84)


@pytest.mark.parametrize("text", REFUSED_IN_8.splitlines())
def test_forms_that_the_product_refuses(text: str) -> None:
    with pytest.raises(BadValueError):
        check_thread_config(text, V84)


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("ldm={cpuset=2-3},recover={count=2,cpuset=1-2}", True),
        ("ldm={cpuset=2-3},idxbld={cpuset=1-2}", True),
        ("ldm={cpuset=2-3},tc={cpuset=1-2}", False),
        ("ldm={cpuset=2-3},io={cpuset=1-2}", False),
        ("ldm={cpuset=1-2},idxbld={cpubind=1}", False),
        ("ldm={cpuset=1-2},recover={cpubind=1}", False),
        ("ldm={cpubind=1},idxbld={cpubind=1}", True),
        ("ldm={cpuset=1-2},tc={cpubind=1}", False),
        ("ldm={cpuset=1-2},tc={cpubind_exclusive=1}", True),
    ],
)
def test_which_bindings_may_share_cpus(text: str, taken: bool) -> None:
    """do_bindings of thr_config.cpp: sets of permanent threads, and cpubind of any thread."""
    if taken:
        check_thread_config(text, V84)
    else:
        with pytest.raises(BadValueError, match="CPU"):
            check_thread_config(text, V84)


@pytest.mark.parametrize(
    ("text", "count"), [("4", 4), ("010", 8), ("0x4", 4), ("+4", 4), ("08", None), ("4k", None), ("-1", None)]
)
def test_the_text_of_a_number_chooses_its_base(text: str, count: int | None) -> None:
    """parse_unsigned in ParseThreadConfiguration.cpp: my_strtoll with base 0."""
    config = f"ldm={{count={text}}}"
    if count is None:
        with pytest.raises(BadValueError, match="not a whole number"):
            check_thread_config(config, V84)
    else:
        assert check_thread_config(config, V84) == {"ldm": count}
        assert parse_thread_config(V84, config).ldm == count
    assert check_thread_config("ldm={realtime=4294967295}", V84) == {"ldm": 1}
