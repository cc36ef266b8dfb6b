"""Letters that a character set has not: what a column makes of them, and what is said of it.

    held("aé", "ascii", "utf8mb4")      # ("a?", "\\xC3\\xA9")

Source: manual 8.4, Character Set Repertoire; well_formed_copy and convert_to_printable of the product (six
bytes from the first letter on that cannot be kept, letters of ASCII as they are). Recorded alike on servers
8.0.15 and 9.7.4.
"""

from __future__ import annotations

CODECS = {
    "ascii": "ascii", "latin1": "cp1252", "latin2": "iso8859-2", "latin5": "iso8859-9",
    "latin7": "iso8859-13", "greek": "iso8859-7", "hebrew": "iso8859-8", "cp1250": "cp1250",
    "cp1251": "cp1251", "cp1256": "cp1256", "cp1257": "cp1257", "cp850": "cp850", "cp852": "cp852",
    "cp866": "cp866", "koi8r": "koi8-r", "koi8u": "koi8-u", "gb2312": "gb2312", "gbk": "gbk", "big5": "big5",
    "sjis": "shift_jis", "cp932": "cp932", "euckr": "euc_kr", "ujis": "euc_jp", "tis620": "tis-620",
}  # fmt: skip
"""Character sets that have not all letters, with what Python calls them."""
_SHORT = ("utf8", "utf8mb3", "ucs2")
"""Those without letters beyond the first 65536."""
_MOST_SHOWN = 6


def held(text: str, charset: str, source: str) -> tuple[str, str]:
    """The text with a question mark for each letter that is not kept, and the bytes that are told of.

    `source`: the character set that the text comes in; the second is empty where all letters are kept.
    """
    if text.isascii() or not (charset in CODECS or charset in _SHORT):
        return text, ""
    kept = "".join(one if _has(charset, one) else "?" for one in text)
    if kept == text:
        return text, ""
    at = next(at for at, (one, other) in enumerate(zip(text, kept, strict=True)) if one != other)
    left = text[at:].encode(CODECS.get(source, "utf-8"), "replace")
    shown = "".join(chr(one) if 32 <= one < 127 else f"\\x{one:02X}" for one in left[:_MOST_SHOWN])
    return kept, shown + "..." * (len(left) > _MOST_SHOWN)


def _has(charset: str, letter: str) -> bool:
    if charset in _SHORT:
        return ord(letter) < 2**16
    if charset == "latin1" and 0x80 <= ord(letter) < 0xA0:
        # The five that Windows has not are kept as they are.
        return True
    try:
        letter.encode(CODECS[charset])
    except UnicodeEncodeError:
        return False
    return True
