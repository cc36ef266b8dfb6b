"""Free names like one that is wished for, or like another host's."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import chain, count
from string import ascii_uppercase

from ndbplan.base.units import whole_number


def free_name(wish: str, taken: Collection[str], separator: str = "-", most: int = 64) -> str:
    """`wish`, or `wish-2`, `wish-3` …, whichever is not taken; a long wish is cut to have room."""
    candidate, number = wish[:most], 1
    while candidate in taken:
        number += 1
        end = f"{separator}{number}"
        candidate = f"{wish[: most - len(end)]}{end}"
    return candidate


def next_location_name(model: str, taken: Collection[str]) -> str:
    """A free name like `model`: Rack A → Rack B, Room 1 → Room 2, Site → Site-2."""
    stem, space, end = model.rpartition(" ")
    letters = ascii_uppercase if end in tuple(ascii_uppercase) else ""
    if not space or not (letters or whole_number(end) is not None):
        return free_name(model, taken)
    ends = chain(letters, count(len(letters) + 1))
    return next(name for tried in ends if (name := f"{stem} {tried}") not in taken)


def next_hostname(model: str, taken: Collection[str]) -> str:
    """A free name like `model`: host-a1 → host-a2, 10.0.0.3 → 10.0.0.4, fd00::1 → fd00::2."""
    if re.fullmatch(r"[0-9]+(\.[0-9]+){3}", model):
        return _next_address(model, taken)
    if ":" in model:
        return _next_address_of_ipv6(model, taken)
    stem, dot, domain = model.partition(".")
    # A label has up to 63 characters, a name 253.
    most = min(63, 253 - len(dot + domain))
    digits = len(stem) - len(stem.rstrip("0123456789"))
    base, number = (stem[:-digits], int(stem[-digits:])) if digits else (f"{stem}-", 1)
    while True:
        number += 1
        end = f"{number:0{digits}d}"
        candidate = f"{base[: most - len(end)]}{end[-most:]}{dot}{domain}"
        if candidate not in taken:
            return candidate


def _next_address_of_ipv6(model: str, taken: Collection[str]) -> str:
    from ipaddress import AddressValueError, IPv6Address

    try:
        address = IPv6Address(model)
    except AddressValueError:
        # It looks like one, and no host has it: any that is free.
        address = IPv6Address("fd00::")
    while True:
        address = IPv6Address((int(address) + 1) % 2**128)
        if str(address) not in taken:
            return str(address)


def _next_address(model: str, taken: Collection[str]) -> str:
    number = 0
    for part in model.split("."):
        number = number * 256 + int(part)
    while True:
        number = (number + 1) % 2**32
        candidate = ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
        if candidate not in taken and 0 < number & 255 < 255:
            return candidate
