"""What runbooks have typed at the management client and at mysql, typed at the consoles of a live cluster.

Consoles are held against recordings of real servers, so what one of them does not read no server would.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from ndbplan.base.kept import keeping
from ndbplan.edits.parts import set_plan, update
from ndbplan.operations.commands import HasTable, MakeAccount, Management, Shell, Sql
from ndbplan.operations.life import operations
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster

NOT_SIMULATED = re.compile(
    r"ndbplan: (GRANT|CREATE USER|ALTER USER) is not simulated here|"
    r"ndbplan: tables of mysql are not described here|"
    r"ndbplan: the system variable offline_mode is not known here"
)
"""What consoles say of accounts, and of a server that takes no clients."""
BEHIND_A_RUN = ("stop", "start-again", "replace-host")


def _consoles(plan: Plan) -> Consoles:
    """Of a cluster without tables and files of disk data, as the first start leaves it."""
    cluster = LiveCluster.begin(
        plan.replace(tables=(), workloads=(), tablespaces=(), logfile_groups=()), hours=0.5
    )
    cluster.advance(9.9)
    return Consoles(cluster)


def _lines(statements: tuple[str, ...]) -> Iterator[str]:
    for statement in statements:
        for line in re.split(r"(?<=;)\n(?=[A-Z])", statement.replace("{password}", "'one'")):
            yield " ".join(line.split("\n"))


def _refused(at: Consoles, prompt: str, line: str) -> Iterator[str]:
    said = at.answer(f"{prompt} {line}")
    if re.search(r"ERROR|ndbplan: |nvalid|rror:", said) and not NOT_SIMULATED.search(said):
        yield f"{line[:200]}: {said[:300]}"


def _lacks(at: Consoles, command: HasTable) -> Iterator[str]:
    """Lines that the runbook awaits, and the console does not print."""
    rows = (row for one in command.statements for row in at.answer(f"mysql> {one}").split("\n"))
    found = {tuple(word.strip() for word in row.strip("|").split(" | ")) for row in rows if row[:1] == "|"}
    for line in command.lines:
        if tuple(word.strip() for word in line.split("\t")) not in found:
            yield f"{command.what}: {line}"


def typed(plan: Plan) -> Iterator[str]:
    """What a console refuses, or answers otherwise than the runbook says."""
    at = _consoles(plan)
    for part in operations(plan):
        for command in (one for step in part.steps for one in step.commands):
            if part.key in BEHIND_A_RUN:
                continue
            if isinstance(command, Sql | MakeAccount):
                for line in _lines(command.statements):
                    yield from _refused(at, "mysql>", line)
            elif isinstance(command, HasTable):
                yield from _lacks(at, command)
            elif isinstance(command, Management):
                yield from _refused(at, "ndb_mgm>", command.command)
            elif isinstance(command, Shell) and command.command.startswith("ndb_desc "):
                yield from _refused(at, f"{command.host}$", command.command)


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
@pytest.mark.parametrize("name", ["starter", "disk-data-8.4", "terabyte-load-8.4"])
def test_consoles_take_what_the_runbook_has_typed(name: str, version: str) -> None:
    with keeping():
        assert list(typed(set_plan(sample_plan(name), ndb_version=version))) == []


@pytest.mark.parametrize("version", ["7.4.10", "8.4.8"])
def test_options_of_tables_are_read_back(version: str) -> None:
    """MAX_ROWS, rows of fixed length, and no logging; a table that names its columns is reorganised."""
    plan = set_plan(sample_plan("starter"), ndb_version=version)
    first, second, third, *_ = plan.tables
    plan = update(plan, first.id, max_rows=10**9)
    plan = update(plan, second.id, logging=False)
    plan = update(plan, third.id, row_format_fixed=True, distribution_key=third.primary_key[:1])
    with keeping():
        assert list(typed(plan)) == []
