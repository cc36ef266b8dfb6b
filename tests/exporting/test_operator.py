"""The operator's resource against its own CRD and webhook, which are data beside this file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings

from drawn_plans import plans
from ndbplan.base.resources import resource_path
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import set_plan, update
from ndbplan.exporting.export import render_files
from ndbplan.plan import file
from ndbplan.plan.plan import Plan

FACTS: dict[str, Any] = json.loads((Path(__file__).parent / "ndbcluster_crd.json").read_text())
SAMPLES = sorted(path.stem for path in resource_path("samples").glob("*.ndbplan"))
KINDS = {"integer": int, "string": str, "boolean": bool}
REFUSED = "THE OPERATOR REFUSES THIS"


def sample(name: str) -> Plan:
    return file.load(resource_path(f"samples/{name}.ndbplan"))


def exported(plan: Plan) -> tuple[str, dict[str, Any]]:
    """What is said at the top, in one line, and the resource."""
    text = render_files(set_plan(plan, ndb_version="8.4"), ["operator"])["ndb-operator.yaml"]
    head = text.partition("\n---\n")[0]
    return " ".join(head.replace("\n# ", " ").split()), yaml.safe_load(text)


def misfits(where: str, value: Any, shape: dict[str, Any]) -> Iterator[str]:
    """What of a value the schema of the CRD refuses or drops."""
    if "fields" in shape:
        yield from (f"{where}.{name} is unknown" for name in value.keys() - shape["fields"].keys())
        yield from (f"{where} lacks {name}" for name in set(shape.get("required", ())) - value.keys())
        for name in value.keys() & shape["fields"].keys():
            yield from misfits(f"{where}.{name}", value[name], shape["fields"][name])
    for name, one in value.items() if "values" in shape else ():
        fits = any(is_a(kind, one) for kind in shape["values"])
        yield from () if fits else (f"{where}.{name} is {one!r}",)
    yield from (
        (f"{where} has {one}" for one in value if one not in shape["items"]) if "items" in shape else ()
    )
    if "enum" in shape and value not in shape["enum"]:
        yield f"{where} is {value!r}"
    if "type" in shape and type(value) is not KINDS[shape["type"]]:
        yield f"{where} is {value!r}"
    elif (
        not shape.get("min", -(2**31)) <= (value if isinstance(value, int) else 0) <= shape.get("max", 2**31)
    ):
        yield f"{where} is {value}"
    if "pattern" in shape and not re.fullmatch(shape["pattern"], value):
        yield f"{where} is {value!r}"
    if len(str(value)) > shape.get("letters", 10**6):
        yield f"{where} is long: {value}"


def is_a(kind: str, value: Any) -> bool:
    if kind == "quantity":
        return re.fullmatch(FACTS["quantity"], str(value)) is not None
    return type(value) is KINDS[kind]


def refusals(resource: dict[str, Any]) -> Iterator[str]:
    """What the webhook, or ndb_mgmd with the config.ini that the operator makes, says no to."""
    spec = resource["spec"]
    for node in ("dataNode", "managementNode"):
        config = {name.lower() for name in spec.get(node, {}).get("config", {})}
        yield from config & {*FACTS["disallowed_parameters"], *FACTS["written_by_the_operator"]["parameters"]}
    mysqld, data = spec["mysqlNode"], spec["dataNode"]["nodeCount"]
    if data % spec["redundancyLevel"]:
        yield "nodeCount"
    if mysqld["maxNodeCount"] < mysqld["nodeCount"]:
        yield "maxNodeCount"
    managers = 1 if spec["redundancyLevel"] == 1 else 2
    if managers + data + mysqld["maxNodeCount"] + spec["freeAPISlots"] + 1 > FACTS["nodes_most"]:
        yield "total nodes"
    sections = mysqld["maxNodeCount"] * mysqld.get("connectionPoolSize", 1) + spec["freeAPISlots"]
    if FACTS["first_api_node_id"] + sections - 1 > 255:
        yield "node ids"
    first, *lines = mysqld.get("myCnf", "[mysqld]").splitlines()
    yield from () if first == "[mysqld]" else ("myCnf",)
    yield from (line for line in lines if line.startswith("[") or not line.partition("=")[2])


@pytest.mark.parametrize("name", SAMPLES)
def test_the_operator_takes_every_sample(name: str) -> None:
    said, resource = exported(sample(name))
    assert list(misfits("", resource, {"fields": FACTS["fields"]})) == []
    assert list(refusals(resource)) == []
    assert REFUSED not in said


@given(plan=plans())
@settings(max_examples=40)
def test_what_the_operator_would_not_take_is_said(plan: Plan) -> None:
    said, resource = exported(plan)
    wrong = [*misfits("", resource, {"fields": FACTS["fields"]}), *refusals(resource)]
    assert bool(wrong) == (REFUSED in said), (wrong, said)


def test_more_connections_than_node_ids_are_said_to_be_refused() -> None:
    """147 and the ids below it are the operator's own."""
    plan = sample("starter")
    first = plan.sql_nodes[0]
    few = plan.replace(processes=tuple(one for one in plan.processes if one.kind != "api"))
    for ids, why in ((54, ""), (55, f"{REFUSED}: 110 connections of SQL nodes and API slots, 108 at most")):
        full = few
        for node in few.sql_nodes:
            start = 20 if node is first else 150
            full = update(full, node.id, node_id=start, pool_node_ids=tuple(range(start + 1, start + ids)))
        said, resource = exported(full)
        assert list(refusals(resource)) == (["node ids"] if why else [])
        assert why in said
        assert (REFUSED in said) == bool(why)


def test_every_option_has_a_value_as_the_operator_reads_no_other() -> None:
    """It refuses a line without one: log-bin alone stood there."""
    plan = sample("starter")
    options = {
        "log_bin": 1,
        "skip-name-resolve": "",
        "sql-mode": "",
        "log-error-verbosity": 3,
        "binlog_format": "ROW",
    }
    for node in plan.sql_nodes:
        plan = update(plan, node.id, options=options)
    lines = exported(plan)[1]["spec"]["mysqlNode"]["myCnf"].splitlines()
    assert lines[:4] == ["[mysqld]", "log-bin=binlog", "skip-name-resolve=1", 'sql-mode=""']
    for node in plan.sql_nodes:
        plan = update(plan, node.id, options={"log_bin": 0})
    assert exported(plan)[1]["spec"]["mysqlNode"]["myCnf"] == "[mysqld]\nskip-log-bin=1\n"


def test_what_names_folders_of_hosts_stays_out_of_pods() -> None:
    plan = sample("starter")
    for node in plan.sql_nodes:
        plan = update(plan, node.id, options={"log_bin": "/logs/bin", "tmpdir": "/t", "relay-log": "here"})
    plan = set_parameter(plan, "management", "LogDestination", "FILE:filename=/var/log/ndb.log")
    said, resource = exported(plan)
    assert resource["spec"]["mysqlNode"]["myCnf"] == "[mysqld]\nrelay-log=here\n"
    assert "managementNode" not in resource["spec"]
    assert "left out, which names some: LogDestination, log-bin, tmpdir." in said


def test_encrypted_files_have_their_secret() -> None:
    plan = set_parameter(sample("starter"), "data_node", "EncryptedFileSystem", 1)
    said, resource = exported(plan)
    assert resource["spec"]["tdeSecretName"] == "starter-tde"
    assert "kubectl create secret generic starter-tde --from-literal=password=PASSWORD" in said
    assert "tdeSecretName" not in exported(sample("starter"))[1]["spec"]


def test_a_start_that_kubernetes_does_not_wait_for_is_said() -> None:
    """Its probe gives a data node 15 minutes; more rows take longer, few do not."""
    assert "It gives a data node 15 min to start" in exported(sample("starter"))[0]
    assert "to start, then ends" not in exported(sample("measured-7.4.10"))[0]


def test_no_more_storage_is_asked_for_than_volumes_of_the_disks_have() -> None:
    plan = sample("starter")
    node = plan.data_nodes[0]
    asked = exported(plan)[1]["spec"]["dataNode"]["pvcSpec"]["resources"]["requests"]["storage"]
    whole = sum(disk.capacity_bytes for disk in plan.host(node.host_id).disks)
    assert 2**37 < int(asked.removesuffix("Mi")) * 2**20 < 0.9 * whole
