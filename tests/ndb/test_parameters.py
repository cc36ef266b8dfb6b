"""The catalogue against what the programs print of themselves, and its own consistency."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ndbplan.base.resources import read_json
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.version import SERIES, NdbVersion, release

REALITY = Path(__file__).parent.parent / "reality"
SECTIONS = ("SYSTEM", "COMPUTER", "DB", "API", "MGM", "TCP", "SHM", "SCI")


def printed(version: str) -> list[list[Any]]:
    rows: list[list[Any]] = json.loads((REALITY / f"configinfo-{version}.json").read_text())["rows"]
    return rows


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
def test_values_are_those_the_program_prints(version: str) -> None:
    number = NdbVersion.parse(version)
    wrong = []
    for section, name, kind, default, low, high, restart, _ in printed(version):
        assert catalogue.knows(section, name, number), (section, name)
        entry = catalogue.parameter(section, name, number)
        if kind == "unsigned":
            found = (entry.default, entry.minimum, entry.maximum)
            if found != (default, low, high):
                wrong.append((section, name, found, (default, low, high)))
        elif kind == "bool" and entry.default != default:
            wrong.append((section, name, entry.default, default))
        if section == "DB" and entry.restart != restart:
            wrong.append((section, name, entry.restart, restart))
    assert wrong == []


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
def test_no_parameter_that_the_program_lacks(version: str) -> None:
    """Internal, not implemented and [computer] parameters are not printed."""
    number = NdbVersion.parse(version)
    names = {(row[0], row[1].lower()) for row in printed(version)}
    silent = {"internal", "not_implemented"}
    unprinted = {"requirelinktls", "byteorder", "parallelbackups", "restartonerrorinsert", "system"}
    for section in SECTIONS:
        for entry in catalogue.parameters(section, number):
            if section == "COMPUTER" or entry.status in silent or entry.name.lower() in unprinted:
                continue
            assert (section, entry.name.lower()) in names or entry.name.startswith("NodeId"), entry


@pytest.mark.parametrize("series", SERIES)
def test_every_entry_says_where_it_comes_from(series: str) -> None:
    version = NdbVersion.parse(series)
    for section in SECTIONS:
        for entry in catalogue.parameters(section, version):
            assert entry.taken_from
            assert entry.since_taken_from
            assert entry.description
            assert entry.restart in catalogue.RESTARTS
            # 0 below the range means: not set.
            if entry.is_number and isinstance(entry.default, int) and entry.default != 0:
                assert (entry.minimum or 0) <= entry.default <= (entry.maximum or entry.default), entry


def test_spans_ascend_and_start_with_the_parameter() -> None:
    for row in read_json(catalogue.SOURCE_FILE)["parameters"]:
        releases = [release(span["from"]) for span in row["spans"]]
        assert releases == sorted(set(releases)), row["name"]
        assert releases[0] <= release(row["since"]), row["name"]


@pytest.mark.parametrize(
    ("version", "name", "known", "default"),
    [
        ("7.4", "TransactionMemory", False, None),
        ("8.0.18", "TransactionMemory", False, None),
        ("8.0.19", "TransactionMemory", True, 0),
        ("7.4", "DataMemory", True, 80 * 2**20),
        ("7.6", "DataMemory", True, 98 * 2**20),
        ("7.6.4", "RecoveryWork", True, 50),
        ("7.6.7", "RecoveryWork", True, 60),
        ("7.6", "EnableRedoControl", True, 0),
        ("8.0", "EnableRedoControl", True, 1),
        ("7.2.15", "NoOfFragmentLogParts", False, 4),
        ("7.4", "ClassicFragmentation", False, 1),
        ("7.4", "EnablePartialLcp", False, 0),
        ("9.x", "DiskCheckpointSpeed", False, None),
        ("7.4", "DiskCheckpointSpeed", True, 10 * 2**20),
        ("6.3", "BackupDataBufferSize", True, 2 * 2**20),
        ("7.1", "BackupDataBufferSize", True, 16 * 2**20),
        ("6.3.6", "CompressedBackup", False, 0),
    ],
)
def test_versions(version: str, name: str, known: bool, default: int | None) -> None:
    number = NdbVersion.parse(version)
    assert catalogue.knows("DB", name, number) is known
    assert catalogue.default("DB", name, number) == default


def test_names_in_any_case_and_unknown_ones() -> None:
    assert catalogue.parameter("DB", "datamemory").name == "DataMemory"
    with pytest.raises(KeyError):
        catalogue.parameter("DB", "FooBar")


@pytest.mark.parametrize(
    ("name", "version", "default", "minimum"),
    [
        ("ArbitrationTimeout", "7.1", 3000, 10),
        ("ArbitrationTimeout", "7.2", 7500, 10),
        ("HeartbeatIntervalDbDb", "6.3", 1500, 10),
        ("HeartbeatIntervalDbDb", "7.1", 1500, 10),
        ("HeartbeatIntervalDbDb", "7.2.1", 5000, 10),
        ("HeartbeatIntervalDbDb", "8.4", 5000, 10),
        ("HeartbeatIntervalDbApi", "6.3", 1500, 100),
        ("HeartbeatIntervalDbApi", "8.4", 1500, 100),
        ("HeartbeatOrder", "7.2.1", 0, 0),
        ("ConnectCheckIntervalDelay", "7.2.1", 0, 0),
        ("TimeBetweenGlobalCheckpoints", "6.3", 2000, 10),
        ("TimeBetweenGlobalCheckpoints", "7.2.1", 2000, 20),
        ("TimeBetweenEpochs", "7.2.1", 100, 0),
        ("TimeBetweenEpochsTimeout", "7.0", 4000, 0),
        ("TimeBetweenEpochsTimeout", "7.1", 4000, 0),
        ("TimeBetweenEpochsTimeout", "7.2.1", 0, 0),
        ("TimeBetweenGlobalCheckpointsTimeout", "7.4.5", 120000, 10),
    ],
)
def test_timers_of_failures_by_version(name: str, version: str, default: int, minimum: int) -> None:
    """As ConfigInfo.cpp of that age has them: MySQL 5.5.30 (6.2 age), 7.2.1, 7.4.10, 8.4.8."""
    found = catalogue.parameter("DB", name, NdbVersion.parse(version))
    assert (found.default, found.minimum) == (default, minimum)
    assert catalogue.knows("DB", name, NdbVersion.parse(version))


@pytest.mark.parametrize(
    ("section", "name", "releases"),
    [
        # Conditional compilation in ConfigInfo.cpp and ndb_limits.h, as of 7.5.
        ("DB", "SharedGlobalMemory", {"7.1": 20 * 2**20, "7.2": 128 * 2**20}),
        ("DB", "MaxParallelScansPerFragment", {"7.1": 32, "7.2": 256}),
        ("DB", "CrashOnCorruptedTuple", {"7.2.0": 0, "7.2.1": 1}),
        ("DB", "BatchSizePerLocalScan", {"6.3": 64, "7.1": 64, "7.2": 256}),
        ("API", "BatchSize", {"6.3": 64, "7.1": 64, "7.2": 256}),
        ("API", "DefaultOperationRedoProblemAction", {"7.1": "abort", "7.2": "queue"}),
        # ConfigInfo.cpp and ndb_limits.h of the 6.2 age.
        ("API", "BatchByteSize", {"6.3": 32768, "7.2": 16384}),
        ("DB", "RedoBuffer", {"6.3": 8 * 2**20, "7.0": 32 * 2**20}),
        ("DB", "StringMemory", {"6.3": 0, "7.0": 25, "7.6": 25, "8.0": 5}),
        ("TCP", "SendBufferMemory", {"6.3": 256 * 2**10, "7.0": 2 * 2**20}),
        ("TCP", "ReceiveBufferMemory", {"6.3": 64 * 2**10, "7.0": 2 * 2**20}),
        # Release notes 7.2.16 and 7.3.5.
        (
            "DB",
            "LongMessageBuffer",
            {
                "6.3": 2**20,
                "7.1.30": 4 * 2**20,
                "7.1": 64 * 2**20,
                "7.2.15": 4 * 2**20,
                "7.2": 64 * 2**20,
                "7.3.4": 4 * 2**20,
                "7.3": 64 * 2**20,
            },
        ),
        # Manual 5.7.
        ("DB", "StartPartitionedTimeout", {"7.5": 60000, "7.6.3": 60000, "7.6": 0, "8.0": 0}),
        ("SHM", "ShmSize", {"7.5": 2**20, "7.6": 4 * 2**20}),
    ],
)
def test_defaults_by_release(section: str, name: str, releases: dict[str, int | str]) -> None:
    """What a release does that is not one of the two whose lists are kept, as its source or manual says."""
    found = {text: catalogue.parameter(section, name, NdbVersion.parse(text)).default for text in releases}
    assert found == releases


@pytest.mark.parametrize(
    ("name", "releases"),
    [
        ("BackupDataBufferSize", {"7.4.7": 0, "7.4": 2 * 2**20, "7.5": 512 * 2**10, "7.6": 512 * 2**10}),
        ("BackupLogBufferSize", {"7.3": 0, "7.4.7": 0, "7.4": 2 * 2**20}),
        ("BackupWriteSize", {"6.3": 2048, "7.4.7": 2048, "7.4": 32768}),
        ("BackupMaxWriteSize", {"6.3": 2048, "7.4.7": 2048, "7.4": 256 * 2**10}),
        ("RedoOverCommitLimit", {"7.4": 0, "7.5.16": 0, "7.5": 1, "7.6.12": 0, "7.6": 1, "8.0": 1}),
        ("RedoOverCommitCounter", {"7.4": 0, "7.5.16": 0, "7.5": 1, "7.6.12": 0, "7.6": 1, "8.0": 1}),
    ],
)
def test_least_values_by_release(name: str, releases: dict[str, int]) -> None:
    """Sources of 7.4 before 7.4.8 and of 7.5 of 2021, manual 5.7."""
    found = {text: catalogue.parameter("DB", name, NdbVersion.parse(text)).minimum for text in releases}
    assert found == releases


def test_restarts_of_threads_by_release() -> None:
    """7.5 (2021) prints them as initial system restarts; manual 5.7: a system restart from 7.6.1 on."""
    found = {
        name: [catalogue.parameter("DB", name, NdbVersion.parse(v)).restart for v in ("7.4", "7.5", "7.6")]
        for name in ("MaxNoOfExecutionThreads", "ThreadConfig")
    }
    assert found == {
        "MaxNoOfExecutionThreads": ["node", "initial_system", "system"],
        "ThreadConfig": ["node", "initial_system", "initial_system"],
    }


def test_deprecated_by_release() -> None:
    """7.4 before 7.4.8 lists BackupMemory as used; release notes 7.2.5 for the reserved send buffer."""
    found = {
        (name, text): catalogue.parameter("DB", name, NdbVersion.parse(text)).status
        for name, text in (
            ("BackupMemory", "6.3"),
            ("BackupMemory", "7.3"),
            ("BackupMemory", "7.4"),
            ("ReservedSendBufferMemory", "7.2.4"),
            ("ReservedSendBufferMemory", "7.2"),
        )
    }
    assert list(found.values()) == ["used", "used", "deprecated", "used", "deprecated"]
    assert not catalogue.may_know("DB", "ExtraSendBufferMemory", NdbVersion.parse("7.2.4"))
    assert catalogue.knows("DB", "ExtraSendBufferMemory", NdbVersion.parse("7.2.5"))


def test_no_parameter_is_younger_than_one_that_got_a_higher_number() -> None:
    """Numbers are given one after the other: those below that of ThreadConfig (7.2.3) were there with it.

    Only in the rows that were filled then: up to 198, and from 605 on.
    """
    numbers: dict[str, int] = read_json("ndb/config_params.json")["numbers"]
    before = [name for name, number in numbers.items() if 142 <= number <= 198 or 605 <= number <= 628]
    assert len(before) > 60
    version = NdbVersion.parse("7.2.3")
    assert [name for name in before if not catalogue.knows("DB", name, version)] == []


def test_every_parameter_of_data_nodes_has_its_number() -> None:
    numbers: dict[str, int] = read_json("ndb/config_params.json")["numbers"]
    unnumbered = {"ExecuteOnComputer", "System", "RestartOnErrorInsert"}
    listed = {one.name for text in SERIES for one in catalogue.parameters("DB", NdbVersion.parse(text))}
    assert listed - numbers.keys() == unnumbered


def test_timers_that_came_later() -> None:
    """7.4.5 by its release notes; that of management servers is absent in 7.2.1 and present in 7.4.10."""
    timeout = "TimeBetweenGlobalCheckpointsTimeout"
    assert not catalogue.knows("DB", timeout, NdbVersion.parse("7.4.4"))
    assert catalogue.knows("DB", timeout, NdbVersion.parse("7.4.5"))
    assert catalogue.default("DB", timeout, NdbVersion.parse("7.2")) == 120_000  # the same 120 s, fixed
    assert not catalogue.knows("MGM", "HeartbeatIntervalMgmdMgmd", NdbVersion.parse("7.2.1"))
    assert catalogue.knows("MGM", "HeartbeatIntervalMgmdMgmd", NdbVersion.parse("7.4.10"))
