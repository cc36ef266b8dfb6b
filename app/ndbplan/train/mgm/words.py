"""What all commands of the management client share: node ids, refusals, what is invalid."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ndbplan.ndb.console import client_error
from ndbplan.ndb.errors import said
from ndbplan.plan.processes import ApiSlot, DataNode, SqlNode
from ndbplan.train.answer import Answer
from ndbplan.train.live import LiveCluster

FAILED = 255
"""Exit status of any failure [8.4.8 and 7.4.10]."""
HIGHEST_ID = 256
"""A node id above it is invalid whatever is configured [8.4.8: 256 is not found, 300 is invalid]."""
_NUMBER = re.compile(r"[-+]?[0-9]+")


class Line(NamedTuple):
    """A line, or its end, as the client takes it apart: spaces part words, tabs do not."""

    text: str
    typed: str
    """The whole line with what does not count, as it is shown where no command is meant."""

    @property
    def words(self) -> tuple[str, ...]:
        """As typed."""
        return tuple(word for word in self.text.split(" ") if word)

    @property
    def upper(self) -> tuple[str, ...]:
        """In capitals."""
        return tuple(word.upper() for word in self.words)

    @property
    def rest(self) -> Line:
        """Without the first word and the one space behind it."""
        return Line(self.text.lstrip(" ").partition(" ")[2], self.typed)

    def begins(self, words: str) -> bool:
        """Whether it begins with these letters, whatever is behind them."""
        return self.text.upper().startswith(words)


def line_of(text: str) -> Line:
    """A line without spaces around it; semicolons at its end and a remark count for nothing."""
    kept = text.strip(" \t\r\n")
    while kept.endswith(";"):
        kept = kept[:-1].strip(" \t\r\n")
    return Line("" if kept.startswith("#") else kept, text)


def number_of(word: str) -> int | None:
    """A whole number, or None."""
    return int(word) if _NUMBER.fullmatch(word) and len(word) < 20 else None


def begun_number(word: str) -> int | None:
    """The whole number that a word begins with, as of `5abc`; None: with none."""
    found = _NUMBER.match(word)
    return None if found is None else number_of(found[0])


def invalid(text: str, more: str = "") -> Answer:
    """A line that names no command."""
    return Answer(f"Invalid command: {text}\n{more}Type HELP for help.\n\n", FAILED)


def refused(code: int, cluster: LiveCluster, *, numbered: bool = False) -> str:
    """The line with what the server says."""
    number = f"{code}-" if numbered else ""
    return f"*        {number}{said(code, cluster.plan.version).line}\n"


def client_line(code: int) -> str:
    """`*  2002: Stop failed`."""
    return f"*{code:>6}: {client_error(code)}\n"


def data_nodes(cluster: LiveCluster) -> list[int]:
    """Ids of the data nodes, ascending."""
    return sorted(cluster.state.nodes)


def is_data_node(cluster: LiveCluster, node_id: int) -> bool:
    """Whether an id is that of a data node."""
    return isinstance(cluster.state.process(node_id), DataNode)


def is_api_node(cluster: LiveCluster, node_id: int) -> bool:
    """Whether an id is that of an SQL node or a slot."""
    return isinstance(cluster.state.process(node_id), SqlNode | ApiSlot)


def joined(answers: Sequence[Answer]) -> Answer:
    """Several answers as one: it failed when one did."""
    text = "".join(one.text for one in answers)
    orders = tuple(order for one in answers for order in one.orders)
    return Answer(text, max((one.exit for one in answers), default=0), orders)
