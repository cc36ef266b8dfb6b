"""A version that nobody knows yet, as rows of data; then what the program says of it. Run as a program.

python another_version.py RESOURCES                 the folder with the rows
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ndbplan.base import resources


def main() -> None:
    """Fails with an assertion where a part of the program does not know the version."""
    # Only now: these read the data when they are imported, as they do in the program.
    from ndbplan.checks.run import check
    from ndbplan.edits.parts import set_plan
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.exporting.config_ini import render_config_ini
    from ndbplan.ndb.features import features
    from ndbplan.ndb.parameters import parameter
    from ndbplan.ndb.version import BadVersionError, NdbVersion
    from ndbplan.operations.roll_out import upgrade
    from ndbplan.plan.file import dumps, loads
    from ndbplan.plan.samples import sample_plan

    first = NdbVersion.parse("10.0.2")
    assert first.series == "10.0"
    assert str(NdbVersion.parse("10.0")) == "10.0"
    with pytest.raises(BadVersionError, match=r"6\.3 to 10\.0"):
        NdbVersion.parse("10.1")
    assert [features(NdbVersion.parse(v)).hash_map_buckets for v in ("9.x", "10.0.2")] == [3840, 7680]
    before = set_plan(sample_plan("add-nodes-8.4"), ndb_version="9.x")
    plan = set_plan(before, ndb_version="10.0")
    assert loads(dumps(plan)) == plan
    buffers = [parameter("DB", "RedoBuffer", p.version).default for p in (before, plan)]
    assert buffers == [32 * 2**20, 64 * 2**20]
    assert "NDB 10.0" in render_config_ini(plan)
    assert {t.buckets for t in Estimation(plan).distribution} == {7680}
    check(plan)
    assert upgrade(Estimation(before), "10.0").steps


if __name__ == "__main__":
    resources.resources_dir = lambda: Path(sys.argv[1])
    main()
