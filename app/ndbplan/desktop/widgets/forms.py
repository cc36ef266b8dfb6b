"""Forms: labelled fields bound to what they edit in the plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtWidgets import QVBoxLayout, QWidget

from ndbplan.base.errors import UserError
from ndbplan.describe.titles import how_called
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.estimates import Estimates
from ndbplan.desktop.widgets.fields import MIXED, ChoiceField, Choices, Commit, Field, FlagField, LineField
from ndbplan.desktop.widgets.preview_card import preview_choices
from ndbplan.desktop.widgets.stepper import Stepper
from ndbplan.desktop.widgets.units import SHARE, STEPPED, Unit
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.places import address_of_part
from ndbplan.ndb.modelled import mark_words
from ndbplan.plan.field_words import TITLES
from ndbplan.plan.plan import Plan

_NAMES_OF_SOMETHING = frozenset({"node_id", "location_domain_id", "distribution_key_first"})
"""Numbers of which one more is not more of anything."""


@dataclass(frozen=True)
class Inner:
    """A part inside an object that has no id of its own, such as the load of a workload."""

    get: Callable[[Any], Any]
    """The part of an object; None when it has none."""
    put: Callable[[Plan, str, Any], Plan]
    """The plan in which the object with this id has another such part."""


class Form(QWidget):
    """Fields of one object of the plan, of several of one kind, of the plan itself (no ids), or of a part."""

    def __init__(
        self,
        document: Document,
        ids: Sequence[str] = (),
        inner: Inner | None = None,
        estimates: Estimates | None = None,
    ) -> None:
        """`estimates`: what says what a choice would do, and takes an input that is to be varied."""
        super().__init__()
        self._document, self._estimates = document, estimates
        self._inner = inner
        self.ids = tuple(ids)
        self._fields: list[tuple[str, Field, Callable[[Any], Any]]] = []
        self._choices: dict[ChoiceField, Callable[[Plan], Choices]] = {}
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(6)

    def line(
        self,
        name: str,
        unit: Unit,
        *,
        label: str = "",
        empty: str | None = None,
        tip: str = "",
        get: Callable[[Any], Any] | None = None,
        edit: Callable[[Plan, str, Any], Plan] | None = None,
    ) -> LineField:
        """A typed field of attribute `name`; `get` and `edit` reach values that are no plain attribute.

        `label`: where the field is called otherwise here than in `TITLES`.
        """
        label = label or TITLES[name]
        field = LineField(label, unit, self._committer(name, label, edit), empty=empty, tip=tip)
        self._add(name, field, get)
        if self._estimates is not None and len(self.ids) == 1 and not (self._inner or get or edit):
            field.offer_to_vary(partial(self._vary, name, unit))
        if self._estimates is not None and unit in STEPPED and name not in _NAMES_OF_SOMETHING:
            Stepper(
                field,
                name,
                self._estimates.previews,
                lambda: self._document.plan,
                partial(self._applied, name, edit),
                of_a_whole=unit is SHARE,
                each=partial(self._stepped, name, get, edit),
                commit=partial(self._document.edit, f"Set {label}{self._whose()}"),
            )
        return field

    def choice(
        self,
        name: str,
        choices: Choices | Callable[[Plan], Choices],
        *,
        label: str = "",
        tip: str = "",
        get: Callable[[Any], Any] | None = None,
        edit: Callable[[Plan, str, Any], Plan] | None = None,
    ) -> ChoiceField:
        """A field with a few values to choose from; a function gives those that fit the plan."""
        label = label or TITLES[name]
        offered = choices(self._document.plan) if callable(choices) else choices
        field = ChoiceField(label, offered, self._committer(name, label, edit), tip=tip)
        if callable(choices):
            self._choices[field] = choices
        if self._estimates is not None:
            preview_choices(
                field.box, self._estimates.previews, lambda at: self._applied(name, edit, field.value_at(at))
            )
        self._add(name, field, get)
        return field

    def flag(
        self,
        name: str,
        *,
        tip: str = "",
        get: Callable[[Any], Any] | None = None,
        edit: Callable[[Plan, str, Any], Plan] | None = None,
    ) -> FlagField:
        """A field that is on or off."""
        label = TITLES[name]
        field = FlagField(label, self._committer(name, label, edit), tip=tip)
        self._add(name, field, get)
        return field

    def refresh(self) -> None:
        """Show what the plan says now."""
        parts = self._parts()
        if not parts:
            return
        for choice, offered in self._choices.items():
            choice.set_choices(offered(self._document.plan))
        for name, field, get in self._fields:
            values = [get(part) for part in parts]
            same = all(value == values[0] for value in values)
            is_assumed = any(name in part.assumed for part in parts)
            confirm = self._confirmer(name, field.label) if is_assumed else None
            field.show_value(values[0] if same else MIXED, confirm)

    def _parts(self) -> list[Any]:
        plan = self._document.plan
        parts = [self._part(plan, i) for i in self.ids if i in plan.by_id] if self.ids else [plan]
        return [part for part in parts if part is not None]

    def _part(self, plan: Plan, object_id: str) -> Any:
        part = plan.by_id.get(object_id) if object_id else plan
        return self._inner.get(part) if self._inner is not None and part is not None else part

    def _changed(self, plan: Plan, object_id: str, **fields: Any) -> Plan:
        if not object_id:
            return edits.set_plan(plan, **fields)
        if self._inner is None:
            return edits.update(plan, object_id, **fields)
        return self._inner.put(plan, object_id, validated.changed(self._part(plan, object_id), **fields))

    def _stated(self, plan: Plan, object_id: str, name: str) -> Plan:
        part = self._part(plan, object_id)
        if part is None or name not in part.assumed:
            return plan
        left = tuple(known for known in part.assumed if known != name)
        return self._changed(plan, object_id, assumed=left)

    def _add(self, name: str, field: Field, get: Callable[[Any], Any] | None) -> None:
        self._fields.append((name, field, get or (lambda part: getattr(part, name))))
        field.setObjectName(name)
        kinds = {type(part).__name__ for part in self._parts()}
        mark = mark_words(kinds.pop(), name) if len(kinds) == 1 else ""
        if mark:
            field.explain(f"{field.editor.toolTip().rstrip('.')}. {mark}".removeprefix(". "))
        self._layout.addWidget(field)

    def _committer(self, name: str, label: str, edit: Callable[[Plan, str, Any], Plan] | None) -> Commit:
        def commit(value: Any) -> None:
            self._document.edit(f"Set {label}{self._whose()}", self._applied(name, edit, value))

        return commit

    def _applied(
        self, name: str, edit: Callable[[Plan, str, Any], Plan] | None, value: Any
    ) -> Callable[[Plan], Plan]:
        """The edit that gives a field a value."""
        return self._applied_to_each(name, edit, dict.fromkeys(self.ids or ("",), value))

    def _applied_to_each(
        self, name: str, edit: Callable[[Plan, str, Any], Plan] | None, values: Mapping[str, Any]
    ) -> Callable[[Plan], Plan]:
        def apply(plan: Plan) -> Plan:
            for object_id, value in values.items():
                after = (
                    edit(plan, object_id, value)
                    if edit is not None
                    else self._changed(plan, object_id, **{name: value})
                )
                plan = self._stated(after, object_id, name)
            return plan

        return apply

    def _stepped(
        self,
        name: str,
        get: Callable[[Any], Any] | None,
        edit: Callable[[Plan, str, Any], Plan] | None,
        step: Callable[[Any], Any],
    ) -> Callable[[Plan], Plan] | None:
        """The edit that takes each object one step on from its own value; None: one of them has no next."""
        values = dict[str, Any]()
        for object_id in self.ids:
            part = self._part(self._document.plan, object_id)
            now = None if part is None else get(part) if get is not None else getattr(part, name)
            if not isinstance(now, int | float) or isinstance(now, bool):
                return None
            values[object_id] = step(now)
            if values[object_id] in (None, now):
                return None
        return self._applied_to_each(name, edit, values)

    def _vary(self, name: str, unit: Unit) -> None:
        """Ask for the field to be varied: half of what it is, that, and twice."""
        plan = self._document.plan
        value = getattr(self._part(plan, self.ids[0]), name)
        if self._estimates is not None and isinstance(value, int | float) and not isinstance(value, bool):
            values = (
                (value // 2, value, 2 * value) if isinstance(value, int) else (value / 2, value, 2 * value)
            )
            address = f"{address_of_part(plan, self.ids[0])}.{name}"
            typed = ",".join(_typed(plan, address, one, unit) for one in dict.fromkeys(values))
            self._estimates.sweep_wanted.emit(f"{address}={typed}")

    def _confirmer(self, name: str, label: str) -> Callable[[], None]:
        def confirm() -> None:
            def apply(plan: Plan) -> Plan:
                for object_id in self.ids or ("",):
                    plan = self._stated(plan, object_id, name)
                return plan

            self._document.edit(f"Confirm {label}{self._whose()}", apply)

        return confirm

    def _whose(self) -> str:
        if not self.ids:
            return ""
        return f" of {how_called(self._document.plan, self.ids)}"


def _typed(plan: Plan, address: str, value: float, unit: Unit) -> str:
    """A value as a person types it: `32GiB`; its plain number where that means another one."""
    from ndbplan.edits.assign import assign

    plain = f"{value:.15g}"
    text = "".join(unit.read(value).split())
    try:
        is_the_same = "," not in text and (
            assign(plan, f"{address}={text}")[0] == assign(plan, f"{address}={plain}")[0]
        )
    except UserError:
        return plain
    return text if is_the_same else plain
