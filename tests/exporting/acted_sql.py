"""What SQL nodes of an acted cluster answer: tables that all of them see, accounts that each has."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from unicodedata import normalize

from exporting.acted_hosts import STORED_USERS, ActedHosts, group_of
from exporting.acted_state import RefusedError, SqlProcess
from ndbplan.ndb.version import NdbVersion

_CREATE_USER = NdbVersion(7, 5, 0)
_PROXIES = NdbVersion(7, 2, 0)
_NATIVE_OFF = NdbVersion(8, 4, 0)
_SEES_TABLESPACES = NdbVersion(7, 5, 19)
_NAMELESS = "mysql/user without a name"


_QUOTED = r"`(?:[^`]|``)+`"
_TABLE = rf"{_QUOTED}\.{_QUOTED}"
_PART = rf"(?:INDEX )?{_QUOTED}|PRIMARY KEY(?: USING HASH)?"
_WITHOUT_WIDTHS = NdbVersion(8, 0, 19)
"""Of whole numbers, from here on."""
_NAMES_WITH_ACCENTS = NdbVersion(8, 0, 0)
"""Names that differ in accents alone are others, to INFORMATION_SCHEMA, from here on."""
_CATALOGUE = {
    "TABLES": "TABLE_SCHEMA, TABLE_NAME, CREATE_OPTIONS, TABLE_COMMENT",
    "PARTITIONS": "TABLE_SCHEMA, TABLE_NAME, PARTITION_EXPRESSION, PARTITION_NAME, TABLE_ROWS",
    "FILES": "FILE_NAME, FILE_TYPE, TABLESPACE_NAME, LOGFILE_GROUP_NAME, INITIAL_SIZE, EXTENT_SIZE",
    "COLUMNS": "TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION, COLUMN_NAME COLLATE names, DATA_TYPE, "
    "COLUMN_TYPE, IS_NULLABLE, COLLATION_NAME, EXTRA",
    "STATISTICS": "TABLE_SCHEMA, TABLE_NAME, INDEX_NAME COLLATE names, SEQ_IN_INDEX, COLUMN_NAME, NON_UNIQUE",
}


NOT_LOGGED = " (SET ndb_table_no_logging=1)"
"""Behind the options that a table was made with."""


_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}
_ESCAPED = re.compile(r"\\(.)")
_PRINTED = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\0": r"\0"})
"""By the client, with --batch."""


def _unquoted(part: str) -> str:
    """The name of a column or an index as it stands in the plan."""
    return "PRIMARY" if part.startswith("PRIMARY") else part.removeprefix("INDEX ")[1:-1].replace("``", "`")


def _is_unique(part: str, text: str) -> bool:
    return part.startswith("PRIMARY") or text.startswith("UNIQUE")


def _described(name: str, text: str, *, widths: bool) -> tuple[str, ...]:
    """A column as INFORMATION_SCHEMA has it, of how it was typed."""
    # The members of an ENUM are written as they were typed.
    members = re.match(r"(ENUM|SET)(\((?:'(?:[^']|'')*',?)+\))", text)
    if members is not None:
        kind = members[1].lower() + re.sub(r" +'(?=[,)])", "'", members[2].replace(r"\t", "\t"))
    else:
        kind = text.lower().split()[0]
    width = "(11)" if widths and kind.endswith("int") else ""
    kind += {"decimal": "(10,0)", "bit": "(1)", "char": "(1)", "binary": "(1)"}.get(kind, width)
    sign = " unsigned" if " UNSIGNED" in text else ""
    collation = re.search(r" COLLATE (\S+)", text)
    return (
        _unquoted(name), re.split(r"\W", kind)[0], kind + sign, "NO" if "NOT NULL" in text else "YES",
        collation[1] if collation else "of the server", "auto_increment" if "AUTO_INCREMENT" in text else "",
    )  # fmt: skip


def _table_in(statement: str) -> str:
    """The table that a statement names first."""
    found = re.search(_TABLE, statement)
    if found is None:
        raise _syntax(statement)
    return found[0]


def _of_another_locale(text: str) -> str:
    """What a server understands where a client takes the bytes of a text for latin1."""
    return text.encode().decode("latin1")


def _refused(code: int, text: str) -> RefusedError:
    return RefusedError(f"ERROR {code} (HY000) at line 1: {text}\n")


def _syntax(statement: str) -> RefusedError:
    return _refused(1064, f"You have an error in your SQL syntax near '{statement[:40]}'")


def _letter(escape: re.Match[str]) -> str:
    """What stands for a letter in a text of MySQL."""
    return _ESCAPES.get(escape[1], escape[1])


def _text(quoted: str) -> str:
    return quoted.removeprefix("'").removesuffix("'").replace("''", "'").replace("\\\\", "\\")


class ActedSql(ActedHosts):
    """mysqld and its client, on every host."""

    def _mysqld(self, host: str, words: list[str]) -> str:
        assert "--loose-skip-ndbcluster" in words, "it waits for a cluster that does not know it"
        suffix = next((w.partition("=")[2] for w in words if w.startswith("--defaults-group-suffix=")), "")
        told = group_of(self.files.get((host, "/etc/my.cnf"), ""), f"mysqld{suffix}")
        folder = told.get("datadir", "?")
        if not self._exists(host, folder):
            raise RefusedError("mysqld: no data directory or no options\n")
        self._opens_files(host, suffix)
        if "default-storage-engine" in told and "--default-storage-engine=InnoDB" not in words:
            raise RefusedError("mysqld: Unknown/unsupported storage engine: ndb\n")
        if any(path.rstrip("/") != folder for path in self._inside(host, folder)):
            raise RefusedError("--initialize specified but the data directory has files in it. Aborting.\n")
        return self._fill(host, folder)

    def _mysql_install_db(self, host: str, words: list[str]) -> str:
        """It makes accounts without a name, too."""
        folder = next(w.partition("=")[2] for w in words if w.startswith("--datadir="))
        found = self._fill(host, folder)
        self.files[host, f"{folder}/{_NAMELESS}"] = ""
        return found

    def _fill(self, host: str, folder: str) -> str:
        """Makes the folder of system tables first; a script may be broken off before they are in it."""
        self.files[host, f"{folder}/mysql/"] = ""
        if self.watch is not None:
            self.watch()
        self.files[host, f"{folder}/mysql/user"] = self.releases[host]
        return ""

    def _mysql_upgrade(self, host: str, words: list[str]) -> str:
        self._of(host, words)
        folder = str(Path(words[0].partition("=")[2]).parent)
        if self.files.get((host, f"{folder}/mysql_upgrade_info")) == self.releases[host]:
            raise RefusedError(f"This installation of MySQL is already upgraded to {self.releases[host]}\n")
        for name in ("mysql/user", "mysql_upgrade_info"):
            self.files[host, f"{folder}/{name}"] = self.releases[host]
        return "OK\n"

    def _mysqldump(self, host: str, words: list[str]) -> str:
        login = self.files[host, words[0].partition("=")[2]]
        node = self._of(host, [f"--{line}" for line in login.splitlines()])
        self._log_in(node, login)
        if "proxies_priv" in words and self.plan.version < _PROXIES:
            raise RefusedError('mysqldump: Couldn\'t find table: "proxies_priv"\n', 6)
        may = " ".join(self.granted[node.node_id, "'ndb_backup'@'localhost'"])
        if self.plan.version >= _SEES_TABLESPACES and "PROCESS" not in may:
            raise RefusedError("mysqldump: Error: 'Access denied; you need the PROCESS privilege'\n", 2)
        file = words[1].partition("=")[2]
        if "\ngtid-mode=" in node.options and "--set-gtid-purged=OFF" not in words:
            self.faults.append(
                f"{self.now:.1f} s: what is dumped sets ids of transactions where it is read back"
            )
        if not self._exists(host, str(Path(file).parent)):
            raise RefusedError(f"mysqldump: Can't create/write to file '{file}'\n", 1)
        self.files[host, file] = " ".join(words[2:])
        return ""

    def _mysql(self, host: str, words: list[str]) -> str:
        node = self._of(host, words)
        if "root@localhost" in self.native and NdbVersion.parse(node.release) >= _NATIVE_OFF:
            raise _refused(1524, "Plugin 'mysql_native_password' is not loaded")
        if any(" FROM mysql.user WHERE plugin = 'mysql_native_password'" in word for word in words):
            return "".join(f"{one}\n" for one in sorted(self.native))
        if words[0].startswith("--defaults-file="):
            self._log_in(node, words[-1].removeprefix("sql:"))
            return "1\n"
        if words[-1].startswith("sql:SHOW GRANTS FOR "):
            return self._grants(node, words[-1][20:].strip().rstrip(";"))
        notes = "\nNote (Code 1007): Can't create database; database exists\n"
        if (database := words[-1].partition(" IF NOT EXISTS `")[2]) and "CREATE DATABASE" in words[-1]:
            found = notes if database in self.objects else "1\n"
            self.objects.add(database)
            return found
        text = words[-1].removeprefix("sql:").strip()
        if not any(word.startswith("--default-character-set=utf8") for word in words):
            # The locale of the host is none.
            first, named, rest = text.partition("SET NAMES utf8")
            text = _of_another_locale(first) + named + (rest if named else "")
        if "information_schema." in text:
            return self._of_catalogue(text)
        for statement in re.split(r";\n|;$", text):
            if statement:
                self._statement(node, statement.strip())
        if text.startswith("SET ndb_table_no_logging=1;") and "STORAGE DISK" not in text:
            self.made_with[_table_in(text)] += NOT_LOGGED
        return "1\n"

    def _ndb_show_tables(self, _host: str, words: list[str]) -> str:
        assert "--parsable" in words
        lines = []
        for number, name in enumerate(self.tables):
            database, table = (_unquoted(one) for one in re.findall(_QUOTED, name))
            logged = "No" if self.made_with.get(name, "").endswith(NOT_LOGGED) else "Yes"
            told = ("UserTable", "Online", logged, database, "def", table)
            lines.append("\t".join((str(number), *(f"'{word}'" for word in told))))
        return "\n".join(lines) + "\n"

    def _statement(self, node: SqlProcess, statement: str) -> None:
        ways: dict[str, Callable[[SqlProcess, str], None]] = {
            r"CREATE TABLE ": self._create_table,
            r"ALTER (ONLINE )?TABLE ": self._alter_table,
            r"DROP TABLE ": self._drop_table,
            r"(CREATE|ALTER) (LOGFILE GROUP|TABLESPACE) ": self._make_files,
            r"(CREATE|ALTER) USER ": self._user,
            r"GRANT ": self._grant,
            r"DELETE FROM mysql.user WHERE user = ''$": self._delete_nameless,
            r"FLUSH PRIVILEGES$": lambda *_: None,
            r"OPTIMIZE TABLE ": self._optimise,
            r"SET GLOBAL offline_mode = (ON|OFF)$": self._close,
            r"SELECT |SET ndb_|SET NAMES utf8|--execute=": lambda *_: None,
        }
        for pattern, way in ways.items():
            if re.match(pattern, statement):
                return way(node, statement)
        raise _syntax(statement)

    def _of(self, host: str, words: list[str]) -> SqlProcess:
        """The SQL node that answers at the socket that a program is told."""
        told = next((w.partition("=")[2] for w in words if w.startswith("--socket=")), "")
        for node in self.mysqlds():
            if node.host == host and node.socket == told and node.serves(self.now):
                return node
        raise RefusedError(
            f"ERROR 2002 (HY000): Can't connect to local MySQL server through socket '{told}'\n"
        )

    def _close(self, node: SqlProcess, statement: str) -> None:
        if self.plan.version < _CREATE_USER:
            raise _refused(1193, "Unknown system variable 'offline_mode'")
        node.is_offline = statement.endswith("ON")
        self._look()

    def _block_clients(self, node: SqlProcess, statement: str) -> None:
        """Those of the SQL node that runs a statement wait; where others serve, it should have none."""
        others = [one for one in self._open_sql_nodes() if one is not node]
        if self.in_service and others and not node.is_offline:
            self.faults.append(f"{self.now:.1f} s: clients of {node.unit} wait for {statement}")

    # Tables: every SQL node sees them.

    def _optimise(self, node: SqlProcess, statement: str) -> None:
        self._block_clients(node, statement)
        self.work("optimise", _table_in(statement), 0)

    def _create_table(self, _node: SqlProcess, statement: str) -> None:
        name = _table_in(statement)
        if name in self.tables:
            raise _refused(1050, f"Table {name} already exists")
        parts = re.findall(rf"^  ((?:UNIQUE )?)({_PART}) (.*?),?$", statement, re.MULTILINE)
        self.tables[name] = {part: f"{unique}{text}" for unique, part, text in parts}
        self.made_with[name] = statement.rpartition("\n)")[2]

    def _of_catalogue(self, text: str) -> str:
        """Queries of INFORMATION_SCHEMA, as the client prints their rows with --batch."""
        with closing(sqlite3.connect(":memory:")) as base:
            base.create_function("IF", 3, lambda holds, yes, no: yes if holds else no)
            base.create_collation("names", self._compare)
            base.create_function("FLOOR", 1, lambda number: int(number))
            base.create_function("CONCAT", -1, lambda *words: "".join(map(str, words)))
            base.create_function("REGEXP", 2, lambda pattern, of: re.search(pattern, of) is not None)
            base.execute("ATTACH ':memory:' AS information_schema")
            base.execute("ATTACH ':memory:' AS ndbinfo")
            base.execute("CREATE TABLE ndbinfo.table_distribution_status (node_id, table_id, tab_storage)")
            base.execute("CREATE TABLE ndbinfo.dict_obj_info (type, id, fq_name)")
            for name, columns in _CATALOGUE.items():
                base.execute(f"CREATE TABLE information_schema.{name} ({columns})")
            for table, parts in self.tables.items():
                names = [_unquoted(one) for one in re.findall(_QUOTED, table)]
                most = re.search(r" MAX_ROWS=(\d+)", (with_ := self.made_with.get(table, "")))
                comment = re.search(r" COMMENT='([^']*)'", with_)
                fixed = "row_format=FIXED" if " ROW_FORMAT=FIXED" in with_ else ""
                options = " ".join(filter(None, (f"max_rows={most[1]}" if most else "", fixed)))
                told = (options, comment[1] if comment else "")
                base.execute("INSERT INTO TABLES VALUES (?, ?, ?, ?)", (*names, *told))
                by = re.search(r" PARTITION BY KEY \(([^)]*)\)(?: PARTITIONS (\d+))?", with_)
                for _ in range(int((by and by[2]) or 2)):
                    key = by[1].replace(", ", ",") if by else None
                    base.execute("INSERT INTO PARTITIONS VALUES (?, ?, ?, 'p0', 1)", (*names, key))
                number = base.execute("SELECT COUNT(*) FROM ndbinfo.dict_obj_info").fetchone()[0]
                storage = "NOLOGGING" if with_.endswith(NOT_LOGGED) else "NORMAL"
                # Its ordered indexes are never logged, and triggers have numbers of their own.
                rows = (2, number, "/def/".join(names)), (5, number, "?")
                base.executemany("INSERT INTO ndbinfo.dict_obj_info VALUES (?, ?, ?)", rows)
                for node in self.data_nodes:
                    row = (node, number, storage)
                    base.execute("INSERT INTO ndbinfo.table_distribution_status VALUES (?, ?, ?)", row)
                for place, name in enumerate((one for one in parts if one[0] == "`"), 1):
                    row = _described(name, parts[name], widths=self.plan.version < _WITHOUT_WIDTHS)
                    base.execute(
                        "INSERT INTO COLUMNS VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*names, place, *row)
                    )
                for name in (one for one in parts if one[0] != "`"):
                    for place, of in enumerate(re.findall(_QUOTED, parts[name]), 1):
                        row = (_unquoted(name), place, _unquoted(of), int(not _is_unique(name, parts[name])))
                        base.execute("INSERT INTO STATISTICS VALUES (?, ?, ?, ?, ?, ?)", (*names, *row))
            files = map(self._of_file, self._files_made())
            base.executemany("INSERT INTO FILES VALUES (?, ?, ?, ?, ?, ?)", files)
            lines = (line for line in text.splitlines() if not line.startswith(("-- ", "SET NAMES utf8")))
            try:
                found = [row for one in lines for row in base.execute(_ESCAPED.sub(_letter, one))]
            except sqlite3.Error as error:
                raise _refused(1064, f"You have an error in your SQL syntax; {error}") from None
        return "".join("\t".join(str(word).translate(_PRINTED) for word in row) + "\n" for row in found)

    def _files_made(self) -> Iterator[re.Match[str]]:
        pattern = rf"(TABLESPACE|LOGFILE GROUP) ({_QUOTED}) ADD \w+FILE '(.*?)' .*INITIAL_SIZE (\d+)"
        yield from filter(None, (re.search(pattern, one) for one in sorted(self.objects)))

    def _of_file(self, made: re.Match[str]) -> tuple[str | int | None, ...]:
        is_data = made[1] == "TABLESPACE"
        # 8.0 and later write the folder that data nodes count from.
        name = made[3].replace("''", "'")
        if not name.startswith("/") and self.plan.version >= _WITHOUT_WIDTHS:
            name = f"./{name}"
        owner = _unquoted(made[2])
        extents = (
            re.search(rf"TABLESPACE {re.escape(made[2])} .* EXTENT_SIZE (\d+)", one) for one in self.objects
        )
        extent = next((int(found[1]) for found in extents if found), 4)
        kind = "DATAFILE" if is_data else "UNDO LOG"
        return name, kind, owner if is_data else None, "lg_1" if is_data else owner, int(made[4]), extent

    def _compare(self, one: str, other: str) -> int:
        """Which of two names of columns or indexes comes first, or none."""
        if self.plan.version < _NAMES_WITH_ACCENTS:
            one, other = (normalize("NFKD", name).encode("ascii", "ignore").decode() for name in (one, other))
        return (one.casefold() > other.casefold()) - (one.casefold() < other.casefold())

    def _alter_table(self, node: SqlProcess, statement: str) -> None:
        self._block_clients(node, statement)
        found = re.match(
            rf"ALTER (ONLINE )?TABLE ({_TABLE}) (?:ALGORITHM=INPLACE, )?"
            r"(ADD COLUMN|ADD|DROP|REORGANIZE PARTITION|MAX_ROWS|COMMENT) ?(UNIQUE )?"
            rf"({_PART})?(.*?);?$",
            statement,
        )
        if found is None or (found[1] and self.plan.version >= _CREATE_USER):
            raise _syntax(statement)
        table = self.tables.get(found[2])
        if table is None:
            raise _refused(1146, f"Table {found[2]} doesn't exist")
        if found[3] in ("REORGANIZE PARTITION", "MAX_ROWS"):
            self.work("reorganise", found[2], 10)
        else:
            self.pass_time(0.2)
        if found[3] == "DROP":
            if found[5] not in table:
                raise _refused(1091, f"Can't DROP {found[5]}; check that column/key exists")
            del table[found[5]]
        elif found[3] in ("MAX_ROWS", "COMMENT"):
            self.made_with[found[2]] = f" {found[3]}{found[6]}{self.made_with.get(found[2], '')}"
        elif found[3].startswith("ADD"):
            if found[5] in table:
                what = "key" if "INDEX" in found[5] else "column"
                raise _refused(1061 if what == "key" else 1060, f"Duplicate {what} name {found[5]}")
            table[found[5]] = f"{found[4] or ''}{found[6].strip()}"
        self.altered.append(statement)

    def _drop_table(self, node: SqlProcess, statement: str) -> None:
        self._block_clients(node, statement)
        gone = _table_in(statement)
        if any(parent == gone != child for child, parent in self.foreign_keys.values()):
            if self.plan.version >= NdbVersion(8, 0, 0):
                raise _refused(3730, f"Cannot drop table {gone} referenced by a foreign key constraint")
            raise _refused(1217, "Cannot delete or update a parent row: a foreign key constraint fails")
        self.tables.pop(gone, None)
        self.foreign_keys = {n: two for n, two in self.foreign_keys.items() if two[0] != gone}

    def _make_files(self, _node: SqlProcess, statement: str) -> None:
        # Of that name, whatever its size.
        file = re.search(r" ADD \w+FILE '.*?' ", statement)
        if file is not None and any(file[0] in one for one in self.objects):
            raise RefusedError("Error 1296 Got error 721 'Schema object with given name already exists'\n")
        if file is not None and (folder := file[0].split("'")[1].rpartition("/")[0]):
            # A folder in which the user mysql may make it.
            hosts = {node.host for node in map(self.running, self.data_nodes) if node.active}
            for host in sorted(hosts if folder.startswith("/") else ()):
                if not self._exists(host, folder):
                    raise _refused(1528, f"Failed to create {file[0].split()[1]}: {folder} is not on {host}")
        self.work("files", statement, 0)
        self.objects.add(statement)

    # Accounts: of one SQL node, or of all that come by NDB_STORED_USER.

    def _log_in(self, node: SqlProcess, options: str) -> None:
        if node.is_offline:
            raise _refused(3032, "The server is currently in offline mode")
        nameless = self._exists(node.host, f"{Path(node.socket).parent}/{_NAMELESS}")
        told = dict(re.findall(r'^(\w+)="?(.*?)"?$', options, re.MULTILINE))
        mine = self.accounts.get(node.node_id, {})
        known = mine.get(f"'{told['user']}'@'localhost'")
        if known is None and not nameless:
            # Before an account of any host comes one without a name that is of this host.
            known = mine.get(f"'{told['user']}'@'%'")
        if known != told["password"].replace("\\\\", "\\"):
            raise _refused(1045, f"Access denied for user '{told['user']}'@'localhost'")

    def _grants(self, node: SqlProcess, name: str) -> str:
        if name not in self.accounts.get(node.node_id, {}):
            raise _refused(1141, f"There is no such grant defined for user {name}")
        return "".join(f"{one}\n" for one in sorted(self.granted.get((node.node_id, name), set())))

    def _delete_nameless(self, node: SqlProcess, _statement: str) -> None:
        self.files.pop((node.host, f"{Path(node.socket).parent}/{_NAMELESS}"), None)

    def _user(self, node: SqlProcess, statement: str) -> None:
        if self.plan.version < _CREATE_USER:
            raise _syntax(statement)
        mine = self.accounts.setdefault(node.node_id, {})
        made = re.match(r"CREATE USER IF NOT EXISTS (\S+) IDENTIFIED BY (.*)", statement)
        name = made[1] if made else statement.split()[2]
        if made:
            mine.setdefault(name, _text(made[2]))
        elif name not in mine:
            raise _refused(1396, f"Operation ALTER USER failed for {name}")
        else:
            mine[name] = _text(statement.partition(" IDENTIFIED BY ")[2])

    def _grant(self, node: SqlProcess, statement: str) -> None:
        mine = self.accounts.setdefault(node.node_id, {})
        name, _, password = statement.partition(" TO ")[2].partition(" IDENTIFIED BY ")
        if password:
            if self.plan.version >= NdbVersion(8, 0, 0):
                raise _syntax(statement)
            mine[name] = _text(password)
        if name not in mine:
            raise _refused(1410, "You are not allowed to create a user with GRANT")
        self.granted.setdefault((node.node_id, name), set()).add(statement.partition(" IDENTIFIED BY ")[0])
        if "NDB_STORED_USER" in statement:
            if self.plan.version < STORED_USERS:
                raise _syntax(statement)
            for other in self.sql_nodes.values():
                self.granted[other.node_id, name] = self.granted[node.node_id, name]
                self.accounts.setdefault(other.node_id, {})[name] = mine[name]
