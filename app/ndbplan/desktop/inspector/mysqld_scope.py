"""Options of mysqld of some SQL nodes, in the panel of parameters: they stand in my.cnf."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ndbplan.base.errors import UserError
from ndbplan.base.units import whole_number
from ndbplan.desktop.inspector.parameter_model import Scope
from ndbplan.desktop.widgets.units import BYTES
from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import with_parameter
from ndbplan.edits.validated import changed
from ndbplan.ndb.mysqld_options import MysqldOption, canonical, fault, flag_of, number_of, option, options
from ndbplan.ndb.parameters import Parameter
from ndbplan.plan.origins import Origin
from ndbplan.plan.plan import Plan


@dataclass(frozen=True)
class MysqldScope(Scope):
    """The options of the SQL nodes with these ids: those that matter for NDB, and what else is stated."""

    def known_for(self, plan: Plan) -> object:
        return plan.version, tuple(self._others(plan))

    def rows(self, plan: Plan) -> list[Parameter]:
        known = [_as_parameter(option) for option in options(plan.version)]
        others = [_as_parameter(MysqldOption.unlisted(name)) for name in self._others(plan)]
        return sorted(known + others, key=lambda row: row.name)

    def own(self, plan: Plan, name: str) -> Any:
        value, known = super().own(plan, name), option(name, plan.version)
        flag = flag_of(str(value)) if known is not None and known.type == "bool" else None
        return value if flag is None else flag

    def stated(self, process: Any) -> Mapping[str, int | str]:
        return {canonical(name): value for name, value in process.options.items()}

    def inherited(self, plan: Plan, name: str) -> Any:
        return self.default(plan, name)

    def default(self, plan: Plan, name: str) -> int | str | None:
        return next((o.default for o in options(plan.version) if o.name == name), None)

    def origins(self, plan: Plan, name: str) -> tuple[Origin | None, ...]:
        return ()

    def can_hand_over(self, name: str) -> bool:
        return False

    def parsed(self, parameter: Parameter, text: str, plan: Plan) -> int | str:
        if parameter.unit == "bytes" and number_of(text, plan.version) is None:
            # People may also type 64 KB.
            text = str(BYTES.parse(text))
        if why := fault(parameter.name, text, plan.version):
            raise UserError(
                why.removeprefix(f"{parameter.name} "), fix="take another value, or none for the default"
            )
        number = whole_number(text)
        return text if number is None else number

    def put(self, plan: Plan, name: str, value: int | str | None) -> Plan:
        return edits.update_each(
            plan, dict.fromkeys(self.process_ids, partial(_with, name=name, value=value))
        )

    def _others(self, plan: Plan) -> list[str]:
        """Stated options that no list has: they belong to mysqld itself."""
        known = {option.name for option in options(plan.version)}
        nodes = (plan.by_id[i] for i in self.process_ids if i in plan.by_id)
        return sorted({name for node in nodes for name in self.stated(node)} - known)


def _with(node: Any, *, name: str, value: int | str | None) -> Any:
    kept = node.options
    for written in node.options:
        if canonical(written) == name:
            kept = kept.without(written)
    return changed(node, options=with_parameter(kept, name, value))


def _as_parameter(option: MysqldOption) -> Parameter:
    return Parameter(
        section="",
        name=option.name,
        type=option.type,
        unit=option.unit,
        default=option.default,
        minimum=option.minimum,
        maximum=option.maximum,
        restart="set_global" if option.dynamic else "its_node",
        description=option.what,
        note="",
        status="used",
        mandatory=False,
        allowed_values=(),
        related=(),
        replaced_by="",
        counterpart="",
        since=option.since,
        since_taken_from="",
        absent_in="",
        removed="",
        taken_from="",
    )
