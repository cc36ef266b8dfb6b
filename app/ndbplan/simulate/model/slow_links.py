"""What a slowed link lets pass: each host, and each uplink, of its sides has a share of its bandwidth for it.

    slow_services(plan, workload, slow)[0].max_per_s

Source: arithmetic of what flows between hosts (estimate.load.flows); constants by name in
resources/ndb/constants.json.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_percent
from ndbplan.configuration.settings import connection_settings, node_settings
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.load.flows import Flows
from ndbplan.estimate.loaded import flows_of_hosts, rate_of
from ndbplan.estimate.times.copy_links import SlowLink
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import node_ids
from ndbplan.plan.workloads import Workload
from ndbplan.simulate.model.load_over_time import Service, service_of

_Hosts = Collection[str | None]


@kept_by_identity(16)
def slow_services(plan: Plan, workload: Workload, slow: SlowLink) -> tuple[Service, ...]:
    """Transactions per second that each host and each stated uplink of the sides passes, lowest first."""
    rate = rate_of(plan, workload)
    if rate <= 0:
        return ()
    found: list[Service] = []
    where = f"{slow.name} at {format_percent(slow.factor)}"
    for link, use in _uses(plan, flows_of_hosts(plan, workload), slow):
        found += service_of(rate, "network", where, use, link)
    return tuple(sorted(found, key=lambda one: one.max_per_s))


def _sides(plan: Plan, slow: SlowLink) -> tuple[_Hosts, _Hosts]:
    """Both sides; None stands for where clients from anywhere are."""
    return slow.here, slow.there or {None, *(host.id for host in plan.hosts)} - slow.here


def _uses(plan: Plan, flows: Flows, slow: SlowLink) -> Iterator[tuple[str, Quantity]]:
    """Id of a host or location, and how much of what is left of its link is in use."""
    usable, (here, there) = constants_of(plan)["network_usable"], _sides(plan, slow)
    # Where one side alone is named, the links of all others are whole.
    for side, far in ((here, there), (there, here)) if slow.there else ((here, there),):
        for host in (host for host in plan.hosts if host.id in side):
            link = Quantity.stated(f"link of {host.hostname}", host.network_bytes_per_s, "bytes/s")
            yield host.id, _use(flows, {host.id}, far, link * usable, slow.factor)
        for location in plan.locations:
            inside = {host.id for host in plan.hosts_in([location.id]) if host.id in side}
            if inside and location.uplink_bytes_per_s is not None:
                uplink = Quantity.stated(f"uplink of {location.name}", location.uplink_bytes_per_s, "bytes/s")
                yield location.id, _use(flows, inside, far, uplink, slow.factor)


def _use(flows: Flows, here: _Hosts, there: _Hosts, link: Quantity, factor: float) -> Quantity:
    ways = (flows.crossing(here, there), flows.crossing(there, here))
    busier = max(ways, key=lambda way: way.value).named("busier direction")
    return (busier / (link * Quantity.stated("share that is left", factor, "", "event"))).in_unit("fraction")


def slow_send_buffered(plan: Plan, workload: Workload, slow: SlowLink) -> float:
    """Transactions whose messages fit the send buffers of data nodes for the other side of a slow link.

    0: no data node sends anything there, so that only clients wait.
    """
    rate, flows, (here, there) = rate_of(plan, workload), flows_of_hosts(plan, workload), _sides(plan, slow)
    each, share = (
        connection_settings(plan).number("SendBufferMemory"),
        constants_of(plan)["send_overload_share"],
    )
    rooms = []
    for side, far in ((here, there), (there, here)):
        peers = node_ids(process for process in plan.processes if process.host_id in far)
        for node in (node for node in plan.data_nodes if node.host_id in side):
            out = flows.crossing({node.host_id}, far).value
            room = node_settings(plan, node).number("TotalSendBufferMemory") or each * max(1, peers)
            rooms += [share.value * room * rate / out] if out > 0 else []
    return max(1.0, min(rooms)) if rooms else 0.0
