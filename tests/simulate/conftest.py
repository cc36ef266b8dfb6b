"""Plans that the tests of the simulation share."""

from __future__ import annotations

import pytest

from ndbplan.base.resources import resource_path
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan


@pytest.fixture(scope="session")
def overload() -> Plan:
    """Two data nodes whose disk cannot take redo log and checkpoints of big blobs (article redo-overload)."""
    return load(resource_path("samples/redo-overload.ndbplan"))


@pytest.fixture(scope="session")
def telecom() -> Plan:
    """144 data nodes in 72 groups."""
    return load(resource_path("samples/telecom-144.ndbplan"))
