"""Edits with names as long and as odd as a plan may hold them: the reader accepts what they make.

More than the suite tries: `python tests/edits/test_hostile_names.py 10000`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from ndbplan.base.errors import UserError
from ndbplan.edits import clipboard, offers
from ndbplan.edits import parts as edits
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.roles import assign_role, move_process
from ndbplan.plan.file import dumps, loads
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.samples import sample_plan

SAMPLES = ("starter", "disk-data", "node-restart", "terabyte-load", "add-nodes-8.4")
EDITS_OF_A_PLAN = 20

IDS = (
    "a" * 63,
    "A" * 60 + ".-_",
    "0",
    "9" * 63,
    "x-2",
    "x",
    "a-9999",
    "é",
    "",
    "a b",
    "-a",
    "hosts",
    "a" * 64,
)
LABELS = (
    "SSD (fast)",
    "nvme/0",
    "a&b",
    "nvme0²",
    "диск",
    "é" * 64,
    "`;--'\"\\",
    "a" * 64,
    "%s{}[0]",
    "name\n",
    "",
    "表",
    "a_2",
    "\u202e",
    "a" * 65,
)
HOSTNAMES = (
    "h" * 63, "9" * 62 + "a", "a." + ".".join(c * 63 for c in "bcd") + "." + "e" * 59, "10.0.0.255", "h" * 64,
    "255.255.255.254", "fd00::ffff", "::", "fe80::a", "a9", "h" * 62 + "9", "999", "bad host", "1.2.3",
    "9" * 50 + ".example", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "1:2", "h" * 63 + ":1",
)  # fmt: skip


def one_edit(random: Random, plan: Plan) -> Plan:
    """The plan after one edit drawn by chance. Raises UserError when it is refused."""
    ids = list(plan.by_id)
    some = [random.choice(ids) for _ in range(random.choice((1, 1, 1, 3)))]
    part: Any = plan.by_id[some[0]]
    host = random.choice(plan.hosts).id
    new_host, new_disk = (offers.hardware()[kind][0]["key"] for kind in ("hosts", "disks"))
    choices: list[Callable[[], Plan]] = [
        lambda: edits.remove(plan, some),
        lambda: edits.update(plan, part.id, id=random.choice(IDS)),
        lambda: edits.update(plan, part.id, id=random.choice(IDS)),
        lambda: edits.update(plan, part.id, **_named(random, part)),
        lambda: edits.update(plan, part.id, **_named(random, part)),
        lambda: clipboard.paste(plan, clipboard.copy(plan, some), onto_host=host)[0],
        lambda: clipboard.paste(plan, clipboard.copy(plan, some), onto_host=host)[0],
        lambda: clipboard.paste(sample_plan("starter"), clipboard.copy(plan, some))[0],
        lambda: add_node_group(plan),
        lambda: edits.add(plan, offers.make_table(plan, name=random.choice(LABELS))),
        lambda: edits.add(plan, offers.make_workload(plan, name=random.choice(LABELS))),
        lambda: edits.add(plan, offers.workload_of_tables(plan)),
        lambda: edits.add(plan, offers.make_host(plan, new_host)),
        lambda: edits.add(plan, offers.make_process(plan, random.choice(("data", "sql", "api")), host)),
        lambda: edits.add_disk(plan, host, offers.make_disk(plan, plan.host(host), new_disk)),
        lambda: move_process(plan, random.choice(plan.processes).id, host),
        lambda: assign_role(
            plan, random.choice(plan.data_nodes).id, random.choice(list(DiskRole)), random.choice(ids)
        ),
    ]
    return random.choice(choices)()


def _named(random: Random, part: Any) -> dict[str, Any]:
    """A hostile name for whatever the part is called by."""
    if hasattr(part, "hostname"):
        return {"hostname": random.choice(HOSTNAMES)}
    if isinstance(part, DataNode) or hasattr(part, "node_id"):
        return {"node_id": random.choice((1, 2, 144, 145, 255, 0))}
    return {"name": random.choice(LABELS)}


def try_edits(seed: int) -> int:
    """Make some edits of a sample, one after the other; how many were not refused."""
    random = Random(seed)
    plan = sample_plan(random.choice(SAMPLES))
    made = 0
    for _ in range(EDITS_OF_A_PLAN):
        if not (plan.hosts and plan.data_nodes):
            # Nothing is left to choose from.
            plan = sample_plan("starter")
        before, text = plan, dumps(plan)
        try:
            after = one_edit(random, plan)
        except UserError:
            pass
        else:
            assert loads(dumps(after)) == after, f"seed {seed}"
            made += 1
            plan = after
        # What an undo goes back to is what was there.
        assert dumps(before) == text
    return made


@pytest.mark.parametrize("seed", range(10))
def test_the_reader_accepts_what_edits_make(seed: int) -> None:
    assert try_edits(seed) > 0


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    done = [try_edits(seed) for seed in range(wanted // EDITS_OF_A_PLAN)]
    print(f"{sum(done)} of {len(done) * EDITS_OF_A_PLAN} edits were made, the others refused")
