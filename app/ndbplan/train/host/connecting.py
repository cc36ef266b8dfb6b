"""Whether a program of NDB finds a management server, and what it says where it does not.

CONNECTING         # the options of every such program, for `read_words`
"""

from __future__ import annotations

from collections.abc import Mapping

from ndbplan.base.units import whole_number
from ndbplan.configuration.deployment import connect_string, management_port
from ndbplan.ndb.console import form
from ndbplan.plan.hardware import Host
from ndbplan.plan.processes import ManagementNode
from ndbplan.train.answer import Answer
from ndbplan.train.live import LiveCluster

_SERVERS = "--ndb-connectstring"
CONNECTING = (
    f"-c --connect-string --ndb-mgmd-host {_SERVERS}", "--connect-retries", "--connect-retry-delay",
    "--ndb-nodeid",
)  # fmt: skip
_TRIES, _BETWEEN_S = 12, 5
"""How often a program tries, and how long until the next try (manual, Options Common to Programs)."""
_OWN = ("localhost", "127.0.0.1", "::1")


def servers_of(cluster: LiveCluster, values: Mapping[str, str]) -> str:
    """The servers that a program asks: those that it is given, else those of the plan."""
    return values.get(_SERVERS, "") or connect_string(cluster.plan)


def reaches(cluster: LiveCluster, host: Host, servers: str) -> bool:
    """Whether one of them runs; `servers` as in a connect string."""
    for one in servers.split(","):
        name, _, port = one.strip().partition(":")
        for node_id in cluster.state.servers if "=" not in one else ():
            server = cluster.state.process(node_id)
            assert isinstance(server, ManagementNode)
            there = cluster.plan.host(server.host_id)
            is_named = name in (there.hostname, there.id, cluster.state.address(node_id))
            is_own = name in _OWN and there.id == host.id
            at = str(management_port(cluster.plan, server))
            if (is_named or is_own) and port in ("", at):
                return True
    return False


def unreached(cluster: LiveCluster, host: Host, values: Mapping[str, str], *, ends: bool) -> Answer | None:
    """What a program says that finds no server, once it has tried; None: it finds one.

    `ends`: it tells its exit status, as the tools of older releases do.
    """
    if reaches(cluster, host, servers_of(cluster, values)):
        return None
    tries = whole_number(values.get("--connect-retries", "")) or _TRIES
    between_s = whole_number(values.get("--connect-retry-delay", ""))
    until_s = cluster.now_s + (tries - 1) * (_BETWEEN_S if between_s is None else between_s)
    text = "Unable to connect to management server.\n"
    if ends:
        text += str(form(cluster.plan.version, "tool_ends")).format(code=1, word="Failed")
    said = Answer(text, 1)
    return Answer(waits=lambda now: said if now.now_s >= until_s - 1e-9 or now.is_over else None)
