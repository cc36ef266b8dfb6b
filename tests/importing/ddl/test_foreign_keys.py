"""Foreign keys of SQL tell whose rows are the values of a distribution key."""

from __future__ import annotations

import pytest

from ndbplan.edits import parts as edits
from ndbplan.estimate.storage.key_values import key_values
from ndbplan.importing.ddl.into_plan import with_tables
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan

VERSION = NdbVersion.parse("8.4")
WAREHOUSES = "CREATE TABLE warehouse (w_id INT PRIMARY KEY, name CHAR(9)) ENGINE=NDB;\n"
DISTRICTS = """CREATE TABLE district (d_w_id INT, d_id INT, PRIMARY KEY (d_w_id, d_id),
  CONSTRAINT fk FOREIGN KEY (d_w_id) REFERENCES warehouse (w_id) ON DELETE CASCADE)
  PARTITION BY KEY (d_w_id);
"""
ORDERS = """CREATE TABLE orders (o_id INT, o_d_id INT, o_w_id INT, PRIMARY KEY (o_w_id, o_d_id, o_id),
  FOREIGN KEY (o_w_id, o_d_id) REFERENCES `district` (`d_w_id`, `d_id`)) PARTITION BY KEY (O_W_ID);
"""


def _parents(text: str) -> dict[str, str | None]:
    tables = read_ddl(text, VERSION).tables
    names = {table.id: table.name for table in tables}
    return {table.name: names.get(table.distribution_key_table_id or "") for table in tables}


@pytest.mark.parametrize("text", [WAREHOUSES + DISTRICTS + ORDERS, ORDERS + DISTRICTS + WAREHOUSES])
def test_a_key_is_followed_to_the_table_whose_whole_primary_key_it_is(text: str) -> None:
    assert _parents(text) == {"warehouse": None, "district": "warehouse", "orders": "warehouse"}


@pytest.mark.parametrize(
    "table",
    [
        # Not distributed by it; by all of the primary key; refers to no row of the other table; to itself.
        "CREATE TABLE t (a INT PRIMARY KEY, w INT, FOREIGN KEY (w) REFERENCES warehouse (w_id));",
        "CREATE TABLE t (w INT PRIMARY KEY, FOREIGN KEY (w) REFERENCES warehouse (w_id)) "
        "PARTITION BY KEY (w);",
        "CREATE TABLE t (w INT, a INT, PRIMARY KEY (w, a), FOREIGN KEY (w) REFERENCES gone (id)) "
        "PARTITION BY KEY (w);",
        "CREATE TABLE t (w INT, a INT, PRIMARY KEY (w, a), FOREIGN KEY (w) REFERENCES t (w)) "
        "PARTITION BY KEY (w);",
        "CREATE TABLE t (w INT, a INT, PRIMARY KEY (w, a), FOREIGN KEY (a) REFERENCES warehouse (w_id)) "
        "PARTITION BY KEY (w);",
        "CREATE TABLE t (w INT, a INT, PRIMARY KEY (w, a), FOREIGN KEY (w) REFERENCES) PARTITION BY KEY (w);",
    ],
)
def test_where_nothing_is_known_nothing_is_said(table: str) -> None:
    assert _parents(WAREHOUSES + table)["t"] is None


def test_two_ways_to_different_tables_tell_nothing() -> None:
    other = "CREATE TABLE shop (id INT PRIMARY KEY);\n"
    both = """CREATE TABLE t (w INT, a INT, PRIMARY KEY (w, a), FOREIGN KEY (w) REFERENCES warehouse (w_id),
      FOREIGN KEY (w) REFERENCES shop (id)) PARTITION BY KEY (w);"""
    assert _parents(WAREHOUSES + other + both)["t"] is None


def test_the_plan_takes_the_parent_by_whatever_id_it_gets_and_counts_its_rows() -> None:
    plan = Plan(name="p")
    tables = read_ddl(WAREHOUSES.replace("warehouse", "`other db`.warehouse"), VERSION).tables
    plan = with_tables(plan, tables)
    plan = with_tables(plan, read_ddl(ORDERS + DISTRICTS + WAREHOUSES, VERSION).tables)
    parent = plan.table("test.warehouse")
    orders = plan.table("test.orders")
    assert {parent.id, orders.id} < {table.id for table in plan.tables}
    assert orders.distribution_key_table_id == parent.id
    plan = edits.update(plan, parent.id, rows=60)
    plan = edits.update(plan, orders.id, rows=1_000_000)
    found = key_values(plan.tables, plan.table(orders.id))
    assert (found.count, found.source) == (60, "table")


def test_what_the_plan_states_of_the_values_stays() -> None:
    plan = with_tables(Plan(name="p"), read_ddl(WAREHOUSES + DISTRICTS, VERSION).tables)
    district = plan.table("test.district").id
    plan = edits.update(plan, district, distribution_key_values=7, distribution_key_table_id=None)
    again = with_tables(plan, read_ddl(WAREHOUSES + DISTRICTS, VERSION).tables)
    assert again.table("test.district").distribution_key_values == 7
    assert again.table("test.district").distribution_key_table_id is None
