"""Options of programs: how they are read, and what is said of one that is not taken.

read_words("ndb_restore", ["-n3", "--backup_id=1"], ("-n --nodeid", "-b --backupid"))   # values by long names
refused("ndb_restore", "--print-meta", known)    # the product has it, and it is not simulated
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ndbplan.ndb.console import tool_options
from ndbplan.train.answer import Answer


class Read(NamedTuple):
    """What the words of a command line state."""

    flags: frozenset[str]
    """By their long names, as values are."""
    values: dict[str, str]
    names: tuple[str, ...]
    """Words that are no options."""


def name_of(word: str) -> str:
    """An option with its name as the manual writes it; a value behind = stays as it is."""
    if not word.startswith("--"):
        return word
    name, equals, value = word.partition("=")
    return name.replace("_", "-") + equals + value


def read_words(
    program: str, words: Sequence[str], with_value: Sequence[str], flags: Sequence[str] = (), prefix: str = ""
) -> Read | Answer:
    """What words state; an answer where one is no option, or lacks its value.

    `with_value`, `flags`: the spellings of each option, the long one last. `-pn` is `-p -n`, `-n3` is `-n 3`,
    and a long name may be cut off where it stays the only one (my_getopt.cc of the product).
    """
    of = {name: line.split()[-1] for line in (*with_value, *flags) for name in line.split()}
    takes = {line.split()[-1] for line in with_value}
    stated, values, names, left = set[str](), dict[str, str](), list[str](), list(words)
    while left:
        word = left.pop(0)
        name, equals, value = name_of(word).partition("=")
        if len(word) < 2 or word[0] != "-":
            names.append(word)
            continue
        if word[1] != "-" and len(word) > 2:
            own, rest = word[:2], word[2:]
            left[:0] = [rest.removeprefix("=")] if of.get(own) in takes else [f"-{rest}"]
            name, equals = own, ""
        option = of.get(name) or of.get(_only(program, name, of))
        if option is None:
            typed = name if word[1] != "-" else word
            return refused(program, typed, dict.fromkeys(of.values()), prefix)
        if option not in takes:
            stated.add(option)
        elif equals:
            values[option] = value
        elif left:
            values[option] = left.pop(0)
        else:
            return Answer(f"{program}: [ERROR] {prefix}option '{name}' requires an argument.\n", 2)
    return Read(frozenset(stated), values, tuple(names))


def _only(program: str, name: str, known: Iterable[str]) -> str:
    """The only option of a program whose name begins so; empty: there is none, or several."""
    all_names = {*known, *(f"--{one}" for one in tool_options(program))}
    found = [one for one in all_names if name.startswith("--") and len(name) > 2 and one.startswith(name)]
    return found[0] if len(found) == 1 else ""


def refused(program: str, word: str, known: Iterable[str], prefix: str = "") -> Answer:
    """What a program says of an option that it does not have, or that is not simulated."""
    name = name_of(word.partition("=")[0])
    if name.removeprefix("--") in tool_options(program) or name in (*_SHORT, *_SHORT_OF.get(program, ())):
        there = ", ".join(one for one in known if one.startswith("--"))
        return Answer(f"ndbplan: {program} {name} is not simulated; there are {there}\n", 2)
    return Answer(f"{program}: [ERROR] {prefix}unknown option '{word[:60]}'.\n", 2)


_SHORT = ("-?", "-V", "-v", "-P")
"""Options of one letter that the programs of the product have and that are not simulated."""
_SHORT_OF = {
    "ndb_desc": ("-a", "-b", "-i", "-m", "-x"), "ndb_restore": ("-d", "-u", "-z"),
}  # fmt: skip
"""Those of one program [manual, options of ndb_desc and ndb_restore; desc.cpp]."""
