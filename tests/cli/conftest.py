"""Calling commands as a person would, in this process, and looking at what they print."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ndbplan.cli import main
from ndbplan.cli.schemas import output_schema
from ndbplan.plan.file import save
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan


@dataclass
class Called:
    """What a command left behind."""

    code: int
    out: str
    err: str

    def json(self, command: str) -> Any:
        """Its stdout as JSON, checked against the published shape."""
        assert self.code in (0, 1), self.err
        shape = json.loads(self.out)
        jsonschema.validate(shape, output_schema(command))
        return shape

    def refused(self, code: int = 2) -> str:
        """The one line with which it failed."""
        assert self.code == code, self.out + self.err
        assert self.out == ""
        assert self.err.startswith("ndbplan: ")
        assert self.err.count("\n") == 1
        assert "Traceback" not in self.err
        assert "fault of the program" not in self.err
        return self.err


Call = Callable[..., Called]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """`call("samples", "--json")`; `stdin=` is what the command reads."""

    def run(*arguments: object, stdin: str = "") -> Called:
        monkeypatch.setattr(sys, "argv", ["ndbplan", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        code = ended.value.code
        # Whether something is compiled first depends on the tests that ran before.
        said = "".join(line for line in err.splitlines(keepends=True) if not line.startswith("preparing "))
        return Called(code if isinstance(code, int) else 0, out, said)

    return run


@pytest.fixture
def saved(tmp_path: Path) -> Callable[[str | Plan], Path]:
    """`saved("starter")`: the path of a plan file with that sample, or with a plan."""

    def write(plan: str | Plan) -> Path:
        path = tmp_path / f"{plan if isinstance(plan, str) else 'plan'}.ndbplan"
        save(sample_plan(plan) if isinstance(plan, str) else plan, path)
        return path

    return write
