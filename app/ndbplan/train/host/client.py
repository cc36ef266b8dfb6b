"""`ndb_mgm -e` on a host: a client of its own, which connects, carries out one line and ends.

management_client(cluster, host, ["-e", "ALL STATUS"]).text
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ndbplan.plan.hardware import Host
from ndbplan.train.answer import Answer
from ndbplan.train.host.options import read_words, refused
from ndbplan.train.live import LiveCluster
from ndbplan.train.mgm import console as mgm
from ndbplan.train.mgm.words import FAILED

_VALUES = ("-e", "--execute", "-c", "--ndb-connectstring", "--connect-string")
_OF_ITS_OWN = (
    "bash: ndb_mgm: a console of its own here, as in 'ndb_mgm> SHOW'; with -e it carries out one line\n"
)


def management_client(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """`ndb_mgm -e 'ALL STATUS'`; of several lines the last counts [8.4.8]."""
    spread = [part for word in words for part in (("-e", word[2:]) if _is_joined(word) else (word,))]
    read = read_words(spread, _VALUES, ())
    if isinstance(read, str):
        return refused("ndb_mgm", read, _VALUES)
    # Both spellings are one option; whichever is given.
    line = read[1].get("--execute", read[1].get("-e"))
    if line is None:
        return Answer(_OF_ITS_OWN, 127)
    before = mgm.greeting(cluster)
    if cluster.state.server is None:
        return Answer(before, FAILED)
    reply = mgm.answer(line, cluster, listens=False)
    return replace(reply, text=before + reply.text, ends=False)


def _is_joined(word: str) -> bool:
    """`-eSHOW`: the value stands right behind the letter."""
    return word.startswith("-e") and len(word) > 2
