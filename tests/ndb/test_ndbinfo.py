"""Tables of ndbinfo by release, as the manual and what was written about them name the first with each."""

from __future__ import annotations

import pytest

from ndbplan.ndb import ndbinfo
from ndbplan.ndb.version import NdbVersion


@pytest.mark.parametrize(
    ("table", "without", "having"),
    [
        ("threadblocks", ("7.1.16", "7.2.1"), ("7.1", "7.2.2", "7.3")),
        ("cluster_operations", ("7.1.16", "7.2.1"), ("7.1", "7.2", "7.3")),
        ("server_transactions", ("7.1.16", "7.2.1"), ("7.1", "7.2", "7.3")),
        ("threadstat", ("7.1.16", "7.2.1"), ("7.1", "7.2", "7.3")),
        ("membership", ("7.1.25", "7.2.9"), ("7.1", "7.2.10", "7.3")),
        ("memory_per_fragment", ("7.3", "7.4.0"), ("7.4.1",)),
        ("disk_write_speed_base", ("7.3",), ("7.4.1",)),
        ("operations_per_fragment", ("7.4.2",), ("7.4.3",)),
        ("tc_time_track_stats", ("7.4.8",), ("7.4.9", "7.5")),
        ("processes", ("7.5.6", "7.6.1"), ("7.5.7", "7.6.2", "8.0")),
        ("config_nodes", ("7.5.6", "7.6.1"), ("7.5.7", "7.6.2", "8.0")),
        ("pgman_time_track_stats", ("7.6", "8.0.18"), ("8.0.19", "8.4")),
    ],
)
def test_first_releases(table: str, without: tuple[str, ...], having: tuple[str, ...]) -> None:
    for text in without:
        assert table not in ndbinfo.tables_of(NdbVersion.parse(text)), text
    for text in having:
        assert ndbinfo.tables_of(NdbVersion.parse(text))[table].certain, text


def test_parameters_are_described_from_7_5_on() -> None:
    columns = {
        text: ndbinfo.tables_of(NdbVersion.parse(text))["config_params"].columns for text in ("7.4", "7.5")
    }
    assert columns["7.4"] == ("param_number", "param_name")
    assert columns["7.5"][2:7] == (
        "param_description",
        "param_type",
        "param_default",
        "param_min",
        "param_max",
    )


def test_the_long_message_buffer_shows_since_it_grew() -> None:
    showing = {
        text: "Long message buffer" in ndbinfo.memory_types(NdbVersion.parse(text))
        for text in ("7.1.30", "7.1", "7.2.15", "7.2", "7.3.4", "7.3", "7.4", "7.6", "8.4")
    }
    assert [text for text, shown in showing.items() if not shown] == ["7.1.30", "7.2.15", "7.3.4"]
