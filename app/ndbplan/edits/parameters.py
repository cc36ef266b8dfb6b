"""Configuration parameters that a plan states: set, taken back, and who set them."""

from __future__ import annotations

from typing import Any

from ndbplan.configuration.stated import link_scope
from ndbplan.edits.origins import with_origin
from ndbplan.edits.parts import update_each
from ndbplan.edits.validated import T, changed
from ndbplan.plan.fields import Parameters
from ndbplan.plan.origins import Origin, Origins
from ndbplan.plan.plan import Plan


def set_parameter(
    plan: Plan, scope: str, name: str, value: int | str | None, origin: Origin | None = None
) -> Plan:
    """Set a configuration parameter for all nodes of a kind; None takes it back to the default.

    `scope` is data_node, management, sql, tcp, the id of one process, or a connection (`stated.link_scope`);
    `origin` says who sets it: None, a person does.
    """
    if scope in type(plan.parameters).model_fields:
        stated = getattr(plan.parameters, scope)
        origins = with_origin(getattr(plan.origins, scope), stated, name, value, origin)
        return plan.replace(
            parameters=changed(plan.parameters, **{scope: with_parameter(stated, name, value)}),
            origins=changed(plan.origins, **{scope: origins}),
        )
    if scope.startswith("link:"):
        links = tuple(
            part_with_parameter(link, name, value, origin) if link_scope(link) == scope else link
            for link in plan.links
        )
        return plan.replace(links=links)
    return update_each(plan, {scope: lambda part: part_with_parameter(part, name, value, origin)})


def part_with_parameter(part: T, name: str, value: int | str | None, origin: Origin | None) -> T:
    """A process or link with a parameter of its own set; see set_parameter."""
    given: Any = part
    return changed(
        part,
        parameters=with_parameter(given.parameters, name, value),
        origins=with_origin(given.origins, given.parameters, name, value, origin),
    )


def stated_at(plan: Plan, scope: str) -> tuple[Parameters, Origins]:
    """What is stated at a scope, and who set it."""
    if scope in type(plan.parameters).model_fields:
        return getattr(plan.parameters, scope), getattr(plan.origins, scope)
    links = {link_scope(link): link for link in plan.links} if scope.startswith("link:") else {}
    part: Any = links[scope] if scope in links else plan.by_id[scope]
    return part.parameters, part.origins


def put_origin(plan: Plan, scope: str, name: str, origin: Origin | None) -> Plan:
    """The plan that says who set a stated parameter; None: a person did, and nothing moves it."""
    before = stated_at(plan, scope)[1]
    origins = before.without(name) if origin is None else before.with_(name, origin)
    if origins == before:
        return plan
    if scope in type(plan.parameters).model_fields:
        return plan.replace(origins=changed(plan.origins, **{scope: origins}))
    if scope.startswith("link:"):
        links = (changed(i, origins=origins) if link_scope(i) == scope else i for i in plan.links)
        return plan.replace(links=tuple(links))
    return update_each(plan, {scope: lambda part: changed(part, origins=origins)})


def with_parameter(values: Parameters, name: str, value: int | str | None) -> Parameters:
    """The parameters with one set, or taken out for None; the same name in other letters gives way to it."""
    others = [each for each in values if each.lower() == name.lower() and each != name]
    if value is None:
        return values.without(name)
    for each in others:
        values = values.without(each)
    return values.with_(name, value)
