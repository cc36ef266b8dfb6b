"""Adding copies of what is there: copy and paste, in one plan or from another."""

from __future__ import annotations

from ndbplan.edits import clipboard
from ndbplan.edits.additions.words import Made, Words, object_path
from ndbplan.edits.address import AddressError, resolve
from ndbplan.plan.plan import Plan


def copies(plan: Plan, words: Words) -> Made:
    """A second one of each object that is named, under free names; `onto=` is the host of loose parts."""
    return copied(plan, plan, words)


def copied(plan: Plan, source: Plan, words: Words) -> Made:
    """The plan with copies of objects of another one. Raises UserError."""
    if not words.names:
        raise AddressError("nothing is named that could be copied", fix="write 'add PLAN copy hosts[a1]'")
    left = words.without("onto").fields
    if left:
        raise AddressError(f"a copy has no {next(iter(left))[:60]} of its own", fix="set it afterwards")
    ids = []
    for name in words.names:
        parts = [source.by_id[name]] if name in source.by_id else [one.value for one in resolve(source, name)]
        for part in parts:
            if getattr(part, "id", None) not in source.by_id:
                raise AddressError(
                    f"'{name[:60]}' is not an object with an id", fix="copy hosts, disks, nodes, tables …"
                )
            ids.append(part.id)
    onto = words.fields.get("onto")
    host_id = None if onto is None else resolve(plan, onto if "[" in onto else f"hosts[{onto}]")[0].value.id
    if host_id is None:
        host_id = _host_of(plan, source, ids) if plan is source else None
    after, new = clipboard.paste(plan, clipboard.copy(source, ids), onto_host=host_id)
    return after, [object_path(after, object_id) for object_id in new]


def _host_of(plan: Plan, source: Plan, ids: list[str]) -> str | None:
    """Where the first part stands that stands on a host: a copy goes beside it."""
    for object_id in ids:
        host = source.host_of_disk.get(object_id)
        host_id = host.id if host is not None else getattr(plan.by_id[object_id], "host_id", None)
        if host_id is not None:
            return str(host_id)
    return None
