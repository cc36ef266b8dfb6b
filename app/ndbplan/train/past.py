"""What consoles were at earlier moments: where time goes back to, each of them is what it was there.

past.keep("data1$", 12.0, shell)          # from then on
past.was("data1$", 9.0, 12.0, at_work)    # between, as is known afterwards
past.go_back(10.0)                        # ("data1$", at_work)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, NamedTuple, Self, TypeVar

T = TypeVar("T")


class Kept(NamedTuple, Generic[T]):
    """One console, from a moment on."""

    at_s: float
    what: T


class Past(Generic[T]):
    """Consoles by their prompts; what is kept is a value, or a copy that nobody changes."""

    def __init__(self) -> None:
        self._kept: dict[str, list[Kept[T]]] = {}

    def copy(self) -> Self:
        """The same, to go on apart."""
        other = type(self)()
        other._kept = {prompt: kept.copy() for prompt, kept in self._kept.items()}
        return other

    def keep(self, prompt: str, at_s: float, what: T) -> None:
        """So is it from now on."""
        kept = self._kept.setdefault(prompt, [])
        # Nobody goes back to between two lines of one moment: the last one counts.
        while kept and kept[-1].at_s >= at_s:
            kept.pop()
        kept.append(Kept(at_s, what))

    def was(self, prompt: str, from_s: float, to_s: float, what: T) -> None:
        """So was it between two moments, whatever was kept of them."""
        outside = [one for one in self._kept.get(prompt, []) if not from_s <= one.at_s < to_s]
        self._kept[prompt] = sorted([*outside, Kept(from_s, what)], key=lambda one: one.at_s)

    def go_back(self, to_s: float) -> Iterator[tuple[str, T]]:
        """Consoles of a moment, as they were before anything was typed at it; what follows is forgotten."""
        for prompt, kept in self._kept.items():
            while kept and kept[-1].at_s >= to_s:
                kept.pop()
            if kept:
                yield prompt, kept[-1].what
