"""What a cluster runs with now, from the file that says it: a plan, or its config.ini."""

from __future__ import annotations

from pathlib import Path

from ndbplan.importing.config.plan import import_config
from ndbplan.importing.files import read_file
from ndbplan.plan.file import open_file
from ndbplan.plan.plan import Plan


def what_runs(path: Path, ndb_version: str) -> tuple[Plan, str]:
    """The plan in a plan file, or of a config.ini read for a version with its text. Raises UserError.

    Which of the two it is follows from the content. A plan has no text: its own config.ini is meant.
    """
    content = read_file(path)
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return open_file(path).plan, ""
    plan, _ = import_config({str(path): content}, ndb_version)
    return plan, content.decode("utf-8", "replace")
