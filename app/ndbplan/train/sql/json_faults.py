"""What is wrong with a text of JSON, and where, in the words of the server's parser.

    fault_of('[1, 2')        # ("Missing a comma or ']' after an array element.", 5)

Source: RapidJSON (reader.h, error/en.h), which the server reads JSON with; words and places as its own tests
have them (suite json).
"""

from __future__ import annotations

import re

_BLANKS = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)?")
_DIGITS = re.compile(r"[0-9]++")
_WORDS = {"n": "null", "t": "true", "f": "false"}


class _FaultError(Exception):
    def __init__(self, words: str, at: int) -> None:
        super().__init__(words)
        self.words, self.at = words, at


def fault_of(text: str) -> tuple[str, int] | None:
    """The fault and the bytes before it; None: the text is JSON."""
    try:
        at = _skip(text, 0)
        if at == len(text):
            raise _FaultError("The document is empty.", at)
        at = _skip(text, _value(text, at))
        if at < len(text):
            raise _FaultError("The document root must not be followed by other values.", at)
    except _FaultError as fault:
        return fault.words, len(text[: fault.at].encode())
    return None


def _skip(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return at if found is None else found.end()


def _value(text: str, at: int) -> int:
    """Where a value ends that begins here."""
    sign = text[at : at + 1]
    if sign == '"':
        return _string(text, at)
    if sign in ("{", "["):
        return _members(text, at)
    if sign in _WORDS and sign:
        return _word(text, at, _WORDS[sign])
    return _number(text, at)


def _word(text: str, at: int, word: str) -> int:
    for letter in word:
        if text[at : at + 1] != letter:
            raise _FaultError("Invalid value.", at)
        at += 1
    return at


def _number(text: str, at: int) -> int:
    found = _NUMBER.match(text, at)
    end = at if found is None else found.end()
    if text[at:end] in ("", "-"):
        raise _FaultError("Invalid value.", end)
    if text[end : end + 1] == ".":
        end = _digits(text, end + 1, "Miss fraction part in number.")
    if text[end : end + 1] in ("e", "E"):
        end += 1 + (text[end + 1 : end + 2] in ("+", "-"))
        end = _digits(text, end, "Miss exponent in number.")
    return end


def _digits(text: str, at: int, missing: str) -> int:
    found = _DIGITS.match(text, at)
    if found is None:
        raise _FaultError(missing, at)
    return found.end()


def _string(text: str, at: int) -> int:
    found = _STRING.match(text, at)
    end = at if found is None else found.end()
    sign = text[end : end + 1]
    if sign == '"':
        return end + 1
    if sign == "\\":
        is_code = text[end + 1 : end + 2] == "u"
        what = "Incorrect hex digit after \\u escape" if is_code else "Invalid escape character"
        raise _FaultError(f"{what} in string.", end)
    raise _FaultError(
        "Invalid encoding in string." if sign else "Missing a closing quotation mark in string.", end
    )


def _members(text: str, at: int) -> int:
    """Where an object or an array ends."""
    is_object = text[at] == "{"
    closing = "}" if is_object else "]"
    at = _skip(text, at + 1)
    if text[at : at + 1] == closing:
        return at + 1
    while True:
        at = _skip(text, _value(text, _named(text, at) if is_object else at))
        sign = text[at : at + 1]
        if sign == closing:
            return at + 1
        if sign != ",":
            what = "an object member" if is_object else "an array element"
            raise _FaultError(f"Missing a comma or '{closing}' after {what}.", at)
        at = _skip(text, at + 1)


def _named(text: str, at: int) -> int:
    """Where the value of a member begins."""
    if text[at : at + 1] != '"':
        raise _FaultError("Missing a name for object member.", at)
    at = _skip(text, _string(text, at))
    if text[at : at + 1] != ":":
        raise _FaultError("Missing a colon after a name of object member.", at)
    return _skip(text, at + 1)
