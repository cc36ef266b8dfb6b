"""Collations as the key hash sees them: how the bytes of a string become weights.

    rule = rule_for("utf8mb4_0900_ai_ci")
    rule.kind, rule.multiply

Exact, or UnsupportedCollationError: a hash that is nearly right is wrong.
Tables: resources/ndb/collations.npz (from Vitess, Apache License 2.0).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from ndbplan.base.errors import UserError
from ndbplan.base.resources import resource_path
from ndbplan.ndb.charsets import max_char_bytes
from ndbplan.ndb.features import features
from ndbplan.ndb.version import NdbVersion

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

CODE_POINTS = 0x110000
"""Of Unicode: U+0000 to U+10FFFF."""


class UnsupportedCollationError(UserError, ValueError):
    """A collation whose weights are not known here; keys of it can only be spread statistically."""


class Kind(IntEnum):
    """How a string becomes the words that are hashed."""

    BYTES = 0
    """The bytes themselves, padded with spaces: binary collations of 8-bit and most multi-byte sets."""
    TABLE = 1
    """One weight byte for each byte."""
    GENERAL = 2
    """Two bytes for each character: the general_ci collations."""
    CODE_POINT_2 = 3
    """Two bytes of the code point: binary collations of utf8mb3 and ucs2."""
    CODE_POINT_3 = 4
    """Three bytes of the code point: binary collations of utf8mb4, utf16 and utf32."""
    UCA_PADDED = 5
    """Two-byte weights of the Unicode collation algorithm, padded with those of a space."""
    UCA_HASHED = 6
    """64-bit FNV-1a of 16-bit weights of UCA 9.0.0, level after level."""
    BYTES_HASHED = 7
    """64-bit hash of the bytes: utf8mb4_0900_bin."""


@dataclass(frozen=True)
class CollationRule:
    """What the key hash needs of a collation."""

    collation: str
    charset: str
    kind: Kind
    multiply: int = 1
    """Padded length over declared bytes (strxfrm_multiply)."""
    levels: int = 0
    """Levels of weights that count, for UCA_HASHED."""
    table: str = ""
    """Name of its weight table."""
    filler: int = 0x20
    """What a string of one weight byte for each byte is padded with."""

    @property
    def is_hashed(self) -> bool:
        """Whether it gives 8 bytes whatever the length (NO PAD)."""
        return self.kind in (Kind.UCA_HASHED, Kind.BYTES_HASHED)


_UNICODE = frozenset({"utf8mb3", "utf8mb4", "ucs2", "utf16", "utf16le", "utf32"})
_HASHED_LEVELS = {"0900_ai_ci": 1, "0900_as_ci": 2, "0900_as_cs": 3}
_ALIASES = {"utf8": "utf8mb3"}
_KNOWN_CHARSETS = _UNICODE | {
    "armscii8", "ascii", "big5", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866",
    "cp932", "dec8", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "geostd8", "greek", "hebrew", "hp8",
    "keybcs2", "koi8r", "koi8u", "latin1", "latin2", "latin5", "latin7", "macce", "macroman", "sjis", "swe7",
    "tis620", "ujis",
}  # fmt: skip


@cache
def rule_for(collation: str) -> CollationRule:
    """The rule of a collation. Raises UnsupportedCollationError when its weights are not known."""
    charset, _, rest = collation.lower().partition("_")
    charset = _ALIASES.get(charset, charset)
    name = f"{charset}_{rest}"
    if charset not in _KNOWN_CHARSETS:
        raise _unsupported(collation)
    if rest == "" and charset == "binary":
        return CollationRule(collation, charset, Kind.BYTES)
    if rest == "bin":
        if charset in ("utf8mb3", "ucs2"):
            return CollationRule(collation, charset, Kind.CODE_POINT_2)
        if charset in _UNICODE:
            return CollationRule(collation, charset, Kind.CODE_POINT_3)
        return CollationRule(collation, charset, Kind.BYTES)
    if charset == "utf8mb4" and rest in _HASHED_LEVELS:
        return CollationRule(collation, charset, Kind.UCA_HASHED, levels=_HASHED_LEVELS[rest], table="uca900")
    if name == "utf8mb4_0900_bin":
        return CollationRule(collation, charset, Kind.BYTES_HASHED)
    if charset in _UNICODE:
        if rest == "general_ci":
            return CollationRule(collation, charset, Kind.GENERAL, table="general")
        if rest == "unicode_ci":
            return CollationRule(collation, charset, Kind.UCA_PADDED, multiply=8, table="uca400")
        if rest == "unicode_520_ci":
            return CollationRule(collation, charset, Kind.UCA_PADDED, multiply=8, table="uca520")
        raise _unsupported(collation)
    if name in simple_names():
        return CollationRule(collation, charset, Kind.TABLE, table=name)
    raise _unsupported(collation)


@cache
def rule_in(collation: str, version: NdbVersion, *, has_own_spaces: bool = False) -> CollationRule:
    """The rule of a collation in a version. Raises UnsupportedCollationError.

    Where the weight of a space is not 0x20 (latin7), strings are padded with that weight in 7.3 to 7.6
    (`NdbSqlUtil::strnxfrm_bug7284`) and with 0x20 from 8.0 on (`my_strxfrm_pad`); before 7.3 it is not known.
    `has_own_spaces`: of CHAR, whose spaces are stored and weigh what spaces do (MySQL NDB Cluster 9.7.4, seen
    running).
    """
    rule = rule_for(collation)
    if rule.kind is not Kind.TABLE or (features(version).padded_with_space and not has_own_spaces):
        return rule
    space = int(byte_weights(rule.table)[0x20])
    if space != 0x20 and not features(version).fractional_seconds:
        raise _unsupported(collation, " before 7.3")
    return replace(rule, filler=space)


def _unsupported(collation: str, where: str = "") -> UnsupportedCollationError:
    return UnsupportedCollationError(
        f"keys with collation {collation} are not supported exactly{where}",
        where="collation",
        fix="use a binary, general_ci, unicode_ci or utf8mb4_0900 collation, or the statistical distribution",
    )


@cache
def _file() -> dict[str, Any]:
    import numpy as np

    with np.load(resource_path("ndb/collations.npz")) as archive:
        return dict(archive)


@cache
def simple_names() -> dict[str, int]:
    """Collations of one weight byte for each byte, with their row in the table."""
    return {str(name): row for row, name in enumerate(_file()["simple_names"])}


def byte_weights(collation: str) -> Array:
    """Weight of each of the 256 bytes. KeyError for other kinds of collations."""
    weights: Array = _file()["simple_weights"][simple_names()[collation.lower()]]
    return weights


@cache
def general_weights() -> Array:
    """Two-byte weight of each code point below U+10000 in the general_ci collations."""
    import numpy as np

    weights = np.arange(0x10000, dtype=np.uint16)
    weights[_file()["general_cp"]] = _file()["general_weight"]
    return weights


@dataclass(frozen=True)
class UcaTable:
    """Weights of one level of a Unicode collation: those of code point c are weights[start[c]:start[c+1]]."""

    start: Array
    weights: Array


@cache
def uca_table(name: str, level: int = 1) -> UcaTable:
    """One level of `uca400`, `uca520` or `uca900` for every code point, ignorable weights left out."""
    import numpy as np

    data = _file()
    counts = np.full(CODE_POINTS, 2 if level == 1 else 1, dtype=np.int64)
    points = np.arange(CODE_POINTS, dtype=np.int64)
    base = np.full(CODE_POINTS, 0xFBC0, dtype=np.int64)
    for first, last, value in data[f"{name}_ranges"].astype(np.int64):
        base[first : last + 1] = value
    high, low = base + (points >> 15), (points & 0x7FFF) | 0x8000
    if name == "uca900":
        high[0x17000:0x187ED], low[0x17000:0x187ED] = 0xFB00, (points[0x17000:0x187ED] - 0x17000) | 0x8000
    stated = data[f"{name}_cp"].astype(np.int64)
    stated_counts = data[f"{name}_count{level}"].astype(np.int64)
    stated_weights = data[f"{name}_weight{level}"]
    counts[stated] = stated_counts
    syllables = np.arange(0xAC00, 0xD700) if name == "uca900" else np.arange(0)
    if name == "uca400":
        counts[0x10000:] = 1
    own = dict(zip(stated.tolist(), _pieces(stated_counts, stated_weights), strict=True))
    jamo = {int(s): _jamo_weights(int(s), own) for s in syllables}
    for syllable, weights in jamo.items():
        counts[syllable] = len(weights)
    start = np.zeros(CODE_POINTS + 1, dtype=np.int32)
    np.cumsum(counts, out=start[1:])
    weights_out = np.empty(start[-1], dtype=np.uint16)
    implied = np.ones(CODE_POINTS, dtype=bool)
    implied[stated] = False
    implied[syllables] = False
    at = start[:-1][implied]
    if name == "uca400":
        above = points[implied] >= 0x10000
        weights_out[at[above]] = 0xFFFD
        at, implied_points = at[~above], points[implied][~above]
    else:
        implied_points = points[implied]
    if level == 1:
        weights_out[at], weights_out[at + 1] = high[implied_points], low[implied_points]
    else:
        weights_out[at] = 0x20 if level == 2 else 0x02
    offsets = np.repeat(
        start[:-1][stated] - np.concatenate(([0], np.cumsum(stated_counts)[:-1])), stated_counts
    )
    weights_out[offsets + np.arange(len(stated_weights))] = stated_weights
    for syllable, weights in jamo.items():
        weights_out[start[syllable] : start[syllable + 1]] = weights
    return UcaTable(start, weights_out)


def _pieces(counts: Array, weights: Array) -> list[list[int]]:
    flat, pieces, at = weights.tolist(), [], 0
    for count in counts.tolist():
        pieces.append(flat[at : at + count])
        at += count
    return pieces


def _jamo_weights(syllable: int, own: dict[int, list[int]]) -> list[int]:
    """A Hangul syllable weighs what its two or three letters weigh."""
    index = syllable - 0xAC00
    letters = [0x1100 + index // 588, 0x1161 + index % 588 // 28]
    if index % 28:
        letters.append(0x11A7 + index % 28)
    return [weight for letter in letters for weight in own[letter]]


_CODECS = {
    "latin1": "cp1252", "ascii": "ascii", "utf8mb3": "utf-8", "utf8mb4": "utf-8", "latin2": "iso8859_2",
    "latin5": "iso8859_9", "latin7": "iso8859_13", "greek": "iso8859_7", "hebrew": "iso8859_8",
    "cp1250": "cp1250", "cp1251": "cp1251", "cp1256": "cp1256", "cp1257": "cp1257", "cp850": "cp850",
    "cp852": "cp852", "cp866": "cp866", "koi8r": "koi8_r", "koi8u": "koi8_u", "tis620": "tis_620",
    "macroman": "mac_roman", "macce": "mac_latin2", "big5": "big5", "gbk": "gbk", "gb2312": "gb2312",
    "gb18030": "gb18030", "sjis": "shift_jis", "cp932": "cp932", "euckr": "cp949", "ujis": "euc_jp",
    "eucjpms": "euc_jp", "ucs2": "utf-16-be", "utf16": "utf-16-be", "utf16le": "utf-16-le",
    "utf32": "utf-32-be",
}  # fmt: skip


class NotInCharsetError(UserError, ValueError):
    """A text that the column's character set cannot hold."""


def codec_of(charset: str) -> str | None:
    """What Python calls a character set of MySQL; None: it has none such."""
    return _CODECS.get(_ALIASES.get(charset, charset))


def encode_text(text: str, charset: str) -> bytes:
    """Bytes of a text in a MySQL character set. Raises NotInCharsetError."""
    codec = codec_of(charset)
    if codec is None:
        raise NotInCharsetError(
            f"text cannot be written in character set {charset} here", fix="give the stored bytes as 0x hex"
        )
    try:
        if charset == "latin1":
            # MySQL's latin1 is cp1252 with its five gaps filled by the control characters of the same number.
            return b"".join(
                bytes([ord(c)]) if ord(c) in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else c.encode("cp1252")
                for c in text
            )
        if charset in ("utf8mb3", "utf8", "ucs2") and any(ord(c) > 0xFFFF for c in text):
            raise UnicodeEncodeError(charset, text, 0, 1, "above U+FFFF")
        return text.encode(codec)
    except UnicodeEncodeError:
        raise NotInCharsetError(
            f"'{text[:40]}' has characters that {charset} does not hold", fix="correct the text"
        ) from None


def decode_points(data: bytes, charset: str) -> list[int]:
    """Code points of stored bytes up to the first that is malformed, as the product reads them."""
    codec = _CODECS[_ALIASES.get(charset, charset)]
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        text = data[: error.start].decode(codec)
    points = [ord(c) for c in text]
    if max_char_bytes(charset) == 3 and any(p > 0xFFFF for p in points):
        points = points[: next(i for i, p in enumerate(points) if p > 0xFFFF)]
    return points


def character_count(data: bytes, charset: str) -> int:
    """Characters of stored bytes; malformed ones count as far as they can be told apart."""
    most = max_char_bytes(charset)
    if most == 1:
        return len(data)
    if charset in ("utf8mb3", "utf8mb4", "utf8"):
        return sum(1 for byte in data if byte & 0xC0 != 0x80)
    return len(decode_points(data, charset))
