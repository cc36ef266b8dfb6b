"""What SQL nodes keep for all their sessions: variables that are set for all, and locked tables.

OfServers().set(49, {"max_connections": "200"}, {})     # SET GLOBAL: until the server ends
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ndbplan.train.locks import NO_TABLE_LOCKS, TableLocks

Values = Mapping[str, str]
_NONE: Mapping[int, Values] = MappingProxyType({})


class OfServers(NamedTuple):
    """What SQL nodes keep, by their node ids."""

    values: Mapping[int, Values] = _NONE
    """Variables that are not as the server started with them."""
    persisted: Mapping[int, Values] = _NONE
    """Those that it starts with (mysqld-auto.cnf)."""
    locked: Mapping[int, TableLocks] = NO_TABLE_LOCKS
    """Tables that sessions have locked, by the numbers of these."""

    def set(self, node_id: int, values: Values, persisted: Values) -> OfServers:
        """With other values; what is persisted takes the place of all that was."""
        own = {**self.values.get(node_id, {}), **values}
        return self._replace(
            values={**self.values, node_id: own}, persisted={**self.persisted, node_id: persisted}
        )

    def lock(self, session: int, locks: TableLocks | None) -> OfServers:
        """A session has these tables; None: none."""
        left = {one: held for one, held in self.locked.items() if one != session}
        return self._replace(locked=left if locks is None else {**left, session: locks})

    def started(self, node_ids: tuple[int, ...]) -> OfServers:
        """Servers that end come back with what is persisted, and without their sessions."""
        kept = {one: self.persisted.get(one, {}) for one in node_ids}
        locked = {one: held for one, held in self.locked.items() if held.node_id not in node_ids}
        return self._replace(values={**self.values, **kept}, locked=locked)


NOTHING_SET = OfServers()
