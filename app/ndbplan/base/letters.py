"""Which letters the bundled fonts draw, and how the others are written in what leaves the program.

lacking("顧客 🙂")     # "🙂"
spelt("顧客 🙂")       # "顧客 [U+1F642]"

A document or a picture is drawn with the bundled fonts alone, so that it looks alike wherever it is made.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ndbplan.base.resources import resource_path

_INTER = resource_path("fonts/Inter-Regular.otf")
_UNSEEN = (
    (0x2000, 0x200F), (0x2028, 0x202F), (0x205F, 0x206F), (0x3000, 0x3000), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xE0000, 0xE01EF),
)  # fmt: skip
"""Spaces, signs of direction, joiners, and those that choose a form of the sign before: nothing is drawn of
them. Stated here and not asked of Python, whose versions know other versions of Unicode."""
_RARE = re.compile("[^\\0-\u024f]+")


def lacking(words: str) -> str:
    """The letters of a text that no bundled font draws, in order, each once."""
    rare = sorted({sign for found in _RARE.findall(words) for sign in found})
    return "".join(sign for sign in rare if not _is_drawn(sign))


def spelt(words: str) -> str:
    """The text with letters that no bundled font draws as their code points: `[U+1F642 U+1F600]`."""
    missing = lacking(words)
    if not missing:
        return words
    return re.sub(f"[{re.escape(missing)}]+", lambda found: f"[{' '.join(map(code_point, found[0]))}]", words)


def code_point(sign: str) -> str:
    """A letter by its number: `U+1F642`."""
    return f"U+{ord(sign):04X}"


def beyond_inter(words: str) -> bool:
    """Whether a text has letters that only the fonts of other scripts draw."""
    return any(not _in_inter(sign) for found in _RARE.findall(words) for sign in found)


def _in_inter(sign: str) -> bool:
    code = ord(sign)
    return code in _drawn_by(_INTER) or any(low <= code <= high for low, high in _UNSEEN)


def _is_drawn(sign: str) -> bool:
    return _in_inter(sign) or any(ord(sign) in _drawn_by(font) for font in scripts())


@cache
def scripts() -> tuple[Path, ...]:
    """The font files of scripts that Inter has no letters of."""
    return tuple(sorted(resource_path("fonts/scripts").glob("*.ttf")))


@cache
def _drawn_by(font: Path) -> frozenset[int]:
    """Code points that a font has a shape for."""
    return frozenset(_code_points(font.read_bytes()))


def _code_points(font: bytes) -> Iterator[int]:
    """What the `cmap` of an OpenType font has a shape for, by its largest subtable (formats 4 and 12)."""
    tables = struct.unpack_from(">H", font, 4)[0]
    records = (struct.unpack_from(">4sLLL", font, 12 + 16 * n) for n in range(tables))
    start = next(place for tag, _, place, _ in records if tag == b"cmap")
    count = struct.unpack_from(">H", font, start + 2)[0]
    places = {start + struct.unpack_from(">HHL", font, start + 4 + 8 * n)[2] for n in range(count)}
    by_format = {struct.unpack_from(">H", font, place)[0]: place for place in places}
    if 12 in by_format:
        place = by_format[12]
        groups = struct.unpack_from(">L", font, place + 12)[0]
        for n in range(groups):
            first, last = struct.unpack_from(">LL", font, place + 16 + 12 * n)
            yield from range(first, last + 1)
    else:
        yield from _of_segments(font, by_format[4])


def _of_segments(font: bytes, place: int) -> Iterator[int]:
    """The code points of a subtable of format 4, which maps segments by a difference or by a list."""
    segments = struct.unpack_from(">H", font, place + 6)[0] // 2
    columns = [place + 14, place + 16 + 2 * segments]
    columns += [columns[1] + 2 * segments, columns[1] + 4 * segments]
    ends, starts, differences, offsets = (
        struct.unpack_from(f">{segments}H", font, column) for column in columns
    )
    for n, (first, last) in enumerate(zip(starts, ends, strict=True)):
        for code in range(first, last + 1):
            glyph = code
            if offsets[n]:
                listed = columns[3] + 2 * n + offsets[n] + 2 * (code - first)
                glyph = struct.unpack_from(">H", font, listed)[0] if listed + 2 <= len(font) else 0
            if glyph and (glyph + differences[n]) & 0xFFFF:
                yield code
