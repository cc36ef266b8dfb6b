"""What a cluster runs with now, from the file that says it: a plan, or its config.ini."""

from __future__ import annotations

from pathlib import Path

from ndbplan.importing.config.plan import import_config
from ndbplan.importing.files import read_file
from ndbplan.plan.file import SUFFIX, open_file
from ndbplan.plan.plan import Plan


def running_plan(path: Path, ndb_version: str) -> Plan:
    """The plan in a plan file, or of a config.ini read for a version. Raises UserError."""
    if path.suffix == SUFFIX:
        return open_file(path).plan
    plan, _ = import_config({str(path): read_file(path)}, ndb_version)
    return plan
