"""What stands behind `|` on the shell of a host: grep, head, tail, wc and sort, on what a program printed.

parts_of("df -h | grep c0d0")            # [["df", "-h"], ["grep", "c0d0"]]
through([["grep", "c0d0"]], text)        # the lines with it, and an exit status
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Container, Sequence

import regex

from ndbplan.base.units import whole_number

FILTERS = ("grep", "head", "tail", "wc", "sort")
_LINES = 10
_MOST = 100_000
_SIGNS = "|&;<>()"
_SIGNS_OF_PATTERNS = "|+?(){}"
"""Behind a backslash, or without it, they are no letters."""
_PIECE = regex.compile(r"\\.|\[\^?\]?(?:\[[:.=].*?[:.=]\]|[^\]])*\]|[|+?(){}]", regex.DOTALL)
_QUOTED = re.compile(r"""'[^']*+'|"(?:[^"\\]|\\.)*+"|\\.""", re.DOTALL)
_HIDDEN = {ord(sign): chr(0xE000 + ord(sign)) for sign in _SIGNS}
_SHOWN = {0xE000 + ord(sign): sign for sign in _SIGNS}
_CLASS = re.compile(r"\[:([a-z]*+):\]")
_CLASSES = frozenset((
    "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
    "xdigit",
))  # fmt: skip
_INTERVAL = re.compile(r"([0-9]*+)(?:(,)([0-9]*+))?")
_MOST_S = 0.5
_UNMATCHED = {
    "unterminated character set": "Unmatched [, [^, [:, [., or [=",
    "missing )": "Unmatched ( or \\(",
    "unbalanced parenthesis": "Unmatched ) or \\)",
    "bad character range": "Invalid range end",
}
"""GNU grep 3, by what `regex` says."""


class Unread(Exception):  # noqa: N818 — what the shell says of a line
    """A line that is not simulated, or a filter used otherwise than it is."""


def parts_of(line: str) -> list[list[str]]:
    """The words of each program of a line. Raises Unread, and ValueError for an open quote."""
    # Signs in quotes are none of the shell.
    hidden = _QUOTED.sub(lambda found: found[0].translate(_HIDDEN), line)
    lexer = shlex.shlex(hidden, posix=True, punctuation_chars=_SIGNS)
    lexer.whitespace_split = True
    parts: list[list[str]] = [[]]
    for word in lexer:
        if word == "|":
            parts.append([])
        elif word and set(word) <= set(_SIGNS):
            raise Unread(f"'{word}' is not simulated here: one program at a time, and | behind it")
        else:
            parts[-1].append(word.translate(_SHOWN))
    if len(parts) > 1 and not all(parts):
        raise Unread("syntax error near unexpected token `|'")
    for one in parts[1:]:
        if one[0] not in FILTERS:
            raise Unread(f"{one[0][:60]}: behind | there are {', '.join(FILTERS)}")
    return parts


def through(filters: Sequence[Sequence[str]], text: str) -> tuple[str, int]:
    """What filters leave of a text, and the exit status of the last one. Raises Unread."""
    status = 0
    for name, *words in filters:
        lines, status = _BY_NAME[name](text.splitlines(), words)
        text = "".join(f"{one}\n" for one in lines)
    return text, status


def _options(
    name: str, words: Sequence[str], known: str, counts: str = ""
) -> tuple[set[str], int, list[str]]:
    """Letters that are given, the number of one of them, and the other words. Raises Unread."""
    letters, number, others, expects = set[str](), _LINES, list[str](), False
    for word in words:
        if expects:
            number, expects = _number(name, word), False
        elif word.startswith("-") and len(word) > 1 and counts and word[1:].isdigit():
            number = _number(name, word[1:])
        elif word.startswith("-") and len(word) > 1 and counts and word[1] == counts:
            if word[2:]:
                number = _number(name, word[2:])
            expects = not word[2:]
        elif word.startswith("-") and len(word) > 1 and set(word[1:]) <= set(known):
            letters |= set(word[1:])
        elif word.startswith("-") and len(word) > 1:
            raise Unread(f"{name}: option '{word[:20]}' is not simulated")
        else:
            others.append(word)
    return letters, number, others


def _number(name: str, word: str) -> int:
    number = whole_number(word)
    if number is None or not 0 <= number <= _MOST:
        raise Unread(f"{name}: invalid number of lines: '{word[:20]}'")
    return number


def _grep(lines: list[str], words: Sequence[str]) -> tuple[list[str], int]:
    letters, _, others = _options("grep", words, "ivcEFnow")
    if len(others) != 1:
        raise Unread("grep: one pattern, and no file, behind |")
    wanted = _pattern(others[0], letters)
    try:
        met = [[one[0] for one in wanted.finditer(line, timeout=_MOST_S)] for line in lines]
    except TimeoutError:
        raise Unread("grep: a pattern that takes this long is not simulated") from None
    kept = [at for at, found in enumerate(met) if bool(found) is not ("v" in letters)]
    if "c" in letters:
        return [str(len(kept))], int(not kept)
    parts_of_line = {at: [one for one in met[at] if one] if "o" in letters else [lines[at]] for at in kept}
    shown = [(at, text) for at, parts in parts_of_line.items() for text in parts]
    return [f"{at + 1}:{text}" if "n" in letters else text for at, text in shown], int(not kept)


def _pattern(pattern: str, letters: Container[str]) -> regex.Pattern[str]:
    """The pattern of GNU grep for `regex`. Raises Unread for what is none."""
    if "F" in letters:
        ours = regex.escape(pattern)
    else:
        _check(pattern, extended="E" in letters)
        ours = _PIECE.sub(lambda piece: _in_ours(piece[0], "E" in letters), pattern)
        if "E" not in letters:
            ours = regex.sub(r"\A(\^?)\*", r"\1\\*", ours)
    if "w" in letters:
        ours = rf"(?<!\w)(?:{ours})(?!\w)"
    try:
        return regex.compile(ours, regex.IGNORECASE if "i" in letters else 0)
    except regex.error as error:
        said = f"'{pattern[:40]}' is no pattern that is simulated"
        raise Unread(f"grep: {_UNMATCHED.get(error.msg, said)}") from None


def _check(pattern: str, *, extended: bool) -> None:
    """Raises Unread in the words of GNU grep 3.8 for what another library lets pass."""
    opens, closes = ("{", "}") if extended else ("\\{", "\\}")
    at = 0
    while at < len(pattern):
        found = _PIECE.match(pattern, at)
        piece = found[0] if found is not None else pattern[at]
        at += len(piece)
        if piece == "\\":
            raise Unread("grep: Trailing backslash")
        if piece[0] == "[" and len(piece) > 1:
            if piece.startswith("[:") and piece.endswith(":]"):
                raise Unread("grep: character class syntax is [[:space:]], not [:space:]")
            if not _CLASSES.issuperset(_CLASS.findall(piece)):
                raise Unread("grep: Invalid character class name")
        if piece != opens:
            continue
        inside, end, _ = pattern[at:].partition(closes)
        interval = _INTERVAL.fullmatch(inside)
        if not end or interval is None or not inside:
            if not extended:
                raise Unread("grep: Invalid content of \\{\\}" if end else "grep: Unmatched \\{")
            continue
        least, most = int(interval[1] or 0), int(interval[3]) if interval[3] else None
        if most is not None and most < least:
            raise Unread("grep: Invalid content of \\{\\}")


def _in_ours(piece: str, extended: bool) -> str:
    """A bracket, a sign or a letter behind a backslash as `regex` has it."""
    if piece[0] == "[":
        return piece.replace("\\", "\\\\")
    if piece[0] != "\\":
        return piece if extended else f"\\{piece}"
    letter = piece[1:]
    if letter in ("<", ">"):
        return r"\b(?=\w)" if letter == "<" else r"\b(?<=\w)"
    if letter in _SIGNS_OF_PATTERNS:
        return piece if extended else letter
    return letter if letter.isalpha() and letter not in "wWsSbB" else piece


def _head(lines: list[str], words: Sequence[str]) -> tuple[list[str], int]:
    _, number, others = _options("head", words, "", "n")
    _no_files("head", others)
    return lines[:number], 0


def _tail(lines: list[str], words: Sequence[str]) -> tuple[list[str], int]:
    _, number, others = _options("tail", words, "", "n")
    _no_files("tail", others)
    return lines[-number:] if number else [], 0


def _wc(lines: list[str], words: Sequence[str]) -> tuple[list[str], int]:
    letters, _, others = _options("wc", words, "lwc")
    _no_files("wc", others)
    sizes = {"l": len(lines), "w": sum(len(one.split()) for one in lines),
             "c": sum(len(one.encode()) + 1 for one in lines)}  # fmt: skip
    if len(letters) == 1:
        return [str(sizes[letters.pop()])], 0
    shown = [sizes[letter] for letter in "lwc" if not letters or letter in letters]
    return ["".join(f"{one:>8}" for one in shown)], 0


def _sort(lines: list[str], words: Sequence[str]) -> tuple[list[str], int]:
    letters, column, others = _options("sort", words, "rn", "k")
    _no_files("sort", others)
    has_column = any(word.startswith("-k") for word in words)

    def key(line: str) -> tuple[float, str]:
        parts = line.split()
        text = (parts[column - 1] if 0 < column <= len(parts) else "") if has_column else line.strip()
        found = re.match(r"-?[0-9]++(?:\.[0-9]++)?", text) if "n" in letters else None
        return (float(found[0]) if found else 0.0, text)

    return sorted(lines, key=key, reverse="r" in letters), 0


def _no_files(name: str, others: Sequence[str]) -> None:
    if others:
        raise Unread(f"{name}: behind | it reads what was printed, and no file")


_BY_NAME: dict[str, Callable[[list[str], Sequence[str]], tuple[list[str], int]]] = {
    "grep": _grep, "head": _head, "tail": _tail, "wc": _wc, "sort": _sort,
}  # fmt: skip
