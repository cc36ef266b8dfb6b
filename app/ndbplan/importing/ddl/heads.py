"""How the statements begin that tell something of tables, so that each is read by its own reader."""

from __future__ import annotations

import re

from ndbplan.importing.ddl.tokens import COMMENTS

HEAD_LETTERS = 4096
"""How far into a text the head of a dump is looked for."""
_NAME = r"(?:`(?:[^`]|``)+`|[\w$]+)"
CREATE_TABLE = re.compile(rf"{COMMENTS}CREATE\s+(?:OR\s+REPLACE\s+)?(TEMPORARY\s+)?TABLE\b", re.I)
DATABASE = re.compile(
    rf"{COMMENTS}(?:USE|CREATE\s+(?:DATABASE|SCHEMA)(?:\s+IF\s+NOT\s+EXISTS)?)\s+({_NAME})", re.I
)
ALTER_DATABASE = re.compile(
    rf"{COMMENTS}ALTER\s+(?:DATABASE|SCHEMA)\s+(?:(?!(?:DEFAULT|CHARACTER|CHARSET|COLLATE)\b)({_NAME}))?",
    re.I,
)
DUMPED = re.compile(r"^-- Host: [^\n]*?\bDatabase:[ \t]*(\S[^\n]*?)[ \t]*$", re.M)
"""The head of a dump of one database, which names it nowhere else; of several it names none."""
DROP = re.compile(rf"{COMMENTS}DROP\s+(?:TABLES?|VIEW)\b", re.I)
EMPTY = re.compile(rf"{COMMENTS}TRUNCATE\b", re.I)
_FULL_NAME = rf"{_NAME}(?:\s*+\.\s*+{_NAME})?+"
RENAME = re.compile(
    rf"{COMMENTS}(?:(?P<verb>RENAME)\s+TABLES?\b|ALTER\s+TABLE\s+{_FULL_NAME}\s*+RENAME\s*+"
    rf"(?:TO\b|AS\b|=)?+\s*+{_FULL_NAME}\s*\Z)",
    re.I,
)
"""ALTER TABLE where it does nothing else."""
DROP_DATABASE = re.compile(rf"{COMMENTS}DROP\s+(?:DATABASE|SCHEMA)\s+(?:IF\s+EXISTS\s+)?({_NAME})", re.I)
DISK_DATA = re.compile(
    rf"{COMMENTS}(?:CREATE|ALTER|DROP)\s+(?:UNDO\s+)?(?:LOGFILE\s+GROUP|TABLESPACE)\b", re.I
)
NO_LOGGING = re.compile(
    rf"\A{COMMENTS}SET\b(?:.*?\bndb_table_(?:no_logging|temporary)\b|\s++NAMES\s++utf8(?:mb[34])?+\s*+\Z)",
    re.I | re.S,
)
"""Variables of a session that count, and the letters in which a text is read anyway."""
NO_TABLE = re.compile(
    rf"{COMMENTS}CREATE\s++(?:(?:OR\s++REPLACE|ALGORITHM\s*+=\s*+\w++|DEFINER\s*+=\s*+\S++"
    r"|SQL\s++SECURITY\s++\w++|AGGREGATE)\s++)*+(VIEW|TRIGGER|PROCEDURE|FUNCTION|EVENT)\b",
    re.I,
)
"""Views and programs: dumps put who defines them in front."""
CHANGE = re.compile(
    rf"{COMMENTS}(?:ALTER\s+(?:(?:ONLINE|OFFLINE|IGNORE)\s+)?TABLE"
    r"|(?:CREATE\s+(?:(?:UNIQUE|FULLTEXT|SPATIAL)\s+)?|DROP\s+)INDEX)"
    r"\s(?!.*\b(?:DISABLE|ENABLE)\s+KEYS\s*$)",
    re.I | re.S,
)
