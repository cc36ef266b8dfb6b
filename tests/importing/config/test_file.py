"""Files that no cluster has are answered, with a line; how soon: tests/benchmarks/bench_import.py."""

from __future__ import annotations

import pytest

from ndbplan.importing.config.file import MAX_LINES, ConfigFileError
from ndbplan.importing.config.plan import import_config

BIG = {
    "parameters of one section": b"[ndbd default]\n" + b"".join(b"P%d=%d\n" % (i, i) for i in range(10_000)),
    "sections": b"[ndbd]\n" * 10_000,
    "computers": b"".join(b"[computer]\nId=c%d\nHostName=h%d\n" % (i, i) for i in range(3_000)),
    "links": b"[ndbd]\nNodeId=1\n[ndbd]\nNodeId=2\n" + b"[tcp]\nNodeId1=1\nNodeId2=2\n" * 3_000,
    "comments": b"[ndbd]\n" + b"# nothing\n" * 10_000,
}


@pytest.mark.parametrize("name", BIG)
def test_files_of_many_lines_are_answered(name: str) -> None:
    _, report = import_config(BIG[name])
    assert not report.accepted


def test_more_lines_than_any_cluster_needs_are_refused_with_the_line() -> None:
    with pytest.raises(ConfigFileError) as refused:
        import_config({"big.ini": b"[ndbd]\n" * 2_000_000})
    assert refused.value.where == f"big.ini, line {MAX_LINES + 1}"
