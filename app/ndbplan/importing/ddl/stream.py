"""The words of one statement, read one after the other."""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.importing.ddl.tokens import Word

_NO_WORD = Word("", -1, "end")


class Unreadable(Exception):  # noqa: N818 — it becomes a note at its place in the text, not an error
    """A piece of a statement that cannot be read, with its place."""

    def __init__(self, offset: int, what: str) -> None:
        super().__init__(what)
        self.offset = offset
        self.what = what


class Stream:
    """Words that are read one after the other."""

    def __init__(self, tokens: list[Word], end: int) -> None:
        self._tokens = tokens
        self._at = 0
        self._end = end

    def peek(self, ahead: int = 0) -> Word:
        """The next word, or one behind it; an empty one at the end."""
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else _NO_WORD

    def next(self) -> Word:
        """The next word, taken."""
        word = self.peek()
        if word is _NO_WORD:
            raise Unreadable(self._end, "the statement ends too early")
        self._at += 1
        return word

    @property
    def start(self) -> int:
        """Offset of the next word."""
        word = self.peek()
        return self._end if word is _NO_WORD else word.start

    @property
    def taken_to(self) -> int:
        """Offset behind the word that was taken last."""
        return self._tokens[self._at - 1].end

    @property
    def end(self) -> int:
        """Offset behind the last word."""
        return self._tokens[-1].end if self._tokens else self._end

    def at_end(self) -> bool:
        """Whether all words are taken."""
        return self._at >= len(self._tokens)

    def rest(self) -> list[Word]:
        """The words not yet taken."""
        return self._tokens[self._at :]

    def accept(self, keyword: str) -> bool:
        """Take the next word if it is this keyword or sign."""
        if self.peek().upper == keyword:
            self._at += 1
            return True
        return False

    def expect(self, keyword: str) -> None:
        """Take this keyword. Raises Unreadable."""
        if not self.accept(keyword):
            raise self.unreadable(keyword)

    def unreadable(self, wanted: str) -> Unreadable:
        """The error that something else stands here."""
        word = self.peek()
        place = self._end if word is _NO_WORD else word.start
        instead = "the end" if word is _NO_WORD else f"'{word.text[:40]}'"
        return Unreadable(place, f"expected {wanted}, found {instead}")

    def name(self, what: str) -> str:
        """Take a name, quoted or not. Raises Unreadable."""
        word = self.peek()
        if word.kind not in ("name", "word"):
            raise self.unreadable(what)
        self._at += 1
        return word.text

    def _closing(self) -> int:
        """Index of the parenthesis that closes the one just taken."""
        depth = 1
        for i in range(self._at, len(self._tokens)):
            sign = self._tokens[i].upper
            depth += (sign == "(") - (sign == ")")
            if depth == 0:
                return i
        raise Unreadable(self._end, "a parenthesis is not closed")

    def behind_parenthesis(self) -> Stream:
        """What follows the parenthesis that was just opened; this stream stays where it is."""
        return Stream(self._tokens[self._closing() + 1 :], self._end)

    def items(self) -> Iterator[Stream]:
        """The items, by commas, of the parenthesis just opened; then this stream is behind it."""
        close = self._closing()
        start, depth = self._at, 0
        for i in range(self._at, close + 1):
            sign = self._tokens[i].upper
            if i == close or (sign == "," and depth == 0):
                end = self._tokens[i].start
                yield Stream(self._tokens[start:i], end)
                start = i + 1
            depth += (sign == "(") - (sign == ")")
        self._at = close + 1

    def skip_parenthesis(self) -> None:
        """Pass over a parenthesis if one opens here."""
        if self.accept("("):
            self._at = self._closing() + 1
