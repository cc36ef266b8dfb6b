"""Errors that a person reads. Each names the thing, the value, the limit and the fix, in one line."""

from __future__ import annotations

from typing import Self


class Cancelled(Exception):  # noqa: N818 — a request, not a fault
    """The caller asked to stop, as a newer question has come or nobody waits for the answer."""


class UserError(Exception):
    """Something a person can put right: a bad file, a value out of range, a step that cannot be done.

    `what` says what is wrong with the value and the limit it breaks, `where` the place (a path inside a
    plan such as `hosts[0].disks[1].capacity_bytes`, or a file), `fix` what to do about it.
    """

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        self.what = readable(what, 500)
        self.where = readable(where, 200)
        self.fix = readable(fix, 250)
        super().__init__(self.line)

    def at(self, where: str) -> Self:
        """The same, of a place that whoever raised it did not know."""
        self.where = readable(where, 200)
        self.args = (self.line,)
        return self

    @property
    def line(self) -> str:
        """The whole message in one line."""
        place = f"{self.where}: " if self.where else ""
        remedy = f" — {self.fix}" if self.fix else ""
        return " ".join(f"{place}{self.what}{remedy}".split())


_SPACES = "\n\t\u2009"
"""Beside the usual one; the last stands between the digits of large numbers."""


def readable(text: str, most: int) -> str:
    """The text as a person can read it: so many letters at most, the middle left out, all printable."""
    printable = (
        c if c.isprintable() or c in _SPACES else c.encode("unicode_escape").decode()
        for c in _shortened(text, most)
    )
    # What is not printable takes up to ten letters each.
    return _shortened("".join(printable), most)


_LONG_WORD = 40
"""A word of so many letters is cut; others are left out whole."""


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head, tail = text[: most * 2 // 3], text[-most // 4 :]
    ended, began = head.rfind(" "), tail.find(" ")
    if len(head) - ended <= _LONG_WORD:
        head = head[: max(ended, 0)]
    if 0 <= began <= _LONG_WORD:
        tail = tail[began + 1 :]
    return f"{head} … {tail}"
