"""Rows of ndbinfo that tell of the configuration and of errors: what the product knows by number."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from ndbplan.base.resources import read_json
from ndbplan.configuration.settings import node_settings
from ndbplan.ndb.errors import Said, every_exit_said, every_said, management_errors
from ndbplan.ndb.parameters import Parameter, parameters
from ndbplan.ndb.version import NdbVersion, in_span
from ndbplan.train.configuring import node_plan
from ndbplan.train.live import LiveCluster

Row = dict[str, Any]
_TYPES = {"int": "unsigned", "int64": "unsigned"}


@cache
def _numbers() -> dict[str, int]:
    return dict(read_json("ndb/config_params.json")["numbers"])


@cache
def _known(version: NdbVersion) -> tuple[tuple[int, Parameter], ...]:
    """Parameters of data nodes that are in use, with their numbers, in the product's order [8.4.8]."""
    numbers = _numbers()
    found = (one for one in parameters("DB", version) if one.status == "used" and one.name in numbers)
    return tuple((numbers[one.name], one) for one in found)


def _stated(value: int | str | bool | None) -> str:
    return "" if value is None else str(int(value)) if isinstance(value, bool) else str(value)


def config_params(cluster: LiveCluster) -> Iterator[Row]:
    """The parameters of data nodes; servers that keep them in a table list what its script knew [7.4.10]."""
    listed = read_json("ndb/config_params.json")["listed"]
    if in_span(cluster.plan.version, listed):
        yield from ({"param_number": _numbers()[name], "param_name": name} for name in listed["names"])
        return
    for number, one in _known(cluster.plan.version):
        is_bool = one.type == "bool"
        yield {
            "param_number": number, "param_name": one.name, "param_description": one.description,
            "param_type": _TYPES.get(one.type, one.type), "param_default": _stated(one.default),
            "param_min": "" if is_bool else _stated(one.minimum),
            "param_max": "" if is_bool else _stated(one.maximum), "param_mandatory": int(one.mandatory),
            "param_status": "",
        }  # fmt: skip


def config_values(cluster: LiveCluster) -> Iterator[Row]:
    """What each data node that runs has for them, by their numbers."""
    known = sorted(_known(cluster.plan.version))
    for node_id in cluster.state.alive():
        node = cluster.state.data_node(node_id)
        assert node is not None
        settings = node_settings(node_plan(cluster.session.simulation, node_id), node)
        own = {"NodeId": str(node_id), "HostName": cluster.state.address(node_id)}
        for number, one in known:
            value = own.get(one.name) or _stated(settings.value(one.name))
            if value:
                yield {"node_id": node_id, "config_param": number, "config_value": value}


def error_messages(cluster: LiveCluster) -> Iterator[Row]:
    """The errors that are known here, in the product's order; the product lists all of its own."""
    known = every_said(cluster.plan.version)
    rows = [Said(0, "", "No error", ""), *(Said(code, "", text, "") for code, text in management_errors())]
    rows += [one for one in known.values() if one.code]
    # What ends a data node, each number once.
    rows += [one for code, one in every_exit_said().items() if code not in known]
    names = ("error_code", "error_description", "error_status", "error_classification")
    yield from (dict(zip(names, row, strict=True)) for row in rows)
