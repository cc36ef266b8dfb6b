"""Reading config.ini the way ndb_mgmd reads it: sections, lines, and what the program would refuse.

Behaviour of the real parser that is kept: lines are read in pieces of 1023 bytes, a line of CR and LF alone
is not empty, only `#` starts a comment, a section header stands alone on its line, the first `=` or `:`
separates name and value. Where the program would stop, reading goes on and the finding says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_bytes

MAX_FILE_BYTES = 16_000_000
"""More than any config.ini: 255 nodes with every parameter set are about 2 MB."""

MAX_LINES = 100_000
"""255 nodes with every parameter set are about half of that."""
MAX_FINDINGS = 200
_PIECE = 1023
_SHOWN = 60

_ALIASES = {
    "db": "DB", "ndbd": "DB",
    "api": "API", "mysqld": "API",
    "mgm": "MGM", "ndb_mgmd": "MGM",
    "tcp": "TCP", "shm": "SHM", "sci": "SCI",
    "system": "SYSTEM", "computer": "COMPUTER",
}  # fmt: skip
_ASSIGNMENT = re.compile(r"([^=:]*)[=:](.*)$", re.S)
_DEFAULT_HEADER = re.compile(rb"\[([A-Za-z_]{1,120})\s+([A-Za-z_]{1,120})")
_BOMS = {b"\xef\xbb\xbf": "UTF-8", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


class ConfigFileError(UserError):
    """A file that is not a config.ini at all: too large, binary, empty of sections."""


@dataclass(frozen=True)
class Finding:
    """Something about one line of a file that a person should know."""

    refused: bool
    """Whether ndb_mgmd would refuse the file for it."""
    line: int
    message: str
    fix: str = ""

    def text(self, name: str = "") -> str:
        """The finding in one line, with the file's name."""
        place = f"{name}, line {self.line}" if name else f"line {self.line}"
        return f"{place}: {self.message}" + (f" — {self.fix}" if self.fix else "")


@dataclass(frozen=True)
class Line:
    """One `name=value`, with the number of its line."""

    name: str
    value: str
    line: int


@dataclass
class RawSection:
    """One section as it stands in the file."""

    kind: str
    """DB, API, MGM, TCP, SHM, SCI, SYSTEM or COMPUTER."""
    is_default: bool
    line: int
    header: str
    """The word in the brackets: ndbd, mysqld, api …"""
    lines: list[Line] = field(default_factory=list)
    _by_name: dict[str, Line] = field(default_factory=dict)

    def add(self, line: Line) -> None:
        """Append a line; the first one of a name is the one that counts."""
        self.lines.append(line)
        self._by_name.setdefault(line.name.lower(), line)

    def get(self, name: str) -> Line | None:
        """The line of a parameter, its name in any case."""
        return self._by_name.get(name.lower())


@dataclass
class ConfigFile:
    """A file in sections, with everything noticed on the way."""

    sections: list[RawSection]
    findings: list[Finding]
    unread: Finding | None = None
    """Of the first line that is neither a header nor `name=value`: ndb_mgmd starts with no such file."""

    def cannot_read(self, line: int, message: str, fix: str) -> None:
        """Add what is wrong with a line that says nothing."""
        self.unread = self.unread or Finding(True, line, message, fix)
        self.find(True, line, message, fix)

    def find(self, refused: bool, line: int, message: str, fix: str = "") -> None:
        """Add a finding; beyond MAX_FINDINGS only the count would grow."""
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(Finding(refused, line, message, fix))


def read_config_file(content: bytes, name: str) -> ConfigFile:
    """The sections of a file. Raises ConfigFileError for what cannot be a config.ini."""
    if len(content) > MAX_FILE_BYTES:
        line = content.count(b"\n", 0, MAX_FILE_BYTES) + 1
        raise ConfigFileError(
            f"the file has {format_bytes(len(content))}; a config.ini has at most "
            f"{format_bytes(MAX_FILE_BYTES)}",
            where=f"{name}, line {line}",
            fix="name the configuration file of a management server",
        )
    result = ConfigFile([], [])
    for mark, encoding in _BOMS.items():
        if content.startswith(mark):
            if encoding == "UTF-16":
                raise ConfigFileError(
                    "the file is UTF-16 text; ndb_mgmd reads ASCII or UTF-8",
                    where=f"{name}, line 1",
                    fix="save it as UTF-8 without byte-order mark",
                )
            result.find(
                True,
                1,
                "the file starts with a byte-order mark, which ndb_mgmd takes for text outside a section",
                "save it as UTF-8 without byte-order mark",
            )
            content = content.removeprefix(mark)
    _refuse_binary(content, name)
    section: RawSection | None = None
    for number, piece in _pieces(content):
        if number > MAX_LINES:
            raise ConfigFileError(
                f"the file has more than {MAX_LINES} lines",
                where=f"{name}, line {number}",
                fix="name the configuration file of a management server",
            )
        text = piece.split(b"\0", 1)[0]
        stripped = _unquoted(text.strip(b" \t\r\n"))
        if len(piece) == _PIECE and not piece.endswith(b"\n") and stripped:
            result.find(
                False,
                number,
                f"the line is longer than {_PIECE} characters; ndb_mgmd takes the rest for a line of its own",
                "shorten it",
            )
        if stripped.startswith(b"#"):
            continue
        if stripped == b"":
            if piece in (b"\r\n", b"\r"):
                result.find(
                    True,
                    number,
                    "an empty line ends with CR and LF; ndb_mgmd takes the CR for text",
                    "save the file with LF line ends",
                )
            continue
        header = _header(stripped)
        if header is not None:
            word, is_default = header
            section = RawSection(_ALIASES[word.lower()], is_default, number, word)
            result.sections.append(section)
            continue
        section = _other_line(result, section, number, stripped)
    if not result.sections:
        raise ConfigFileError(
            "there is no section such as [ndbd] in the file",
            where=f"{name}, line 1",
            fix="name the configuration file of a management server",
        )
    return result


def _pieces(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines, cut into pieces of 1023 bytes, each with the number ndb_mgmd would name."""
    number = 0
    for line in content.split(b"\n"):
        whole = line + b"\n"
        for start in range(0, len(whole), _PIECE):
            number += 1
            yield number, whole[start : start + _PIECE]


def _unquoted(line: bytes) -> bytes:
    """A line without the double quotes around all of it (trim in InitConfigFileParser.cpp)."""
    return line[1:-1] if len(line) > 1 and line.startswith(b'"') and line.endswith(b'"') else line


def _refuse_binary(content: bytes, name: str) -> None:
    sample = content[:65_536]
    strange = sum(sample.count(bytes([byte])) for byte in range(32) if byte not in (9, 10, 12, 13))
    if strange > max(8, len(sample) // 100):
        place = next(i for i, byte in enumerate(sample) if byte < 32 and byte not in (9, 10, 12, 13))
        raise ConfigFileError(
            f"byte {place} is {sample[place]:#04x}; this is not a text file",
            where=f"{name}, line {sample.count(10, 0, place) + 1}",
            fix="name the configuration file of a management server",
        )


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _header(line: bytes) -> tuple[str, bool] | None:
    """The word of a section header and whether it is a default section; None for another line."""
    match = _DEFAULT_HEADER.match(line)
    if match is not None and match[2].lower() == b"default":
        word = match[1].decode()
        return (word, True) if word.lower() in _ALIASES else None
    if line.startswith(b"[") and line.endswith(b"]"):
        word = _decoded(line[1:-1]).strip(" \t")
        return (word, False) if word.lower() in _ALIASES else None
    return None


def _other_line(
    result: ConfigFile, section: RawSection | None, number: int, stripped: bytes
) -> RawSection | None:
    """Store a line that is not a header; the section that goes on after it."""
    text = _decoded(stripped)
    if text.startswith("["):
        return _bad_header(result, section, number, text)
    if section is None:
        fix = "put it under a section such as [ndbd default]"
        if text.startswith("!include"):
            fix = "write what it includes into this file; config.ini has no includes"
        result.cannot_read(number, f"'{_shown(text)}' stands outside a section", fix)
        return None
    match = _ASSIGNMENT.match(text)
    if match is None:
        fix = "write name=value"
        if text[0] in ";/" or text.startswith("--"):
            fix = "start comments with #; no other sign does"
        elif text.startswith("!include"):
            fix = "write what it includes into this file; config.ini has no includes"
        result.cannot_read(number, f"'{_shown(text)}' is not a line that ndb_mgmd can read", fix)
        return section
    name, value = match[1].strip(" \t\r\n"), match[2].split("#", 1)[0].strip(" \t\r\n")
    earlier = section.get(name)
    if earlier is not None:
        result.find(
            True,
            number,
            f"{name} is there twice in one section (first on line {earlier.line})",
            "keep one of them",
        )
        return section
    section.add(Line(name, value, number))
    return section


def _bad_header(result: ConfigFile, section: RawSection | None, number: int, text: str) -> RawSection | None:
    """A line that starts like a header but is none; what was meant is guessed to go on reading."""
    word = re.match(r"\[\s*([A-Za-z_]+)(?:\s+(default))?", text, re.I)
    known = word is not None and word[1].lower() in _ALIASES
    if known and "]" not in text:
        message, fix = f"'{_shown(text)}' lacks its closing bracket", f"write {text.split()[0]}]"
    elif known:
        message, fix = (
            f"'{_shown(text)}' has more than a header on its line",
            "give the rest a line of its own",
        )
    else:
        message = f"'{_shown(text)}' is not a section that NDB knows"
        fix = "use ndbd, ndb_mgmd, mysqld, api, tcp, shm, computer or system"
    result.cannot_read(number, message, fix)
    if not known or word is None:
        # Its lines must not fall into the section before it.
        return RawSection("UNKNOWN", False, number, text)
    guessed = RawSection(_ALIASES[word[1].lower()], bool(word[2]), number, word[1])
    result.sections.append(guessed)
    return guessed


def named_by_link(
    sections: Iterable[RawSection], node_id: int
) -> tuple[RawSection, Line | None] | tuple[None, None]:
    """The first [tcp] or [shm] section that names a node, and the line with the host that it gives it."""
    for link in (one for one in sections if one.kind in ("TCP", "SHM")):
        for end in "12":
            named = link.get(f"NodeId{end}")
            if named is not None and named.value.rpartition(".")[2].strip() == str(node_id):
                return link, link.get(f"HostName{end}")
    return None, None
