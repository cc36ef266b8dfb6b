"""A file that names no version: which one it is read for, and what decided."""

from __future__ import annotations

import pytest

from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.importing.config.plan import import_config
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.evidence import unheld
from ndbplan.ndb.version import SERIES, NdbVersion
from ndbplan.plan.plan import EMPTY_PLAN

FILE = """[ndb_mgmd]
HostName=10.0.0.9
[ndbd default]
NoOfReplicas=2
{line}
[ndbd]
HostName=10.0.0.1
[ndbd]
HostName=10.0.0.2
[mysqld]
"""


@pytest.mark.parametrize(
    ("line", "version", "said"),
    [
        (
            "DataMemory=80M",
            "8.4",
            "of 6.3 to 9.x, which all fit: no parameter of the file tells versions apart",
        ),
        ("Bogus=1", "8.4", "of 6.3 to 9.x, which all know what any version knows of the file: no"),
        ("TransactionMemory=80M", "8.4", "TransactionMemory (line 5) came with 8.0.19"),
        ("Discless=1", "7.4", "of 6.3 to 7.4, which all fit: Discless (line 5) is gone from 7.5.0 on"),
    ],
)
def test_the_import_says_what_decided(line: str, version: str, said: str) -> None:
    plan, report = import_config(FILE.format(line=line), None)
    assert plan.ndb_version == version
    (told,) = [f for f in report.findings if f.message.startswith(f"read for NDB {version}")]
    assert said in told.message
    assert told.fix == "say which version it is for"
    assert version in report.fits
    assert len(report.fits) > 1
    assert not told.refused


def _of_each_release() -> list[str]:
    """A parameter of data nodes for each release with which one came or went."""
    known = [one for series in SERIES for one in catalogue.parameters("DB", NdbVersion.parse(series))]
    usable = [one for one in known if one.status == "used" or one.removed]
    return sorted(
        {**{one.since: one.name for one in usable}, **{one.removed: one.name for one in usable}}.values()
    )


@pytest.mark.parametrize("name", _of_each_release())
def test_every_release_of_the_catalogue_can_decide(name: str) -> None:
    """Some parameters came with releases that no plan is for: RequireTls with 8.3.0."""
    plan, report = import_config(FILE.format(line=f"{name}=1"), None)
    (told,) = [f.message for f in report.findings if f.message.startswith("read for NDB")]
    assert plan.ndb_version in report.fits
    entry = catalogue.parameter("DB", name)
    assert f"came {entry.came}" in told or entry.removed in told or entry.since == "6.3"


def test_where_no_version_knows_every_name_each_of_the_nearest_says_what_it_lacks() -> None:
    text = FILE.format(line="Discless=1\nTransactionMemory=80M")
    plan, report = import_config(text, None)
    (told,) = [f.message for f in report.findings if f.message.startswith("read for NDB")]
    assert plan.ndb_version == "8.4"
    assert "which all fit" not in told
    assert told.startswith("read for NDB 8.4, the preferred one of those nearest; no version knows every")
    assert "6.3 to 7.4 lack TransactionMemory" in told
    assert "8.0 to 9.x lack Discless" in told
    assert "7.5" not in told.split(":")[0], "it lacks both"
    assert "TransactionMemory (line 6) came with 8.0.19; Discless (line 5) is gone from 7.5.0 on" in told


def test_the_one_version_that_is_nearest_says_what_it_lacks() -> None:
    lines = "Discless=1\nTransactionMemory=80M\nAutomaticThreadConfig=1"
    plan, report = import_config(FILE.format(line=lines), None)
    (told,) = [f.message for f in report.findings if f.message.startswith("read for NDB")]
    assert plan.ndb_version == "8.4"
    assert "lack Discless)" in told
    assert "lack TransactionMemory" not in told


def test_a_version_that_is_named_needs_no_saying() -> None:
    _, report = import_config(FILE.format(line="Discless=1"), "7.2")
    assert not any(finding.message.startswith("read for") for finding in report.findings)
    assert report.fits == ()


@pytest.mark.parametrize("version", ["7.2", "7.6.7", "8.4"])
def test_a_file_that_was_exported_is_read_for_its_own_version(version: str) -> None:
    plan, _ = import_config(FILE.format(line="DataMemory=80M"), version)
    again, report = import_config(render_config_ini(plan))
    assert again.ndb_version == version
    assert report.fits == ()
    assert [f.message for f in report.findings if f.message.startswith("read for")] == [
        f"read for NDB {version}: its head says so"
    ]


def test_only_versions_whose_servers_answered_need_no_line() -> None:
    said = {series: unheld(NdbVersion.parse(series)) for series in SERIES}
    assert [series for series, line in said.items() if not line] == ["7.4", "8.4"]
    assert said["7.0"] == "rules of NDB 7.0 are interpolated from manuals and 7.4.10"
    assert said["8.0"].endswith("from manuals, 7.4.10 and 8.4.8")
    assert "extrapolated" in said["9.x"]


@pytest.mark.parametrize(
    ("release", "line"),
    [
        ("7.4.9", "interpolated from manuals and 7.4.10"),
        ("7.4.10", ""),
        ("7.4.11", "interpolated from manuals, 7.4.10 and 8.4.8"),
        ("8.0.34", "interpolated from manuals, 7.4.10 and 8.4.8"),
        ("8.4.0", "interpolated from manuals, 7.4.10 and 8.4.8"),
        ("8.4.8", ""),
        ("8.4.9", "extrapolated from manuals and 8.4.8"),
    ],
)
def test_every_other_release_says_between_which_it_lies(release: str, line: str) -> None:
    said = unheld(NdbVersion.parse(release))
    assert said == (f"rules of NDB {release} are {line}" if line else "")
    head = render_config_ini(EMPTY_PLAN.replace(ndb_version=release))
    assert (f"The {said}." in head) is bool(line)
    assert ("terpolated" in head) is (line.startswith("inter"))
