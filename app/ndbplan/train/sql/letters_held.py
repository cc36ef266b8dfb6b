"""Letters that a character set has not: what a column makes of them, and what is said of it.

    held("aé", "ascii", "utf8mb4")      # ("a?", "\\xC3\\xA9")

Source: manual 8.4, Character Set Repertoire; well_formed_copy and convert_to_printable of the product (six
bytes from the first letter on that cannot be kept, letters of ASCII as they are). Recorded alike on servers
8.0.15 and 9.7.4.
"""

from __future__ import annotations

from ndbplan.ndb.collations import NotInCharsetError, codec_of, encode_text

_MOST_SHOWN = 6


def held(text: str, charset: str, source: str) -> tuple[str, str]:
    """The text with a question mark for each letter that is not kept, and the bytes that are told of.

    `source`: the character set that the text comes in; the second is empty where all letters are kept.
    """
    if text.isascii() or codec_of(charset) is None:
        return text, ""
    kept = "".join(one if _has(charset, one) else "?" for one in text)
    if kept == text:
        return text, ""
    at = next(at for at, (one, other) in enumerate(zip(text, kept, strict=True)) if one != other)
    left = text[at:].encode(codec_of(source) or "utf-8", "replace")
    shown = "".join(chr(one) if 32 <= one < 127 else f"\\x{one:02X}" for one in left[:_MOST_SHOWN])
    return kept, shown + "..." * (len(left) > _MOST_SHOWN)


def _has(charset: str, letter: str) -> bool:
    try:
        encode_text(letter, charset)
    except NotInCharsetError:
        return False
    return True
