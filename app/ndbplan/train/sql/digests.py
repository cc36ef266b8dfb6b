"""Texts in other bases, their bytes, and what is worked out of these: HEX, MD5, CONV and their kin.

    STRICT["mysql_hex"](255)       # 'FF'

Bytes that are no text stay bytes: how a client shows them depends on its version.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
import zlib
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from ndbplan.ndb.collations import codec_of
from ndbplan.train.sql.problem import NotSimulated, SqlError

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ALL_ONES = 2**64 - 1
_SHA2 = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}


def data(value: Any) -> bytes:
    """A value as the bytes of its text."""
    if isinstance(value, bytes):
        return value
    return (str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)).encode()


def _whole(value: Any) -> int:
    """A number rounded, or the digits that a text begins with; negative ones count back from 2^64."""
    if isinstance(value, str):
        found = re.match(r"\s*([-+]?[0-9]+)", value)
        return int(found[1]) & _ALL_ONES if found else 0
    return int(value + (0.5 if value >= 0 else -0.5)) & _ALL_ONES


def _in_base(number: int, base: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, base)
        digits = _DIGITS[rest] + digits
    return digits or "0"


def _conv(value: Any, source: Any, target: Any) -> str | None:
    """CONV: the digits that the text begins with, from one base to another; a negative target has a sign."""
    old, new = abs(int(source)), int(target)
    if not (2 <= old <= 36 and 2 <= abs(new) <= 36):
        return None
    text = data(value).decode().strip().upper()
    sign, number = (-1, 0) if text.startswith("-") else (1, 0)
    for letter in text.lstrip("+-"):
        place = _DIGITS.find(letter)
        if not 0 <= place < old:
            break
        number = number * old + place
    number = min(number, _ALL_ONES) * sign
    if new < 0:
        return ("-" if number < 0 else "") + _in_base(abs(number), -new)
    return _in_base(number & _ALL_ONES, new)


def _hex(value: Any) -> str:
    return f"{_whole(value):X}" if isinstance(value, int | float) else data(value).hex().upper()


def _unhex(value: Any) -> bytes:
    text = data(value).decode()
    return bytes.fromhex(text.rjust(len(text) + len(text) % 2, "0"))


class NoSuchDigestError(ValueError):
    """SHA2 of other bits: the server warns of it, and answers NULL."""


def _sha2(value: Any, bits: int) -> str:
    name = _SHA2.get(bits)
    if name is None:
        raise NoSuchDigestError
    return hashlib.new(name, data(value)).hexdigest()


def _address(text: Any) -> int:
    parts = [int(one) for one in str(text).split(".")]
    if not parts or any(not 0 <= one < 256 for one in parts) or len(parts) > 4:
        raise ValueError(text)
    # The last part is the lowest byte: 127.1 is 127.0.0.1.
    high = sum(one << 8 * (3 - at) for at, one in enumerate(parts[:-1]))
    return high + parts[-1] if len(parts) > 1 else parts[0]


def _characters(*codes: Any) -> bytes:
    found = b""
    for code in codes:
        number = int(code) & 0xFFFFFFFF
        found += number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")
    return found


def _inserted(text: Any, begin: Any, length: Any, more: Any) -> str:
    whole, at, count = data(text).decode(), int(begin), int(length)
    if not 1 <= at <= len(whole) + 1:
        return whole
    end = len(whole) if count < 0 else at - 1 + count
    return whole[: at - 1] + data(more).decode() + whole[end:]


def quoted(text: Any) -> str:
    """QUOTE: the word NULL of what is none."""
    if text is None:
        return "NULL"
    inner = data(text).decode()
    for sign, written in (("\\", "\\\\"), ("'", "\\'"), ("\0", "\\0"), ("\x1a", "\\Z")):
        inner = inner.replace(sign, written)
    return f"'{inner}'"


def _random(seed: Any) -> float:
    """The first of RAND(seed): the two counters of the server's source."""
    most = 0x3FFFFFFF
    first, second = (int(seed) * 0x10001 + 55555555) % most, int(seed) * 0x10000001 % most
    return (first * 3 + second) % most / most


def _packed(text: Any) -> bytes:
    return ipaddress.ip_address(data(text).decode()).packed


def _is_of(version: int) -> Callable[[Any], int]:
    def is_of(text: Any) -> int:
        try:
            return int(ipaddress.ip_address(data(text).decode()).version == version)
        except ValueError:
            return 0

    return is_of


_UUID = re.compile(
    r"\{?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\}?", re.IGNORECASE
)


def _bytes_of_uuid(text: Any, swaps: int = 0) -> bytes:
    found = _UUID.fullmatch(data(text).decode("latin-1"))
    if found is None:
        told = f"Incorrect string value: '{data(text).decode('latin-1')}' for function uuid_to_bin"
        raise SqlError(1411, "HY000", told)
    low, middle, high, *rest = found.groups()
    return bytes.fromhex("".join([high, middle, low, *rest] if swaps else found.groups()))


def _uuid_of_bytes(value: Any, swapped: int = 0) -> str:
    given = data(value)
    if len(given) != 16:
        told = f"Incorrect string value: '{given.decode('latin-1')}' for function bin_to_uuid"
        raise SqlError(1411, "HY000", told)
    text = given.hex()
    if swapped:
        text = text[8:16] + text[4:8] + text[:4] + text[16:]
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


class NoAddressError(ValueError):
    """A text is no address or no number in base 16: the server warns of it, and answers NULL."""

    def __init__(self, text: Any, function: str) -> None:
        super().__init__(data(text).decode("utf-8", "replace"))
        self.function = function


def _or_told(name: str, read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function with the warning of what it cannot read."""

    def told(value: Any) -> Any:
        try:
            return read(value)
        except ValueError:
            raise NoAddressError(value, name) from None

    return told


_ONE_AFTER_ANOTHER = ("latin1", "ascii", "utf8mb4", "utf8mb3", "utf8", "binary")
"""Character sets that CHAR() fills byte by byte; others take several at once."""


class NoLettersError(ValueError):
    """Bytes are no text of a character set: the server warns of them, and answers NULL."""

    def __init__(self, given: bytes, character_set: str) -> None:
        super().__init__(given.hex().upper())
        self.character_set = character_set


def _letters_in(character_set: str, *codes: Any) -> str:
    """CHAR(... USING ...)."""
    given = _characters(*codes)
    try:
        return given.decode(codec_of(character_set) or "latin-1")
    except UnicodeDecodeError as error:
        raise NoLettersError(given[error.start :], character_set) from None


STRICT: dict[str, Callable[..., Any]] = {
    "IS_IPV4": _is_of(4), "IS_IPV6": _is_of(6), "INET6_ATON": _or_told("inet6_aton", _packed),
    "INET6_NTOA": lambda v: str(ipaddress.ip_address(data(v))),
    "IS_UUID": lambda v: int(_UUID.fullmatch(data(v).decode("latin-1")) is not None),
    "UUID_TO_BIN": _bytes_of_uuid, "BIN_TO_UUID": _uuid_of_bytes,
    "mysql_hex": _hex, "mysql_unhex": _or_told("unhex", _unhex), "CONV": _conv,
    "BIN": lambda v: _in_base(_whole(v), 2),
    "OCT": lambda v: _in_base(_whole(v), 8), "CRC32": lambda v: zlib.crc32(data(v)),
    "MD5": lambda v: hashlib.md5(data(v), usedforsecurity=False).hexdigest(),
    "SHA": lambda v: hashlib.sha1(data(v), usedforsecurity=False).hexdigest(), "SHA2": _sha2,
    "INET_ATON": _or_told("inet_aton", _address), "mysql_letters_in": _letters_in,
    "INET_NTOA": lambda v: ".".join(map(str, int(v).to_bytes(4, "big"))),
    "mysql_letters": _characters, "ORD": lambda v: int.from_bytes(data(data(v).decode()[:1]), "big"),
    "BIT_LENGTH": lambda v: 8 * len(data(v)), "OCTET_LENGTH": lambda v: len(data(v)), "STUFF": _inserted,
    "mysql_rand": _random,
}  # fmt: skip
"""NULL where an argument is NULL, or cannot be taken."""


def ours(node: exp.Expr) -> exp.Expr | None:
    """A call of ours in place of one that SQLite has otherwise; None: the node is none."""
    if isinstance(node, exp.Hex):
        return exp.Anonymous(this="mysql_hex", expressions=[node.this])
    if isinstance(node, exp.Unhex):
        return exp.Anonymous(this="mysql_unhex", expressions=[node.this])
    if isinstance(node, exp.Rand) and isinstance(node.this, exp.Literal):
        return exp.Anonymous(this="mysql_rand", expressions=[node.this])
    if isinstance(node, exp.Chr) and not node.args.get("charset"):
        return exp.Anonymous(this="mysql_letters", expressions=node.expressions)
    if isinstance(node, exp.Chr):
        charset = node.args["charset"].name.lower()
        if charset not in _ONE_AFTER_ANOTHER:
            raise NotSimulated(f"CHAR(... USING {charset[:20]}) is not simulated")
        return exp.Anonymous(
            this="mysql_letters_in", expressions=[exp.Literal.string(charset), *node.expressions]
        )
    return None
