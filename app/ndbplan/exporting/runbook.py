"""The runbook as Markdown for people and as a shell script that can be tried, stopped and taken up again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ndbplan.base.errors import UserError
from ndbplan.base.quoting import ascii_text, shell_quoted
from ndbplan.configuration.deployment import address, connect_string
from ndbplan.estimate.estimation import Estimation
from ndbplan.exporting.templates import render
from ndbplan.operations.add_nodes import add_nodes
from ndbplan.operations.commands import Command, Copy, Management, Shell, Sql, WaitStarted
from ndbplan.operations.first_start import first_start
from ndbplan.operations.operation import Operation, Step
from ndbplan.operations.roll_out import rolling_restart
from ndbplan.plan.plan import Plan

_HEREDOC = "END_OF_SQL"


def runbook_parts(plan: Plan, add_groups: int = 1) -> tuple[Operation, ...]:
    """The operations of a cluster in the order in which they come up in its life."""
    now = Estimation(plan)
    found = (
        _timed_or_not(partial(first_start, now)),
        _timed_or_not(partial(rolling_restart, now)),
        _timed_or_not(partial(add_nodes, now, add_groups)),
    )
    return tuple(operation for operation in found if operation is not None)


def _timed_or_not(operation: Callable[..., Operation]) -> Operation | None:
    """The operation, without durations where the plan allows no estimate; None where it cannot be done."""
    for timed in (True, False):
        try:
            return operation(timed=timed)
        except UserError:
            continue
    return None


def render_markdown(plan: Plan, parts: tuple[Operation, ...]) -> str:
    """The runbook as Markdown."""
    return render("runbook.md.j2", plan=plan, parts=parts, steps=_steps, blocks=markdown_blocks)


def render_script(plan: Plan, parts: tuple[Operation, ...]) -> str:
    """The runbook as a bash script."""
    first = plan.management_nodes[0] if plan.management_nodes else None
    return render(
        "runbook.sh.j2",
        plan=plan,
        parts=parts,
        steps=_steps,
        connect_string=connect_string(plan),
        management_host=plan.host(first.host_id).hostname if first else "localhost",
        line=_script_line,
        expected=expected_text,
    )


def _steps(operation: Operation) -> list[Step]:
    """The steps that have something to say in a runbook."""
    return [step for step in operation.steps if step.text]


def expected_text(step: Step) -> str:
    """How long a step takes, in words; nothing when there is no estimate."""
    return ascii_text(str(step.duration_s)) if step.duration_s is not None else ""


def _script_line(command: Command) -> str:
    if isinstance(command, Shell):
        return f"on {shell_quoted(command.host)} {shell_quoted(command.command)}"
    if isinstance(command, Management):
        return f"management {shell_quoted(command.command)}"
    if isinstance(command, Copy):
        words = " ".join(shell_quoted(word) for word in (command.file, command.host, command.target))
        return f"copy_file {words}"
    if isinstance(command, WaitStarted):
        ids = ",".join(map(str, command.node_ids))
        return f"wait_started {shell_quoted(ids)} {command.timeout_s}"
    lines = "\n".join(command.statements)
    words = f"sql {shell_quoted(command.host)} {shell_quoted(_socket(command))}"
    return f"{words} <<'{_HEREDOC}'\n{lines}\n{_HEREDOC}"


def _socket(command: Sql) -> str:
    return f"/var/lib/mysql-{command.instance[1:]}/mysql.sock" if command.instance else ""


def markdown_blocks(plan: Plan, step: Step) -> list[str]:
    """The commands of a step as code blocks, those of one kind that follow one another together."""
    blocks: list[tuple[str, list[str]]] = []
    for command in step.commands:
        language, text = _markdown(plan, command)
        if blocks and blocks[-1][0] == language != "sql":
            blocks[-1][1].append(text)
        else:
            blocks.append((language, [text]))
    return [_fenced(language, "\n".join(texts)) for language, texts in blocks]


def _markdown(plan: Plan, command: Command) -> tuple[str, str]:
    """The language of a command and how a person types it."""
    if isinstance(command, Shell):
        return "sh", f"ssh root@{shell_quoted(command.host)} {shell_quoted(command.command)}"
    if isinstance(command, Management):
        return "", f"ndb_mgm> {command.command}"
    if isinstance(command, Copy):
        target = shell_quoted(f"root@{address(command.host)}:{command.target}")
        return "sh", f"scp {shell_quoted(command.file)} {target}"
    if isinstance(command, WaitStarted):
        connect = shell_quoted(connect_string(plan))
        ids = ",".join(map(str, command.node_ids))
        waiter = f"ndb_waiter --ndb-connectstring={connect} --wait-nodes={ids}"
        return "sh", f"{waiter} --timeout={command.timeout_s}"
    return "sql", "\n".join((f"-- on {command.host}", *command.statements))


def _fenced(language: str, text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"
