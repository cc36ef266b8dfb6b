"""Playbooks for the parts of the runbook, and the roles behind them.

A part is described once, by its steps: its playbook has the script do them, which asks each host before it
changes anything, and takes from it whether something changed. Settings of the operating system are a role of
their own, made of the same files.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ndbplan.exporting.what_runs import takes
from ndbplan.exporting.yaml_text import yaml_text
from ndbplan.ndb.host_settings import HostSetting, host_settings
from ndbplan.operations.hosts import SETTINGS_FOLDER
from ndbplan.operations.operation import Operation
from ndbplan.plan.plan import Plan

RUNBOOK_ROLE = "ndb_runbook"
HOSTS_ROLE = "ndb_hosts"
CHANGED_NOTHING = "Changed: nothing"
"""What the script says in the end when it has found all as it should be."""
_OPTIONS = {
    "programs": "the archive or folder of --programs",
    "passwords": "the file of --passwords",
    "host": "the host of --host",
    "backup": "the number of --backup",
}
_READ = ("programs", "passwords")
"""Those that lie somewhere for all parts, as variables of Ansible do."""


def render_parts(plan: Plan, parts: Sequence[Operation]) -> dict[str, str]:
    """Playbooks and roles by path."""
    written = partial(yaml_text, for_ansible=False)
    options = takes(tuple(parts))
    files = {
        f"ansible/{part.key.replace('-', '_')}.yml": written(
            [_playbook(part, [one for one in _READ if part.key in options[one]])],
            f"{part.title}: the part {part.key} of runbook.sh. {part.again}",
        )
        for part in parts
        if part.key != "tune-hosts"
    }
    role = f"ansible/roles/{RUNBOOK_ROLE}"
    files[f"{role}/defaults/main.yml"] = written(
        {
            f"{RUNBOOK_ROLE}_script": "{{ playbook_dir }}/../runbook.sh",
            f"{RUNBOOK_ROLE}_ssh_user": "root",
            **{f"{RUNBOOK_ROLE}_{name}": "" for name in _OPTIONS},
            f"{RUNBOOK_ROLE}_reads": list(_READ),
        },
        "\n".join(
            (
                f"What a part of the runbook is run with; {RUNBOOK_ROLE}_part is its name. Empty: without.",
                *(f"{RUNBOOK_ROLE}_{name}: {what}." for name, what in _OPTIONS.items()),
                f"The first two may be set for all parts: {RUNBOOK_ROLE}_reads names those that a part takes."
                " The last two are refused by the parts that have no use for them.",
            )
        ),
    )
    about = "A part of the runbook, on the control host. With --check it shows every command and runs none."
    files[f"{role}/tasks/main.yml"] = written(_tasks(), about)
    if plan.data_nodes:
        files |= _hosts_role(written)
    return files


def _playbook(part: Operation, reads: list[str]) -> dict[str, Any]:
    return {
        "name": part.title,
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": False,
        "roles": [
            {"role": RUNBOOK_ROLE, "vars": {f"{RUNBOOK_ROLE}_part": part.key, f"{RUNBOOK_ROLE}_reads": reads}}
        ],
    }


def _tasks() -> list[dict[str, Any]]:
    given = {name: f"{RUNBOOK_ROLE}_{name} | string" for name in _OPTIONS}
    wanted = {name: f"({text} | length > 0)" for name, text in given.items()}
    wanted |= {name: f"({wanted[name]} and '{name}' in {RUNBOOK_ROLE}_reads)" for name in _READ}
    options = " + ".join(
        f"({wanted[name]} | ternary(['--{name}', {text}], []))" for name, text in given.items()
    )
    dry = "(ansible_check_mode | ternary(['--dry-run'], []))"
    return [
        {
            "name": "Run the part",
            "ansible.builtin.command": {
                "argv": f"{{{{ [{RUNBOOK_ROLE}_script, {RUNBOOK_ROLE}_part, '--yes'] + {options} + {dry} }}}}"
            },
            "environment": {"SSH_USER": f"{{{{ {RUNBOOK_ROLE}_ssh_user }}}}"},
            "check_mode": False,
            "register": f"{RUNBOOK_ROLE}_done",
            "changed_when": [
                "not ansible_check_mode",
                f"'{CHANGED_NOTHING}' not in {RUNBOOK_ROLE}_done.stdout",
            ],
        },
        {"name": "Show what was done", "ansible.builtin.debug": {"var": f"{RUNBOOK_ROLE}_done.stdout_lines"}},
    ]


def _hosts_role(written: Any) -> dict[str, str]:
    """Settings of the operating system, on all hosts of data nodes."""
    role = f"ansible/roles/{HOSTS_ROLE}"
    play = {
        "name": "Settings of the hosts",
        "hosts": "ndb_data",
        "become": True,
        "gather_facts": False,
        "roles": [{"role": HOSTS_ROLE}],
    }
    return {
        "ansible/tune_hosts.yml": written([play], "Settings of the operating system."),
        f"{role}/tasks/main.yml": written(
            [
                task | (_WHERE_SYSTEMD_IS if one.by_systemd else {})
                for one in host_settings()
                for task in (_has_folder(one), _copied(one))
            ],
            "Files with reasons.",
        ),
        f"{role}/handlers/main.yml": written(
            [_applied(one) for one in host_settings()], "What puts them into force at once."
        ),
    }


_WHERE_SYSTEMD_IS = {"when": "ndb_service_manager | default('systemd') == 'systemd'"}


def _has_folder(setting: HostSetting) -> dict[str, Any]:
    return {
        "name": f"Have a folder for {setting.name}",
        "ansible.builtin.file": {
            "path": setting.folder,
            "state": "directory",
            "owner": "root",
            "group": "root",
            "mode": "0755",
        },
    }


def _copied(setting: HostSetting) -> dict[str, Any]:
    return {
        "name": f"Set {setting.name}",
        "ansible.builtin.copy": {
            "src": f"{{{{ playbook_dir }}}}/../{SETTINGS_FOLDER}{setting.file}",
            "dest": setting.target,
            "owner": "root",
            "group": "root",
            "mode": "0644",
        },
        "notify": f"Apply {setting.name}",
    }


def _applied(setting: HostSetting) -> dict[str, Any]:
    return {
        "name": f"Apply {setting.name}",
        f"ansible.builtin.{'shell' if '&&' in setting.apply else 'command'}": {"cmd": setting.apply},
        "changed_when": True,
    }
