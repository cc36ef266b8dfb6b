"""A small cluster of two node groups, alive."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from ndbplan.base.kept import keeping
from ndbplan.edits.growth import add_node_group
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.train.live import LiveCluster


def two_by_two(version: str = "8.4.8") -> Plan:
    """Data nodes 3 and 4, 5 and 6; management node 1, SQL node 49, each data node on a host of its own."""
    return add_node_group(sample_plan("redo-overload")).replace(ndb_version=version)


@pytest.fixture(scope="session")
def begun() -> Iterator[Callable[[str], LiveCluster]]:
    """The cluster of a version, ten seconds after its start; each call gives one that goes on apart."""
    known: dict[str, LiveCluster] = {}
    with keeping():

        def branch(version: str = "8.4.8") -> LiveCluster:
            if version not in known:
                known[version] = LiveCluster.begin(two_by_two(version), hours=0.5)
                known[version].advance(9.9)
            return known[version].branch()

        yield branch


@pytest.fixture
def cluster(begun: Callable[[str], LiveCluster]) -> LiveCluster:
    """One of 8.4.8."""
    return begun("8.4.8")
