"""A runbook's Markdown typed by a person who repeats what waits until it is so, on an acted cluster.

    faults = list(typed(life, "rolling-restart"))

What asks for a password is left out, and with it the dump that logs in by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from exporting.acted_life import NOT_UP, Life, is_as_planned
from exporting.acted_shell import run_script
from ndbplan.base.quoting import shell_quoted
from ndbplan.configuration.deployment import connect_string, sql_files
from ndbplan.operations.add_nodes import GROWN_FOLDER, grown_configuration
from ndbplan.plan.plan import Plan

_PERSON = """
set -euo pipefail
ssh_user=root
cd {folder}
person() {{ ssh -- "root@$1" "$2"; }}
patient() {{
  local i
  for ((i = 0; i < 999; i++)); do if "$@"; then return; fi; sleep 5; done
  return 1
}}
scp() {{
  local host=${{2#*@}}
  host=${{host%%:/*}} host=${{host#[}}
  person "${{host%]}}" 'install -m 0644 /dev/stdin /var/cache/ndb-programs/ndb.rpm' <{programs}/ndb.rpm
}}
"""
_BLOCK = r"^(`{3,})(\w*)\n(.*?)\n\1$"
_SECRET = ("{password}", "/etc/ndb_backup.cnf")


def typed(life: Life, part: str) -> Iterator[str]:
    """What is wrong behind a part that is typed line by line. A restore brings back the first backup."""
    cluster, plan = life.cluster, life.plan
    after = life.prepared(cluster, part)
    text = (life.folder / "runbook.md").read_text()
    script = life.folder / f"typed-{part}.sh"
    begin = _PERSON.format(folder=shell_quoted(str(life.folder)), programs=shell_quoted(str(life.programs)))
    script.write_text(begin + "\n".join(_lines(plan, text, part)))
    done = run_script(cluster.answer, script)
    if done.returncode:
        yield f"{part}: {done.stderr}"
        return
    life.has_tables = life.has_tables or part == "schema"
    if part == "stop":
        cluster.in_service = cluster.sql_was_up = False
    cluster.may_be_down = False
    if part not in NOT_UP:
        cluster.pass_time(20)
    yield from (f"{part}: {one}" for one in cluster.faults)
    cluster.faults.clear()
    if part not in NOT_UP:
        yield from (f"{part}: {one}" for one in is_as_planned(cluster, after, life.has_tables))
    if part == "add-nodes":
        life.folder /= Path(GROWN_FOLDER)
        life.plan = grown_configuration(plan)


def _lines(plan: Plan, text: str, part: str) -> Iterator[str]:
    """The commands of a part as a shell takes them."""
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    section = next(one for one in sections if f"`./runbook.sh {part} --dry-run`" in one)
    for _, language, block in re.findall(_BLOCK, section, re.MULTILINE | re.DOTALL):
        if language == "sql":
            yield from _statements(plan, block)
            continue
        for line in block.splitlines():
            if not line.startswith("#") and not any(secret in line for secret in _SECRET):
                yield _line(
                    plan, line.replace("BACKUP-ID", "BACKUP-1").replace("--backupid=ID", "--backupid=1")
                )


def _statements(plan: Plan, block: str) -> Iterator[str]:
    first, _, sql = block.partition("\n")
    host = first.removeprefix("-- on ")
    node = next(one for one in plan.sql_nodes if plan.host(one.host_id).hostname == host)
    if not any(secret in sql for secret in _SECRET):
        client = f"mysql --batch --socket={sql_files(plan, node).socket}"
        run = f"person {host} {shell_quoted(client)} <<'END_OF_SQL'\n{sql}\nEND_OF_SQL"
        _, has_to_answer, wanted = sql.partition("\n-- has to answer:\n")
        if has_to_answer:
            lines = "\n".join(sorted(line.removeprefix("-- ") for line in wanted.splitlines()))
            yield f"found=$({run}\n)"
            yield f'[[ $(LC_ALL=C sort <<<"${{found:-nothing}}") == {shell_quoted(lines)} ]]'
        else:
            yield run


def _line(plan: Plan, line: str) -> str:
    management = f"person {plan.host(plan.management_nodes[0].host_id).hostname}"
    if line.startswith("ndb_mgm> "):
        told = line.removeprefix("ndb_mgm> ").partition("    #")[0]
        client = f"ndb_mgm --ndb-connectstring={connect_string(plan)} --execute={shell_quoted(told)}"
        return f"{management} {shell_quoted(client)}"
    if line.startswith("ndb_"):
        return f"patient {management} {shell_quoted(line)}"
    if not line.startswith("ssh "):
        return line
    there, either, here = line.removeprefix("ssh ").replace("root@", "").partition(" || ndb_mgm ")
    typed = f"{'patient ' if 'SELECT 1' in there else ''}person {there}"
    if either:
        return f"{typed} || {management} {shell_quoted(f'ndb_mgm {here}')}"
    # One looks at what they say.
    return f"{typed} || true" if "--version" in there else typed
