"""The plan that files become, and what was noticed on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ndbplan.base.errors import UserError
from ndbplan.base.shapes import Shape
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.importing.measurements import Measurement


class FileKindError(UserError):
    """A file that is none of those the program reads."""


@dataclass(frozen=True)
class Finding(Shape):
    """Something noticed in a file."""

    JSON = "file line severity message fix"

    file: str
    line: int | None
    severity: Literal["error", "warning"]
    """error: a management server would refuse the file for it."""
    message: str
    fix: str | None = None


@dataclass
class Imported:
    """The plan so far, what went into it and what was noticed."""

    plan: Plan
    kinds: dict[str, str]
    """What each file was taken for, by its name: names of KINDS."""
    findings: list[Finding]
    changes: list[str] = field(default_factory=list)
    """What measurements and statistics changed, in words."""
    devices: list[str] = field(default_factory=list)
    """Devices that iostat shows busy enough to say what they can do."""
    fits: tuple[str, ...] = ()
    """Versions that know as much of a config.ini, where nobody said which it is for; one: nothing to ask."""
    measured: dict[str, Measurement] = field(default_factory=dict)
    """The device of iostat that each disk got its speed from."""

    @property
    def accepted(self) -> bool:
        """Whether a management server would take the configuration."""
        return all(finding.severity != "error" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """What `ndbplan import --json` prints beside the file written; written out: a map becomes a list."""
        return {
            "read": [{"file": name, "kind": kind} for name, kind in self.kinds.items()],
            "version": self.plan.ndb_version,
            "accepted": self.accepted,
            "findings": [finding.to_json() for finding in self.findings],
            "changes": list(self.changes),
        }
