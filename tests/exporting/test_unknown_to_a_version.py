"""Nothing unknown to a version is written: every parameter of the catalogue, for every version."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ndbplan.base.frozen import FrozenMap
from ndbplan.base.resources import read_json
from ndbplan.checks.refused.configuration import paths_of_disk_roles, unknown_parameter
from ndbplan.configuration.sections import sections
from ndbplan.edits.parts import set_plan
from ndbplan.estimate.estimation import Estimation
from ndbplan.exporting.export import render_files
from ndbplan.importing.config.plan import import_config
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.console import tool_options
from ndbplan.ndb.parameters import Parameter
from ndbplan.ndb.version import NdbVersion
from ndbplan.operations.schema import disk_data_statements
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import EMPTY_PLAN, ClusterParameters, Plan
from ndbplan.plan.processes import DataNode, DiskRoles
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import LogfileGroup, SpaceFile, Tablespace

REALITY = Path(__file__).parent.parent / "reality"
SCOPES = {
    "DB": "data_node",
    "MGM": "management",
    "API": "sql",
    "TCP": "tcp",
    "SHM": "shm",
    "SYSTEM": "system",
}
HEADERS = {
    "ndbd default": "DB", "ndb_mgmd default": "MGM", "mysqld default": "API", "tcp default": "TCP",
    "shm default": "SHM", "system": "SYSTEM",
}  # fmt: skip
VERSIONS = (
    "6.3.19", "6.3", "7.0", "7.1", "7.2.0", "7.2.1", "7.2.15", "7.2.16", "7.3", "7.4.1", "7.4.10", "7.5",
    "7.6.4", "7.6.7", "8.0.15", "8.0.22", "8.0.42", "8.0", "8.4.0", "8.4.8", "9.x",
)  # fmt: skip
LATER_THAN_ITS_SOURCE = {
    "RealtimeScheduler", "SchedulerExecutionTimer", "SchedulerSpinTimer", "LockExecuteThreadToCPU",
    "LockMaintThreadsToCPU", "TimeBetweenEpochs", "TimeBetweenEpochsTimeout", "BackupReportFrequency",
    "CompressedBackup", "CompressedLCP", "InitFragmentLogFiles",
}  # fmt: skip
"""What manuals and release notes give to 6.2 and 6.3, beside the source of the 6.2 age."""


def value_for(parameter: Parameter) -> int | str:
    """Any value that a parameter takes."""
    if parameter.is_number:
        return int(parameter.allowed_values[0]) if parameter.allowed_values else parameter.minimum or 0
    if parameter.type == "bool":
        return 1
    if parameter.type == "bitmask":
        return "0"
    return parameter.allowed_values[0] if parameter.allowed_values else "x"


def everything_stated(version: str) -> Plan:
    """A plan that states every parameter that any version has."""
    stated: dict[str, dict[str, int | str]] = {scope: {} for scope in SCOPES.values()}
    for row in read_json(catalogue.SOURCE_FILE)["parameters"]:
        section, name = row["section"], row["name"]
        if section in SCOPES:
            parameter = catalogue.parameter(section, name, NdbVersion.parse(version))
            stated[SCOPES[section]][name] = value_for(parameter)
    parameters = ClusterParameters(**{scope: FrozenMap(values) for scope, values in stated.items()})
    return EMPTY_PLAN.replace(ndb_version=version, parameters=parameters)


def written(version: str) -> Iterator[tuple[str, str]]:
    for section in sections(everything_stated(version)):
        for entry in section.entries:
            yield HEADERS[section.header], entry.name


def printed(release: str) -> set[tuple[str, str]]:
    rows = json.loads((REALITY / f"configinfo-{release}.json").read_text())["rows"]
    return {(row[0], row[1].lower()) for row in rows}


@pytest.mark.parametrize("version", VERSIONS)
def test_only_what_a_version_is_known_to_have_is_written(version: str) -> None:
    rows = {(r["section"], r["name"]): r for r in read_json(catalogue.SOURCE_FILE)["parameters"]}
    release = NdbVersion.parse(version)
    for place in written(version):
        numbers = [int(part) for part in rows[place]["since"].replace("x", "0").split(".")]
        assert tuple(numbers) <= release
        assert "removed" not in rows[place] or release < NdbVersion.parse(rows[place]["removed"])


def test_the_oldest_gets_what_its_source_lists() -> None:
    listed = json.loads((REALITY / "configinfo-6.2-age.json").read_text())["names"]
    for version in ("6.3.19", "6.3"):
        names = set(written(version))
        strange = {name for section, name in names if name not in listed[section]}
        assert strange == LATER_THAN_ITS_SOURCE
        assert ("DB", "DataMemory") in names


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
def test_servers_get_what_they_print(version: str) -> None:
    unprinted = {"parallelbackups", "system"}
    strange = {(s, n) for s, n in written(version) if (s, n.lower()) not in printed(version)}
    assert {n for _, n in strange if n.lower() not in unprinted} == set()


def test_what_is_not_certain_is_left_out_and_said_so() -> None:
    plan = EMPTY_PLAN.replace(
        ndb_version="7.0", parameters=ClusterParameters(data_node=FrozenMap({"HeartbeatOrder": 1}))
    )
    (default,) = sections(plan)
    assert [entry.name for entry in default.entries] == ["NoOfReplicas"]
    assert default.left_out[0].comment == "NDB 7.0 may not know this parameter"
    (problem,) = unknown_parameter(Estimation(plan))
    assert "NDB 7.0 may not know HeartbeatOrder: it came between the 6.2 age and 7.2.1" in problem.message
    text = "[ndb_mgmd]\nHostName=a\n[ndbd]\nNoOfReplicas=1\nHeartbeatOrder=1\nHostName=b\n[mysqld]\n"
    plan, report = import_config(text, "7.0")
    assert report.accepted
    assert plan.data_nodes[0].parameters["HeartbeatOrder"] == "1"
    assert any("may not know HeartbeatOrder" in finding.message for finding in report.findings)


def test_disk_roles_that_need_a_later_parameter_are_said_by_statements_or_named() -> None:
    speeds = dict.fromkeys(("sequential_read_bytes_per_s", "sequential_write_bytes_per_s"), 1e9)
    speeds |= dict.fromkeys(("random_read_iops", "random_write_iops"), 1e5)
    disks = tuple(
        Disk(id=f"d{i}", name=f"d{i}", capacity_bytes=10**12, mount_point=f"/d{i}", **speeds) for i in (1, 2)
    )
    host = Host(id="h", hostname="n", memory_bytes=2**34, disks=disks)
    roles = DiskRoles(data_files="d2", undo="d2")
    node = DataNode(id="n", node_id=2, host_id="h", disk_roles=roles)
    file = SpaceFile(name="f", size_bytes=2**20)
    group = LogfileGroup(id="lg", name="lg", undo_files=(file,))
    space = Tablespace(id="ts", name="ts", logfile_group_id="lg", data_files=(file,))
    plan = EMPTY_PLAN.replace(
        ndb_version="6.3.19",
        hosts=(host,),
        processes=(node,),
        logfile_groups=(group,),
        tablespaces=(space,),
    )
    lost = next(entry for section in sections(plan) for entry in section.left_out)
    assert (lost.name, lost.value) == ("FileSystemPathDD", "/d2/ndb")
    assert list(paths_of_disk_roles(Estimation(plan))) == []
    statements = "".join(disk_data_statements(plan))
    assert "UNDOFILE '/d2/ndb/f'" in statements
    assert "DATAFILE '/d2/ndb/f'" in statements
    # A full path is one file: two data nodes of a host would write into the same.
    two = plan.replace(processes=(node, DataNode(id="n2", node_id=3, host_id="h", disk_roles=roles)))
    (problem,) = paths_of_disk_roles(Estimation(two))
    assert "FileSystemPathDD=/d2/ndb" in problem.message
    newer = two.replace(ndb_version="7.4")
    assert list(paths_of_disk_roles(Estimation(newer))) == []
    assert "DATAFILE 'f'" in "".join(disk_data_statements(newer))


OF_SOME_VERSIONS = {
    "ndb_restore --include-stored-grants": "8.0.19",
    "ndb_mgmd --configdir": "7.0.4",
}
"""Options of programs that came later than 6.3, and when (manual; release notes of 6.4 and 8.0.19)."""


@pytest.mark.parametrize("version", ["6.3.19", "7.0.9", "7.4.10", "8.0.18", "8.0.30", "8.4.8"])
@pytest.mark.parametrize("name", ["starter", "disk-data"])
def test_programs_are_given_options_that_they_have(name: str, version: str) -> None:
    plan = set_plan(sample_plan(name), ndb_version=version)
    files = render_files(plan, ("runbook", "systemd"))
    text = "\n".join(one for one in files.values() if isinstance(one, str))
    found = {
        (program.replace("ndbmtd", "ndbd"), option)
        for program, words in re.findall(r"\b(ndb_[a-z]+|ndbm?t?d)((?: +--[\w-]+[^\s)]*)+)", text)
        for option in re.findall(r" --([\w-]+)", words)
    }
    assert {program for program, _ in found} >= {"ndb_mgm", "ndb_mgmd", "ndbd", "ndb_restore", "ndb_waiter"}
    assert {(program, one) for program, one in found if one not in tool_options(program)} == set()
    for both, first in OF_SOME_VERSIONS.items():
        program, _, option = both.partition(" --")
        is_later = NdbVersion.parse(version) >= NdbVersion.parse(first)
        assert ((program, option) in found) is is_later, both
