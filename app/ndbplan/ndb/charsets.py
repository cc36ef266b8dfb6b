"""Character sets: how many bytes a character may take, and which collation a version gives a text column."""

from __future__ import annotations

from ndbplan.ndb.features import features
from ndbplan.ndb.version import NdbVersion

_MAX_CHAR_BYTES = {
    "utf8mb4": 4, "utf8mb3": 3, "utf8": 3, "utf16": 4, "utf16le": 4, "utf32": 4, "ucs2": 2, "gb18030": 4,
    "big5": 2, "gb2312": 2, "gbk": 2, "sjis": 2, "cp932": 2, "euckr": 2, "ujis": 3, "eucjpms": 3,
}  # fmt: skip
"""Character sets of more than one byte (SHOW CHARACTER SET, column Maxlen); all others take one byte."""

_DEFAULT_COLLATION = {
    "utf8mb3": "utf8mb3_general_ci", "utf8": "utf8_general_ci", "latin1": "latin1_swedish_ci",
    "binary": "binary", "ascii": "ascii_general_ci", "latin2": "latin2_general_ci", "big5": "big5_chinese_ci",
    "gbk": "gbk_chinese_ci", "gb2312": "gb2312_chinese_ci", "gb18030": "gb18030_chinese_ci",
    "sjis": "sjis_japanese_ci", "cp932": "cp932_japanese_ci", "ujis": "ujis_japanese_ci",
    "eucjpms": "eucjpms_japanese_ci", "euckr": "euckr_korean_ci", "swe7": "swe7_swedish_ci",
    "dec8": "dec8_swedish_ci", "hp8": "hp8_english_ci", "tis620": "tis620_thai_ci",
    "koi8r": "koi8r_general_ci", "koi8u": "koi8u_general_ci", "latin5": "latin5_turkish_ci",
}  # fmt: skip


def default_collation(version: NdbVersion, charset: str | None = None) -> str:
    """Collation of a text column that names none: of its character set, or else of the server.

    8.0 and later: utf8mb4_0900_ai_ci; earlier: latin1_swedish_ci (reference manual, server defaults).
    """
    if charset is None:
        charset = features(version).default_charset
    if charset == "utf8mb4":
        return features(version).utf8mb4_collation
    return _DEFAULT_COLLATION.get(charset, f"{charset}_general_ci")


def charset_of(collation: str) -> str:
    """The character set a collation belongs to: its name up to the first underscore."""
    return collation.split("_", 1)[0]


def max_char_bytes(collation: str) -> int:
    """Bytes that the longest character of the collation's character set takes."""
    return _MAX_CHAR_BYTES.get(charset_of(collation), 1)
