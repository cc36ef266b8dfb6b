"""What real management servers said to configuration files: import and checks say the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ndbplan.importing.config.file import ConfigFileError
from ndbplan.importing.config.plan import import_config
from one_rule import refusals

NOT_IN_THE_FILE = {
    "[ndbd] HostName=data_node1 (others 127.0.0.x)": "whether a name resolves depends on the machine",
    "[ndb_mgmd] HostName=192.0.2.7 (not this host), --ndb-nodeid=200": "an address of another machine",
    "--ndb-nodeid=7 (not in file)": "an option of the command line",
    "[ndb_mgmd] RequireTls=true; RequireCertificate=true (no certificate)": "files of the machine",
}
"""Refused for reasons outside the file, which a planner cannot know."""


def answers(version: str) -> list[Any]:
    rows = json.loads((Path(__file__).parent / f"mgmd-answers-{version}.json").read_text())["rows"]
    return [pytest.param(version, row, id=f"{version}-{row['change'][:70]}") for row in rows]


def reasons_to_refuse(config: str, version: str) -> list[str]:
    """Why the planner says that ndb_mgmd refuses a file."""
    try:
        plan, report = import_config(config, version)
    except ConfigFileError as refused:
        return [refused.line]
    found = [finding.text() for finding in report.findings if finding.refused]
    problems = refusals(plan)
    assert report.accepted is (found == [])
    assert found or not problems, "the import is silent about what the checks refuse"
    return found


@pytest.mark.parametrize(("version", "row"), [*answers("8.4.8"), *answers("7.4.10")])
def test_the_planner_refuses_what_the_server_refuses(version: str, row: dict[str, Any]) -> None:
    reasons = reasons_to_refuse(row["config"], version)
    if row["change"] in NOT_IN_THE_FILE:
        assert not row["accepted"]
        assert reasons == []
        return
    assert (reasons == []) is row["accepted"], reasons
