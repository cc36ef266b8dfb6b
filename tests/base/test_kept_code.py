"""Code kept between starts: the same classes, from whatever the file holds."""

from __future__ import annotations

import dataclasses
import marshal
import typing
from pathlib import Path

import pytest

from ndbplan.base.kept_code import KeptCode, kept_code


def _point() -> type:
    @dataclasses.dataclass(frozen=True, order=True)
    class Point:
        x: int
        y: int = 2

    return Point


def _code_file(folder: Path) -> Path:
    (found,) = folder.glob("*.code")
    return found


def test_dataclasses_work_the_same_with_new_and_with_kept_code(tmp_path: Path) -> None:
    for _ in range(2):
        with kept_code(tmp_path):
            point = _point()
        assert point(1) == point(1, 2)
        assert point(1) < point(3)
        assert repr(point(1)).endswith("Point(x=1, y=2)")
        with pytest.raises(dataclasses.FrozenInstanceError):
            point(1).x = 3  # type: ignore[attr-defined]


def test_annotations_as_text_work_the_same(tmp_path: Path) -> None:
    def area(width: "int", height: "list[int] | None") -> "float": ...  # noqa: UP037

    plain = typing.get_type_hints(area)
    for _ in range(2):
        with kept_code(tmp_path):
            assert typing.get_type_hints(area) == plain


def test_nothing_is_compiled_again_at_the_second_start(tmp_path: Path) -> None:
    with kept_code(tmp_path):
        _point()
    written = _code_file(tmp_path).stat().st_mtime_ns, _code_file(tmp_path).read_bytes()
    with kept_code(tmp_path):
        _point()
    assert (_code_file(tmp_path).stat().st_mtime_ns, _code_file(tmp_path).read_bytes()) == written


@pytest.mark.parametrize("content", [b"", b"abc", b"\0\0\0\0", b"\0\0\0\0not marshalled"])
def test_a_damaged_file_is_written_anew(tmp_path: Path, content: bytes) -> None:
    with kept_code(tmp_path):
        _point()
    whole = _code_file(tmp_path).read_bytes()
    for damaged in (content, whole[:-20], whole[:8] + b"x" + whole[9:]):
        _code_file(tmp_path).write_bytes(damaged)
        with kept_code(tmp_path):
            assert _point()(1).x == 1
        assert abs(len(_code_file(tmp_path).read_bytes()) - len(whole)) < len(whole) / 4


def test_code_that_somebody_changed_is_not_run(tmp_path: Path) -> None:
    with kept_code(tmp_path):
        _point()
    path = _code_file(tmp_path)
    content = path.read_bytes()
    other = compile("raise RuntimeError", "<string>", "exec")
    changed = marshal.dumps(dict.fromkeys(marshal.loads(content[4:]), other))
    path.write_bytes(content[:4] + changed)
    with kept_code(tmp_path):
        assert _point()(1).x == 1


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    with kept_code(in_the_way):
        assert _point()(1).y == 2


def test_both_modules_are_as_before_afterwards(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), kept_code(tmp_path):
        raise RuntimeError
    assert "exec" not in vars(dataclasses)
    assert "compile" not in vars(typing)


def test_a_mistake_is_refused_as_ever(tmp_path: Path) -> None:
    kept = KeptCode(tmp_path / "some.code")
    with pytest.raises(SyntaxError):
        kept.compile("1 +", "<string>", "eval")
