"""What one JSON document has other than another, as a merge patch (RFC 7396) that looks into lists.

    difference(before, after)        # {"hosts": {"a1": {"cores": 48}, "a3": None}}
    applied(before, patch)           # after again; what it leaves alone are the same objects

An object holds only what changes; null takes a key away. A list whose members all have an id (or all a name)
is such an object too, by these; its new members come last, or where ORDER says. Any other list is exchanged
as a whole. The documents hold no null themselves: a plan file leaves out what has its default.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

ORDER = "$order"
"""Key of a list's patch: its members in their order. No id begins like this; a list with such a name is
exchanged as a whole."""


class PatchError(ValueError):
    """A patch that says what cannot be done with the document."""


def difference(before: Json, after: Json) -> Json:
    """What makes `after` of `before`: in the order of `before`, then what is new."""
    patch: Json = {}
    for key in (*before, *(key for key in after if key not in before)):
        old, new = before.get(key), after.get(key)
        if old == new and type(old) is type(new):
            continue
        members, others = _members(old), _members(new)
        if isinstance(old, dict) and isinstance(new, dict):
            patch[key] = difference(old, new)
        elif members and others and _key(old) == _key(new):
            patch[key] = _of_list(members, others, _key(old))
        else:
            patch[key] = new
    return patch


def _of_list(members: Json, others: Json, called: str) -> Json:
    patch = difference(members, others)
    kept = [name for name in members if name in others]
    added = [name for name in others if name not in members]
    for name in added:
        patch[name] = {key: value for key, value in others[name].items() if key != called}
    return patch if list(others) == [*kept, *added] else {**patch, ORDER: list(others)}


def applied(before: Json, patch: Json, place: str = "") -> Json:
    """The document after a patch. Raises PatchError, which names the place."""
    after = dict(before)
    for key, value in patch.items():
        old, here = before.get(key), f"{place}.{key}" if place else key
        if value is None:
            after.pop(key, None)
        elif not isinstance(value, dict) or old is None:
            after[key] = value
        elif isinstance(old, dict):
            after[key] = applied(old, value, here)
        else:
            after[key] = _list_after(old, value, here)
    return after


def _list_after(old: Any, patch: Json, place: str) -> list[Any]:
    members, key = _members(old), _key(old)
    if not key:
        raise PatchError(f"{place} has no members with an id or a name: it is exchanged as a whole")
    after = applied(members, {name: value for name, value in patch.items() if name != ORDER}, place)
    for name, member in after.items():
        if not isinstance(member, dict):
            raise PatchError(f"{place}.{name} is not an object")
    order = patch.get(ORDER, [])
    if not isinstance(order, list):
        raise PatchError(f"{place}.{ORDER} is not a list")
    first = [name for name in dict.fromkeys(map(str, order)) if name in after]
    names = [*first, *(name for name in after if name not in first)]
    return [after[n] if after[n] is members.get(n) else {**after[n], key: n} for n in names]


def _key(value: Any) -> str:
    """What the members of a list are known by; nothing: they are not."""
    if not isinstance(value, list) or not all(isinstance(member, dict) for member in value):
        return ""
    for key in ("id", "name"):
        names = [member.get(key) for member in value]
        if all(isinstance(name, str) and not name.startswith("$") for name in names):
            return key if len(set(names)) == len(names) else ""
    return ""


def _members(value: Any) -> Json:
    """The members of a list by what they are known by; empty: they are not."""
    key = _key(value)
    return {member[key]: member for member in value} if key else {}
