"""Where two runs part: the first second, the cause, and the chain from what clients see back to it.

`tests/changed_inputs.py` has the long form: 500 changes of one input.
"""

from __future__ import annotations

import random

import pytest

import changed_inputs as changes
from ndbplan.base.units import MIB
from ndbplan.describe.parting import NOWHERE, sentence
from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.roles import assign_role
from ndbplan.plan.events import Backup
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.model.node_rows import SimulationError
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.parting.parted import parting
from ndbplan.simulate.run import simulate

SINGLE, PAIRS = 36, 16
MINUTE = 60.0


def test_a_changed_input_is_named() -> None:
    ones = list(changes.parted(SINGLE, seed=1000))
    assert len({one.name for one in ones}) > 12
    wrong = [(one.seed, one.name, one.found) for one in ones if not one.is_right]
    assert len(wrong) <= 0.05 * SINGLE, wrong


def test_of_two_changes_that_is_named_which_acts_first() -> None:
    twos = [two for seed in range(2000, 2000 + PAIRS) if (two := changes.tried_two(seed)) is not None]
    assert len(twos) > PAIRS // 2
    wrong = [two for two in twos if not two.is_right]
    assert len(wrong) <= 1, wrong


def loaded(disk_bytes_per_s: float = 100e6) -> Plan:
    """Data nodes each of whose disks takes log, checkpoints and backups just so."""
    plan = sample_plan("redo-overload-8.4")
    for name, value in (("MinDiskWriteSpeed", 10 * MIB), ("MaxDiskWriteSpeed", 40 * MIB)):
        plan = set_parameter(plan, "data_node", name, value)
    for host in plan.hosts:
        for disk in host.disks:
            plan = edits.update(plan, disk.id, sequential_write_bytes_per_s=disk_bytes_per_s)
    for node in plan.data_nodes:
        for role in (DiskRole.REDO, DiskRole.LCP, DiskRole.BACKUP):
            plan = assign_role(plan, node.id, role, plan.host(node.host_id).disks[0].id)
    return plan


def test_a_load_that_reads_what_it_wrote_is_not_taken_for_more_rows() -> None:
    """Bytes of tables that the load leaves alone were the cause, as if there were more rows."""
    pick = random.Random(1)
    plan = changes.drawn(pick)
    other = changes.CHANGES["reads"][1](plan, pick)
    found = parting(*(simulate(estimation_of(one, "w"), duration_s=MINUTE) for one in (plan, other)))
    assert found is not None
    assert found.cause.subsystem == "load"


def test_equal_runs_do_not_part() -> None:
    runs = [simulate(estimation_of(loaded()), duration_s=MINUTE) for _ in range(2)]
    assert parting(*runs) is None
    assert sentence(None) == NOWHERE


def test_runs_part_when_a_backup_takes_the_disk() -> None:
    plan = set_parameter(loaded(), "data_node", "BackupDiskWriteSpeedPct", 90)
    quiet, disturbed = (
        simulate(estimation_of(plan), duration_s=240.0, events=events)
        for events in ((), (Backup(at_s=30.0),))
    )
    found = parting(disturbed, quiet)
    assert found is not None
    assert found.at_s == 30.0
    assert found.cause.subsystem == "backup"
    assert found.event is not None
    assert found.event.is_here
    assert [link.what for link in found.chain][-1] == "backup"
    text = sentence(found)
    assert text.startswith("From ")
    assert "a backup takes" in text
    assert "since a backup starts at 0:30." in text
    swapped = parting(quiet, disturbed)
    assert swapped is not None
    assert swapped.at_s == found.at_s
    assert [(link.there, link.here) for link in swapped.chain] == [(k.here, k.there) for k in found.chain]
    assert "in the other run" in sentence(swapped)


def test_the_chain_goes_from_the_error_to_the_disk() -> None:
    slow, fast = (simulate(estimation_of(loaded(speed)), duration_s=MINUTE) for speed in (40e6, 120e6))
    found = parting(slow, fast)
    assert found is not None
    assert (found.cause.subsystem, found.cause.here, found.cause.there) == ("disks", 40e6, 120e6)
    assert [link.what for link in found.chain][:3] == ["error 1221", "fill", "written"]
    assert all(link.at_s >= found.at_s for link in found.chain)
    assert found.chain[2].here < found.chain[2].there
    error = slow.first_error
    assert error is not None
    assert abs(found.chain[0].at_s - error.first_at_s.value) <= slow.bucket_s


def test_a_setting_without_effect_is_no_cause() -> None:
    plan = loaded()
    larger = set_parameter(plan, "data_node", "RedoBuffer", 512 * MIB)
    faster = set_parameter(larger, "data_node", "MaxDiskWriteSpeed", 20 * MIB)
    one, other, both = (simulate(estimation_of(each), duration_s=MINUTE) for each in (plan, larger, faster))
    found = parting(one, both)
    assert found is not None
    assert found.cause.subsystem == "checkpoints"
    assert {each.subsystem for each in found.differs} >= {"checkpoints", "redo buffer"}
    alone = parting(one, other)
    assert alone is None or alone.at_s > found.at_s


def test_runs_of_other_lengths_of_records_are_refused() -> None:
    short, long = (simulate(estimation_of(loaded()), duration_s=seconds) for seconds in (MINUTE, 2000.0))
    with pytest.raises(SimulationError, match="simulate both for the same time"):
        parting(short, long)
