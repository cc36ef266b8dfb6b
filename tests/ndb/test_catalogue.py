"""The catalogue against what the programs print of themselves, and its own consistency."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ndbplan.base.resources import read_json
from ndbplan.ndb import catalogue
from ndbplan.ndb.version import SERIES, NdbVersion

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
        releases = [catalogue._release(span["from"]) for span in row["spans"]]
        assert releases == sorted(set(releases)), row["name"]
        assert releases[0] == catalogue._release(row["since"]), row["name"]


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
