"""Data files and undo files of disk data that lie on several disks of a host."""

from __future__ import annotations

import numpy as np
import pytest

from ndbplan.base.resources import resource_path
from ndbplan.checks.run import check
from ndbplan.configuration.failures import disks_needed
from ndbplan.edits import parts as edits
from ndbplan.edits.disk_data import FilesThereToo
from ndbplan.edits.roles import move_process
from ndbplan.estimate.estimation import Estimation
from ndbplan.exporting.schema_sql import render_schema
from ndbplan.importing.ddl.into_plan import with_ddl
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.simulate.run import simulate

SAMPLE = load(resource_path("samples/disk-data.ndbplan"))


def second_disks(plan: Plan) -> Plan:
    """Every host of a data node gets one more disk, the same everywhere."""
    for host_id in dict.fromkeys(node.host_id for node in plan.data_nodes):
        disks = plan.host(host_id).disks
        more = disks[0].model_copy(update={"id": f"{host_id}-more", "name": "more", "mount_point": "/more"})
        plan = edits.update(plan, host_id, disks=(*disks, more))
    return plan


ONE = second_disks(SAMPLE)
BOTH = FilesThereToo(DiskRole.DATA_FILES, "/more/ndb")(ONE)
NODE = BOTH.data_nodes[0]
FIRST, MORE = BOTH.host(NODE.host_id).disks[0].id, f"{NODE.host_id}-more"


def test_both_disks_have_their_share_of_files_and_of_pages() -> None:
    sizes = Estimation(BOTH).disk_space
    assert sizes.of(MORE).of(DiskRole.DATA_FILES).value == pytest.approx(
        sizes.of(FIRST).of(DiskRole.DATA_FILES).value
    )
    alone, halves = (Estimation(plan, SAMPLE.workloads[0]).disks for plan in (ONE, BOTH))

    def asked(found: object, disk_id: str) -> tuple[float, float]:
        (stream,) = [s for s in found.of(disk_id).streams if s.purpose is DiskRole.DATA_FILES]
        return stream.random_reads_per_s.value, stream.write_bytes_per_s.value

    whole, mine, other = asked(alone, FIRST), asked(halves, FIRST), asked(halves, MORE)
    assert max(whole) > 0
    assert mine == other == pytest.approx([one / 2 for one in whole])
    (stream,) = [s for s in halves.of(MORE).streams if s.purpose is DiskRole.DATA_FILES]
    assert stream.random_reads_per_s.low == 0
    assert stream.random_reads_per_s.high == pytest.approx(2 * stream.random_reads_per_s.value, rel=0.5)


def test_the_simulation_reads_and_writes_both() -> None:
    runs = [simulate(Estimation(plan, SAMPLE.workloads[0]), duration_s=20) for plan in (ONE, BOTH)]
    written = []
    for run in runs:
        named = {disk.disk: disk for disk in run.disks if disk.host == BOTH.host(NODE.host_id).hostname}
        written.append({name: float(np.sum(disk.bytes_per_s["data_files"])) for name, disk in named.items()})
    first = BOTH.host(NODE.host_id).disks[0].name
    # The first has checkpoints too: what it is not granted at once goes out later.
    assert written[1]["more"] == pytest.approx(written[1][first], rel=0.05)
    assert written[1]["more"] > 0
    assert runs[1].accepted_per_s.value >= runs[0].accepted_per_s.value


def test_the_schema_names_the_path_and_is_read_as_it_was() -> None:
    text = render_schema(BOTH)
    assert "ADD DATAFILE '/more/ndb/" in text
    bare = BOTH.replace(tablespaces=(), logfile_groups=(), tables=(), workloads=())
    again = with_ddl(bare, read_ddl(text, bare.version))[0]
    assert [f.directory for f in again.tablespaces[0].data_files] == [
        f.directory for f in BOTH.tablespaces[0].data_files
    ]


def test_a_node_dies_with_either_disk_and_a_folder_on_none_is_told() -> None:
    assert {FIRST, MORE} <= disks_needed(BOTH, NODE)
    assert MORE not in disks_needed(ONE, NODE)
    assert "file-directory" not in {p.rule for p in check(BOTH)}
    lost = FilesThereToo(DiskRole.UNDO, "/nowhere/ndb")(ONE)
    (problem,) = [p for p in check(lost) if p.rule == "file-directory"]
    assert "is on no disk of" in problem.message
    together = move_process(BOTH, BOTH.data_nodes[1].id, NODE.host_id)
    assert any("error 760" in p.message for p in check(together) if p.rule == "file-directory")
