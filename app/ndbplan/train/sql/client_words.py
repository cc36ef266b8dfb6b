"""Commands of the mysql client itself, which no server sees: status, tee, pager, source and their like."""

from __future__ import annotations

from collections.abc import Mapping

from ndbplan.ndb.console import form
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.problem import NotSimulated

SHORT = {
    "?": "help", "\\?": "help", "\\h": "help", "\\s": "status", "\\.": "source", "\\d": "delimiter",
    "\\T": "tee", "\\t": "notee", "\\P": "pager", "\\n": "nopager", "\\W": "warnings", "\\w":
    "nowarning", "\\!": "system", "\\R": "prompt", "\\#": "rehash", "\\e": "edit", "\\p": "print",
    "\\x": "resetconnection", "\\r": "connect", "\\c": "clear", "\\C": "charset", "\\u": "use", "\\q":
    "quit",
}  # fmt: skip
"""Short forms of commands, and what they stand for."""
KNOWN = (
    "help", "status", "source", "delimiter", "tee", "notee", "pager", "nopager", "warnings", "nowarning",
    "system", "prompt", "rehash", "edit", "ego", "go", "print", "resetconnection", "connect", "clear",
    "charset",
)  # fmt: skip
_PROMPT = "mysql> "
_NO_SUCH_FILE = 2


def client_word(
    sql: str, database: str, connection: int, values: Mapping[str, str], cluster: LiveCluster
) -> str:
    """What the client says of one of its own commands [8.4.8]. Raises NotSimulated."""
    words = sql.split()
    word, given = words[0].lower(), words[1:]
    if word == "status" and not given:
        return _status(database, connection, values, cluster)
    if word == "source" and given:
        return f"ERROR: \nFailed to open file '{given[0]}', error: {_NO_SUCH_FILE}"
    if word == "tee" and given:
        return f"Logging to file '{given[0]}'"
    if word == "help":
        return _help(" ".join(given).lower(), cluster)
    if word == "prompt":
        typed = sql.partition(" ")[2].strip()
        return f"PROMPT set to '{typed}'" if typed else f"Returning to default PROMPT of {_PROMPT}"
    if word == "pager":
        return f"PAGER set to '{' '.join(given)}'" if given else "Default pager wasn't set, using stdout."
    if word == "system":
        raise NotSimulated("the shell of a host is HOST$ here, as in 'app1$ df -h'")
    if word in ("connect", "resetconnection") and not given:
        return f"Connection id:    {connection}\nCurrent database: {database or '*** NONE ***'}\n" * (
            word == "connect"
        )
    if word in ("ego", "go") and not given:
        return "ERROR: \nNo query specified\n"
    said = {"clear": "", "warnings": "Show warnings enabled.", "notee": "Outfile disabled.",
            "nopager": "PAGER set to stdout", "nowarning": "Show warnings disabled.",
            "rehash": ""}  # fmt: skip
    if word in said:
        return said[word]
    raise NotSimulated(f"{word} of the client is not simulated; it takes statements")


def _help(topic: str, cluster: LiveCluster) -> str:
    """The commands of the client, in our own words; of the server's help only its categories are known."""
    if topic == "contents" and (listed := form(cluster.plan.version, "help_contents")):
        rows = "".join(f"\n   {one}" for one in listed)
        return (
            'You asked for help about help category: "Contents"\n'
            "For more information, type 'help <item>', where <item> is one of the following\n"
            f"categories:{rows}\n"
        )
    if topic:
        raise NotSimulated("what the server's help says of a topic is not known here; the guide is")
    short = {name: sign for sign, name in SHORT.items() if sign != "?"}
    rows = "".join(f"\n{name:<10}({short[name]}) {told}" for name, told in _TOLD.items())
    return f"Commands of the client; each stands first on its line and may end with ';'\n{rows}\n"


_TOLD = {
    "clear": "Forget what is typed.", "connect": "Connect once more.", "delimiter": "What ends a statement.",
    "edit": "Type in an editor.", "help": "This list.", "nopager": "Print to the screen.",
    "notee": "Write no more into the file.", "pager": "Print through a program.", "print": "What is typed.",
    "prompt": "Another prompt.", "quit": "Leave.", "rehash": "Read names for completion anew.",
    "source": "Statements of a file.", "status": "Which server this is.", "system": "A command of the shell.",
    "tee": "Write into a file, too.", "use": "Another database.", "charset": "Another character set.",
    "warnings": "Show warnings behind each statement.", "nowarning": "Do not.",
    "resetconnection": "Forget what the session holds.",
}  # fmt: skip


def _status(database: str, connection: int, values: Mapping[str, str], cluster: LiveCluster) -> str:
    """Which server the client talks to; what the server counts of statements is left out."""
    version, comment = values["version"], values["version_comment"]
    is_new = bool(form(cluster.plan.version, "dictionary_of_its_own"))
    client = (
        f"mysql  Ver {version} for Linux on x86_64 ({comment})"
        if is_new
        else f"mysql  Ver 14.14 Distrib {version.partition('-cluster')[0]}, for Linux (x86_64)"
    )
    charset = str(form(cluster.plan.version, "table_collation")).partition("_")[0]
    typed = "utf8mb4" if is_new else "utf8"
    rows = [
        ("Connection id:\t", str(connection)), ("Current database:", database),
        ("Current user:\t", "root@localhost"),
        ("SSL:\t\t", "Not in use"), ("Current pager:\t", "stdout"), ("Using outfile:\t", "''"),
        ("Using delimiter:", ";"), ("Server version:\t", f"{version} {comment}"),
        ("Protocol version:", "10"), ("Connection:\t", "Localhost via UNIX socket"),
        ("Server characterset:", charset), ("Db     characterset:", charset),
        ("Client characterset:", typed), ("Conn.  characterset:", typed),
        ("UNIX socket:\t", "/var/lib/mysql/mysql.sock"),
        *([("Binary data as:\t", "Hexadecimal")] if is_new else []),
        ("Uptime:\t\t", _lasted(int(cluster.now_s))),
    ]  # fmt: skip
    rule = "-" * 14
    return "\n".join([rule, client, "", *(f"{name}\t{value}" for name, value in rows), rule])


def _lasted(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, f"{hours} hour{'s' * (hours > 1)}"), (hours or minutes, f"{minutes} min")]
    return " ".join([*(text for is_shown, text in parts if is_shown), f"{rest} sec"])
