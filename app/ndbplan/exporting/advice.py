"""What to do when a step stops: what the step says itself, else what its commands are."""

from __future__ import annotations

from ndbplan.operations.commands import (
    Command,
    Copy,
    CreateNodeGroup,
    HasBackup,
    HasTable,
    InstallPrograms,
    MakeAccount,
    Management,
    Restore,
    Shell,
    Sql,
    StartService,
    StopAllDataNodes,
    StopDataNode,
    StopService,
)
from ndbplan.operations.operation import Step

_AGAIN = "then run the part again: what is done counts as done"
_SERVICE_LOG = "the log of the service (journalctl --unit=NAME, or /var/log/NAME.log of an init script)"
_ONLY_LOOKS = f"nothing is changed here: correct what the answer names, {_AGAIN}"
ADVICE: dict[type[object], str] = {
    HasBackup: "nothing was removed: every share of the backup must be on the host of its data node, and "
    "readable; name another backup with --backup",
    HasTable: "nothing is changed here. Lines with < are what there is, those with > what the plan has: "
    "ALTER TABLE by hand, or correct the plan and export again; then run the part again",
    Restore: f"rows that are there are written again: correct what ndb_restore names, {_AGAIN}",
    InstallPrograms: "correct what the package manager names (what packages need must come with them, or be "
    "reached from the host); one of Debian that will not be upgraded finds /usr/sbin/mysqld in the list of "
    "processes: copy the unit of that SQL node from this folder to its host, systemctl daemon-reload, and "
    f"restart it; {_AGAIN}",
    MakeAccount: "an account that is made stays; a password that the server refuses: give another one, "
    f"{_AGAIN}",
    StopAllDataNodes: f"the log of the data node that does not end says why; {_AGAIN}",
    StopDataNode: f"the other nodes of its node group must be started; {_AGAIN}",
    StartService: f"{_SERVICE_LOG} and the log of its program say why; {_AGAIN}",
    StopService: f"{_SERVICE_LOG} says why it does not stop; {_AGAIN}",
    CreateNodeGroup: f"all nodes of the group must be started; {_AGAIN}",
    Sql: f"what is made stays: correct in the plan what the statement names, export again, {_AGAIN}",
    Copy: "the host must answer over ssh and have room: the file before stays until the new one is whole; "
    f"{_AGAIN}",
    Shell: "mend what is named on the host (a disk that is not mounted, a path that is taken, no room), or "
    f"correct it in the plan and export again; {_AGAIN}",
}
"""By the kind of a command; the first kind that a step has says it."""


def advice(step: Step) -> str:
    """What to do when a step stops, in a sentence without its first capital."""
    if step.if_it_fails or not step.commands:
        return step.if_it_fails
    if all(map(_looks, step.commands)):
        return _ONLY_LOOKS
    kinds = {type(command) for command in step.commands}
    return next((text for kind, text in ADVICE.items() if kind in kinds), _ONLY_LOOKS)


def _looks(command: Command) -> bool:
    """Whether a command changes nothing."""
    match command:
        case Management():
            return not command.answer
        case Sql():
            return all(one.startswith("SELECT ") for one in command.statements)
        case Shell():
            return not command.unless and not command.same
    return False
