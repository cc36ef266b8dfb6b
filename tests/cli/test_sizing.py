"""`ndbplan size` reads requirements or a plan, prints what its schema promises, and writes what is taken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ndbplan.cli.schemas import requirements_schema
from ndbplan.edits.parameters import set_parameter
from ndbplan.plan.file import load, save
from ndbplan.plan.samples import sample_plan

REQUIRED: dict[str, Any] = {
    "sql": "CREATE TABLE d.t (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, owner INT) ENGINE=NDB",
    "rows": {"d.t": {"now": "1M"}},
    "loads": [
        {
            "name": "reads",
            "peak_per_s": "1k",
            "lasts": "10 s",
            "transactions": [{"name": "read", "operations": [{"table": "d.t", "kind": "read"}]}],
        }
    ],
    "hardware": {"hosts": ["host-small"], "disks": ["nvme", "sata"], "layouts": ["one disk"]},
}


def _of_no_column() -> dict[str, Any]:
    operation = {"table": "d.t", "kind": "update", "columns": ["gone"]}
    return {**REQUIRED["loads"][0], "transactions": [{"name": "read", "operations": [operation]}]}


def _written(folder: Path, **stated: Any) -> Path:
    path = folder / "required.json"
    path.write_text(json.dumps({**REQUIRED, **stated}), encoding="utf-8")
    return path


def test_the_plan_that_is_taken_is_the_one_that_is_printed(call: Any, tmp_path: Path) -> None:
    path, out = _written(tmp_path), tmp_path / "first.ndbplan"
    jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), requirements_schema())
    called = call("size", path, "--take", "1", "-o", out, "--json")
    assert called.code == 0
    first = called.json("size")["plans"][0]
    assert json.loads(out.read_text(encoding="utf-8")) == first["plan"]
    assert load(out).tables[0].rows == 1_000_000
    assert first["nearness"]["mark"] in {"measured", "between", "beyond"}
    lines = call("size", path).out.splitlines()
    assert lines[0].startswith(f" 1. {first['title']}")
    assert lines[1] == f"    nearest limit: {first['why']}"
    order = called.json("size")["ranked_by"]
    assert f"ranked by {order}" in lines
    assert order.endswith("no prices are stated")
    assert any(line.startswith("sure: ") for line in lines)


def test_nothing_that_passes_is_no_empty_page(call: Any, tmp_path: Path) -> None:
    called = call("size", _written(tmp_path, rows={"d.t": {"now": 5e9}}, most_groups=2))
    assert called.code == 1
    assert called.out.count("it would pass with") == 2


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"currency": "TALER"}, 'currency: "TALER" is refused: is not a currency of ISO 4217'),
        ({"headroom": float("nan")}, "headroom"),
        ({"plan": "gone.ndbplan"}, "gone.ndbplan"),
        ({"most_groups": 10**9}, "most_groups"),
        ({"rows": {"d.t": {"now": "lots"}}}, "rows"),
        ({"color": 1}, "color: this format has no such field"),
        ({"rows": {"d.t": 5}}, "rows.d.t: 5 is refused: it must be an object, with its fields in braces"),
        ({"loads": {}}, "loads: {} is refused: it must be a list, in brackets"),
        ({"rows": {"d.t": {"now": 1e30}}}, "must be 1 000 000 000 000 000 or less"),
        ({"hardware": {"nodes_per_host": [0]}}, "[0]: 0 is refused: it must be 1 or more — write 1 or more"),
        (
            {"loads": [_of_no_column()]},
            "loads[0].transactions[0].operations[0].columns: table d.t",
        ),
    ],
)
def test_what_cannot_be_is_one_line(call: Any, tmp_path: Path, stated: dict[str, Any], said: str) -> None:
    assert said in call("size", _written(tmp_path, **stated)).refused()


def test_a_file_that_says_nothing_or_says_it_twice_is_one_line(call: Any, tmp_path: Path) -> None:
    assert "cannot be read" in call("size", tmp_path / "gone.json").refused()
    path = tmp_path / "list.json"
    path.write_text("[]", encoding="utf-8")
    assert "requirements are a JSON object" in call("size", path).refused()
    path.write_text('{"budget": "60k", "currency": "EUR", "budget": "90k"}', encoding="utf-8")
    said = call("size", path).refused()
    assert f"{path}: 'budget' is stated twice — keep one of them" in said


def test_what_holds_or_does_not_is_told_without_numbers(call: Any, tmp_path: Path) -> None:
    """A budget beside hosts without a price was told as 2 EUR of 1 EUR, hosts as 2 of 1."""
    said = call("size", _written(tmp_path, budget=1000, currency="EUR")).out
    assert "budget: not stated is the price of" in said
    said += call("size", _written(tmp_path, replicas=1, survive=["host"])).out
    assert "any host may fail (stops without host data-1)\n" in said
    assert "2 EUR" not in said
    assert "2 of 1" not in said


def test_a_cluster_without_disks_is_sized_without_a_backup(call: Any, tmp_path: Path) -> None:
    """It ended with "a diskless cluster makes no backup" when all was found."""
    path = tmp_path / "diskless.ndbplan"
    save(set_parameter(sample_plan("starter"), "data_node", "Diskless", 1), path)
    called = call("size", path, "--json")
    assert called.code == 0
    figures = called.json("size")["plans"][0]["figures"]
    assert figures["backup"] is None
    assert figures["restart"]["value"] > 0


def test_a_table_is_found_by_its_own_name_where_one_has_it(call: Any, tmp_path: Path) -> None:
    whole = call("size", _written(tmp_path)).out
    assert call("size", _written(tmp_path, rows={"t": REQUIRED["rows"]["d.t"]})).out == whole


def test_a_cost_that_leaves_something_out_says_so(call: Any, tmp_path: Path) -> None:
    """The host has a price; usual disks, and hosts of SQL nodes, have none."""
    own = [
        {"kind": "host", "name": "priced", "host": {"cores": 8, "memory_bytes": 2**35, "purchase_price": 100}}
    ]
    hardware = {**REQUIRED["hardware"], "hosts": ["priced"], "own": own}
    said = call("size", _written(tmp_path, hardware=hardware, currency="EUR")).out
    assert "200 EUR and what has no price stated" in said
