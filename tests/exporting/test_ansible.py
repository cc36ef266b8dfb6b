"""What a real Ansible makes of the inventory: the plan's texts stay texts, whatever is written in them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from exporting.acted_cluster import PASSWORDS, ActedCluster
from exporting.acted_life import KINDS, Life
from exporting.acted_shell import runnable
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import set_plan, update
from ndbplan.exporting.export import Running, export
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan

ATTACKS = (
    "{{{{ lookup('pipe', 'touch {}') }}}}",
    "{{% set x = lookup('pipe', 'touch {}') %}}",
    "x {{{{ query('pipe', 'touch {}') | first }}}} %}}",
    '!unsafe {{{{ lookup("pipe", "touch {}") }}}}',
)


def _ansible(program: str, folder: Path, *arguments: str) -> str:
    environment = os.environ | {
        "HOME": str(folder), "ANSIBLE_LOCALHOST_WARNING": "0", "LC_ALL": "C.UTF-8", "ANSIBLE_NOCOLOR": "1",
    }  # fmt: skip
    done = subprocess.run(
        [str(Path(sys.executable).with_name(program)), *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _hostile(marker: Path, number: int) -> tuple[Plan, str]:
    """A plan with an attack wherever a text may hold one, and its name."""
    name = ATTACKS[number].format(marker)
    plan = set_plan(sample_plan("starter"), name=name)
    for kind in ("DataDir", "BackupDataDir", "FileSystemPath", "FileSystemPathDD"):
        plan = set_parameter(plan, "data_node", kind, f"/data/{ATTACKS[0].format(marker)}")
    plan = set_parameter(plan, "management", "DataDir", f"/var/{ATTACKS[0].format(marker)}")
    host = plan.hosts[0]
    disks = tuple(disk.model_copy(update={"name": ATTACKS[0].format("m")[:64]}) for disk in host.disks)
    return update(plan, host.id, disks=disks), name


@pytest.mark.parametrize("number", range(2))
def test_texts_of_a_plan_are_never_run(tmp_path: Path, number: int) -> None:
    marker = Path("/tmp") / f"m{os.getpid()}"
    plan, name = _hostile(marker, number)
    export(plan, tmp_path, ["ansible"])
    inventory = str(tmp_path / "ansible" / "inventory.yml")
    try:
        listed: dict[str, Any] = json.loads(
            _ansible("ansible-inventory", tmp_path, "-i", inventory, "--list", "--export")
        )
        assert name in json.dumps(listed, ensure_ascii=False).replace("\\\\", "\\")
        shown = _ansible(
            "ansible", tmp_path, "-i", inventory, "all", "-c", "local", "-m", "debug",
            "-a", "msg={{ [ndb_cluster_name, hostvars[inventory_hostname] | string] }}",
        )  # fmt: skip
        assert name.split("'")[0] in shown
        assert not marker.exists()
    finally:
        marker.unlink(missing_ok=True)


def test_a_playbook_passes_on_what_it_is_given(tmp_path: Path) -> None:
    """The script is another here: it writes down what it was asked."""
    export(sample_plan("starter"), tmp_path, ["ansible", "runbook"])
    (tmp_path / "runbook.sh").write_text('#!/bin/sh\necho "$SSH_USER $*" >>"${0%/*}/asked"\n')
    given = ("ansible/replace_host.yml", "-e", "ndb_runbook_host=host-a1", "-e", "ndb_runbook_ssh_user=me")
    assert "changed=1 " in _ansible("ansible-playbook", tmp_path, *given)
    # As they are for all parts in an inventory.
    given = ("-e", json.dumps({"ndb_runbook_programs": "/a b.tar", "ndb_runbook_passwords": "/words"}))
    for part in ("start", "schema", "install"):
        play = f"ansible/{part}.yml", "--check", *given
        assert "changed=0 " in _ansible("ansible-playbook", tmp_path, *play)
    assert (tmp_path / "asked").read_text().splitlines() == [
        "me replace-host --yes --host host-a1",
        "root start --yes --dry-run",
        "root schema --yes --passwords /words --dry-run",
        "root install --yes --programs /a b.tar --dry-run",
    ]


def test_a_playbook_played_again_changes_nothing(tmp_path: Path) -> None:
    """Its script acts on a cluster of stubs: the first start of all nodes, and what it finds afterwards."""
    plan, folder = sample_plan("redo-overload"), tmp_path / "out"
    export(plan, folder, [*KINDS, "ansible"])
    cluster = ActedCluster(plan, 1)
    with runnable(cluster.answer, folder / "runbook.sh") as script:
        given = ("ansible/start.yml", "-e", f"ndb_runbook_script={script}")
        assert "changed=1 " in _ansible("ansible-playbook", folder, *given)
        assert all(node.is_started(cluster.now) for node in cluster.data_nodes.values())
        stood = cluster.standing()
        assert "changed=0 " in _ansible("ansible-playbook", folder, *given)
    assert cluster.standing() == stood
    assert cluster.faults == []


def test_what_is_done_already_is_no_change(tmp_path: Path) -> None:
    """Nodes that were added, a change that was made; a backup is another one each time."""
    plan = sample_plan("redo-overload")
    life = Life.of_change(plan, set_parameter(plan, "data_node", "DataMemory", 2**34), tmp_path)
    export(life.plan, life.folder, [*KINDS, "ansible"], running=Running(plan))
    given = ("-e", f"ndb_runbook_programs={life.programs}", "-e", f"ndb_runbook_passwords={tmp_path}/words")
    (tmp_path / "words").touch(mode=0o600)
    (tmp_path / "words").write_text("".join(f"{name} {text}\n" for name, text in PASSWORDS.items()))
    with runnable(life.cluster.answer, life.folder / "runbook.sh") as script:
        for part, changes in (("change", 0), ("backup", 1), ("add_nodes", 0)):
            life.prepared(life.cluster, part.replace("_", "-"))
            play = (f"ansible/{part}.yml", "-e", f"ndb_runbook_script={script}", *given)
            assert "changed=1 " in _ansible("ansible-playbook", life.folder, *play)
            stood = life.cluster.standing()
            assert f"changed={changes} " in _ansible("ansible-playbook", life.folder, *play)
            assert (life.cluster.standing() == stood) is not bool(changes)
    assert life.cluster.faults == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_each_template_mark_is_tagged(attack: str) -> None:
    from ndbplan.exporting.yaml_text import yaml_text

    text = attack.format("/tmp/x")
    assert "!unsafe" in yaml_text({"a": [text]}, "c", for_ansible=True)
    plain = "host-a1:1186,10.0.0.2 /data/ndb=1"
    assert "!unsafe" not in yaml_text({"a": plain}, "c", for_ansible=True)
