"""Accounts of SQL nodes, by version of the product: what each may do, and the statements that make it.

    accounts(version)[0].statements(["shop"])      # GRANT … TO 'ndb_app'@'%' …

The data is `resources/ndb/accounts.json`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ndbplan.base.quoting import sql_identifier, sql_text
from ndbplan.base.resources import read_json
from ndbplan.ndb.version import NdbVersion, reached

PASSWORD = "{password}"
"""Stands in the statements for the password as a text of SQL."""


@dataclass(frozen=True)
class Account:
    """One account as a version of the product makes it."""

    name: str
    host: str
    """From where it may log in."""
    what: str
    """Who uses it."""
    keeps_login: bool
    """Whether its login is kept on the SQL hosts, for root alone, so that commands there can use it."""
    everywhere: tuple[str, ...]
    """Privileges on everything."""
    per_database: tuple[str, ...]
    make: tuple[str, ...]
    shared_by: str
    """The privilege that has all SQL nodes know it; nothing: each must be told."""

    @property
    def quoted(self) -> str:
        """Name and host as SQL writes them."""
        return f"{sql_text(self.name)}@{sql_text(self.host)}"

    def statements(self, databases: Iterable[str]) -> tuple[str, ...]:
        """What makes it, or sets its password, and grants what it may do; it may be repeated."""
        account = self.quoted
        statements = [one.replace("{account}", account) for one in self.make]
        if self.everywhere:
            statements.append(f"GRANT {', '.join(self.everywhere)} ON *.* TO {account};")
        if self.per_database:
            statements += [
                f"GRANT {', '.join(self.per_database)} ON {_pattern(name)}.* TO {account};"
                for name in databases
            ]
        if self.shared_by:
            statements.append(f"GRANT {self.shared_by} ON *.* TO {account};")
        return tuple(statements)


def _pattern(database: str) -> str:
    """A database in GRANT, where _ and % stand for other letters unless they are escaped."""
    return sql_identifier(database.replace("\\", "\\\\").replace("_", "\\_").replace("%", "\\%"))


def _data() -> dict[str, Any]:
    data: dict[str, Any] = read_json("ndb/accounts.json")
    return data


def accounts(version: NdbVersion) -> tuple[Account, ...]:
    """The accounts that a cluster of a version gets."""
    make = tuple(reached(_data()["forms"]["spans"], version)["make"])
    shared = reached(_data()["shared"]["spans"], version)["privilege"]
    known = []
    for row in _data()["accounts"]:
        span = reached(row["spans"], version)
        may = tuple(span["everywhere"]), tuple(span["per_database"])
        known.append(Account(row["name"], row["host"], row["what"], row["keeps_login"], *may, make, shared))
    return tuple(known)


def without_names(version: NdbVersion) -> tuple[str, ...]:
    """Statements that remove accounts without a name, which a fresh data directory has; or nothing.

    A client on the host of an SQL node would be taken for one of them, and not for an account that may come
    from anywhere.
    """
    return tuple(reached(_data()["without_names"]["spans"], version)["remove"])


class NotLoaded(NamedTuple):
    """A way to log in that earlier releases have and this one does not."""

    plugin: str
    option: str
    """Of mysqld, which has it all the same; nothing: none does."""


def not_loaded(version: NdbVersion) -> NotLoaded | None:
    """What accounts of earlier releases may log in by, and cannot any more in this one; None: nothing."""
    span = reached(_data()["not_loaded"]["spans"], version)
    return NotLoaded(span["plugin"], span["option"]) if span["plugin"] else None


def how_shared(version: NdbVersion) -> str:
    """What else a version offers to have accounts on all SQL nodes, and why it is left alone; or nothing."""
    text: str = reached(_data()["shared"]["spans"], version)["otherwise"]
    return text


def dump_databases(databases: Iterable[str]) -> tuple[str, ...]:
    """Words of mysqldump for all of some databases but rows."""
    return (*_data()["dump"]["databases"], *databases)


def dump_accounts(version: NdbVersion) -> tuple[str, ...]:
    """Words of mysqldump for accounts and what they may do."""
    return (*_data()["dump"]["accounts"], *reached(_data()["dump"]["accounts_spans"], version)["tables"])
