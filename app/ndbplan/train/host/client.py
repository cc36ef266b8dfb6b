"""`ndb_mgm -e` on a host: a client of its own, which connects, carries out one line and ends.

management_client(cluster, host, ["-e", "ALL STATUS"]).text
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ndbplan.plan.hardware import Host
from ndbplan.train.answer import Answer
from ndbplan.train.host.connecting import CONNECTING, reaches, servers_of
from ndbplan.train.host.options import read_words
from ndbplan.train.live import LiveCluster
from ndbplan.train.mgm import console as mgm
from ndbplan.train.mgm.words import FAILED

_VALUES = ("-e --execute", "-t --try-reconnect", *CONNECTING)
_OF_ITS_OWN = (
    "bash: ndb_mgm: a console of its own here, as in 'ndb_mgm> SHOW'; with -e it carries out one line\n"
)


def management_client(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """`ndb_mgm -e 'ALL STATUS'`; of several lines the last counts [8.4.8]."""
    read = read_words("ndb_mgm", words, _VALUES)
    if isinstance(read, Answer):
        return read
    line = read.values.get("--execute")
    if line is None:
        return Answer(_OF_ITS_OWN, 127)
    servers = ":".join(read.names[:2]) or servers_of(cluster, read.values)
    if not reaches(cluster, host, servers):
        return Answer(mgm.not_connected(cluster, servers), FAILED)
    before = mgm.greeting(cluster)
    reply = mgm.answer(line, cluster, listens=False)
    return replace(reply, text=before + reply.text, ends=False)
