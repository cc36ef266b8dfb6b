"""Options of programs: how they are read, and what is said of one that is not taken.

name_of("--backup_path")                      # "--backup-path": underscores are hyphens
refused("ndb_restore", "--print-meta", known) # the product has it, and it is not simulated
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from ndbplan.ndb.console import tool_options
from ndbplan.train.answer import Answer


def name_of(word: str) -> str:
    """An option with its name as the manual writes it; a value behind = stays as it is."""
    if not word.startswith("--"):
        return word
    name, equals, value = word.partition("=")
    return name.replace("_", "-") + equals + value


def read_words(
    words: Sequence[str], with_value: Container[str], flags: Container[str]
) -> tuple[set[str], dict[str, str]] | str:
    """The flags that words state, and the values of the other options; else the word that is neither."""
    stated, values, left = set[str](), dict[str, str](), list(words)
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=")
        name = name_of(name)
        if name in with_value:
            values[name] = value if equals else left.pop(0) if left else ""
        elif name in flags:
            stated.add(name)
        else:
            return word
    return stated, values


def refused(program: str, word: str, known: Iterable[str], prefix: str = "") -> Answer:
    """What a program says of an option that it does not have, or that is not simulated."""
    name = name_of(word.partition("=")[0])
    if name.removeprefix("--") in tool_options(program) or name in (*_SHORT, *_SHORT_OF.get(program, ())):
        there = ", ".join(one for one in known if one.startswith("--"))
        return Answer(f"ndbplan: {program} {name} is not simulated; there are {there}\n", 2)
    return Answer(f"{program}: [ERROR] {prefix}unknown option '{word[:60]}'.\n", 2)


_SHORT = ("-?", "-V", "-v", "-P", "-p", "-t")
"""Options of one letter that the programs of the product have and that are not simulated."""
_SHORT_OF = {"ndb_desc": ("-a", "-b", "-i", "-m", "-r", "-x"), "ndb_restore": ("-A", "-L", "-d", "-u", "-z")}
"""Those of one program [manual, options of ndb_desc and ndb_restore; desc.cpp]."""
