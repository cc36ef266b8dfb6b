"""What SQL nodes keep for all their sessions: variables that somebody set for everybody.

OfServers().set(49, {"max_connections": "200"}, {})     # SET GLOBAL: until the server ends
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

Values = Mapping[str, str]
_NONE: Mapping[int, Values] = MappingProxyType({})


class OfServers(NamedTuple):
    """What SQL nodes keep, by their node ids."""

    values: Mapping[int, Values] = _NONE
    """Variables that are not as the server started with them."""
    persisted: Mapping[int, Values] = _NONE
    """Those that it starts with (mysqld-auto.cnf)."""

    def set(self, node_id: int, values: Values, persisted: Values) -> OfServers:
        """With other values; what is persisted takes the place of all that was."""
        own = {**self.values.get(node_id, {}), **values}
        return OfServers({**self.values, node_id: own}, {**self.persisted, node_id: persisted})

    def started(self, node_ids: tuple[int, ...]) -> OfServers:
        """Servers that end come back with what is persisted."""
        kept = {one: self.persisted.get(one, {}) for one in node_ids}
        return self._replace(values={**self.values, **kept})


NOTHING_SET = OfServers()
