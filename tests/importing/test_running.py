"""What a cluster runs with: the same from a config.ini and from what `ndb_config` prints of it."""

from __future__ import annotations

import pytest

from ndbplan.base.errors import UserError
from ndbplan.configuration.difference import diff
from ndbplan.edits.parameters import set_parameter
from ndbplan.exporting.config_ini import render_config_ini
from ndbplan.importing.running import what_text_says_runs
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_names, sample_plan

_KINDS = {"ndbd": "DB", "ndb_mgmd": "MGM", "mysqld": "API", "api": "API"}
_COLUMNS = "CONFIG_PARAMETER,ACTUAL_VALUE,DEFAULT_VALUE"


def printed(plan: Plan, *kinds: str) -> str:
    """What `ndb_config --diff-default` prints of a cluster with this config.ini (form: the manual's)."""
    common: dict[str, dict[str, str]] = {}
    nodes: list[tuple[str, dict[str, str]]] = []
    here: dict[str, str] = {}
    for line in render_config_ini(plan).splitlines():
        if line.startswith("["):
            word, _, default = line.strip("[]").partition(" ")
            here = {} if not default else common.setdefault(word, {})
            if not default and word in _KINDS:
                nodes.append((word, here))
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            here[name] = value
    lines = []
    for at, (word, own) in enumerate(nodes):
        if kinds and _KINDS[word] not in kinds:
            continue
        every = {**common.get("mysqld" if word == "api" else word, {}), **own}
        lines += [
            f"config of [{_KINDS[word]}] node id {every['NodeId']} that is different from default",
            _COLUMNS,
        ]
        lines += [
            f"{name},{value},{'(mandatory)' if name == 'NodeId' else '(null)'}"
            for name, value in every.items()
        ]
        lines += [f"Nodegroup,{at // 2},(null)"] * (word == "ndbd" and "NodeGroup" not in every)
        lines += ["ThreadConfig,,(null)"] * (word == "ndbd" and "ThreadConfig" not in every) + [""]
    return "\n".join(lines)


@pytest.mark.parametrize("name", [one for one in sample_names() if one != "telecom-144"])
def test_what_ndb_config_prints_says_the_same_as_config_ini(name: str) -> None:
    plan = sample_plan(name)
    before = set_parameter(plan, "data_node", "TimeBetweenLocalCheckpoints", 17)
    differs = diff(what_text_says_runs(printed(before), plan), plan)
    assert {change.name for change in differs.parameters} == {"TimeBetweenLocalCheckpoints"}
    assert (differs.added_node_ids, differs.removed_node_ids, differs.links) == ((), (), ())
    same = diff(what_text_says_runs(render_config_ini(before), plan), plan)
    assert {(c.name, c.before, c.where) for c in differs.parameters} == {
        (c.name, c.before, c.where) for c in same.parameters
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            printed(sample_plan("starter"), "DB"),
            "no management nodes — take all that ndb_config --diff-default prints",
        ),
        (printed(sample_plan("starter"), "MGM", "API"), "no data nodes"),
        (
            printed(sample_plan("starter")).replace("NodeId,1,(mandatory)", "NodeId 1"),
            "'NodeId 1' is no line",
        ),
        ("1 10.0.0.1 5905580032\n2 10.0.0.2 5905580032\n", "or what ndb_config --diff-default prints"),
        ("****** SYSTEM ******\n\nName (String)\nName of system\nMANDATORY\n", "ndb_config --diff-default"),
    ],
)
def test_what_does_not_tell_the_whole_configuration_says_how_to_get_it(text: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        what_text_says_runs(text, sample_plan("starter"))
    assert said in refused.value.line
    assert "\n" not in refused.value.line
