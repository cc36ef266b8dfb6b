"""LogDestination of a management node: which of its logs ndb_mgmd starts without, and why.

    faults_of("FILE:filename=a.log,maxfiles=0")     # ("has maxfiles '0', which must be 1 or more; ...",)

As MgmtSrvr.cpp, LogHandler.cpp, FileLogHandler.cpp and SysLogHandler.cpp of the product read it: handlers
apart by `;`, parameters by `,`, names as they are, numbers as strtol takes them. A handler with a parameter
that does not parse is left out, and the server runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

EXAMPLE = "FILE:filename=cluster.log,maxsize=1000000,maxfiles=6"
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "CONSOLE": (),
    "FILE": ("filename", "maxsize", "maxfiles"),
    "SYSLOG": ("facility",),
}
_FACILITIES = (
    "auth", "authpriv", "cron", "daemon", "ftp", "kern", "lpr", "mail", "news", "syslog", "user", "uucp",
    *(f"local{number}" for number in range(8)),
)  # fmt: skip
_NUMBER = re.compile(r"\s*([+-]?)(0[xX][0-9a-fA-F]+|[0-9]+)(.*)", re.DOTALL)
_SHOWN = 40
"""Letters of a text that a message repeats."""
_LOST = "ndb_mgmd starts without this log"


def faults_of(text: str) -> tuple[str, ...]:
    """What is wrong with a LogDestination, each in words that follow its name; nothing: every log is written.

    An empty one is the product's default.
    """
    return tuple(_faults(text)) if text else ()


def doubts_of(text: str) -> tuple[str, ...]:
    """What sources and manual say differently of a LogDestination: a handler without parameters.

    BaseString::split makes one empty parameter of none, which LogHandler::parseParams refuses for want of a
    `=`; the manual shows CONSOLE alone. No server was asked.
    """
    bare = [kind for kind, parameters in _handlers(text) if kind in _PARAMETERS and not parameters]
    return tuple(
        f"names {kind} without parameters, as the manual has it, but by its source ndb_mgmd then finds no "
        "name=value and starts without this log; no server was asked"
        for kind in dict.fromkeys(bare)
    )


def file_names(text: str) -> tuple[str, ...]:
    """The files that a LogDestination names."""
    return tuple(
        value
        for kind, parameters in _handlers(text)
        if kind == "FILE"
        for name, _, value in (each.partition("=") for each in parameters)
        if name.strip(" \t") == "filename"
    )


def _handlers(text: str) -> Iterator[tuple[str, list[str]]]:
    for part in text.split(";"):
        kind, _, parameters = part.partition(":")
        yield kind, parameters.split(",") if parameters else []


def _faults(text: str) -> Iterator[str]:
    for kind, parameters in _handlers(text):
        if kind not in _PARAMETERS:
            known = ", ".join(_PARAMETERS)
            yield f"names '{kind[:_SHOWN]}'; there are {known} (in capitals), and {_LOST}"
            continue
        for each in parameters:
            name, equals, value = each.partition("=")
            name = name.strip(" \t")
            if not equals:
                yield f"has '{each[:_SHOWN]}' for {kind}, which is not name=value; {_LOST}"
            elif name not in _PARAMETERS[kind]:
                takes = ", ".join(_PARAMETERS[kind]) or "no parameters"
                yield f"has '{name[:_SHOWN]}' for {kind}, which takes {takes}; {_LOST}"
            else:
                yield from _of_value(name, value)


def _of_value(name: str, value: str) -> Iterator[str]:
    shown = value[:_SHOWN]
    if name == "filename":
        if not value:
            yield f"has an empty filename; {_LOST}"
        return
    if name == "facility":
        if value not in _FACILITIES:
            yield f"has facility '{shown}'; there are {', '.join(_FACILITIES)}, and {_LOST}"
        return
    number, unit = _number(value)
    if number is None or number < 0:
        yield f"has {name} '{shown}', which is not a number from 0 on; {_LOST}"
    elif number == 0 and name == "maxfiles":
        yield f"has maxfiles '{shown}', which must be 1 or more; {_LOST}"
    elif number == 0:
        yield "has maxsize 0: every line begins a new file, and those before it are soon overwritten"
    elif name == "maxsize" and unit and unit[0] not in "kM":
        yield (
            f"has maxsize '{shown}': only k and M (as written here) are units, and ndb_mgmd takes it as "
            f"{number} bytes"
        )
    elif name == "maxfiles" and unit:
        yield f"has maxfiles '{shown}', which ndb_mgmd takes as {number}"


def _number(text: str) -> tuple[int | None, str]:
    """What strtol with base 0 reads, and what is left; None: nothing to read."""
    match = _NUMBER.match(text)
    if match is None:
        return None, text
    sign, digits, rest = match.groups()
    if digits[:2].lower() == "0x":
        number = int(digits, 16)
    elif digits.startswith("0"):
        octal = re.match("[0-7]*", digits)
        assert octal is not None
        number, rest = int(octal[0] or "0", 8), digits[octal.end() :] + rest
    else:
        number = int(digits)
    return -number if sign == "-" else number, rest
