"""Extended regular expressions of POSIX, as servers before 8.0.4 read them, in the words of `regex`.

in_ours("[[:<:]]a{2}$")          # r"(?:\\b(?=\\w))(?:a){2}\\Z"

They are those of Henry Spencer's library (regcomp.c of BSD, p_ere and p_bracket), and so are its errors: a
backslash makes a letter of what follows, there is no class by a backslash and nothing after "(?".
"""

from __future__ import annotations

import regex

CLASSES = frozenset(
    ("alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
     "xdigit")
)  # fmt: skip
_WORDS = {"[[:<:]]": r"(?:\b(?=\w))", "[[:>:]]": r"(?:\b(?<=\w))"}
_MOST_TIMES = 255
"""RE_DUP_MAX."""


class NoPatternError(Exception):
    """In the library's words."""


def in_ours(pattern: str) -> str:
    """The pattern for `regex`. Raises NoPatternError."""
    reading = _Reading(pattern)
    found = reading.branches(inner=False)
    if reading.at < len(pattern):
        raise NoPatternError("parentheses not balanced")
    return found


def _literal(letter: str) -> str:
    return f"\\{letter}" if letter.isascii() and not letter.isalnum() else letter


class _Reading:
    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0

    def branches(self, inner: bool) -> str:
        found = [self._branch(inner)]
        while self._takes("|"):
            found.append(self._branch(inner))
        return "|".join(found)

    def _branch(self, inner: bool) -> str:
        found = ""
        while self._next() and self._next() != "|" and not (inner and self._next() == ")"):
            found += self._piece()
        if not found:
            raise NoPatternError("empty (sub)expression")
        return found

    def _piece(self) -> str:
        is_begin = self._next() == "^"
        atom = self._atom()
        if (times := self._times()) is None:
            return atom
        if is_begin or self._times() is not None:
            raise NoPatternError("repetition-operator operand invalid")
        return f"(?:{atom}){times}"

    def _atom(self) -> str:
        letter = self._taken()
        if letter == "(":
            inner = self.branches(inner=True) if self._next() not in ("", ")") else ""
            if not self._takes(")"):
                raise NoPatternError("parentheses not balanced")
            return f"({inner})"
        if letter == ")":
            raise NoPatternError("parentheses not balanced")
        if letter in "*+?" or (letter == "{" and self._next().isdigit()):
            raise NoPatternError("repetition-operator operand invalid")
        if letter == "[":
            return self._bracket()
        if letter == "\\":
            if not self._next():
                raise NoPatternError("trailing backslash (\\)")
            return _literal(self._taken())
        return {"^": "^", "$": r"\Z", ".": "."}.get(letter) or _literal(letter)

    def _times(self) -> str | None:
        """`*`, `+`, `?` or an interval, which begins with a digit; else the brace is a letter."""
        letter, behind = self._next(), self.pattern[self.at + 1 : self.at + 2]
        if letter in ("*", "+", "?"):
            return self._taken()
        if letter != "{" or not behind.isdigit():
            return None
        met = regex.compile(r"\{([0-9]+)(,?)([0-9]*)").match(self.pattern, self.at)
        assert met is not None
        least, most = int(met[1]), int(met[3] or met[1])
        if max(least, most) > _MOST_TIMES or least > most:
            raise NoPatternError("invalid repetition count(s)")
        self.at = met.end()
        if not self._takes("}"):
            is_open = "}" not in self.pattern[self.at :]
            raise NoPatternError("braces not balanced" if is_open else "invalid repetition count(s)")
        return f"{{{least}{met[2]}{met[3]}}}"

    def _bracket(self) -> str:
        for word, ours in _WORDS.items():
            if self.pattern.startswith(word, self.at - 1):
                self.at += len(word) - 1
                return ours
        found = "[^" if self._takes("^") else "["
        is_first = True
        while is_first or self._next() != "]":
            one, is_class = self._member()
            if not is_class and self._next() == "-" and self.pattern[self.at + 1 : self.at + 2] != "]":
                self.at += 1
                end, is_class = self._member()
                if is_class or end < one:
                    raise NoPatternError("invalid character range")
                found += f"{_literal(one)}-{_literal(end)}"
            else:
                found += one if is_class else _literal(one)
            is_first = False
        self.at += 1
        return f"{found}]"

    def _member(self) -> tuple[str, bool]:
        """A letter, or a class as it stands; whether it is a class."""
        met = regex.compile(r"\[([:.=])(.*?)\1\]", regex.DOTALL).match(self.pattern, self.at)
        if met is None:
            if not self._next():
                raise NoPatternError("brackets ([ ]) not balanced")
            return self._taken(), False
        self.at = met.end()
        if met[1] == ":":
            if met[2] not in CLASSES:
                raise NoPatternError("invalid character class")
            return met[0], True
        if len(met[2]) != 1:
            raise NoPatternError("invalid collating element")
        return met[2], False

    def _next(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _taken(self) -> str:
        self.at += 1
        return self.pattern[self.at - 1]

    def _takes(self, letter: str) -> bool:
        is_there = self._next() == letter
        self.at += is_there
        return is_there
