"""What is left out when pydantic loads is not missed."""

from __future__ import annotations

import subprocess
import sys

_CODE = """
import typing, typing_extensions
before = typing.TypedDict, typing_extensions.TypedDict
from ndbplan.plan.plan import Plan
assert (typing.TypedDict, typing_extensions.TypedDict) == before
import sys, json
assert "importlib.metadata" not in sys.modules
from pydantic import TypeAdapter, ValidationError
from ndbplan.plan.samples import sample_plan
plan = sample_plan("starter")
assert Plan.model_validate_json(plan.model_dump_json()) == plan
class Pair(typing_extensions.TypedDict):
    name: str
    size: int
assert TypeAdapter(Pair).validate_python({"name": "a", "size": "3"}) == {"name": "a", "size": 3}
try:
    Plan.model_validate({"hosts": [{"id": "h"}]})
except ValidationError as error:
    print(error.error_count() > 0, len(json.dumps(Plan.model_json_schema())) > 1000)
"""


def test_plans_validate_and_describe_themselves_with_pydantics_types_unread() -> None:
    done = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == "True True\n"
