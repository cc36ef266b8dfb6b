"""Numbers that options take: plain digits within bounds, refused in one short line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from ndbplan.cli import all_commands
from ndbplan.cli.parameters import Numbers, Times, Whole
from ndbplan.plan.samples import sample_plan


def _options() -> Iterator[tuple[str, click.Parameter]]:
    for name, command in all_commands().commands.items():
        for option in command.params:
            yield name, option


def test_every_number_has_our_reader() -> None:
    """The numbers of click have no bounds in length, and take `nan`, `1_0` and digits of other scripts."""
    theirs = (click.types.IntParamType, click.types.FloatParamType)
    assert [f"{name} {option.name}" for name, option in _options() if isinstance(option.type, theirs)] == []
    assert len([name for name, option in _options() if isinstance(option.type, Whole | Times)]) > 10


@pytest.mark.parametrize("kind", [Whole(1, 72), Times(), Times(or_none=True), Numbers()])
@pytest.mark.parametrize(
    "text", ["9" * 400, "9" * 5000, "nan", "inf", "1e400", "٣", "²", "-1", "", "1,,2", "x" * 2000, "1001x"]
)
def test_what_is_no_number_of_plain_digits_is_refused(kind: click.ParamType[object], text: str) -> None:
    with pytest.raises(click.UsageError) as refused:
        kind.convert(text, None, None)
    assert len(refused.value.message) < 200


def test_both_ends_are_taken() -> None:
    assert [Whole(1, 72).convert(text, None, None) for text in ("1", " 72 ")] == [1, 72]
    for text in ("0", "73"):
        with pytest.raises(click.UsageError, match="from 1 to 72"):
            Whole(1, 72).convert(text, None, None)
    assert Times().convert("1e3", None, None) == 1000.0
    assert Times(or_none=True).convert("0", None, None) == 0.0
    for kind, text in ((Times(), "0"), (Times(), "1000.1")):
        with pytest.raises(click.UsageError, match="outside above 0 to 1000"):
            kind.convert(text, None, None)


def test_a_rate_that_is_no_number_is_no_fault(tmp_path: Path) -> None:
    from ndbplan.plan.file import dumps

    path = tmp_path / "a.ndbplan"
    path.write_text(dumps(sample_plan("starter")), encoding="utf-8")
    words = ["restart", str(path), "--kind", "node", "--under", "day", "--traffic", "nan"]
    done = CliRunner().invoke(all_commands(), words)
    assert done.exit_code == 2
    assert "'nan' is not a number" in done.output
