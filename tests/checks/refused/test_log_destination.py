"""Which logs a management server starts without, as its source reads LogDestination."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.refused.log_destination import faults_of, file_names
from ndbplan.checks.run import find
from ndbplan.edits.parameters import set_parameter
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ManagementNode


@pytest.mark.parametrize(
    "text",
    [
        "", "CONSOLE", "FILE", "SYSLOG", "FILE:filename=/var/log/c.log", "SYSLOG:facility=local7",
        "FILE:filename=a.log,maxsize=1000000,maxfiles=6", "FILE: maxsize =10M", "FILE:maxsize=0x100000",
        "FILE:maxsize=64k", "CONSOLE;SYSLOG:facility=syslog;FILE:filename=a=b",
    ],
)  # fmt: skip
def test_what_is_written_well_is_no_fault(text: str) -> None:
    assert faults_of(text) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bogus", "names 'bogus'"),
        ("file:filename=a", "names 'file'"),
        ("FILE:filename=a;", "names ''"),
        ("FILE:name=a", "'name' for FILE, which takes filename, maxsize, maxfiles"),
        ("FILE:Filename=a", "'Filename' for FILE"),
        ("FILE:cluster.log", "'cluster.log' for FILE, which is not name=value"),
        ("FILE:filename=a,", "'' for FILE, which is not name=value"),
        ("FILE:filename=", "an empty filename"),
        ("FILE:maxsize=", "maxsize '', which is not a number"),
        ("FILE:maxsize=big", "maxsize 'big', which is not a number"),
        ("FILE:maxsize=-1", "maxsize '-1', which is not a number from 0 on"),
        ("FILE:maxsize=0", "maxsize 0: every line begins a new file"),
        ("FILE:maxsize=10G", "takes it as 10 bytes"),
        ("FILE:maxsize=64K", "takes it as 64 bytes"),
        ("FILE:maxsize=010G", "takes it as 8 bytes"),
        ("FILE:maxfiles=0", "maxfiles '0', which must be 1 or more"),
        ("FILE:maxfiles=", "maxfiles '', which is not a number"),
        ("FILE:maxfiles=2x", "takes as 2"),
        ("SYSLOG:facility=kernel", "facility 'kernel'; there are auth,"),
        ("SYSLOG:facility=", "facility ''"),
        ("SYSLOG:level=1", "'level' for SYSLOG, which takes facility"),
        ("CONSOLE:x=1", "'x' for CONSOLE, which takes no parameters"),
    ],
)
def test_what_does_not_parse_is_told_with_the_reason(text: str, said: str) -> None:
    (fault,) = faults_of(text)
    assert said in fault
    told = _told(text)
    assert [p.message for p in told] == [f"LogDestination {fault}"]
    assert told[0].severity is Severity.WARNING


def test_the_default_is_not_warned_of() -> None:
    assert _told("") == []
    assert [p.rule for p in _told("", DataDir="/a;b")] == ["log-destination"], "the default's file is in it"


@given(st.lists(st.sampled_from(("CONSOLE", "FILE:maxsize=x", "SYSLOG:facility=no", "none")), max_size=5))
def test_each_handler_has_its_own_fault(parts: list[str]) -> None:
    assert len(faults_of(";".join(parts))) == sum(part != "CONSOLE" for part in parts)


@given(st.text(max_size=30))
def test_any_text_is_read(text: str) -> None:
    assert all(fault for fault in faults_of("FILE:maxsize=" + text + ";SYSLOG:" + text))


def test_files_that_are_named() -> None:
    assert file_names("CONSOLE;FILE:filename=a,maxfiles=2;FILE: filename=/b/c") == ("a", "/b/c")


def _told(text: str, **settings: str) -> list[Problem]:
    host = Host(id="h", hostname="10.0.0.1", memory_bytes=2**33)
    plan = Plan(hosts=(host,), processes=(ManagementNode(id="m", node_id=50, host_id="h"),))
    for name, value in {"LogDestination": text, **settings}.items():
        plan = set_parameter(plan, "management", name, value)
    return [p for p in find(plan) if p.rule == "log-destination"]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("CONSOLE", ["CONSOLE"]),
        ("FILE;SYSLOG:;CONSOLE;FILE", ["FILE", "SYSLOG", "CONSOLE"]),
        ("SYSLOG:facility=user", []),
        ("console", []),
        ("", []),
    ],
)
def test_a_handler_without_parameters_is_in_doubt(text: str, kinds: list[str]) -> None:
    hints = [p.message.split()[2] for p in _told(text) if p.severity is Severity.HINT]
    assert hints == kinds
