"""Loads from files, events and many runs at the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest


def test_a_load_from_a_file(call: Any, saved: Any, tmp_path: Path) -> None:
    schedule = tmp_path / "load.csv"
    schedule.write_text("seconds,rate\n0,100\n10,100\n10.5,900\n20,900\n")
    path = saved("redo-overload")
    done = call("simulate", path, "--for", "20s", "--load-csv", schedule, "--load-shape", "step", "--json")
    assert done.json("simulate")["offered_per_s"] == pytest.approx((10.5 * 100 + 9.5 * 900) / 20, rel=1e-3)
    schedule.write_text("seconds,rate\n0,100\n10,many\n")
    assert "line 3" in call("simulate", path, "--load-csv", schedule).refused()
    assert "none.csv" in call("simulate", path, "--load-csv", tmp_path / "none.csv").refused()


@pytest.mark.parametrize(
    "event",
    [
        "node_failure at=10s object=ndb2",
        "node_failure at=10 node=2",
        '{"kind": "node_failure", "at_s": 10, "object_id": "ndb2"}',
    ],
)
def test_events_happen(call: Any, saved: Any, event: str) -> None:
    path = saved("starter")
    shape = call("simulate", path, "--for", "20s", "--event", event, "--json").json("simulate")
    assert shape["events"] == [{"at_s": 10.0, "event": "node 2 dies"}]
    assert [error["code"] for error in shape["errors"]] == [4010]


@pytest.mark.parametrize(
    "event",
    ["", "flood at=1s", "burst at=1s factor=-2", "burst at=soon", "burst factor", "{", "[1]", '{"kind": 3}',
     "node_failure at=1s object=nobody", "node_failure at=1s"],
)  # fmt: skip
def test_events_that_are_none(call: Any, saved: Any, event: str) -> None:
    assert "--event" in call("simulate", saved("starter"), "--for", "2s", "--event", event).refused()


def test_many_runs_give_bands(call: Any, saved: Any, tmp_path: Path) -> None:
    path, series = saved("redo-overload"), tmp_path / "bands.csv"
    done = call("simulate", path, "--for", "60s", "--runs", "20", "--csv", series, "--json")
    found = done.json("simulate")["monte_carlo"]
    assert found["runs"] == 20
    accepted = found["accepted_per_s"]
    assert accepted["low"] < accepted["value"] < accepted["high"]
    names = [band["name"] for band in found["series"]["bands"]]
    assert len(names) == len(set(names))
    assert {"accepted", "error_1221_per_s"} <= set(names)
    assert any(name.endswith("_part0_redo_buffer_max_bytes") for name in names)
    for band in found["series"]["bands"]:
        assert len(band["p10"]) == len(found["series"]["times_s"]) == 60
        assert all(a <= b <= c for a, b, c in zip(band["p10"], band["p50"], band["p90"], strict=True))
    rows = list(csv.reader(series.read_text().splitlines()))
    assert len(rows) == 61
    assert len(rows[0]) == 1 + 3 * len(names)
    again = call("simulate", path, "--for", "60s", "--runs", "20", "--json").out
    assert json.loads(again)["monte_carlo"] == found
    text = call("simulate", path, "--for", "20s", "--runs", "3").out
    assert "series" not in text
    assert "probability" in text


def test_events_are_part_of_every_run(call: Any, saved: Any) -> None:
    done = call("simulate", saved("starter"), "--for", "20s", "--runs", "3", "--event",
                "node_failure at=10s node=2", "--json")  # fmt: skip
    errors = done.json("simulate")["monte_carlo"]["errors"]
    assert [(e["code"], e["probability"]) for e in errors] == [(4010, 1.0)]


def test_an_ndbinfo_table_of_a_moment_as_the_client_prints_it(call: Any, saved: Any) -> None:
    path = saved("redo-overload")
    text = call("simulate", path, "--table", "logbuffers", "--at", "10s").out
    assert text.startswith("+---------+----------+--------+----------+----------+----------+\n| node_id |")
    assert text.endswith("8 rows in set (0.00 sec)\n")
    assert call("simulate", path, "--table", "ndbinfo.logbuffers", "--at", "10s").out == text
    found = call("simulate", path, "--table", "logbuffers", "--at", "10s", "--json").json("simulate-table")
    assert (found["table"], found["at_s"], len(found["rows"])) == ("logbuffers", 10.0, 8)
    assert all(str(row["used"]) in text for row in found["rows"])
    assert {row["total"] for row in found["rows"]} == {50331648}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--table", "nodes", "--at", "1s"), "not simulated"),
        (("--table", "no such", "--at", "1s"), "no such"),
        (("--at", "1s"), "--table"),
        (("--table", "logbuffers", "--for", "5s", "--at", "9s"), "after the end"),
        (("--table", "restart_info"), "7.1"),
    ],
)
def test_tables_that_cannot_be_shown(call: Any, saved: Any, arguments: tuple[str, ...], said: str) -> None:
    assert said in call("simulate", saved("redo-overload"), *arguments).refused()


@pytest.mark.parametrize(
    "event",
    [
        "location_failure at=10s rack=rack-a",
        "location_failure at=10s location=rack-a",
        "network_cut at=10s object=host-a1,app-a1",
        "network_cut at=10s object=rack-a from=host-b1 from=app-b1",
        '{"kind": "network_cut", "at_s": 10, "object_ids": ["rack-a"]}',
        "management_node_down at=10s node=145",
        "host_failure at=10s host=host-a1 back_after=20s",
    ],
)
def test_failures_of_hosts_racks_and_links_are_typed(call: Any, saved: Any, event: str) -> None:
    shape = call("simulate", saved("starter"), "--for", "12s", "--event", event, "--json").json("simulate")
    assert shape["events"][0]["at_s"] == 10


def test_a_stopped_cluster_is_the_first_line(call: Any, saved: Any) -> None:
    path = saved("starter")
    events = [x for node in (1, 2) for x in ("--event", f"node_failure at=90s node={node}")]
    done = call("simulate", path, "--for", "100s", *events)
    lines = done.out.splitlines()
    assert lines[0].startswith("cluster stopped at 1:30: node group 0 is gone")
    assert "4009" in lines[1]
    assert "system restart" in lines[1]
    shape = call("simulate", path, "--for", "100s", *events, "--json").json("simulate")
    assert shape["cluster_stop"]["text"] == lines[0]
    assert shape["accepted_per_s"]["value"] < 0.9 * shape["offered_per_s"], "the load grows meanwhile"
    assert shape["accepted_per_s"]["low"] == shape["accepted_per_s"]["high"]


def test_max_load_says_where_no_limit_of_the_clients_is_known(call: Any, saved: Any) -> None:
    shape = call("max-load", saved("tick-store"), "--for", "10s", "--json").json("max-load")
    assert "API slots without a host" in shape["note"]
    assert "API slots without a host" in call("max-load", saved("tick-store"), "--for", "10s").out
    assert call("max-load", saved("starter"), "--for", "10s", "--json").json("max-load")["note"] is None


def test_two_runs_are_held_against_one_another(call: Any, saved: Any, tmp_path: Path) -> None:
    path, other = saved("redo-overload-8.4"), tmp_path / "other.ndbplan"
    assert call("set", path, "MaxDiskWriteSpeed=10M", "-o", other).code == 0
    options = ("--for", "60s", "--against", other)
    found = call("simulate", path, *options, "--json").json("simulate")["parting"]
    assert found["cause"]["subsystem"] == "checkpoints"
    assert found["cause"]["there"] == 10 * 2**20
    assert found["text"] in call("simulate", path, *options).out
    event = ("--event", "backup at=20s", "--against", path)
    alike = call("simulate", path, "--for", "60s", *event, "--json").json("simulate")["parting"]
    assert alike == {"text": "The two runs do not part."}
    apart = call("simulate", path, "--for", "60s", *event, "--undisturbed", "--json").json("simulate")[
        "parting"
    ]
    assert apart["cause"]["subsystem"] == "backup"
    assert apart["at_s"] == 20.0


def test_one_run_is_not_shared_out(call: Any, saved: Any) -> None:
    assert "--runs or --precision" in call("simulate", saved("starter"), "--workers", 2).refused()
