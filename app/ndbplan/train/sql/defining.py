"""What every statement about the schema needs: what was typed, what it becomes, how it is answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ndbplan.base.errors import UserError
from ndbplan.importing.ddl.into_plan import with_ddl
from ndbplan.importing.ddl.statements import DdlResult
from ndbplan.importing.ddl.tokens import Word
from ndbplan.ndb.console import form
from ndbplan.ndb.ndbinfo import tables_of
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table, Tablespace
from ndbplan.train.live import Hold, Later, LiveCluster, time_passes
from ndbplan.train.locks import Running
from ndbplan.train.schema import GivesUp, Remade, SetSchema
from ndbplan.train.sql import server
from ndbplan.train.sql.failing import NOT_OPENED, is_lost, lock_warnings
from ndbplan.train.sql.older_types import older_words
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, no_database
from ndbplan.train.transacting import Runs

DEFINED_S = 0.2
"""What a change of the schema takes [8.4.8: 0.1 to 0.4 s]."""
_LONGEST_S = 86_400.0
NOT_REMADE: Mapping[str, Remade] = {}
NDB = ("ndb", "ndbcluster")
"""What the engine is called."""


class Done(NamedTuple):
    """What a statement did, and what it warned of."""

    text: str
    warnings: tuple[Warned, ...] = ()


class Name(NamedTuple):
    """A table as it is typed; no database: the one in use, and none is."""

    database: str
    name: str


class Asked(NamedTuple):
    """A statement, and whom it is asked of."""

    sql: str
    database: str
    """In use; empty: none is."""
    cluster: LiveCluster
    words: tuple[Word, ...]
    checks: bool = True
    """Foreign keys are looked at."""
    default_engine: str = ""
    """Of a table that names none."""
    logs: bool = True
    """What new tables hold is logged."""

    @property
    def plan(self) -> Plan:
        """As the SQL node knows it."""
        return self.cluster.plan

    @property
    def how(self) -> str:
        """`ONLINE` or `OFFLINE`, as older servers take them behind ALTER; empty: neither."""
        second = self.words[1].upper if len(self.words) > 1 else ""
        return second if second in ("ONLINE", "OFFLINE") else ""

    def option(self, name: str) -> str | None:
        """What stands behind `NAME [=]`; None: it does not stand there."""
        for at, word in enumerate(self.words):
            if word.upper == name:
                behind = [one.text for one in self.words[at + 1 : at + 3] if one.text != "="]
                return behind[0] if behind else None
        return None

    def name(self, typed: Name) -> Name:
        """What is typed. Raises SqlError where no database is in use, or there is none."""
        if not typed.database:
            raise SqlError(1046, "3D000", "No database selected")
        if typed.database not in server.databases(self.cluster):
            raise no_database(typed.database)
        return typed

    def known(self, typed: Name) -> Table | None:
        """The table of the plan that is called so."""
        named = self.name(typed)
        return next((t for t in self.plan.tables if (t.database, t.name) == named), None)

    def local(self, typed: Name) -> Table | None:
        """The table of InnoDB of the server that is called so."""
        named = self.name(typed)
        return next((t for t in server.local_tables(self.cluster) if (t.database, t.name) == named), None)

    def is_view(self, typed: Name) -> bool:
        """Whether ndbinfo has this name."""
        return typed.database == "ndbinfo" and typed.name in tables_of(self.plan.version)


def online_warning(how: str, version: NdbVersion) -> tuple[Warned, ...]:
    """What a server says of ALTER ONLINE and ALTER OFFLINE [7.4.10]."""
    instead = {"ONLINE": "INPLACE", "OFFLINE": "COPY"}.get(how)
    if instead is None or not form(version, "online_warns"):
        return ()
    text = f"'{how}' is deprecated and will be removed in a future release. Please use"
    return (Warned("Warning", 1287, f"{text} ALGORITHM={instead} instead"),)


def ok(asked: Asked, rows: int = 0, lasts_s: float = DEFINED_S, warnings: Sequence[Warned] = (),
        *, counts: bool = False, then: Plan | None = None,
       copied: frozenset[str] = frozenset(), remade: Mapping[str, Remade] = NOT_REMADE) -> Done:  # fmt: skip
    """Let the time pass that it takes, and say that it is done.

    `then`: the schema at its end, which comes also where somebody goes back to a moment between.
    Raises SqlError where the cluster is lost meanwhile: nothing has changed then.
    """
    begin_s = asked.cluster.now_s
    if then is not None:
        step_s = asked.cluster.session.simulation.scenario.step_s
        lasts_s = round(min(lasts_s, _LONGEST_S) / step_s) * step_s
        node = server.answering(asked.cluster)
        at_work = Running(
            asked.sql, asked.database, 0 if node is None else node.node_id, begin_s, begin_s + lasts_s,
            "copy to tmp table" if rows else "altering table",
        )  # fmt: skip
        asked.cluster.act(Runs(asked.cluster.sql_session, at_work))
        become(asked, then, at_s=begin_s + lasts_s, copied=copied, remade=remade)
    warnings = (
        *older_words(asked.words, asked.plan.version),
        *lock_warnings(asked.cluster),
        *online_warning(asked.how, asked.plan.version),
        *warnings,
    )
    session, lasts_s = asked.cluster.sql_session, min(lasts_s, _LONGEST_S)

    def hold(until_s: float) -> Hold:
        return time_passes(until_s) if then is None else _until(session, until_s, stops=bool(rows))

    if not asked.cluster.lets_pass(lasts_s, hold):
        if then is not None and is_lost(asked.cluster):
            raise SqlError(1296, "HY000", NOT_OPENED)
        lasts_s = asked.cluster.now_s - begin_s
    lasted = server.lasted(lasts_s)
    warned = f", {len(warnings)} warning{'s' * (len(warnings) > 1)}" if warnings else ""
    affected = f"{rows} row{'s' * (rows != 1)} affected"
    records = f"\nRecords: {rows}  Duplicates: 0  Warnings: {len(warnings)}\n" if counts else ""
    return Done(f"Query OK, {affected}{warned} ({lasted}){records}", tuple(warnings))


def _until(session: int, until_s: float, *, stops: bool) -> Hold:
    """A change of the schema that is under way; one that copies rows ends with KILL QUERY."""

    def ends(now: LiveCluster, text: str) -> str:
        if is_lost(now):
            raise SqlError(1296, "HY000", NOT_OPENED)
        return text

    def stop(now: LiveCluster) -> None:
        now.act(GivesUp(session))

    return time_passes(until_s, stop if stops else None)._replace(ends=ends)


def become(
    asked: Asked,
    plan: Plan,
    *,
    databases: frozenset[str] | None = None,
    emptied: frozenset[Tablespace] | None = None,
    truncated: frozenset[str] = frozenset(),
    copied: frozenset[str] = frozenset(),
    remade: Mapping[str, Remade] = NOT_REMADE,
    at_s: float | None = None,
) -> None:
    """Give the cluster the schema of a plan, now or later. Raises NotSimulated where it cannot be."""
    state, sim = asked.cluster.state, asked.cluster.session.simulation
    if any(isinstance(due.event, SetSchema) for due in sim.due):
        raise NotSimulated(
            "another statement is changing the schema: SHOW PROCESSLIST tells of it; let it end"
        )
    order = SetSchema(
        plan.tables, plan.logfile_groups, plan.tablespaces, plan.workloads,
        state.databases if databases is None else databases, state.emptied if emptied is None else emptied,
        truncated, copied, remade, needs_nodes=at_s is not None,
    )  # fmt: skip
    what = order if at_s is None else Later(at_s - sim.scenario.step_s, order)
    refused = asked.cluster.act(what)
    if refused is not None:
        raise NotSimulated(refused.text)


def taken(asked: Asked, found: DdlResult, plan: Plan | None = None) -> Plan:
    """The plan, or another one, with what a text makes. Raises NotSimulated for what it cannot hold."""
    try:
        made = with_ddl(asked.plan if plan is None else plan, found)
    except UserError as error:
        raise NotSimulated(error.line) from None
    if made.missing:
        raise NotSimulated(f"a plan cannot hold this: {made.missing[0].message}")
    return made.plan


def exchanged(plan: Plan, table: Table, other: Table) -> Plan:
    """The plan with another table in the place of one."""
    return plan.replace(tables=tuple(other if one is table else one for one in plan.tables))
