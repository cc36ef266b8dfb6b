"""my.cnf of an SQL node: what goes into the plan, and what is said of its lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from ndbplan.configuration.difference import diff
from ndbplan.configuration.mysqld import stated_options
from ndbplan.configuration.needs import needs
from ndbplan.edits.parts import update
from ndbplan.exporting.my_cnf import render_my_cnf
from ndbplan.importing.files import import_files
from ndbplan.importing.my_cnf import MyCnfError, with_options
from ndbplan.importing.running import what_runs
from ndbplan.plan.samples import sample_plan

STARTER = sample_plan("starter")
TEXT = """\
# of the cluster
[client]
ndb_batch_size=1
[mysqld]
ndbcluster
ndb-nodeid = 147
ndb_batch_size=64K   # more at once
NDB-Batch-Size=128K
datadir="/data/mysql"
skip-name-resolve
loose-log_bin='bin log'
ndb-wait-setup=soon
!includedir /etc/my.cnf.d
[mysqld-7.6]
ndb-force-send=0
"""


def test_lines_become_options_and_what_is_odd_is_named() -> None:
    done = import_files({"my.cnf": TEXT.encode()}, STARTER)
    node = done.plan.sql_nodes[0]
    assert stated_options(node) == {
        "ndb-batch-size": "131072",
        "skip-name-resolve": "",
        "log-bin": "bin log",
        "ndb-wait-setup": "soon",
    }
    assert done.plan.sql_nodes[1] is STARTER.sql_nodes[1]
    assert "SQL node 147: ndb-batch-size: not set → 131072" in done.changes
    said = {finding.line: finding.message for finding in done.findings}
    assert said == {
        7: "ndb-batch-size is said again below",
        9: "datadir is /data/mysql here; the plan has /var/lib/mysql, from the place among the SQL nodes of "
        "its host",
        10: "skip-name-resolve is not among the options that are known here; it is kept as it is",
        12: "ndb-wait-setup is a whole number, as 65536 or 64K, not soon; mysqld would not start with it",
        13: "!includedir is not followed; give the file itself",
    }
    written = render_my_cnf(done.plan)["app-a1"]
    assert "\nskip-name-resolve\n" in written


def test_what_is_exported_is_read_back() -> None:
    plan = update(STARTER, STARTER.sql_nodes[1].id, options={"log-bin": "x", "ndb-read-backup": "OFF"})
    read = with_options(STARTER, render_my_cnf(plan)["app-b1"], "some.cnf")
    assert read.noticed == ()
    assert diff(read.plan, plan).is_empty


def test_a_my_cnf_is_compared_like_a_configuration(tmp_path: Path) -> None:
    """What the plan has and the file lacks is a difference, too, and only that SQL node restarts."""
    path = tmp_path / "app-a1.my.cnf"
    path.write_text("[mysqld]\nndb-batch-size=65536\n")
    planned = update(STARTER, STARTER.sql_nodes[0].id, options={"log-bin": "x"})
    before, text = what_runs(path, planned)
    assert text == ""
    found = needs(before, planned)
    assert (found.kind, found.sql) == ("sql", (147,))
    assert {one.name for one in found.difference.parameters} == {"ndb-batch-size", "log-bin"}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[mysqld]\nndb-nodeid=9\n", "the file has ndb-nodeid 9; SQL nodes of the plan: 147, 148"),
        ("[mysqld]\nlog-bin\n", "the file has no ndb-nodeid; SQL nodes of the plan: 147, 148"),
        ("[client]\nport=1\n", "no group of mysqld has an option"),
    ],
)
def test_a_file_of_another_server_is_refused(text: str, what: str) -> None:
    with pytest.raises(MyCnfError, match=what):
        import_files({"my.cnf": text.encode()}, STARTER)


@pytest.mark.parametrize("number", ["²", "٣", "9" * 5000])
def test_numbers_that_are_none_are_no_ids(number: str) -> None:
    text = f"[mysqld@{number}]\nndb-nodeid={number}\nndb-batch-size={number}\n"
    with pytest.raises(MyCnfError, match=r"no (ndb-nodeid|group of mysqld)"):
        import_files({"other.my.cnf": text.encode()}, sample_plan("add-nodes"))


@pytest.mark.parametrize(("suffix", "power"), [(s, p) for p, s in enumerate("kmgtpe", 1)])
def test_a_size_with_a_letter_is_a_power_of_1024(suffix: str, power: int) -> None:
    text = f"[mysqld]\nndb-nodeid=147\nndb-batch-size=3{suffix}\n"
    node = with_options(STARTER, text, "my.cnf").plan.sql_nodes[0]
    assert stated_options(node)["ndb-batch-size"] == str(3 * 1024**power)
