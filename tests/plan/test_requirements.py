"""Limits of requirements: what they accept at the most and at the least, and nothing beyond."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from ndbplan.plan.file_errors import readable
from ndbplan.plan.requirements import (
    Durability,
    Requirements,
    WantedJob,
    WantedOperation,
    WantedRows,
    WantedTransaction,
)

READ = {"table": "shop.orders", "kind": "read"}


@pytest.mark.parametrize(
    ("of", "stated", "name", "least", "most"),
    [
        (WantedOperation, READ, "rows", 1e-6, 1e7),
        (WantedTransaction, {"name": "t", "operations": [READ]}, "weight", 1e-6, 1e6),
        (WantedJob, {"within": 60}, "threads", 1, 10_000),
        (Durability, {}, "time_between_global_checkpoints_ms", 20, 32_000),
        (Requirements, {}, "months", 0, 600),
        (Requirements, {}, "headroom", 0, 10),
        (Requirements, {}, "replicas", 1, 4),
    ],
)
def test_both_ends_are_accepted_and_nothing_beyond(
    of: Any, stated: dict[str, Any], name: str, least: float, most: float
) -> None:
    for value in (least, most):
        assert getattr(of(**stated, **{name: value}), name) == value
    for value in (least / 2 - (least == 0), most + 1):
        with pytest.raises(ValidationError):
            of(**stated, **{name: value})


def test_a_transaction_of_which_no_weight_is_said_counts_once() -> None:
    found = WantedTransaction.model_validate({"name": "t", "operations": [READ]})
    assert (found.weight, found.operations[0].rows) == (1, 1)


def test_rows_that_read_two_ways_are_refused_with_both() -> None:
    for text in ("1,500", "1.500"):
        with pytest.raises(ValidationError, match=r"1500 or 1\.5"):
            WantedRows.model_validate({"now": text})
    assert WantedRows.model_validate({"now": "1 500"}).now == 1500


def test_a_field_that_is_called_like_a_kind_of_part_is_named() -> None:
    with pytest.raises(ValidationError) as refused:
        Requirements.model_validate({"sql": 5})
    assert readable(refused.value, "r.json").where == "r.json: sql"


def test_money_is_typed_as_other_numbers_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """`1.500` was 1.5 where it is 1500 for most, and `60k` no number."""
    assert Requirements.model_validate({"budget": "60k"}).budget == 60_000
    with pytest.raises(ValidationError, match="reads two ways"):
        Requirements.model_validate({"budget": "1,500"})
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    with pytest.raises(ValidationError, match="reads two ways"):
        Requirements.model_validate({"budget": "1.500"})


_KINDS: tuple[tuple[Any, str], ...] = (
    (True, "it must be a number"),
    (False, "it must be a number"),
    ([], "number"),
    ("half", "number"),
    (float("nan"), "finite number"),
)


@pytest.mark.parametrize("field", ["months", "replicas", "answers", "headroom", "budget", "most_groups"])
@pytest.mark.parametrize(("value", "said"), _KINDS)
def test_what_is_no_number_is_refused_in_words(field: str, value: Any, said: str) -> None:
    """A budget of `true` was 1 of the currency; others were told about parsing strings as integers."""
    with pytest.raises(ValidationError) as refused:
        Requirements.model_validate({field: value, "currency": "EUR"})
    found = readable(refused.value, "r.json")
    assert said in found.what
    assert "input should" not in found.what
    assert found.where == f"r.json: {field}"


def test_flags_where_flags_are_asked_for_stay() -> None:
    assert Requirements.model_validate({"carry_peak": False}).carry_peak is False
    with pytest.raises(ValidationError) as refused:
        Requirements.model_validate({"carry_peak": 5})
    assert "true or false" in readable(refused.value, "r.json").what
