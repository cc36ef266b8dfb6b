"""Backups, node groups and single user mode."""

from __future__ import annotations

from collections.abc import Callable

from ndbplan.configuration.settings import is_diskless, no_of_replicas, node_settings
from ndbplan.ndb.console import form, knows_word
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE
from ndbplan.train.answer import Answer
from ndbplan.train.backups import AskBackup, AskNoBackup, figures
from ndbplan.train.live import LiveCluster
from ndbplan.train.mgm.words import (
    FAILED,
    Line,
    begun_number,
    client_line,
    invalid,
    is_api_node,
    number_of,
    refused,
)
from ndbplan.train.orders import CreateGroup, DropGroup, EnterSingleUser, ExitSingleUser, free_group
from ndbplan.train.state import ANSWERS, Status

HIGHEST_BACKUP = 4294967294


def start_backup(cluster: LiveCluster, line: Line, *, listens: bool) -> Answer:
    """`START BACKUP [id] [SNAPSHOTSTART | SNAPSHOTEND] [NOWAIT | WAIT STARTED | WAIT COMPLETED]`."""
    asked = _asked(cluster, line, listens=listens)
    if isinstance(asked, Answer):
        return asked
    order, waits_for = asked
    said = {"": "", "STARTED": "Waiting for started, this may take several minutes\n"}.get(
        waits_for, "Waiting for completed, this may take several minutes\n"
    )
    state = cluster.state
    code = 0
    if not state.alive():
        code = 5030
    elif state.mode_changes or all(node.status is Status.STOPPING for node in state.nodes.values()):
        code = 5005
    elif any(is_diskless(node_settings(state.plan, node)) for node in state.plan.data_nodes):
        code = 1306
    elif state.backup is not None and state.backup.ended_s is None:
        code = 1302
    if code:
        if not waits_for:
            # Refused without a word [8.4.8].
            return Answer()
        return Answer(f"{said}Backup failed\n{client_line(3001)}{refused(code, cluster)}", FAILED)
    if not waits_for:
        return Answer("", 0, (order,))
    if state.single_user is not None and form(cluster.plan.version, "single_user_backup_waits"):
        return Answer(said, 0, (order,), _after_single_user(waits_for))
    return Answer(said, 0, (order,), _backup_is(waits_for))


def _after_single_user(waits_for: str) -> Callable[[LiveCluster], Answer | None]:
    def ended(now: LiveCluster) -> Answer | None:
        if now.state.single_user is not None:
            return None
        return Answer("", 0, (), _backup_is(waits_for))

    return ended


def _backup_is(waits_for: str) -> Callable[[LiveCluster], Answer | None]:
    """Waits until the backup that runs now is started, or over."""

    def over(now: LiveCluster) -> Answer | None:
        run = now.state.backup
        if run is None:
            return None
        begun = f"Node {run.master}: Backup {run.number} started from node {run.server}"
        if run.error:
            return Answer(f"Backup failed\n{client_line(3001)}{refused(run.error, now)}", FAILED)
        if waits_for == "STARTED":
            return Answer(f"{begun}\n")
        return None if run.ended_s is None else Answer(f"{begun}\n{begun} completed\n{figures(run)}")

    return over


def _asked(cluster: LiveCluster, line: Line, *, listens: bool) -> tuple[AskBackup, str] | Answer:
    """What is ordered and what is waited for; or what is wrong."""
    words, number, waits_for, of_begin = list(line.rest.upper), 0, "COMPLETED", False
    seen: set[str] = set()
    if words and (first := begun_number(words[0])) is not None:
        if not 1 <= first <= HIGHEST_BACKUP:
            return invalid(line.text, f"Backup ID out of range [1 - {HIGHEST_BACKUP}]\n")
        number = first
        words.pop(0)
    while words:
        word = words.pop(0)
        kind = "snapshot" if word.startswith("SNAPSHOT") else word
        if word == "WAIT" and words and words[0] in ("STARTED", "COMPLETED"):
            waits_for, kind = words.pop(0), "wait"
        elif word == "NOWAIT":
            waits_for, kind = "", "wait"
        elif word == "ENCRYPT" and knows_word(cluster.plan.version, "ENCRYPT"):
            if not words:
                return _without_password(line, listens=listens)
            if words[0].startswith("PASSWORD="):
                password = words.pop(0).removeprefix("PASSWORD=")
                if len(password) < 2 or password[0] not in "'\"" or password[-1] != password[0]:
                    return invalid(line.text, "Encryption password should be within quotes\n")
        elif word in ("SNAPSHOTSTART", "SNAPSHOTEND"):
            of_begin = word == "SNAPSHOTSTART"
        else:
            return invalid(line.text)
        if kind in seen:
            return invalid(line.text)
        seen.add(kind)
    return AskBackup(number, of_begin), waits_for


def _without_password(line: Line, *, listens: bool) -> Answer:
    """ENCRYPT alone: the client asks for the password, if somebody is there."""
    if not listens:
        return invalid(line.text, "Encryption need password\n")
    return Answer("ndbplan: no password is asked for here: write ENCRYPT PASSWORD='...'\n", FAILED)


def abort_backup(cluster: LiveCluster, line: Line) -> Answer:
    """Of any number: that it is ordered is said whatever runs."""
    number = begun_number(line.words[0]) if line.words else None
    if number is None:
        return Answer("Invalid arguments: expected <BackupId>\n", FAILED)
    if form(cluster.plan.version, "abort_backup_checks") and not 1 <= number <= HIGHEST_BACKUP:
        return Answer(f"Invalid arguments: <BackupId> out of range [1-{HIGHEST_BACKUP}]\n", FAILED)
    if not cluster.state.alive():
        said = f"Abort of backup {number} failed\n{client_line(3002)}{refused(5030, cluster)}"
        return Answer(said, FAILED)
    run = cluster.state.backup
    orders = (AskNoBackup(number),) if run is not None and run.number == number else ()
    return Answer(f"Abort of backup {number} ordered\n", 0, orders)


def create_group(cluster: LiveCluster, line: Line) -> Answer:
    """A node group of exactly NoOfReplicas data nodes that have none."""
    ids: list[int] = []
    text = line.text
    for word in text.replace(" ", ",").split(",") if "," in text else text.split(" ")[:1]:
        if not word:
            continue
        number = number_of(word.partition(";")[0])
        if number is None:
            break
        ids.append(number)
        if ";" in word:
            break
    if not text:
        return Answer("Invalid arguments: expected <id>,<id>...\n", FAILED)
    code = _group_refusal(cluster, ids)
    if code:
        said = client_line(code) + refused(code, cluster, numbered=True)
        return Answer(said + _of_high_ids(cluster.plan, ids), FAILED)
    return Answer(f"Nodegroup {free_group(cluster.state)} created\n", 0, (CreateGroup(tuple(ids)),))


def _of_high_ids(plan: Plan, ids: list[int]) -> str:
    """What is not done here: a real 7.4.10 ends its master (2306, "Pointer too large")."""
    most = plan.features.data_nodes_most
    if max(ids, default=0) <= most or not form(plan.version, "high_ids_end_the_master"):
        return ""
    return (
        f"ndbplan: do not type this on a real NDB {plan.ndb_version}: an id above {most} ends its master "
        "data node (error 2306), and once more the next one\n"
    )


def _group_refusal(cluster: LiveCluster, ids: list[int]) -> int:
    state = cluster.state
    if not state.alive():
        return 5005
    if state.single_user is not None or state.mode_changes:
        return 299
    if any(state.groups.get(node_id, 0) != NODE_GROUP_NONE for node_id in ids):
        return 322
    if len(ids) != no_of_replicas(cluster.plan):
        return 320
    if len(set(ids)) < len(ids):
        return int(form(cluster.plan.version, "same_node_twice"))
    if not any(state.nodes[node_id].status in ANSWERS for node_id in ids):
        return 324
    return 0


def drop_group(cluster: LiveCluster, line: Line) -> Answer:
    """Only one that no table uses; a refusal has a number and no sentence."""
    number = begun_number(line.words[0]) if line.words else None
    if number is None:
        return Answer("Invalid arguments: expected <NG>\n", FAILED)
    state = cluster.state
    error = 0
    if not state.alive():
        error = 5005
    elif number == NODE_GROUP_NONE or number not in state.groups.values():
        error = -1
    elif number in state.used_groups or any((one.id, number) in state.made_on for one in state.plan.tables):
        # A table that was made after the group lies on it too [8.4.8].
        error = -2
    if error:
        return Answer(f"{client_line(1006)}*        error: {error}\n", FAILED)
    return Answer(f"Drop Node Group {number} done\n", 0, (DropGroup(number),))


def enter_single_user(cluster: LiveCluster, line: Line) -> Answer:
    """`ENTER SINGLE USER MODE id`: an API node, connected or not."""
    number = begun_number(line.words[3]) if len(line.words) > 3 else None
    if number is None:
        return Answer(
            "Invalid arguments: expected <NodeId>\nUse SHOW to see what API nodes are configured\n", FAILED
        )
    code = 5062 if not is_api_node(cluster, number) else 0
    if not code and not cluster.state.alive():
        code = 5030
    if code:
        said = f"Entering single user mode for node {number} failed\n"
        return Answer(said + client_line(4001) + refused(code, cluster), FAILED)
    done = Answer(f"Single user mode entered\nAccess is granted for API node {number} only.\n")

    def entered(now: LiveCluster) -> Answer | None:
        return done if now.state.single_user == number else None

    return Answer("", 0, (EnterSingleUser(number),), entered)


def exit_single_user() -> Answer:
    """Also said when the mode is not on."""
    return Answer(
        "Exiting single user mode in progress.\n"
        "Use ALL STATUS or SHOW to see when single user mode has been exited.\n",
        0,
        (ExitSingleUser(),),
    )
