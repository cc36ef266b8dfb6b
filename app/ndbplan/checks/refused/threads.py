"""Rules about threads and partitions: what ndb_mgmd lets pass and the data node refuses or ignores."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ndbplan.base.units import how_many
from ndbplan.checks.node_cures import apart_from_data_nodes
from ndbplan.checks.parameters import setting, without
from ndbplan.checks.problem import Edit, Look, Problem, Severity, Solution, WaysOut
from ndbplan.checks.rule import error, hint, problem, rule, warning
from ndbplan.checks.solutions import completed, one_of, that_mend
from ndbplan.configuration.settings import (
    NodesAlike,
    no_of_replicas,
    node_settings,
    nodes_alike,
    nodes_alike_in,
)
from ndbplan.edits.changes import SetField, SetParameter, together
from ndbplan.edits.from_host import LOG_PARTS, THREAD_SETTINGS, Chosen, default_of, thread_setting
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.stored import threads_of
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.addresses import is_loopback
from ndbplan.ndb.threads.config import check_thread_config, cpu_shortage
from ndbplan.ndb.threads.layout import (
    THREAD_PARAMETERS,
    ThreadConfigError,
    ThreadCounts,
    parse_thread_config,
    thread_counts,
)
from ndbplan.ndb.values import BadValueError, parse_cpu_list
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode

_LEAST_BUSY_THREADS = 3
"""The smallest ndbmtd: one LDM thread, one that receives, and main with rep."""
_RESTARTS = "it takes nothing new; a rolling restart does it"
_COUNTED_BY = ("MaxNoOfExecutionThreads", "__ndbmt_lqh_threads")


def is_automatic(alike: NodesAlike) -> bool:
    """Whether AutomaticThreadConfig decides."""
    return alike.plan.features.automatic_threads and alike.settings.number("AutomaticThreadConfig") == 1


def is_classic(alike: NodesAlike) -> bool:
    """Whether each LDM thread has its own partition of every table."""
    return not is_automatic(alike) and alike.settings.number("ClassicFragmentation") != 0


def thread_text(alike: NodesAlike) -> str:
    """ThreadConfig in effect; nothing when another setting wins or the version lacks it."""
    if is_automatic(alike) or not catalogue.knows("DB", "ThreadConfig", alike.plan.version):
        return ""
    return str(alike.settings.value("ThreadConfig") or "").strip()


def threads(alike: NodesAlike) -> ThreadCounts:
    """Threads of the nodes. Raises ThreadConfigError for a ThreadConfig they would refuse."""
    parameters = {name: alike.settings.value(name) for name in THREAD_PARAMETERS}
    plan = alike.plan
    cores = min((plan.host(node.host_id).cores for node in alike.nodes), default=8)
    return thread_counts(plan.version, parameters, cores)


_OUTSIDE = "certificates and passwords: they lie outside of the plan"


@rule("thread-config", "ThreadConfig cannot be read", refused=True)
def thread_config(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for alike in nodes_alike(plan):
        text = thread_text(alike)
        if not text:
            continue
        try:
            check_thread_config(text, plan.version)
        except BadValueError as bad:
            yield error(
                alike.where,
                f"ThreadConfig {bad}; ndb_mgmd refuses the configuration",
                "write for example ldm={count=4},main,recv,rep",
                alike.object_ids,
                without(alike.scope_of("ThreadConfig"), "ThreadConfig"),
            )


@rule("cpus-for-threads", "LockExecuteThreadToCPU has fewer CPUs than threads", refused=True)
def cpus_for_threads(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    name = "LockExecuteThreadToCPU"
    if not catalogue.knows("DB", name, plan.version) or not plan.features.multithreaded_node:
        return
    for alike in nodes_alike(plan):
        by_text = alike.settings.states("ThreadConfig") and plan.features.thread_config
        counted = by_text or any(alike.settings.states(each) for each in _COUNTED_BY)
        # With __ndbmt_classic one thread of each kind shares what there is.
        classic = not by_text and alike.settings.number("__ndbmt_classic") == 1
        if is_automatic(alike) or not alike.settings.text(name) or not counted or classic:
            continue
        try:
            cpus = parse_cpu_list(alike.settings.text(name), plan.version)
            counts = threads(alike)
            text = thread_text(alike) if by_text else None
            shortage = cpu_shortage(cpus, counts, text, plan.version)
        except (BadValueError, ThreadConfigError):
            continue
        if shortage is None:
            continue
        what = f"{name} leaves {how_many(shortage.cpus, 'CPU')} for {shortage.threads} threads"
        yield problem(
            Severity.ERROR if shortage.refused else Severity.WARNING,
            alike.where,
            f"{what}; ndb_mgmd refuses that with TC or send threads or several that receive"
            if shortage.refused
            else f"{what}, which share them",
            f"leave {name} out",
            alike.object_ids,
            without(alike.scope_of(name), name),
        )


@rule("thread-config-of-node", "The data node does not take ThreadConfig")
def thread_config_of_node(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for alike in nodes_alike(plan):
        text = thread_text(alike)
        if not text:
            continue
        try:
            check_thread_config(text, plan.version)
            parse_thread_config(plan.version, text)
        except BadValueError:
            continue
        except ThreadConfigError as bad:
            told = error(
                alike.where,
                f"ThreadConfig: {bad.what}; ndb_mgmd accepts it, but the data node stops with error 2350",
                bad.fix,
                alike.object_ids,
            )
            ways = tuple(_taken_threads(plan, alike, text))
            unknown = "which threads are meant: only whoever wrote it knows"
            yield replace(told, solve=one_of(now, "thread-config-of-node", ways, unknown, alike.object_ids))


_COUNT_OF = {
    name: re.compile(
        rf"\b{name}\s{{0,20}}=\s{{0,20}}\{{[^}}]{{0,200}}?\bcount\s{{0,20}}=\s{{0,20}}([0-9]{{1,9}})", re.I
    )
    for name in ("ldm", "query")
}
"""Where a ThreadConfig says how many threads of a kind there are."""


def _taken_threads(plan: Plan, alike: NodesAlike, text: str) -> Iterator[Solution]:
    """As many query threads as there are LDM threads, or what the host suggests."""
    scope = alike.scope_of("ThreadConfig")
    ldm, query = (_COUNT_OF[name].search(text) for name in ("ldm", "query"))
    if ldm and query:
        changed = f"{text[: query.start(1)]}{ldm[1]}{text[query.end(1) :]}"
        edit = SetParameter(scope, "ThreadConfig", changed)
        yield Solution(f"Use {ldm[1]} query threads", "as many as there are LDM threads", edit)
    chosen = thread_setting(plan, alike.nodes[0]) if alike.nodes else ()
    edits = [without(scope, "ThreadConfig")]
    edits += [SetParameter(alike.scope_of(c.name), c.name, c.value) for c in chosen]
    words = " and ".join(f"{c.name} {c.value}" for c in chosen) or "the default"
    why = "; ".join(c.reason for c in chosen) or "one thread of each kind"
    yield Solution(f"Take {words} instead of ThreadConfig", why, together(edits))


@rule("thread-settings-ignored", "A thread setting has no effect")
def thread_settings_ignored(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for alike in nodes_alike(plan):
        automatic = is_automatic(alike)
        ignored: list[tuple[str, str]] = []
        if automatic:
            ignored = [(name, "AutomaticThreadConfig is 1") for name in THREAD_SETTINGS[:2]]
            if alike.settings.number("ClassicFragmentation") == 1:
                ignored.append(("ClassicFragmentation", "AutomaticThreadConfig switches it off"))
        else:
            ignored = [("NumCPUs", "it has an effect with AutomaticThreadConfig only")]
            if thread_text(alike):
                ignored.append(("MaxNoOfExecutionThreads", "ThreadConfig wins"))
            if is_classic(alike):
                ignored.append(("PartitionsPerNode", "ClassicFragmentation is 1"))
        for name, reason in ignored:
            # Classic fragmentation that is asked for is the default, and yet not what happens.
            differs = alike.settings.value(name) != catalogue.default("DB", name, plan.version)
            if alike.settings.states(name) and (differs or name == "ClassicFragmentation"):
                yield warning(
                    alike.where,
                    f"{name} has no effect: {reason}; the data node ignores it silently",
                    f"remove {name}",
                    alike.object_ids,
                    without(alike.scope_of(name), name),
                )


def _busy_threads(plan: Plan, node: DataNode) -> int:
    """Threads of a data node that want a core under load; main and rep share one, recover threads idle."""
    if not plan.features.multithreaded_node:
        return 1
    return _wanting_a_core(threads_of(plan, node))


def _wanting_a_core(counts: ThreadCounts) -> int:
    ends = 1 if counts.main or counts.rep else 0
    return counts.ldm + counts.tc + counts.query + counts.recv + counts.send + ends


def _fewer_threads(plan: Plan, node: DataNode, cores: int) -> tuple[str, Edit | None]:
    """How to ask for at most so many threads that want a core; no words when no setting goes so low."""
    host = plan.host(node.host_id)

    def busy(name: str, value: int) -> int:
        parameters = {each: alike.settings.value(each) for each in THREAD_SETTINGS}
        return _wanting_a_core(thread_counts(plan.version, {**parameters, name: value}, host.cores))

    alike = next(alike for alike in nodes_alike(plan) if node in alike.nodes)
    if is_automatic(alike):
        name, values = "NumCPUs", range(cores, 0, -1)
    elif thread_text(alike):
        words = f"name at most {cores} threads in ThreadConfig beside main and rep"
        return (words, None) if cores > 1 else ("", None)
    else:
        name, values = "MaxNoOfExecutionThreads", range(min(72, cores + 2), 1, -1)
    if not catalogue.knows("DB", name, plan.version):
        return "", None
    fits = next((value for value in values if busy(name, value) <= cores), None)
    if fits is None:
        return "", None
    return f"set {name} to {fits}", SetParameter(alike.scope_of(name), name, fits)


@rule("threads-and-cores", "Busy threads have no core of their own")
def threads_and_cores(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for host in plan.hosts:
        here = plan.processes_of_host[host.id]
        nodes = [p for p in here if isinstance(p, DataNode)]
        servers = sum(p.kind == "sql" for p in here)
        try:
            asked = [_busy_threads(plan, node) for node in nodes]
        except ThreadConfigError:
            continue
        alone = len(nodes) == 1 and not servers
        if not nodes or sum(asked) + servers <= host.cores or (alone and asked[0] <= _LEAST_BUSY_THREADS):
            continue
        ids = ", ".join(str(node.node_id) for node in nodes[:4]) + (" …" if len(nodes) > 4 else "")
        beside = f" and {servers} mysqld beside {'it' if len(nodes) == 1 else 'them'}" if servers else ""
        each = max(0, (host.cores - servers) // len(nodes))
        fewer, edit = _fewer_threads(plan, nodes[0], each)
        ways = [way for way in (fewer, "" if alone else "use hosts of their own", "take more cores") if way]
        is_trial = is_loopback(host.hostname)
        told = problem(
            Severity.HINT if is_trial else Severity.WARNING,
            f"host {host.hostname}",
            f"data node{'s' if len(nodes) > 1 else ''} {ids} on {host.hostname}: {sum(asked)} threads that "
            f"want a core each{beside}, on {how_many(host.cores, 'core')}; they wait for one "
            "another, and heartbeats and the redo log come late",
            f"{', '.join(ways[:-1])} or {ways[-1]}" if len(ways) > 1 else ways[0],
            [host.id, *(node.id for node in nodes)],
            measure=(sum(asked) + servers) / host.cores,
        )
        taken = [] if edit is None else [Solution(fewer[:1].upper() + fewer[1:], _RESTARTS, edit)]
        search = partial(_for_cores, now, host, sum(asked) + servers, taken, bool(servers))
        yield replace(told, solve=search)


def _for_cores(
    now: Estimation, host: Host, cores: int, fewer: list[Solution], has_servers: bool, look: Look
) -> WaysOut:
    """SQL nodes elsewhere, fewer threads, more cores: ways to a core for each thread of a host."""
    cores += cores % 2
    more: Edit = SetField(host.id, "cores", cores)
    why = f"instead of {host.cores}: one for each thread that wants one"
    bought = Solution(f"Give {host.hostname} {cores} cores", why, more, buys=True)
    name = "threads-and-cores"
    moved = apart_from_data_nodes(name, now, look).solutions if has_servers else ()
    ways = [*(way for way in moved if not way.buys), *fewer, bought, *(way for way in moved if way.buys)]
    return WaysOut(that_mend(look, now.plan, ways, name, [host.id]), "")


@rule("threads-not-set", "Most cores of a data node have nothing to do")
def threads_not_set(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    least = default_of("threads_from_cores")
    for alike in nodes_alike_in(plan, *THREAD_SETTINGS):
        large = [node for node in alike.nodes if plan.host(node.host_id).cores >= least]
        if not large or any(alike.settings.states(name) for name in THREAD_SETTINGS):
            continue
        node = min(large, key=lambda one: plan.host(one.host_id).cores)
        host, ldm = plan.host(node.host_id), threads(alike).ldm_instances
        chosen = thread_setting(plan, node)
        if not chosen or "cores" in host.assumed:
            continue
        yield replace(
            hint(
                alike.where,
                f"no thread setting is stated: a data node on the {how_many(host.cores, 'core')} of "
                f"{host.hostname} starts {how_many(ldm, 'LDM thread')}, which all rows, checkpoints and "
                "restarts go through",
                f"set {' and '.join(f'{c.name} to {c.value}' for c in chosen)}",
                [one.id for one in large],
            ),
            solve=partial(_with_threads, now, alike, chosen),
        )


def _with_threads(now: Estimation, alike: NodesAlike, chosen: tuple[Chosen, ...], look: Look) -> WaysOut:
    settings: Edit = together(SetParameter(alike.scope_of(c.name), c.name, c.value) for c in chosen)
    edit, reason = completed(look, now.plan, settings)
    words = " and ".join(f"{c.name} to {c.value}" for c in chosen)
    why = f"{'; '.join(c.reason for c in chosen)}; a rolling restart does it"
    if reason:
        return WaysOut((), f"set {words}; by itself that is not enough here: {reason}")
    return WaysOut((Solution(f"Set {words}", why, edit),), f"set {words}: {why}")


@rule("ldm-and-log-parts", "LDM threads do not match the redo log parts")
def ldm_and_log_parts(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for alike in nodes_alike(plan):
        try:
            ldm = threads(alike).ldm_instances
        except ThreadConfigError:
            continue
        parts = max(1, alike.settings.number("NoOfFragmentLogParts"))
        enough = next((p for p in LOG_PARTS if p >= ldm and p % ldm == 0), None)
        known = catalogue.knows("DB", "NoOfFragmentLogParts", plan.version)
        scope = alike.scope_of("NoOfFragmentLogParts")
        edit = setting(scope, "NoOfFragmentLogParts", enough) if enough and known else None
        cores = min((plan.host(node.host_id).cores for node in alike.nodes), default=ldm)
        if ldm > cores:
            # More log parts would only feed threads that no core is there for.
            enough, edit = None, None
        fix = f"set NoOfFragmentLogParts to {enough}" if edit else "use fewer LDM threads"
        if ldm > cores:
            fix += f": there {'is' if cores == 1 else 'are'} {how_many(cores, 'core')}"
        if ldm > parts and not plan.features.ldm_share_log_parts:
            yield error(
                alike.where,
                f"{ldm} LDM threads with NoOfFragmentLogParts {parts}: the data node stops with error 2350",
                fix,
                alike.object_ids,
                edit,
            )
        elif ldm > parts and is_classic(alike):
            yield warning(
                alike.where,
                f"{ldm} LDM threads with NoOfFragmentLogParts {parts}: the LDM threads above {parts} never "
                "hold data, and nothing says so",
                fix,
                alike.object_ids,
                edit,
            )
        elif parts % ldm and is_classic(alike):
            yield warning(
                alike.where,
                f"{ldm} LDM threads do not divide NoOfFragmentLogParts {parts}: some of them get more "
                "fragments than others",
                fix,
                alike.object_ids,
                edit,
            )


@rule("partitions-per-node", "PartitionsPerNode does not fit the LDM threads")
def partitions_per_node(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not plan.features.automatic_threads:
        return
    for alike in nodes_alike(plan):
        if is_classic(alike):
            continue
        try:
            ldm = threads(alike).ldm_instances
        except ThreadConfigError:
            continue
        partitions, replicas = alike.settings.number("PartitionsPerNode"), no_of_replicas(plan)
        limit = plan.features.fragments_of_table_in_ldm
        if partitions * replicas // ldm > limit:
            most = (limit * ldm + ldm - 1) // replicas
            yield error(
                alike.where,
                f"PartitionsPerNode {partitions} x NoOfReplicas {replicas} / {ldm} LDM threads is above "
                f"{limit}; ndb_mgmd accepts it, but the data node stops with error 2350. More LDM "
                "threads would hold them",
                f"set PartitionsPerNode to {most}",
                alike.object_ids,
                setting(alike.scope_of("PartitionsPerNode"), "PartitionsPerNode", most),
            )


@rule("files-for-security", "Certificates or passwords are missing")
def files_for_security(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for alike in nodes_alike(plan):
        for name, needs in (
            ("RequireTls", "a TLS certificate of the node"),
            ("RequireCertificate", "a TLS certificate of the node"),
            ("EncryptedFileSystem", "the password at each start (--filesystem-password-from-stdin)"),
        ):
            if catalogue.knows("DB", name, plan.version) and alike.settings.number(name) == 1:
                yield hint(
                    alike.where,
                    f"{name} is on: ndb_mgmd says nothing, but the data node does not start without {needs}",
                    "prepare it on every data node host before the first start",
                    alike.object_ids,
                    missing=_OUTSIDE,
                )
    for node in plan.management_nodes:
        settings = node_settings(plan, node)
        names = [n for n in ("RequireTls", "RequireCertificate") if catalogue.knows("MGM", n, plan.version)]
        on = [name for name in names if settings.number(name) == 1]
        if on:
            yield warning(
                f"management node {node.node_id}",
                f"{on[0]} is on: ndb_mgmd does not start without a TLS certificate of the node",
                "prepare it on the host before the first start",
                [node.id],
                missing=_OUTSIDE,
            )


@rule("paths-absolute", "A path is not absolute")
def paths_absolute(now: Estimation) -> Iterator[Problem]:
    names = ("DataDir", "FileSystemPath", "FileSystemPathDD", "FileSystemPathDataFiles")
    for alike in nodes_alike(now.plan):
        for name in (*names, "FileSystemPathUndoFiles", "BackupDataDir"):
            value = alike.settings.value(name)
            if alike.settings.states(name) and isinstance(value, str) and not value.startswith("/"):
                base = "the folder that it is started in" if name == "DataDir" else "its DataDir"
                yield warning(
                    alike.where,
                    f"{name} is '{value[:60]}', which counts from {base}; a path that does "
                    "not exist there stops the data node with error 2805",
                    "remove it: the folder then follows from the disk of the role",
                    alike.object_ids,
                    without(alike.scope_of(name), name),
                )
