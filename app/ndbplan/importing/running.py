"""What a cluster runs with now, from what says it: a plan, a config.ini, a print of ndb_config, a my.cnf."""

from __future__ import annotations

from pathlib import Path

from ndbplan.edits.variants import load_variant, variant_in
from ndbplan.importing.config.file import ConfigFileError, read_config_file
from ndbplan.importing.config.plan import import_config
from ndbplan.importing.config.printed import HOW, as_config_ini
from ndbplan.importing.files import read_file
from ndbplan.importing.my_cnf import with_options
from ndbplan.plan.file import loads, open_file
from ndbplan.plan.plan import Plan

PASTED = "the pasted text"
_WHOLE = f"take the config.ini of a management server, whole, or what {HOW} prints"


def what_runs(path: Path, planned: Plan, *, of_a_pipe: bool = False) -> tuple[Plan, str]:
    """The plan in a plan file, or of a config.ini read for the version of a plan with its text.

    What `ndb_config --diff-default` prints is taken for the config.ini that says the same, without a text.

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
    printed = as_config_ini(content.decode("utf-8", "replace"), name, planned)
    if printed is not None:
        return _without_connections(_read(printed.encode(), name, planned), planned), ""
    return _read(content, name, planned), content.decode("utf-8", "replace")


def _without_connections(plan: Plan, planned: Plan) -> Plan:
    """Connections and the system section are as planned: nothing was said of them."""
    ids = {node.node_id: node.id for node in plan.processes}
    ends = {node.id: ids.get(node.node_id) for node in planned.processes}
    links = (
        one.model_copy(
            update={"process_id_1": ends[one.process_id_1], "process_id_2": ends[one.process_id_2]}
        )
        for one in planned.links
        if ends.get(one.process_id_1) and ends.get(one.process_id_2)
    )
    same = {kind: getattr(planned.parameters, kind) for kind in ("tcp", "shm", "system")}
    return plan.replace(parameters=plan.parameters.model_copy(update=same), links=tuple(links))


def _read(content: bytes, name: str, planned: Plan) -> Plan:
    try:
        unread = read_config_file(content, name).unread
    except ConfigFileError as error:
        raise ConfigFileError(error.what, where=error.where, fix=_WHOLE) from None
    if unread is not None:
        # Without its line the rest would pass for what runs.
        raise ConfigFileError(
            f"{unread.message}; no cluster runs with such a file",
            where=f"{name}, line {unread.line}",
            fix=_WHOLE,
        )
    plan, _ = import_config({name: content}, planned.ndb_version)
    # It says nothing of what starts services.
    managers = {host.hostname: host.service_manager for host in planned.hosts}
    hosts = (
        host.model_copy(update={"service_manager": managers.get(host.hostname, host.service_manager)})
        for host in plan.hosts
    )
    return plan.replace(hosts=tuple(hosts))
