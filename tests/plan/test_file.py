"""The plan file: what is written can be read, and whatever else somebody opens is refused in one line."""

from __future__ import annotations

import errno
import json
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ndbplan.base.resources import resource_path
from ndbplan.plan import file
from ndbplan.plan.fields import no_control
from ndbplan.plan.file import MAX_FILE_BYTES, PlanFileError, dumps, load, loads, open_file, save
from ndbplan.plan.plan import EMPTY_PLAN, FORMAT_VERSION
from ndbplan.plan.samples import sample_names, sample_plan

STARTER = sample_plan("starter")


def document(**changes: Any) -> dict[str, Any]:
    """The starter plan as parsed JSON, with fields exchanged."""
    return {**json.loads(dumps(STARTER)), **changes}


def refusal(document_or_text: Any, name: str = "a.ndbplan") -> str:
    """The line with which a plan is refused."""
    text = document_or_text if isinstance(document_or_text, str) else json.dumps(document_or_text)
    with pytest.raises(PlanFileError) as caught:
        loads(text, name=name)
    assert "\n" not in caught.value.line
    assert caught.value.fix, "the message says what to do"
    assert name in caught.value.line
    return caught.value.line


@pytest.mark.parametrize("name", sample_names())
def test_every_sample_survives_writing_and_reading(name: str) -> None:
    plan = sample_plan(name)
    assert loads(dumps(plan)) == plan


@pytest.mark.parametrize("name", sample_names())
def test_every_sample_file_is_exactly_what_saving_writes(name: str, tmp_path: Path) -> None:
    save(sample_plan(name), tmp_path / "again")
    assert (tmp_path / "again").read_text() == resource_path(f"samples/{name}.ndbplan").read_text()


@pytest.mark.parametrize(
    "file", sorted((Path(__file__).parent / "format_1").glob("*.ndbplan")), ids=lambda f: f.stem
)
def test_plans_of_format_1_are_read_for_ever(file: Path) -> None:
    """The samples as the first release wrote them: read, and nothing of them is lost when saved anew."""
    old = json.loads(file.read_text())
    assert old["format_version"] == 1
    assert json.loads(dumps(load(file))) == {**old, "format_version": FORMAT_VERSION}


def test_the_text_diffs_well() -> None:
    text = dumps(STARTER)
    assert text.startswith(f'{{\n  "format_version": {FORMAT_VERSION},\n')
    assert text.endswith("}\n")
    assert not text.endswith("\n\n")
    assert dumps(loads(text)) == text
    assert '"disk_roles": {}' not in text, "defaults are left out"


def test_one_edit_changes_few_lines() -> None:
    from ndbplan.edits.parts import update

    host = STARTER.hosts[0]
    before, after = dumps(STARTER).splitlines(), dumps(update(STARTER, host.id, cores=48)).splitlines()
    assert len(before) == len(after)
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 1


def test_the_empty_plan_can_be_written() -> None:
    assert loads(dumps(EMPTY_PLAN)) == EMPTY_PLAN


# What somebody may open instead of a plan


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(PlanFileError, match="there is no such file"):
        load(tmp_path / "none.ndbplan")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(PlanFileError, match="folder"):
        load(tmp_path)


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.ndbplan"
    path.write_text(dumps(STARTER))

    def refuse(*_args: Any, **_kwargs: Any) -> str:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(PlanFileError, match=r"Permission denied.*check the permissions"):
        load(path)


def test_a_file_over_200_mb(tmp_path: Path) -> None:
    path = tmp_path / "big.ndbplan"
    with path.open("wb") as out:
        out.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(PlanFileError) as caught:
        load(path)
    assert "200 MB" in caught.value.line
    assert str(path) in caught.value.line


def test_a_device_that_never_ends() -> None:
    with pytest.raises(PlanFileError):
        load("/dev/zero")


def test_an_empty_file() -> None:
    refusal("")


@pytest.mark.parametrize("part", [0.1, 0.5, 0.99])
def test_a_truncated_file(part: float) -> None:
    text = dumps(STARTER).rstrip()
    line = refusal(text[: int(len(text) * part)])
    assert "line" in line
    assert line.endswith("or its backup a.ndbplan~")
    assert " at —" not in line


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "picture.ndbplan"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff")
    with pytest.raises(PlanFileError, match="not UTF-8"):
        load(path)


@pytest.mark.parametrize("foreign", [{"name": "package"}, [1, 2], "text", 3, None, True])
def test_json_that_is_no_plan(foreign: Any) -> None:
    assert "no plan" in refusal(json.dumps(foreign))


@pytest.mark.parametrize("version", [0, -1, "1", 1.5, True, None])
def test_a_format_version_that_is_none(version: Any) -> None:
    assert "format_version" in refusal(document(format_version=version))


def test_a_newer_file_is_refused_and_left_untouched(tmp_path: Path) -> None:
    path = tmp_path / "newer.ndbplan"
    text = json.dumps(document(format_version=FORMAT_VERSION + 1, something_new=[1]))
    path.write_text(text)
    with pytest.raises(PlanFileError) as caught:
        load(path)
    assert str(FORMAT_VERSION + 1) in caught.value.line
    assert "newer ndbplan" in caught.value.line
    assert path.read_text() == text


def test_an_unknown_field_names_its_path() -> None:
    bad = document()
    bad["hosts"][0]["disks"][1]["colour"] = "red"
    assert "hosts[0].disks[1].colour" in refusal(bad)


def test_a_missing_field_names_its_path() -> None:
    bad = document()
    del bad["hosts"][2]["memory_bytes"]
    assert "hosts[2].memory_bytes" in refusal(bad)


@pytest.mark.parametrize("depth", [1000, 200_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_json_that_is_nested_too_deeply(depth: int, opening: str, closing: str) -> None:
    refusal('{"format_version": 1, "hosts": ' + opening * depth + "1" + closing * depth + "}")


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_none(constant: str) -> None:
    text = dumps(STARTER).replace('"clock_ghz": 2.8', f'"clock_ghz": {constant}', 1)
    assert constant in refusal(text)


def test_a_key_that_stands_twice() -> None:
    """The last of the two was taken, and the other was lost with the next save."""
    said = refusal(dumps(STARTER).replace('"cores": 32', '"cores": 32, "cores": 16', 1))
    assert "'cores' of the object with id host-a1 is stated twice" in said


def test_numbers_too_large_for_a_float() -> None:
    refusal(dumps(STARTER).replace('"clock_ghz": 2.8', '"clock_ghz": 1e999', 1))
    refusal(dumps(STARTER).replace('"cores": 32', '"cores": ' + "9" * 5000, 1))


@pytest.mark.parametrize(
    ("collection", "field", "value"),
    [
        ("hosts", "memory_bytes", -1),
        ("hosts", "memory_bytes", 0),
        ("hosts", "memory_bytes", 2**61),
        ("hosts", "cores", 0),
        ("hosts", "hostname", "two words"),
        ("hosts", "hostname", "a\nb"),
        ("tables", "rows", -5),
        ("tables", "rows", 1.5),
        ("tables", "name", ""),
        ("processes", "node_id", 0),
        ("processes", "node_id", 256),
        ("workloads", "duration_s", -1),
    ],
)
def test_values_out_of_range_name_path_and_value(collection: str, field: str, value: Any) -> None:
    bad = document()
    bad[collection][0][field] = value
    line = refusal(bad)
    assert f"{collection}[0].{field}" in line
    assert json.dumps(value)[:20] in line


def test_a_version_that_does_not_exist() -> None:
    assert "ndb_version" in refusal(document(ndb_version="5.0"))


def test_duplicate_ids() -> None:
    bad = document()
    bad["hosts"].append({**bad["hosts"][0], "disks": []})
    assert f"'{bad['hosts'][0]['id']}' is used twice" in refusal(bad)


def test_duplicate_node_ids() -> None:
    bad = document()
    bad["processes"][1]["node_id"] = bad["processes"][0]["node_id"]
    assert "node id 1 is used twice" in refusal(bad)


def test_a_disk_role_on_a_disk_of_another_host() -> None:
    bad = document()
    bad["processes"][0]["disk_roles"]["redo"] = bad["processes"][1]["disk_roles"]["redo"]
    line = refusal(bad)
    assert "processes[0].disk_roles.redo" in line
    assert "own host" in line


def test_a_reference_into_nothing() -> None:
    bad = document()
    bad["processes"][0]["host_id"] = "nowhere"
    assert "processes[0].host_id" in refusal(bad)


def test_a_byte_order_mark_is_read_over() -> None:
    assert loads("\ufeff" + dumps(STARTER)) == STARTER


# Writing


def test_saving_keeps_one_backup(tmp_path: Path) -> None:
    path = tmp_path / "a.ndbplan"
    save(STARTER, path)
    assert os.listdir(tmp_path) == ["a.ndbplan"]
    save(EMPTY_PLAN, path)
    assert load(path) == EMPTY_PLAN
    assert load(tmp_path / "a.ndbplan~") == STARTER
    save(STARTER.replace(name="third"), path)
    assert load(tmp_path / "a.ndbplan~") == EMPTY_PLAN
    assert sorted(os.listdir(tmp_path)) == ["a.ndbplan", "a.ndbplan~"]


def test_saving_through_a_link_writes_what_it_points_to(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    save(EMPTY_PLAN, real)
    link.symlink_to(real)
    save(STARTER, link)
    assert link.is_symlink()
    assert load(real) == STARTER


def test_saving_keeps_the_mode_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.ndbplan"
    save(EMPTY_PLAN, path)
    path.chmod(0o640)
    save(STARTER, path)
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("broken", "number"), [("fsync", errno.ENOSPC), ("fdopen", errno.EDQUOT), ("replace", errno.EROFS)]
)
def test_a_save_that_fails_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str, number: int
) -> None:
    path = tmp_path / "a.ndbplan"
    save(EMPTY_PLAN, path)

    def fail(*args: Any, **_kwargs: Any) -> None:
        if broken == "fdopen":
            os.close(args[0])
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(*((Path, "replace") if broken == "replace" else (os, broken)), fail)
    with pytest.raises(PlanFileError) as caught:
        save(STARTER, path)
    monkeypatch.undo()
    assert os.strerror(number) in caught.value.line
    assert str(path) in caught.value.line
    assert load(path) == EMPTY_PLAN
    assert [name for name in os.listdir(tmp_path) if not name.startswith("a.ndbplan")] == []


def test_saving_into_a_folder_that_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ndbplan"
    save(EMPTY_PLAN, path)

    def refuse(*_args: Any, **_kwargs: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PlanFileError, match="the file before is untouched"):
        save(STARTER, path)
    assert load(path) == EMPTY_PLAN
    with pytest.raises(PlanFileError, match=r"cannot be written \(Permission denied\) —"):
        save(STARTER, tmp_path / "new.ndbplan")


def test_saving_over_a_file_that_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ndbplan"
    save(EMPTY_PLAN, path)
    monkeypatch.setattr(os, "access", lambda *_a, **_k: False)
    with pytest.raises(PlanFileError, match="read-only"):
        save(STARTER, path)
    assert load(path) == EMPTY_PLAN


def test_saving_into_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PlanFileError, match="cannot be written"):
        save(STARTER, tmp_path / "no" / "a.ndbplan")


def test_older_formats_are_migrated_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "FORMAT_VERSION", 3)
    monkeypatch.setitem(file.MIGRATIONS, 1, lambda d: {**d, "title": d["old_name"]})
    monkeypatch.setitem(
        file.MIGRATIONS, 2, lambda d: {k: v for k, v in {**d, "name": d["title"]}.items() if k in ("name",)}
    )
    assert loads('{"format_version": 1, "old_name": "shop"}').name == "shop"


def test_a_file_of_the_most_bytes_is_read_whole_and_one_byte_more_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a pipe, which does not say how long it is."""
    text = dumps(STARTER).encode()
    path = tmp_path / "plan.ndbplan"
    path.write_bytes(text)
    for limit, said in ((len(text), ""), (len(text) - 1, "a plan has at most")):
        monkeypatch.setattr(file, "MAX_FILE_BYTES", limit)
        with suppress(OSError):
            (tmp_path / "pipe").unlink()
        os.mkfifo(tmp_path / "pipe")
        writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(text,), daemon=True)
        writer.start()
        for one in (path, tmp_path / "pipe"):
            if said:
                with pytest.raises(PlanFileError, match=said):
                    load(one)
            else:
                assert load(one) == STARTER
        writer.join()


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u2069"])
def test_what_turns_the_direction_of_a_text_loses_no_plan(sign: str, tmp_path: Path) -> None:
    """It would turn the digits of a report. Files of earlier programs open, and say where it was."""
    with pytest.raises(ValueError, match=f"U\\+{ord(sign):04X}"):
        no_control(f"shop{sign}")
    table = {**json.loads(dumps(STARTER))["tables"][0], "name": f"a{sign}b"}
    document = {**json.loads(dumps(STARTER)), "name": f"shop{sign}", "tables": [table]}
    kept = {key: value for key, value in document.items() if key != "workloads"}
    path = tmp_path / "old.ndbplan"
    for version in (FORMAT_VERSION, FORMAT_VERSION + 1):
        path.write_text(json.dumps({**kept, "format_version": version}, ensure_ascii=version > 2))
        opened = open_file(path)
        assert (opened.plan.name, opened.plan.tables[0].name) == ("shop\ufffd", "a\ufffdb")
        assert opened.turned == ("name", "tables[0].name")
        assert "name, tables[0].name" in opened.notice("old")
    again = tmp_path / "new.ndbplan"
    save(opened.plan, again)
    assert open_file(again).notice("new") == ""
