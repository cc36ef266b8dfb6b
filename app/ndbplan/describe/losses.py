"""What the loss of a part means, in the few words that inspector, table and canvas share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ndbplan.base.kept import kept_by_identity
from ndbplan.configuration.failing_parts import Part, called_in, place_part, single_failure
from ndbplan.configuration.failures import Failures, Judged
from ndbplan.configuration.killers import Search
from ndbplan.describe.overlay import Loss
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.times.rebuild import without_device
from ndbplan.ndb.survival import Outcome
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import process_node_ids

if TYPE_CHECKING:
    from ndbplan.advise.survival import SurvivalReport

VERDICTS = ("stops", "asks", "goes on")
"""The worst first."""
_OF_OUTCOME = {Outcome.STOPS: "stops", Outcome.ASKS: "asks", Outcome.GOES_ON: "goes on"}


def loss_of(judged: Judged) -> Loss:
    """`goes on`, `goes on if the arbitrator (node 145) answers`, `stops: node group 0 is gone`."""
    verdict = judged.best.verdict
    kind = _OF_OUTCOME[verdict.outcome]
    if verdict.outcome is Outcome.STOPS:
        gone = verdict.gone_group
        return Loss(
            kind, f"stops: node group {gone} is gone" if gone is not None else f"stops: {verdict.why}"
        )
    if judged.split_brain:
        return Loss("stops", "splits: both sides live on and take different writes")
    if verdict.outcome is Outcome.ASKS:
        return Loss(kind, f"goes on if the arbitrator (node {verdict.asked}) answers")
    return Loss(kind, "goes on")


def part_of(plan: Plan, object_id: str) -> Part | None:
    """The part of failures that an object is; None for one that cannot fail by itself."""
    thing: Any = plan.by_id.get(object_id)
    if isinstance(thing, Host):
        return Part("host", thing.hostname)
    if isinstance(thing, Disk):
        return single_failure(plan.host_of_disk[thing.id], thing)
    if isinstance(thing, Location):
        return place_part(plan, thing)
    if thing is not None and getattr(thing, "host_id", None) is not None:
        return Part("node", str(thing.node_id))
    return None


def _whole(part: Part) -> Part:
    return Part("disk", part.name) if part.kind == "device" else part


def ids_of(plan: Plan, part: Part) -> tuple[str, ...]:
    """Ids of what a part is on the canvas: one, or the two hosts of a link."""
    if part.kind in ("node", "disk", "device", "host"):
        name = str(int(part.name)) if part.kind == "node" else part.name
        return _machines(plan).get((_whole(part).kind, name), ())
    if part.kind == "link":
        names = part.name.split("/")
        return tuple(host.id for host in plan.hosts if host.hostname in names)
    return tuple(place.id for place in called_in(plan).of(part))


@kept_by_identity(4)
def _machines(plan: Plan) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Ids of nodes, disks and hosts, by the kind and name of a part."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    named = [(("node", str(n)), p.id) for p in plan.processes for n in process_node_ids(p)]
    for host in plan.hosts:
        named.append((("host", host.hostname), host.id))
        named += [(("disk", f"{host.hostname}/{disk.name}"), disk.id) for disk in host.disks]
    for name, object_id in named:
        found[name] = (*found.get(name, ()), object_id)
    return found


def losses_of(plan: Plan, report: SurvivalReport) -> dict[str, Loss]:
    """What the loss of each object means, by id; of a rack that may die or be cut off the worse."""
    return _losses(plan, ((f.dead[0], f.judged) for f in report.failures if len(f.dead) == 1))


def judged_losses(plan: Plan, cancelled: Callable[[], bool] = lambda: False) -> dict[str, Loss]:
    """The same without what is left and for how long, which takes much longer. Raises Cancelled."""
    search = Search(plan, cancelled)
    return _losses(plan, ((part, search.of_parts(part)) for part in search.parts))


def _losses(plan: Plan, failures: Iterable[tuple[Part, Judged]]) -> dict[str, Loss]:
    losses: dict[str, Loss] = {}
    for part, judged in failures:
        if part.kind == "link":
            continue
        loss = loss_of(judged)
        for object_id in ids_of(plan, part):
            known = losses.get(object_id)
            if known is None or VERDICTS.index(loss.verdict) < VERDICTS.index(known.verdict):
                losses[object_id] = loss
    return losses


def link_between(plan: Plan, ids: Sequence[str]) -> Part | None:
    """The link of the two hosts that these objects are, or stand on; None: there are not two."""
    hosts: dict[str, None] = {}
    for object_id in ids:
        thing: Any = plan.by_id.get(object_id)
        host_id = thing.id if isinstance(thing, Host) else getattr(thing, "host_id", None)
        if host_id is None:
            return None
        hosts[plan.host(host_id).hostname] = None
    return Part("link", "/".join(hosts)) if len(hosts) == 2 else None


def meanings(plan: Plan, ids: Sequence[str]) -> list[tuple[str, Loss, str]]:
    """What the loss of the selected objects means: a name for what is lost, the loss, and why.

    Of several: that all fail at once, and that the link between two of them breaks. Raises UserError for a
    plan whose cluster cannot be told.
    """
    parts = [part_of(plan, object_id) for object_id in ids]
    known = [part for part in parts if part is not None]
    if not plan.data_nodes or not known or len(known) < len(parts):
        return []
    failures = Failures(plan)
    asked: list[tuple[str, Sequence[Part]]] = []
    if len(ids) > 1:
        asked.append(("If all fail at once", [_whole(part) for part in known]))
    elif isinstance(disk := plan.by_id[ids[0]], Disk) and disk.raid is not None:
        asked.append((f"If one of its {disk.devices} devices fails", known))
        if known[0].kind == "device":
            asked.append(("If all of it fails", [_whole(known[0])]))
    else:
        asked.append(("If it fails", known))
    if len(ids) == 1 and known[0].kind == "rack":
        asked.append(("If it is cut off", [Part("switch", known[0].name)]))
    between = link_between(plan, ids)
    if between is not None:
        asked.append((f"If the link {between.name.replace('/', ' – ')} breaks", [between]))
    lines = []
    for name, dead in asked:
        judged = failures.judge(dead)
        why = [judged.best.verdict.why]
        if name.startswith("If one of"):
            why.append(without_device(plan.by_id[ids[0]], constants_of(plan)))
        lines.append((name, loss_of(judged), "; ".join(filter(None, why))))
    return lines
