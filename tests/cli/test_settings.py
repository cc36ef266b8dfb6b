"""parameters: who set each value, and handing one over to the program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ndbplan.plan.file import load

INI = """[ndbd default]
NoOfReplicas=2
RedoBuffer=64M
[ndb_mgmd]
HostName=m
[ndbd]
HostName=a
[ndbd]
HostName=b
[mysqld]
"""


def _told(call: Any, path: Path, *more: str) -> dict[str, tuple[str, str]]:
    rows = call("parameters", path, *more, "--json").json("parameters")["parameters"]
    return {row["name"]: (row["set_by"], row["why"]) for row in rows}


def test_each_value_says_who_set_it(call: Any, saved: Any, tmp_path: Path) -> None:
    ini = tmp_path / "running.ini"
    ini.write_text(INI)
    path = tmp_path / "it.ndbplan"
    call("import", ini, "--version", "7.4", "-o", path)
    call("set", path, "ODirect=1", "DataMemory=auto")
    told = _told(call, path)
    assert told["RedoBuffer"] == ("import", "imported: running.ini, line 3")
    assert told["ODirect"] == ("hand", "")
    assert told["DataMemory"][0] == "program"
    assert "from-host" in told["DataMemory"][1]
    # Up to 7.5 hash indexes lie beside it.
    assert set(_told(call, path, "--set-by", "program")) == {"DataMemory", "IndexMemory"}
    defaults = _told(call, path, "--set-by", "default")
    assert "TimeBetweenWatchDogCheck" in defaults
    assert "DataMemory" not in defaults
    assert "DataMemory: set by the program" in call("parameters", path, "--set-by", "program").out


def test_what_is_handed_over_follows_until_it_is_pinned(call: Any, saved: Any) -> None:
    path = saved("tick-store")
    call("set", path, "DataMemory=auto")
    first = load(path).parameters.data_node["DataMemory"]
    shape = call("set", path, "hosts[*].memory=20 GB", "--json").json("set")
    second = load(path).parameters.data_node["DataMemory"]
    assert second < first
    assert {"address": "DataMemory of all data nodes", "before": first, "after": second} in shape["set"]
    call("set", path, f"DataMemory={second}")
    assert not _told(call, path, "--set-by", "program")
    call("set", path, "hosts[*].memory=512 GB")
    assert load(path).parameters.data_node["DataMemory"] == second


def test_who_sets_nothing_is_refused(call: Any, saved: Any) -> None:
    assert (
        "use one of program, import, hand, default"
        in call("parameters", saved("starter"), "--set-by", "nobody").refused()
    )
    assert "it decides on" not in call("set", saved("starter"), "TimeBetweenWatchDogCheck=auto").refused()
