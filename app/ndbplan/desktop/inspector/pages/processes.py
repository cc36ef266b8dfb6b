"""Pages for data nodes, management nodes, SQL nodes and API slots."""

from __future__ import annotations

from collections.abc import Sequence

from ndbplan.configuration.settings import no_of_replicas
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.inspector.page import Page
from ndbplan.desktop.inspector.pages.hardware import add_disk_choice, host_choices
from ndbplan.desktop.inspector.pages.prices import OF_NODES, add_prices
from ndbplan.desktop.widgets.units import WHOLE
from ndbplan.edits import parts as edits
from ndbplan.edits.roles import move_process
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DiskRole


class DataNodePage(Page):
    """Data nodes: where they run, their group, the disks they write to."""

    def __init__(self, context: Context, ids: Sequence[str]) -> None:
        super().__init__(context, ids)
        form = self.form()
        if self.only is not None:
            form.line("node_id", WHOLE, tip="1 to 144 (to 48 before 8.0.18)")
        form.choice("host_id", host_choices, edit=move_process)
        form.choice(
            "node_group",
            _groups,
            tip="By node id: the product fills groups of NoOfReplicas nodes in node-id order",
        )
        roles = self.section("Disks")
        disks = self.form(roles.body)
        for role in DiskRole:
            add_disk_choice(disks, role)
        add_prices(self, OF_NODES)


class ProcessPage(Page):
    """Management nodes, SQL nodes and API slots."""

    def __init__(self, context: Context, ids: Sequence[str]) -> None:
        super().__init__(context, ids)
        form = self.form()
        if self.only is not None:
            form.line("node_id", WHOLE, tip="1 to 255, unlike any other node's")
        form.choice("host_id", self._hosts, edit=_move)
        add_prices(self, OF_NODES)

    def _hosts(self, plan: Plan) -> list[tuple[str | None, str]]:
        nodes = [plan.by_id[i] for i in self.ids if i in plan.by_id]
        anywhere: list[tuple[str | None, str]] = [(None, "any host")]
        return [*(anywhere if all(n.kind == "api" for n in nodes) else []), *host_choices(plan)]


def _move(plan: Plan, process_id: str, host_id: str | None) -> Plan:
    return edits.update(plan, process_id, host_id=host_id)


def _groups(plan: Plan) -> list[tuple[int | None, str]]:
    used = [n.node_group for n in plan.data_nodes if n.node_group not in (None, NODE_GROUP_NONE)]
    replicas = no_of_replicas(plan)
    count = max([len(plan.data_nodes) // replicas, *(number + 1 for number in used if number is not None)])
    return [
        (None, "by node id"),
        *((number, str(number)) for number in range(count + 1)),
        (NODE_GROUP_NONE, "reserved (65536)"),
    ]
