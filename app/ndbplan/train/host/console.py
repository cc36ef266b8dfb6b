"""What the shell of a host answers: programs that show the machine, and the tools of NDB; nothing else.

Shell(host_id).answer("df -h", cluster).text
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ndbplan.plan.hardware import Host
from ndbplan.train.answer import Answer
from ndbplan.train.host import (
    client,
    desc,
    files,
    folders,
    machine,
    pipes,
    processes,
    restore,
    show_tables,
    tools,
    watchers,
)
from ndbplan.train.live import LiveCluster

Program = Callable[[LiveCluster, Host, Sequence[str]], Answer]

PROGRAMS: dict[str, Program] = {
    "iostat": machine.iostat,
    "df": files.df,
    "free": machine.free,
    "top": machine.top,
    "ls": folders.ls,
    "tail": files.tail,
    "ndb_desc": desc.desc,
    "ndb_config": tools.config,
    "ndb_select_count": watchers.select_count,
    "ndb_show_tables": show_tables.show_tables,
    "ndb_waiter": watchers.waiter,
    "ndb_restore": restore.restore,
    "ndb_perror": tools.ndb_perror,
    "perror": tools.perror,
    "ndbd": processes.data_node,
    "ndbmtd": processes.data_node,
    "ndb_mgmd": processes.management_node,
    "ndb_mgm": client.management_client,
}
NOT_FOUND = 127


def find(cluster: LiveCluster, name: str) -> Host | None:
    """The host with a name or id."""
    return next((host for host in cluster.plan.hosts if name in (host.hostname, host.id)), None)


def is_down(cluster: LiveCluster, host: Host) -> bool:
    """Whether its power is gone."""
    spells = cluster.session.simulation.outage.spells.get(host.id, [])
    return bool(spells) and spells[-1].to_s is None


class Shell:
    """The shell of one host."""

    def __init__(self, host_id: str) -> None:
        self.host_id = host_id
        self.follows = ""
        """The log whose new lines it prints (tail -f); empty: none."""
        self._shown = 0
        self.status = 0
        """Exit status of the last program."""

    def news(self, cluster: LiveCluster) -> str:
        """Lines of the log that is followed which were not printed yet."""
        host = cluster.plan.host(self.host_id)
        lines = files.log_of(cluster, host, self.follows) if self.follows else None
        if lines is None or is_down(cluster, host):
            return ""
        new, self._shown = lines[min(self._shown, len(lines)) :], len(lines)
        return "".join(f"{line}\n" for line in new)

    def answer(self, line: str, cluster: LiveCluster) -> Answer:
        """What a command prints, and what it does to the cluster."""
        host = cluster.plan.host(self.host_id)
        try:
            words, *filters = pipes.parts_of(line)
        except ValueError:
            return self._ended(Answer("bash: syntax error: unexpected end of file\n", 2))
        except pipes.Unread as wrong:
            return self._ended(Answer(f"bash: {wrong}\n", 2))
        if not words or words == ["^C"] or (self.follows and words == ["q"]):
            self.follows = "" if words else self.follows
            return Answer()
        if is_down(cluster, host):
            return Answer(f"ssh: connect to host {host.hostname} port 22: No route to host\n", 255)
        self.follows = ""
        if words == ["echo", "$?"]:
            return self._ended(Answer(f"{self.status}\n"))
        if words[0] == "tail" and filters and files.followed(words):
            return self._ended(Answer("bash: tail -f behind which | stands is not simulated here\n", 2))
        if words[0] == "tail" and (name := files.followed(words)):
            lines = files.log_of(cluster, host, name)
            self.follows, self._shown = ("", 0) if lines is None else (name, len(lines))
        program = PROGRAMS.get(words[0])
        if program is None:
            if words[0] == "mysql":
                text = "bash: mysql: a console of its own here, as in 'mysql> SELECT 1'\n"
                return self._ended(Answer(text, NOT_FOUND))
            known = ", ".join(PROGRAMS)
            text = f"bash: {words[0][:60]}: not on this machine — there are {known}\n"
            return self._ended(Answer(text, NOT_FOUND))
        if words[0].startswith("ndb") and words[0] != "ndb_perror" and {"-V", "--version"} & {*words[1:]}:
            program = tools.version_of
        answer = program(cluster, host, words[1:])
        if not filters:
            return self._ended(answer)
        if answer.orders or answer.waits is not None:
            return self._ended(
                Answer(f"bash: {words[0]} starts a program: | behind it is not simulated\n", 2)
            )
        try:
            text, status = pipes.through(filters, answer.text)
        except pipes.Unread as wrong:
            return self._ended(Answer(f"{wrong}\n", 2))
        return self._ended(Answer(text, status))

    def _ended(self, answer: Answer) -> Answer:
        """The answer; its exit status is what `echo $?` says next."""
        self.status = answer.exit
        return answer
