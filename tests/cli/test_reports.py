"""`report` and `verify` as they are typed: files, exit codes, refusals in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ndbplan.plan.file import save
from ndbplan.plan.samples import sample_plan


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "starter.ndbplan"
    save(sample_plan("starter").replace(workloads=()), path)
    return path


def test_a_report_is_written_verified_and_found_changed(call: Any, plan: Path, tmp_path: Path) -> None:
    page = tmp_path / "starter.html"
    done = call("report", plan, "-o", page, "--sections", "hardware", "--date", "2026-05-09", "--json")
    assert done.json("report") == {"files": [str(page)]}
    shape = call("verify", page, "--json").json("verify")
    assert (shape["differ"], shape["not_checked"]) == ([], [])
    page.write_text(page.read_text("utf-8").replace(">host-a1<", ">host-a9<", 1), encoding="utf-8")
    changed = call("verify", page)
    assert changed.code == 1
    assert "the file says 'host-a9', it comes out as 'host-a1'" in changed.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "x.docx"], "'.docx' is not a kind of report"),
        (["-o", "x.html", "--sections", "memry"], "did you mean memory?"),
        (["-o", "x.html", "--date", "9.5.2026"], "type for example 2026-05-09"),
        (["-o", "x.html", "--logo", "logo.gif"], "'.gif' is not a kind of picture"),
        (["-o", "x.html", "--variants", "Main"], "'Main' stands alone"),
        (["-o", "x.html", "--notes", "missing.md"], "missing.md: cannot be read"),
    ],
)
def test_what_cannot_be_is_refused(call: Any, plan: Path, options: list[str], said: str) -> None:
    assert said in call("report", plan, *options).refused()


def test_a_file_without_a_plan_is_refused(call: Any, tmp_path: Path) -> None:
    letter = tmp_path / "letter.html"
    letter.write_text("<!doctype html><p>Hello")
    assert "no plan travels inside it" in call("verify", letter).refused()
