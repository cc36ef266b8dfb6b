"""Host names that are addresses already, as the C library reads them (inet_aton, inet_pton)."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache

_PART = re.compile(r"0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*")
_V4_BYTES = 4
_LONGEST_LABEL = 63
"""Letters between two dots of a host name (RFC 1035, 2.3.4)."""


@lru_cache(maxsize=1024)
def ipv4_of(text: str) -> str | None:
    """The dotted address that inet_aton makes of a text: `127.1` is 127.0.0.1; None for what is none.

    One to four numbers, decimal, octal (leading 0) or hexadecimal (0x); the last one fills the bytes left.
    """
    parts = text.split(".")
    if not 1 <= len(parts) <= _V4_BYTES or not all(_PART.fullmatch(part) for part in parts):
        return None
    numbers = [int(p, 16) if p[:2] in ("0x", "0X") else int(p, 8) if p[0] == "0" else int(p) for p in parts]
    *first, last = numbers
    if any(number > 255 for number in first) or last >= 256 ** (_V4_BYTES + 1 - len(parts)):
        return None
    whole = sum(number << 8 * (3 - place) for place, number in enumerate(first)) + last
    return str(ipaddress.IPv4Address(whole))


@lru_cache(maxsize=1024)
def address_of(hostname: str) -> str | None:
    """The one spelling of a host name that is an address; None for a name that must be looked up.

    An IPv4 address in the clothes of IPv6 (`::ffff:127.0.0.2`) is that IPv4 address.
    """
    if ":" not in hostname:
        return ipv4_of(hostname)
    try:
        address = ipaddress.IPv6Address(hostname)
    except ValueError:
        return None
    mapped = address.ipv4_mapped
    return str(mapped if mapped is not None else address)


def is_loopback(hostname: str) -> bool:
    """Whether a name or address is what each machine calls itself: localhost, ::1, 127.x.x.x."""
    address = address_of(hostname) or ""
    return hostname.lower() == "localhost" or address == "::1" or address.startswith("127.")


def never_resolves(hostname: str) -> str:
    """Why no resolver finds an address for a host name; nothing for one that may have an address.

    RFC 6761 keeps `.invalid` free; the others are no names at all (a server of 8.4.8 does not resolve
    `node..x` and `999.1.1.1`).
    """
    if ":" in hostname:
        return "" if address_of(hostname) is not None else "is not an IPv6 address, and names have no colons"
    labels = hostname.split(".")
    if labels[-1].lower() == "invalid":
        return "lies under .invalid, where no name ever resolves"
    if hostname.replace(".", "").isdigit() and ipv4_of(hostname) is None:
        return "is not an IPv4 address; its four numbers go from 0 to 255"
    if any(not label or len(label) > _LONGEST_LABEL for label in labels):
        return f"is not a name; between its dots stand 1 to {_LONGEST_LABEL} letters"
    return ""
