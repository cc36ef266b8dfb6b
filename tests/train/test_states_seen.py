"""Consoles with nodes down, starting, kept out and after failures, held against what real ones answered then.

Every answer that was recorded in such a state is asked for again, in the state that the record names. Rows
that differ say why: `fact` is one that is not simulated, `feeder` a state that the record does not tell.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ndbplan.base.kept import keeping
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Index, Table
from ndbplan.train.consoles import Consoles, addressed
from ndbplan.train.live import LiveCluster

from .recorded import recorded

_SEEN = json.loads((Path(__file__).parent.parent / "reality" / "state-answers.json").read_text("utf-8"))
STATES = _SEEN["states"]
_TIME, _ADDRESS = re.compile(r"\([0-9.]+ sec\)"), re.compile(r"\b127\.0\.[0-9]+\.[0-9]+(:[0-9]+)?\b|any host")
_NUMBER, _COUNT = re.compile(r"\b[0-9a-f]{16}\b|\b[0-9]{2,}\b"), re.compile(r"=[0-9]+\b|=N\b")
_TOLD = re.compile(r"Connected to|Node [0-9]+: (Forced|Node|Started|Start|Lost)")
"""What a client says of itself, or tells between two commands."""
_WITH_CODES = ("| Warning", "| Error", "| Note", "ERROR")


def form(answer: str) -> list[str]:
    """An answer without widths, times, addresses and large numbers."""
    lines = []
    for line in _ADDRESS.sub("A", _TIME.sub("(T)", answer)).strip().splitlines():
        kept = re.sub(r"[ \t]+", " ", line).strip()
        if not kept or _TOLD.match(kept) or set(kept) <= set("+-"):
            continue
        if not kept.startswith(_WITH_CODES):
            kept = _COUNT.sub("=N", _NUMBER.sub("N", kept))
        lines.append(kept)
    return lines


def plan_of(version: str, **parameters: int) -> Plan:
    """The cluster that was recorded: nodes 2, 3 and 4, 5, SQL nodes 50 and 51, t1 with 100,000 rows."""
    plan = recorded("7.4.10").replace(ndb_version=version)
    number = Column(name="id", type="int", nullable=False)
    if version.startswith("7"):
        columns = (
            number,
            Column(name="balance", type="int"),
            Column(name="payload", type="varchar", length=60),
        )
        indexes: tuple[Index, ...] = ()
    else:
        columns = (
            number,
            Column(name="k", type="int", nullable=False),
            Column(name="c", type="varchar", length=60, nullable=False),
            Column(name="pad", type="char", length=40, nullable=False),
        )
        indexes = (Index(name="k_1", kind="ordered", columns=("k",)),)
    table = Table(
        id="t1",
        database="test",
        name="t1",
        columns=columns,
        primary_key=("id",),
        indexes=indexes,
        rows=100_000,
    )
    stated = plan.parameters.model_copy(update={"data_node": {**plan.parameters.data_node, **parameters}})
    return plan.replace(tables=(table,), workloads=(), parameters=stated)


@cache
def alive(version: str, parameters: tuple[tuple[str, int], ...]) -> LiveCluster:
    with keeping():
        cluster = LiveCluster.begin(plan_of(version, **dict(parameters)), hours=0.1)
        cluster.advance(30.0)
    return cluster


class Player:
    """Types what was typed, each line when it was typed, and finds the answers of those that waited."""

    def __init__(self, state: dict[str, Any]) -> None:
        cluster = alive(state["version"], tuple(state["parameters"].items()))
        self.consoles = Consoles(cluster.branch())
        self.consoles.is_apart = True
        self.late: dict[str, str] = {}
        for line in ("ndb_mgm> SHOW", *state["begin"]):
            self.say(line)
        self.begin_s = self.consoles.cluster.now_s

    def say(self, line: str) -> str:
        """What a line is answered at once; the console that it is for has its answer first."""
        found = addressed(line)
        assert found is not None
        number = int(re.sub(r"\D", "", found.prompt) or 1) if found.prompt.startswith("mysql") else 0
        for _ in range(30):
            if number in self.consoles.cluster.state.waits:
                self.pass_(0.1)
        answer = self.consoles.answer(line)
        self.late |= dict(self.consoles.news())
        return answer

    def pass_(self, seconds: float) -> None:
        """Let time pass."""
        self.consoles.passes(seconds)
        self.late |= dict(self.consoles.news())

    def at(self, after_s: float | None) -> None:
        """Let time pass until so long after the state began, if it is not later already."""
        left_s = 0.0 if after_s is None else self.begin_s + after_s - self.consoles.cluster.now_s
        if left_s > 0:
            self.pass_(round(left_s, 1))


def played(state: dict[str, Any]) -> list[str]:
    """What each row of a state is answered now."""
    player, found = Player(state), []
    waits: dict[int, str] = {}
    for place, row in enumerate(state["rows"]):
        for line in state["between"].get(str(place), ()):
            player.say(line)
        player.at(row.get("after_s"))
        found.append(player.say(row["line"]))
        prompt = row["line"].partition(" ")[0]
        if found[-1].startswith("(it waits"):
            waits[place] = prompt
            player.late.pop(prompt, None)
        elif row.get("waited"):
            found[-1] = player.late.pop(prompt, "")
        for at, other in [*waits.items()]:
            if other in player.late:
                found[at] = player.late.pop(other)
                del waits[at]
    player.pass_(3.0)
    for at, other in waits.items():
        found[at] = player.late.pop(other, found[at])
    return found


@pytest.mark.parametrize("state", STATES, ids=lambda one: f"{one['version']} {one['state'][-70:]}")
def test_consoles_answer_as_in_that_state(state: dict[str, Any]) -> None:
    differ, wrong = [], []
    for row, got in zip(state["rows"], played(state), strict=True):
        if form(row["output"]) != form(got):
            differ.append(row["line"])
            if "differs" not in row:
                wrong.append(f"{row['line']}\n--- recorded\n{row['output']}--- now\n{got}")
    assert "\n".join(wrong) == ""
    assert differ == [row["line"] for row in state["rows"] if "differs" in row], "these agree by now"


def test_a_small_redo_buffer_refuses_the_statement_that_was_refused() -> None:
    """Recorded on 8.4.8: RedoBuffer=1M, abort, 300 KB/s for both nodes: of 200 rows of 2,000 bytes each three
    statements passed, and the fourth got 1221."""
    plan = recorded("7.4.10").replace(ndb_version="8.4.8", tables=(), workloads=())
    settings = {"NoOfReplicas": 2, "RedoBuffer": 2**20, "NoOfFragmentLogFiles": 3,
                "FragmentLogFileSize": 4 * 2**20, "DataMemory": 96 * 2**20}  # fmt: skip
    parameters = plan.parameters.model_copy(
        update={"data_node": settings, "sql": {"DefaultOperationRedoProblemAction": "ABORT"}}
    )
    processes = tuple(one for one in plan.processes if one.node_id not in (4, 5))
    say = Consoles(
        LiveCluster.begin(plan.replace(processes=processes, parameters=parameters), hours=0.1)
    ).answer
    for line in (
        "CREATE DATABASE test",
        "CREATE TABLE test.load1 (id INT PRIMARY KEY, v VARCHAR(3000)) ENGINE=NDB",
    ):
        assert say(f"mysql> {line}").startswith("Query OK")
    say("! slow disk:127.0.0.1/redo 150KB/s")
    said = []
    for begin in range(0, 800, 200):
        rows = ",".join(f"({begin + row},REPEAT('x',2000))" for row in range(200))
        said.append(say(f"mysql> INSERT INTO test.load1 VALUES {rows}").split(" (")[0].split(" '")[0])
    assert said == ["Query OK, 200 rows affected"] * 3 + ["ERROR 1297"]
    assert "Got temporary error 1221 " in say("mysql> SHOW WARNINGS")
    assert "|      600 |" in say("mysql> SELECT COUNT(*) FROM test.load1")
