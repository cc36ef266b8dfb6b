"""A file that a newer program wrote is read as far as it is understood, and never written over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ndbplan.plan import file
from ndbplan.plan.file import PlanFileError, dumps, load, open_file, save
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.project import Project
from ndbplan.plan.samples import sample_plan

STARTER = sample_plan("starter")


def _newer(path: Path, **changes: Any) -> Path:
    document = {**json.loads(dumps(STARTER)), "format_version": 3, **changes}
    path.write_text(json.dumps(document))
    return path


def test_what_is_not_understood_is_listed_and_the_rest_is_there(tmp_path: Path) -> None:
    document = json.loads(dumps(STARTER))
    document["hosts"][1]["gpus"] = 4
    document["hosts"][0]["disks"][0]["zone"] = {"a": [1]}
    document["processes"].append({"kind": "proxy", "id": "p1", "node_id": 99, "host_id": "host-a1"})
    document["workloads"][0]["events"] = [{"kind": "meteor", "at_s": 3}]
    path = _newer(tmp_path / "a.ndbplan", **{**document, "format_version": 3, "moods": ["fine"]})
    opened = open_file(path)
    assert opened.newer_format == 3
    assert set(opened.not_understood) >= {"moods", "hosts[1].gpus", "hosts[0].disks[0].zone"}
    assert any(place.startswith("processes[") for place in opened.not_understood)
    assert any("events[0]" in place for place in opened.not_understood)
    assert opened.plan == STARTER.replace(workloads=opened.plan.workloads)
    assert "hosts[1].gpus" in opened.notice("a.ndbplan")
    assert "save under another name" in opened.notice("a.ndbplan")


@pytest.mark.parametrize(
    ("count", "told"), [(4, "a, b, c, d."), (5, "a, b, c, d, e."), (6, "d, e and 1 more.")]
)
def test_five_of_what_is_not_understood_are_named_and_the_rest_counted(count: int, told: str) -> None:
    opened = file.Opened(Project.of(EMPTY_PLAN), 3, tuple("abcdef"[:count]))
    assert f"{told} It is read-only" in opened.notice("x")


def test_what_names_something_left_out_goes_along(tmp_path: Path) -> None:
    document = json.loads(dumps(STARTER))
    document["hosts"][0]["cores"] = {"fast": 3}
    opened = open_file(_newer(tmp_path / "a.ndbplan", **{**document, "format_version": 3}))
    gone = document["hosts"][0]["id"]
    assert all(host.id != gone or host.cores for host in opened.plan.hosts)
    assert opened.not_understood


def test_a_file_of_this_format_has_nothing_to_say(tmp_path: Path) -> None:
    save(STARTER, tmp_path / "a.ndbplan")
    opened = open_file(tmp_path / "a.ndbplan")
    assert (opened.plan, opened.newer_format, opened.notice("a")) == (STARTER, None, "")
    assert "All of it is understood" in open_file(_newer(tmp_path / "b.ndbplan")).notice("b")
    # An unknown field of the same format stays an error that names its path.
    (tmp_path / "a.ndbplan").write_text('{"format_version": 2, "moods": 1}')
    with pytest.raises(PlanFileError, match="moods"):
        open_file(tmp_path / "a.ndbplan")


def test_it_is_not_written_over(tmp_path: Path) -> None:
    path = _newer(tmp_path / "a.ndbplan")
    before = path.read_bytes()
    with pytest.raises(PlanFileError, match="save under another name"):
        save(open_file(path).plan, path)
    assert path.read_bytes() == before
    save(open_file(path).plan, tmp_path / "b.ndbplan")
    assert load(tmp_path / "b.ndbplan") == STARTER


@pytest.mark.parametrize("version", [99, 10**12])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_one_in_another_order_is_not_written_over_either(tmp_path: Path, version: int, mark: bytes) -> None:
    """As tools leave it that sort fields, or write a byte order mark."""
    document = json.loads(_newer(tmp_path / "a.ndbplan").read_text())
    del document["format_version"]
    content = mark + json.dumps({**document, "format_version": version}).encode()
    (tmp_path / "a.ndbplan").write_bytes(content)
    with pytest.raises(PlanFileError, match="save under another name"):
        save(STARTER, tmp_path / "a.ndbplan")
    assert (tmp_path / "a.ndbplan").read_bytes() == content


def test_nonsense_of_a_newer_format_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.ndbplan").write_text('{"format_version": 99, "hosts": 7, "name": 3}')
    assert open_file(tmp_path / "a.ndbplan").plan == EMPTY_PLAN
    (tmp_path / "a.ndbplan").write_text('{"format_version": 99e9}')
    with pytest.raises(PlanFileError):
        open_file(tmp_path / "a.ndbplan")


def test_a_migration_that_fails_says_what_it_could_not_carry_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def migrate(document: dict[str, Any]) -> dict[str, Any]:
        return {**document, "name": document["old_name"]}

    monkeypatch.setitem(file.MIGRATIONS, 1, migrate)
    path = tmp_path / "a.ndbplan"
    path.write_text('{"format_version": 1, "title": "shop"}')
    before = path.read_bytes()
    with pytest.raises(PlanFileError, match=r"old_name.*left untouched"):
        load(path)
    assert path.read_bytes() == before


def test_the_window_says_it_and_keeps_the_file(qtbot, tmp_path: Path) -> None:
    from ndbplan.desktop.document.document import Document

    path = _newer(tmp_path / "a.ndbplan", moods=1)
    document = Document()
    assert "moods" in document.open(path)
    with pytest.raises(PlanFileError, match="another name"):
        document.save()
    document.save(tmp_path / "b.ndbplan")
    assert document.plan == STARTER
