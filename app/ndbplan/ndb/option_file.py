"""Values in option files of the product's programs (my.cnf), as they read them.

value_in_file("SET @a = 1 # b")             # '"SET @a = 1 # b"'
value_of_line('"SET @a = 1 # b"  # why')    # 'SET @a = 1 # b'

Source: manual, using option files (quotes, escapes, comments in a line); mysys/my_default.cc, which cuts a
comment off first, then blanks, then one pair of quotes, and reads escapes last.
"""

from __future__ import annotations

_QUOTES = "'\""
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "s": " ", "\\": "\\", "'": "'", '"': '"'}


def value_in_file(text: str) -> str:
    """A text as it has to stand behind the = of an option."""
    escaped = text.replace("\\", "\\\\")
    plain = "#" not in text and text.strip() == text
    if plain and not (len(text) > 1 and text[0] in _QUOTES and text[0] == text[-1]):
        return escaped
    inside = escaped.replace('"', '\\"')
    return f'"{inside}"'


def value_of_line(raw: str) -> str:
    """The text that what stands behind a = means."""
    text = _without_comment(raw).strip()
    if len(text) > 1 and text[0] in _QUOTES and text[0] == text[-1]:
        text = text[1:-1]
    read, letters = [], iter(text)
    for letter in letters:
        if letter != "\\":
            read.append(letter)
            continue
        behind = next(letters, "")
        read.append(_ESCAPES.get(behind, f"\\{behind}"))
    return "".join(read)


def _without_comment(raw: str) -> str:
    """What stands before a # that is in no quotes; inside quotes a backslash keeps one from ending them."""
    quote, escaped = "", False
    for place, letter in enumerate(raw):
        if letter in _QUOTES and not escaped:
            quote = "" if quote == letter else quote or letter
        if letter == "#" and not quote:
            return raw[:place]
        escaped = bool(quote) and letter == "\\" and not escaped
    return raw
