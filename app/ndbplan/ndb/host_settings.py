"""Settings of the operating system on hosts of data nodes: `resources/ndb/host_settings.json`."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ndbplan.base.quoting import comment_lines
from ndbplan.base.resources import read_json


class HostSetting(NamedTuple):
    """A file on each host, and the command that puts it into force at once."""

    name: str
    file: str
    target: str
    lines: tuple[str, ...]
    holds: str
    """A test whether it is in force."""
    apply: str
    why: str
    source: str
    by_systemd: bool = False
    """Hosts without systemd have nothing that reads the file."""

    @property
    def folder(self) -> str:
        """Where the file lies on a host."""
        return self.target.rpartition("/")[0]

    @property
    def text(self) -> str:
        """The content of the file, with its reason and source as comments."""
        about = f"{self.name}: {self.why}\nSource: {self.source}"
        return "\n".join((comment_lines(about), *self.lines)) + "\n"


@cache
def host_settings() -> tuple[HostSetting, ...]:
    """All of them, in file order."""
    rows = read_json("ndb/host_settings.json")["settings"]
    return tuple(HostSetting(**{**row, "lines": tuple(row["lines"])}) for row in rows)
