"""What changes between configurations, what that restarts and how it is rolled out."""

from __future__ import annotations

from hypothesis import given, settings

from drawn_plans import plans
from ndbplan.base.resources import resource_path
from ndbplan.configuration.difference import Difference, diff, diff_from_defaults
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import remove, update
from ndbplan.estimate.estimation import Estimation
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.importing.config.plan import import_config
from ndbplan.operations.change import change
from ndbplan.operations.change_in_short import in_short
from ndbplan.plan import file
from ndbplan.plan.plan import Plan


def starter() -> Plan:
    return file.load(resource_path("samples/starter.ndbplan"))


def with_values(**values: int | str) -> Plan:
    plan = starter()
    for name, value in values.items():
        plan = set_parameter(plan, "data_node", name, value)
    return plan


def changed(**values: int | str) -> Difference:
    return diff(starter(), with_values(**values))


def order(before: Plan, after: Plan) -> tuple[str, ...]:
    return tuple(in_short(change(Estimation(after), before, timed=False)))


def test_nothing_changes() -> None:
    found = diff(starter(), starter())
    assert found.is_empty
    assert found.restart == "nothing"
    assert order(starter(), starter()) == ()


def test_a_rolling_restart() -> None:
    found = changed(DataMemory=2**36)
    (change,) = found.parameters
    assert (change.name, change.before, change.after) == ("DataMemory", 2**37, 2**36)
    assert change.node_ids == (1, 2)
    assert change.shown(change.before) == "128G"
    assert found.restart == "node"
    assert [step.split(" (")[0] for step in order(starter(), with_values(DataMemory=2**36))] == [
        "Edit the configuration",
        "Restart 2 management nodes with --reload",
        "Restart data nodes 1, 2, one after the other; each is STARTED before the next",
        "Verify",
    ]


def test_the_heaviest_restart_counts() -> None:
    assert changed(NoOfFragmentLogFiles=20, DataMemory=2**36).restart == "initial_node"
    assert "--initial" in " ".join(order(starter(), with_values(NoOfFragmentLogFiles=20)))
    assert changed(NoOfReplicas=1).restart == "initial_system"
    steps = order(add_node_group(starter()), starter())
    assert steps[:3] == (
        "Stop the SQL nodes", "START BACKUP", "Stop the data nodes and remove their files",
    )  # fmt: skip
    assert steps.index("Restore the backup") > steps.index("Start all data nodes empty")


def test_one_node_only() -> None:
    plan = set_parameter(starter(), "ndb2", "MaxNoOfTables", 500)
    found = diff(starter(), plan)
    assert found.parameters[0].where == "data node 2"
    assert "Restart data node 2 Verify" in " ".join(order(starter(), plan))


def test_setting_a_default_changes_nothing() -> None:
    assert changed(MaxNoOfTables=128).is_empty


def test_new_and_lost_nodes() -> None:
    grown = diff(starter(), add_node_group(starter()))
    assert [node.node_id for node in grown.added] == [3, 4]
    steps = order(starter(), add_node_group(starter()))
    assert "Restart data nodes 1, 2, one after the other" in " ".join(steps)
    assert steps.index("CREATE NODEGROUP for 1 group") > steps.index(
        "Start the new data nodes 3, 4 with --initial"
    )
    shrunk = diff(add_node_group(starter()), starter())
    assert shrunk.restart == "initial_system"
    fewer = diff(starter(), remove(starter(), [starter().sql_nodes[0].id]))
    assert [node.node_id for node in fewer.removed] == [147]
    assert fewer.restart == "node"


def test_connections_and_hosts() -> None:
    buffers = diff(starter(), set_parameter(starter(), "tcp", "SendBufferMemory", 2**22))
    assert buffers.parameters[0].where == "connections of data nodes 1, 2"
    moved = diff(starter(), update(starter(), starter().data_nodes[0].host_id, hostname="other"))
    assert [(c.name, c.before, c.after) for c in moved.parameters] == [("HostName", "host-a1", "other")]
    assert moved.restart == "system"


def test_against_the_defaults() -> None:
    found = diff_from_defaults(starter())
    names = {change.name: (change.before, change.after) for change in found.parameters}
    assert names["DataMemory"] == (98 * 2**20, 2**37)
    assert "NoOfFragmentLogFiles" not in names
    assert found.to_json()["parameters"][0]["restart"] == "initial_system"


@given(plan=plans())
@settings(max_examples=10)
def test_a_plan_does_not_differ_from_its_own_file(plan: Plan) -> None:
    again, _ = import_config(render_config_ini(plan), plan.ndb_version)
    assert diff(plan, again).is_empty
    assert diff(again, plan).is_empty
