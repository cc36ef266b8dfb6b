"""What a cluster runs with now, from the file that says it: a plan, a config.ini, a my.cnf."""

from __future__ import annotations

from pathlib import Path

from ndbplan.edits.variants import load_variant, variant_in
from ndbplan.importing.config.file import ConfigFileError, read_config_file
from ndbplan.importing.config.plan import import_config
from ndbplan.importing.files import read_file
from ndbplan.importing.my_cnf import with_options
from ndbplan.plan.file import loads, open_file
from ndbplan.plan.plan import Plan

PASTED = "the pasted text"


def what_runs(path: Path, planned: Plan, *, of_a_pipe: bool = False) -> tuple[Plan, str]:
    """The plan in a plan file, or of a config.ini read for the version of a plan with its text.

    A my.cnf (by its name) tells of its SQL node; all else runs as planned then. Which of the others it is
    follows from the content; FILE@VARIANT is a variant of a plan. A plan has no text: its own config.ini is
    meant. `of_a_pipe`: as of `read_file`. Raises UserError.
    """
    if variant_in(path) is not None:
        return load_variant(path), ""
    content = read_file(path, of_a_pipe=of_a_pipe)
    if _is_plan(content):
        return open_file(path).plan, ""
    if path.suffix.lower() == ".cnf":
        text = content.decode("utf-8", "replace").removeprefix("\ufeff")
        return with_options(planned, text, str(path), only_these=True).plan, ""
    return _of_config(content, str(path), planned)


def what_text_says_runs(text: str, planned: Plan) -> Plan:
    """The same of text that was pasted: a config.ini, or a plan. Raises UserError."""
    content = text.encode("utf-8", "replace")
    return loads(text, name=PASTED) if _is_plan(content) else _of_config(content, PASTED, planned)[0]


def _is_plan(content: bytes) -> bool:
    return content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def _of_config(content: bytes, name: str, planned: Plan) -> tuple[Plan, str]:
    unread = read_config_file(content, name).unread
    if unread is not None:
        # Without its line the rest would pass for what runs.
        raise ConfigFileError(
            f"{unread.message}; no cluster runs with such a file",
            where=f"{name}, line {unread.line}",
            fix="take the config.ini of a management server, whole",
        )
    plan, _ = import_config({name: content}, planned.ndb_version)
    # It says nothing of what starts services.
    managers = {host.hostname: host.service_manager for host in planned.hosts}
    hosts = (
        host.model_copy(update={"service_manager": managers.get(host.hostname, host.service_manager)})
        for host in plan.hosts
    )
    return plan.replace(hosts=tuple(hosts)), content.decode("utf-8", "replace")
