"""Commands of the mysql client itself, which no server sees: status, tee, pager, source and their like."""

from __future__ import annotations

from collections.abc import Mapping

from ndbplan.ndb.console import form
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.problem import NotSimulated

KNOWN = (
    "help", "?", "status", "\\s", "source", "\\.", "delimiter", "tee", "notee", "pager", "nopager",
    "warnings", "nowarning", "system", "prompt", "rehash", "edit", "ego", "print", "resetconnection",
)  # fmt: skip
_NO_SUCH_FILE = 2


def client_word(sql: str, database: str, values: Mapping[str, str], cluster: LiveCluster) -> str:
    """What the client says of one of its own commands [8.4.8]. Raises NotSimulated."""
    words = sql.split()
    word, given = words[0].lower(), words[1:]
    if word in ("status", "\\s") and not given:
        return _status(database, values, cluster)
    if word in ("source", "\\.") and given:
        return f"ERROR: \nFailed to open file '{given[0]}', error: {_NO_SUCH_FILE}"
    if word == "tee" and given:
        return f"Logging to file '{given[0]}'"
    said = {"notee": "Outfile disabled.", "nopager": "PAGER set to stdout",
            "nowarning": "Show warnings disabled.", "rehash": ""}  # fmt: skip
    if word in said:
        return said[word]
    if word == "delimiter" and not given:
        # `delimiter ;`: the sign ends the line itself.
        return ""
    raise NotSimulated(f"{word} of the client is not simulated; it takes statements")


def _status(database: str, values: Mapping[str, str], cluster: LiveCluster) -> str:
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
        ("Connection id:\t", "8"), ("Current database:", database), ("Current user:\t", "root@localhost"),
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
