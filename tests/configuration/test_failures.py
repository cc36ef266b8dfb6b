"""What dead parts of a plan do: held against recorded courses on plans built of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from failing_plans import plan_of_course, small
from ndbplan.base.kept import Kept, keeping
from ndbplan.configuration.failing_parts import Part, PartError, parse_parts, parts
from ndbplan.configuration.failures import Failures, Step, cluster_of, course, disks_needed
from ndbplan.ndb.survival import Arbitration, Candidate, Outcome
from ndbplan.plan.hardware import Host, Location
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode, DiskRoles
from ndbplan.plan.samples import sample_plan
from random_plans import random_plan

COURSES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent.parent / "reality" / "survival.json").read_text()
)["courses"]


def step_of(row: dict[str, Any], step: dict[str, Any]) -> Step:
    """A recorded failure as parts of the plan: a cut becomes the links between hosts of its sides."""
    dead = [Part("node", str(node_id)) for node_id in step.get("dead", ())]
    sides = step.get("cut") or []
    links = [
        Part("link", f"h{one}/h{other}")
        for i, side in enumerate(sides)
        for later in sides[i + 1 :]
        for one in side
        for other in later
    ]
    return Step((*dead, *links), (), step["at_s"])


def without_restarts(row: dict[str, Any]) -> bool:
    return all("back" not in step for step in row["steps"])


@pytest.mark.parametrize(
    "row", [row for row in COURSES if without_restarts(row)], ids=lambda r: str(r["name"])
)
def test_every_recorded_course_comes_out_on_a_plan(row: dict[str, Any]) -> None:
    plan = plan_of_course(row)
    judged = course(plan, [step_of(row, step) for step in row["steps"]])
    for step, answers in zip(row["steps"], judged, strict=True):
        sides = [side for answer in answers for side in answer.sides]
        assert not any(answer.shut_out for answer in answers)
        assert frozenset().union(*(side.up for side in sides)) == set(step["up"])
        if row.get("arbitration") != "WaitExternal":
            assert step["asked"] == any(side.verdict.asked is not None for side in sides)


def outcome(plan: Plan, text: str) -> Outcome:
    return Failures(plan).judge(parse_parts(plan, text)).best.verdict.outcome


def test_parts_of_a_plan() -> None:
    plan = small()
    texts = [str(part) for part in parts(plan)]
    assert texts[:6] == ["node:1", "node:2", "node:3", "node:4", "node:51", "node:60"]
    assert "host:a1.example" in texts
    assert "disk:a1.example/nvme1" in texts
    assert "rack:Rack A" in texts
    assert "switch:Rack C" in texts
    assert not any(text.startswith("link:") for text in texts)
    assert parse_parts(plan, ", ".join(texts)) == parts(plan)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("node:9", "the plan has no node '9'"),
        ("host:x", "the plan has no host 'x'"),
        ("disk:a1.example/sda", "the plan has no disk 'a1.example/sda'"),
        ("rack:Z", "the plan has no rack or location 'Z'"),
        ("switch:Z", "the plan has no rack or location 'Z'"),
        ("link:a1.example", "the plan has no link 'a1.example'"),
        ("link:a1.example/a1.example", "the plan has no link 'a1.example/a1.example'"),
        ("cable:3", "'cable:3' does not name a part"),
        ("", "'' does not name a part"),
    ],
)
def test_parts_that_are_not_there(text: str, said: str) -> None:
    with pytest.raises(PartError) as caught:
        parse_parts(small(), text)
    assert said in caught.value.line
    assert caught.value.fix


def test_names_with_commas() -> None:
    plan = small(
        locations=(
            Location(id="a", name="Rack A, left"),
            Location(id="b", name="Rack B"),
            Location(id="c", name="C"),
        )
    )
    assert [str(p) for p in parse_parts(plan, "rack:Rack A, left,node:1")] == ["rack:Rack A, left", "node:1"]


def test_what_a_disk_kills() -> None:
    plan = small()
    failures = Failures(plan)

    def killed(changed: Plan, disk: str) -> frozenset[int]:
        return Failures(changed).nodes_of(parse_parts(changed, f"disk:a1.example/{disk}")[0])

    assert killed(plan, "nvme0") == {1}  # its first disk holds everything
    assert killed(plan, "nvme1") == frozenset()
    assert failures.nodes_of(parse_parts(plan, "disk:c1.example/nvme0")[0]) == frozenset()

    def with_roles(**roles: str) -> Plan:
        nodes = [
            p if p.id != "n1" else p.model_copy(update={"disk_roles": DiskRoles(**roles)})
            for p in plan.processes
        ]
        return plan.replace(processes=tuple(nodes))

    assert killed(with_roles(backup="a1-d1"), "nvme1") == frozenset()
    for role in ("redo", "lcp", "undo", "data_files"):
        assert killed(with_roles(**{role: "a1-d1"}), "nvme1") == {1}, role
    moved = plan.replace(parameters=ClusterParameters(data_node={"FileSystemPath": "/disk1/ndb"}))
    assert (killed(moved, "nvme0"), killed(moved, "nvme1")) == (frozenset(), {1})
    for name in ("FileSystemPathDD", "BackupDataDir"):
        beside = plan.replace(parameters=ClusterParameters(data_node={name: "/disk1/ndb"}))
        assert killed(beside, "nvme1") == frozenset(), "no disk data, and a backup is not needed to live"


@pytest.mark.parametrize("plan", [sample_plan("telecom-144"), *map(random_plan, range(40))])
def test_nodes_whose_disks_are_alike_need_those_that_each_needs_alone(plan: Plan) -> None:
    with keeping(Kept()) as kept:
        together = [disks_needed(plan, node) for node in plan.data_nodes]
    alone = []
    for node in plan.data_nodes:
        with keeping(Kept()):
            alone.append(disks_needed(plan, node))
    assert together == alone
    if len(plan.data_nodes) > 100:
        assert len(kept) < 2 * len(plan.data_nodes), "each node is worked out by itself"


def test_a_disk_mounted_at_the_folder_of_one_node_is_not_needed_by_another() -> None:
    plan = small(parameters=ClusterParameters(data_node={"DataDir": "/srv/ndb"}))

    def mounted(host: Host) -> Host:
        own = [*host.disks, host.disks[0].model_copy(update={"id": f"{host.id}-own", "mount_point": "/x"})]
        own[-1] = own[-1].model_copy(update={"mount_point": "/srv/ndb/ndb_1_lcp"})
        return host.model_copy(update={"disks": tuple(own)})

    nodes = [
        node.model_copy(update={"disk_roles": DiskRoles(redo=f"{node.host_id}-d1")})
        if isinstance(node, DataNode)
        else node
        for node in plan.processes
    ]
    plan = plan.replace(hosts=tuple(map(mounted, plan.hosts)), processes=tuple(nodes))
    with keeping():
        needed = [disks_needed(plan, node) for node in plan.data_nodes]
    assert [f"{node.host_id}-own" in own for node, own in zip(plan.data_nodes, needed, strict=True)] == [
        node.node_id == 1 for node in plan.data_nodes
    ]


def test_a_management_node_dies_with_its_disk_only_where_the_plan_says_so() -> None:
    plan = small(parameters=ClusterParameters(management={"DataDir": "/disk0/mgm"}))
    assert Failures(plan).nodes_of(parse_parts(plan, "disk:c1.example/nvme0")[0]) == {51}


def test_a_host_takes_all_its_nodes_and_a_pool_goes_as_one() -> None:
    plan = small()
    failures = Failures(plan)
    assert failures.nodes_of(parse_parts(plan, "host:c1.example")[0]) == {51, 60, 61, 62}
    assert failures.nodes_of(parse_parts(plan, "node:61")[0]) == {60, 61, 62}
    assert failures.nodes_of(parse_parts(plan, "rack:Rack A")[0]) == {1, 3}


def test_racks_and_switches() -> None:
    plan = small()
    assert outcome(plan, "rack:Rack A") is Outcome.ASKS
    assert outcome(plan, "rack:Rack C") is Outcome.GOES_ON
    assert outcome(plan, "rack:Rack A,node:51") is Outcome.STOPS
    assert outcome(plan, "rack:Rack A,rack:Rack B") is Outcome.STOPS
    cut = Failures(plan).judge(parse_parts(plan, "switch:Rack A"))
    assert [(side.up, side.verdict.outcome) for side in cut.sides] == [
        (frozenset(), Outcome.STOPS),
        (frozenset({2, 4}), Outcome.ASKS),
    ]
    apart = Failures(plan).judge(parse_parts(plan, "switch:Rack A,switch:Rack B"))
    assert apart.stops  # both halves are cut off from the arbitrator
    assert all(side.verdict.asked == 51 for side in apart.sides)


def test_a_cut_side_stays_together() -> None:
    plan = small()
    together = parse_parts(plan, "node:1,node:2,node:51")
    (first,) = course(plan, [Step(cut=(together,))])
    assert [side.verdict.outcome for side in first[0].sides] == [Outcome.STOPS, Outcome.STOPS]  # whole groups
    half = parse_parts(plan, "node:1,node:3,node:51")
    (second,) = course(plan, [Step(cut=(half,))])
    assert second[0].best.up == {1, 3}


def test_a_broken_link_shuts_one_end_out() -> None:
    plan = small()
    judged = Failures(plan).judge(parse_parts(plan, "link:a1.example/b1.example"))
    assert judged.shut_out == {2}
    assert judged.best.up == {1, 3, 4}
    lonely = Failures(plan).judge(
        parse_parts(plan, "link:a1.example/b1.example,link:a1.example/a2.example,link:a1.example/b2.example")
    )
    assert not lonely.shut_out  # a1 sees nobody: a side of its own, which stops
    assert lonely.best.up == {2, 3, 4}
    assert [side.verdict.outcome for side in lonely.sides] == [Outcome.STOPS, Outcome.GOES_ON]


def test_split_brain() -> None:
    plan = small(parameters=ClusterParameters(data_node={"Arbitration": "Disabled"}))
    judged = Failures(plan).judge(parse_parts(plan, "switch:Rack A"))
    assert judged.split_brain
    assert not Failures(small()).judge(parse_parts(small(), "switch:Rack A")).split_brain


def test_what_the_product_knows_of_a_plan() -> None:
    cluster = cluster_of(small())
    assert cluster.groups == {0: {1, 2}, 1: {3, 4}}
    assert cluster.candidates == (Candidate(51, 1),)
    ranked = small(parameters=ClusterParameters(sql={"ArbitrationRank": 2}))
    assert [(c.node_id, c.rank) for c in cluster_of(ranked).candidates] == [
        (51, 1),
        (60, 2),
        (61, 2),
        (62, 2),
        (70, 2),
    ]
    assert Failures(ranked).running.connected == {51, 60, 61, 62}  # nobody has taken the free slot
    slow = small(parameters=ClusterParameters(management={"ArbitrationDelay": 8000}))
    assert not cluster_of(slow).candidates[0].answers
    waiting = small(parameters=ClusterParameters(data_node={"Arbitration": "waitexternal"}))
    assert cluster_of(waiting).arbitration is Arbitration.WAIT_EXTERNAL


def test_all_pairs_of_hosts_of_the_largest_cluster_need_no_arbitrator() -> None:
    failures = Failures(sample_plan("telecom-144"))
    hosts = [part for part in parts(failures.plan) if part.kind == "host"]
    for host in hosts:
        assert failures.judge([host]).best.verdict.outcome is Outcome.GOES_ON
