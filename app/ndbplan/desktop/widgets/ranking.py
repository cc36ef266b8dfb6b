"""How well what is typed names something: whole words and their beginnings, then initials, then likeness."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LIKE = 70.0
"""Share of letters in common, in percent, from which on a word with a slip in it is still meant."""
_OF_EVERYTHING = frozenset(("a", "an", "and", "by", "for", "in", "of", "my", "the", "to", "with"))
"""Words that name nothing, where others are typed with them."""
_INSIDE_FROM = 4
"""Letters from which on they are found inside of words: `rpo` is no ServerPort."""
_LIKE_FROM = 3
"""Letters from which on a slip may be in a word."""


@dataclass(frozen=True)
class Name:
    """A text that can be typed for, and further words under which it is found."""

    text: str
    more: str = ""
    called: str = ""
    """What people call it as well: as good as its own words."""
    is_sentence: bool = False
    """It only speaks of what its words name, as the text of a problem does, or is seldom meant."""

    @cached_property
    def whole(self) -> str:
        """The text in small letters."""
        return self.text.lower()

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words: also the parts of DataMemory, and DataMemory as one."""
        parts = [part.lower() for part in _WORD.findall(self.text)]
        return tuple(dict.fromkeys([*self.spoken, *parts]))

    @cached_property
    def spoken(self) -> tuple[str, ...]:
        """Its words as they are written: DataMemory is one."""
        apart = re.findall(r"[^\s/·:]+", self.whole), re.findall(r"[^\W_]+", self.whole)
        return tuple(dict.fromkeys([*apart[0], *apart[1]]))

    @cached_property
    def initials(self) -> str:
        """First letters of its words."""
        return "".join(part[0].lower() for part in _WORD.findall(self.text))

    @cached_property
    def more_words(self) -> tuple[str, ...]:
        """The further words."""
        return tuple(re.findall(r"[^\s/·:]+", f"{self.called} {self.more}".lower()))


def score(typed: str, name: Name, *, alike: bool = True) -> float:
    """How well letters name something: 0 not at all.

    `alike`: also by likeness, which forgives slips; it is only asked for where nothing else is found.
    """
    asked = " ".join(typed.lower().split())
    if not asked:
        return 1.0
    mark = _named(asked, name)
    if not mark and alike:
        mark = _alike(asked, name)
    # Of equal ones the shorter is meant.
    return max(0.001, mark - min(len(name.text), 100) * 0.01) if mark else 0.0


def _named(asked: str, name: Name) -> float:
    joined = asked.replace(" ", "")
    tokens = [token for token in asked.split() if token not in _OF_EVERYTHING] or asked.split()
    if asked == name.whole:
        return 1000.0
    if name.is_sentence and not name.whole.startswith(asked):
        is_in = _all_begin(tokens, (*name.words, *name.more_words)) or joined in name.initials
        return 605.0 if is_in or (asked in name.whole and len(joined) >= _INSIDE_FROM) else 0.0
    if asked == next(iter(name.spoken), ""):
        return 950.0
    if asked in name.called.split():
        return 910.0
    if name.whole.startswith(asked):
        return 900.0
    if asked in name.spoken:
        return 870.0
    if _all_begin(tokens, name.spoken):
        return 850.0
    if _squeezed(asked) == _squeezed(name.whole):
        return 845.0
    has_initials = len(joined) > 1 and joined in name.initials
    if has_initials and (" " in name.text or name.initials.startswith(joined)):
        return 800.0
    is_inside = asked in name.whole or _squeezed(asked) in _squeezed(name.whole)
    if is_inside and len(joined) >= _INSIDE_FROM:
        return 700.0
    if _all_begin(tokens, name.words):
        # LogLevelNodeRestart is called so, and yet not what `node restart` means first.
        return 610.0
    if _all_begin(tokens, (*name.words, *name.more_words)):
        # `host` is a kind of things: a sentence that speaks of `hosts` too comes behind.
        is_kind = all(one in name.more_words or _all_begin([one], name.words) for one in tokens)
        return 620.0 if is_kind else 600.0
    return 590.0 if has_initials else 0.0


def _squeezed(text: str) -> str:
    """Letters and digits alone: `hostb1` is host-b1."""
    return re.sub(r"[^\w]", "", text) or text


def _all_begin(tokens: Sequence[str], words: Sequence[str]) -> bool:
    return all(any(word.startswith(token) for word in words) for token in tokens)


def _alike(asked: str, name: Name) -> float:
    from rapidfuzz import fuzz

    if len(asked) < _LIKE_FROM:
        return 0.0
    near = max(fuzz.ratio(asked, word, score_cutoff=_LIKE) for word in (name.whole, *name.words))
    if not near and " " in asked:
        near = fuzz.token_sort_ratio(asked, name.whole, score_cutoff=_LIKE)
    return near * 5.0


def ranked(typed: str, names: Sequence[Name]) -> list[int]:
    """Numbers of the names that are meant, best first; of equal ones in their order."""
    scored = [(score(typed, name, alike=False), i) for i, name in enumerate(names)]
    best = [(mark, i) for mark, i in scored if mark > 0]
    if not best:
        best = [(mark, i) for i, name in enumerate(names) if (mark := score(typed, name)) > 0]
    return [i for mark, i in sorted(best, key=lambda one: (-one[0], one[1]))]
