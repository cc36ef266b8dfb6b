"""Plans edited at random: what passes the checks is accepted as a file, whatever was typed before."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from ndbplan.base.errors import UserError
from ndbplan.configuration.sections import effective_configuration
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import add, remove, set_plan, update
from ndbplan.edits.roles import assign_role, move_process
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.exporting.export import render_files
from ndbplan.importing.config.plan import import_config
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.version import SERIES
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole, Link
from ndbplan.plan.samples import sample_plan
from one_rule import refusals

SECTIONS = ("DB", "API", "MGM", "TCP")
NAMES = sorted({entry.name for section in SECTIONS for entry in catalogue.parameters(section)})
SCOPES = ["data_node", "management", "sql", "tcp", "shm", "system"]
TEXT = st.text(st.characters(blacklist_categories=("Cc", "Cs", "Zl", "Zp")), max_size=12)
VALUE = st.integers(-5, 2**45) | st.sampled_from([0, 1, 2, "", "#", " 1M", "80M", "yes", "fifo,5"]) | TEXT
EDIT = st.sampled_from(
    ["parameter", "version", "grow", "move", "remove", "role", "node", "hostname", "link", "pool", "group"]
)


def some_edit(plan: Plan, kind: str, data: st.DataObject) -> Plan:
    """One edit such as a person makes it, sensible or not."""
    draw = data.draw
    processes = st.sampled_from(plan.processes)
    edits: dict[str, Callable[[], Plan]] = {
        "parameter": lambda: set_parameter(
            plan,
            draw(st.sampled_from(SCOPES) | processes.map(lambda p: p.id)),
            draw(st.sampled_from([*NAMES, "FooBar", "datamemory", "Name"])),
            draw(VALUE),
        ),
        "version": lambda: set_plan(plan, ndb_version=draw(st.sampled_from(SERIES))),
        "grow": lambda: add_node_group(plan),
        "move": lambda: move_process(plan, draw(processes).id, draw(st.sampled_from(plan.hosts)).id),
        "remove": lambda: remove(plan, [draw(st.sampled_from(list(plan.objects()))).id]),
        "role": lambda: assign_role(
            plan,
            draw(st.sampled_from(plan.data_nodes)).id,
            draw(st.sampled_from(list(DiskRole))),
            draw(st.none() | st.sampled_from([d.id for h in plan.hosts for d in h.disks])),
        ),
        "node": lambda: update(plan, draw(processes).id, node_id=draw(st.integers(1, 255))),
        "hostname": lambda: update(
            plan,
            draw(st.sampled_from(plan.hosts)).id,
            hostname=draw(st.sampled_from(["localhost", "::1", "10.0.0.1", "a.invalid", "db_1", "app-a1"])),
        ),
        "link": lambda: add(plan, Link(process_id_1=draw(processes).id, process_id_2=draw(processes).id)),
        "pool": lambda: update(plan, draw(st.sampled_from(plan.sql_nodes)).id, pool_node_ids=(200, 201)),
        "group": lambda: update(
            plan,
            draw(st.sampled_from(plan.data_nodes)).id,
            node_group=draw(st.none() | st.sampled_from([0, 1, 60, 72, 65536])),
        ),
    }
    return edits[kind]()


@given(data=st.data(), kinds=st.lists(EDIT, max_size=6), name=st.sampled_from(["starter", "add-nodes"]))
@settings(max_examples=30)
def test_what_passes_the_checks_is_accepted(data: st.DataObject, kinds: list[str], name: str) -> None:
    plan = sample_plan(name)
    for kind in kinds:
        if not plan.processes or not plan.hosts or not plan.data_nodes or not plan.sql_nodes:
            break
        # An edit that the plan refuses leaves it as it was, as in the window.
        with contextlib.suppress(UserError):
            plan = some_edit(plan, kind, data)
    text = render_config_ini(plan)
    assert max(len(line.encode()) for line in text.splitlines()) <= 1023
    again, report = import_config(text, plan.ndb_version)
    if not refusals(plan):
        assert [finding.text() for finding in report.findings if finding.refused] == []
        assert effective_configuration(again) == effective_configuration(plan)
    render_files(plan, ["mycnf", "systemd", "operator", "ansible"])
