from __future__ import annotations

import re
from pathlib import Path

import ndbplan
from ndbplan.base.frozen import FrozenMap
from ndbplan.configuration.settings import connection_settings, node_settings, settings_by_node
from ndbplan.edits.parameters import set_parameter
from ndbplan.plan.plan import EMPTY_PLAN, ClusterParameters
from ndbplan.plan.samples import sample_plan

CODE = Path(ndbplan.__file__).parent
_OTHER_WAYS = re.compile(r"\.parameters(\.(data_node|management|sql|tcp|shm|system))?(\.get\(|\[)")


def test_nodes_that_agree_share_one_object() -> None:
    plan = sample_plan("starter")
    first, second = plan.data_nodes[:2]
    assert node_settings(plan, first) is node_settings(plan, second)
    said_again = set_parameter(plan, first.id, "RedoBuffer", node_settings(plan).number("RedoBuffer"))
    both = set_parameter(said_again, "data_node", "RedoBuffer", node_settings(plan).number("RedoBuffer"))
    assert len(set(settings_by_node(both).values())) == 1
    other = set_parameter(both, first.id, "RedoBuffer", 2**27)
    assert settings_by_node(other)[first.node_id].number("RedoBuffer") == 2**27
    assert settings_by_node(other)[second.node_id] is node_settings(both, second)


def test_a_name_counts_in_any_case() -> None:
    stated = ClusterParameters(data_node=FrozenMap({"redobuffer": 2**27}))
    assert node_settings(EMPTY_PLAN.replace(parameters=stated)).number("RedoBuffer") == 2**27


def test_connections_are_read_as_nodes_are() -> None:
    def send_buffer(value: int | str | None) -> int:
        stated = FrozenMap({} if value is None else {"SendBufferMemory": value})
        plan = EMPTY_PLAN.replace(parameters=ClusterParameters(tcp=stated))
        return connection_settings(plan).number("SendBufferMemory")

    assert send_buffer(None) == 2**21
    assert send_buffer(2**24) == send_buffer("16M") == 2**24
    # ndb_mgmd refuses less than 64 KiB.
    assert send_buffer(2**16) == 2**16
    assert send_buffer(2**16 - 1) == 2**21


def test_estimates_rules_and_exports_read_no_parameter_themselves() -> None:
    found = [
        f"{path.relative_to(CODE)}: {line.strip()}"
        for room in ("estimate", "simulate", "checks", "operations", "advise", "exporting")
        for path in sorted((CODE / room).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if _OTHER_WAYS.search(line)
    ]
    assert not found
