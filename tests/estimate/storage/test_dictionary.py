"""What running clusters took of tables, indexes and columns, and what they refused."""

from __future__ import annotations

from typing import Any

import pytest

from ndbplan.base.frozen import FrozenMap
from ndbplan.configuration.settings import node_settings
from ndbplan.estimate.storage.dictionary import DictionaryRoom, attributes_of, objects_of
from ndbplan.estimate.stored import dictionary_of
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Column, Index, Table


def _table(name: str, **changes: Any) -> Table:
    columns = (Column(name="id", type="int", nullable=False), Column(name="a", type="int"))
    return Table(id=name, database="d", name=name, columns=columns, primary_key=("id",), rows=0).model_copy(
        update=changes
    )


def _plan(version: str, tables: int, nodes: int = 2, *, hashed: bool = False, **parameters: Any) -> Plan:
    return Plan(
        ndb_version=version,
        hosts=(Host(id="h", hostname="h", memory_bytes=2**34, cores=8),),
        processes=tuple(DataNode(id=f"n{i}", node_id=2 + i, host_id="h") for i in range(nodes)),
        parameters=ClusterParameters(data_node=FrozenMap({"NoOfReplicas": 2, **parameters})),
        tables=tuple(_table(f"t{i}", primary_key_using_hash=hashed) for i in range(tables)),
    )


def _room(plan: Plan) -> dict[str, DictionaryRoom]:
    return {one.parameter: one for one in dictionary_of(plan, node_settings(plan))}


def _refused(plan: Plan) -> set[int]:
    return {one.error for one in _room(plan).values() if one.needed > one.limit}


def test_tables_and_indexes_share_their_numbers_as_on_7_4_10() -> None:
    """Twenty tables were stated; 27 were made, and the next was refused with 707."""
    stated = {"MaxNoOfTables": 20, "MaxNoOfOrderedIndexes": 10, "MaxNoOfUniqueHashIndexes": 5}
    assert not _refused(_plan("7.4.10", 27, hashed=True, **stated))
    assert _refused(_plan("7.4.10", 28, hashed=True, **stated)) == {707}


def test_sixty_tables_with_forty_stated_are_taken_as_on_8_4_8() -> None:
    assert not _refused(_plan("8.4.8", 60, MaxNoOfTables=40))


@pytest.mark.parametrize("version", ["7.4.10", "7.6.7", "8.0.43", "8.4.8", "9.1"])
def test_ordered_indexes_and_columns_are_limits_in_every_version(version: str) -> None:
    assert _refused(_plan(version, 30, MaxNoOfOrderedIndexes=20)) == {904}
    assert _refused(_plan(version, 30, MaxNoOfAttributes=120)) == {708}


@pytest.mark.parametrize("ldm", [1, 2, 4])
def test_ordered_indexes_count_by_fragments_in_a_thread(ldm: int) -> None:
    """A default table has one fragment in each; more partitions take the room of more indexes."""
    plan = _plan("7.4.10", 10, ThreadConfig=f"ldm={{count={ldm}}}")
    assert _room(plan)["MaxNoOfOrderedIndexes"].needed == 11
    twice = tuple(one.model_copy(update={"partitions": 4 * ldm}) for one in plan.tables)
    assert _room(plan.replace(tables=twice))["MaxNoOfOrderedIndexes"].needed == 21


def test_columns_of_indexes_and_blob_parts_count() -> None:
    """`ndbinfo.dictionary_tables` of 8.4.8: four columns of the parts of a blob, with a key of one."""
    hashed = _table("t", primary_key_using_hash=True)
    assert (objects_of(hashed), attributes_of(hashed)) == (1, 2)
    assert (objects_of(_table("t")), attributes_of(_table("t"))) == (2, 2 + 2)
    unique = hashed.model_copy(update={"indexes": (Index(name="a", columns=("a",), kind="unique"),)})
    assert (objects_of(unique), attributes_of(unique)) == (3, 2 + 2 * 2)
    blob = hashed.model_copy(update={"columns": (*hashed.columns, Column(name="b", type="blob"))})
    assert (objects_of(blob), attributes_of(blob)) == (2, 3 + 4)
    keyless = hashed.model_copy(update={"primary_key": ()})
    assert (objects_of(keyless), attributes_of(keyless)) == (1, 3)
