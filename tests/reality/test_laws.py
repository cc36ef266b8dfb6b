"""A law is judged by runs that were left out: draws of constants that others speak for predict them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reality.laws import Predicted, left_out, likelihood


def _predicted(errors: list[list[float]], runs: tuple[str, ...]) -> Predicted:
    likely = [[likelihood([1000 * math.exp(one)] * 4, 1000.0) for one in row] for row in errors]
    return Predicted(runs, np.array(likely), np.array(errors)[:, :, None])


def test_the_draw_that_other_runs_speak_for_predicts_the_one_left_out() -> None:
    found = _predicted([[0.3, 0.3, 0.3], [0.0, 0.0, 0.05], [-0.3, -0.3, -0.3]], ("A", "B", "C"))
    assert left_out(found).errors == pytest.approx((0.0, 0.0, math.expm1(0.05)))
    assert left_out(found).score > left_out(found, fitted=False).score


def test_a_run_does_not_speak_for_itself_nor_for_its_repeat() -> None:
    """The second draw is right for A alone: what B says decides, however often A was run."""
    found = _predicted([[0.2, 0.2, 0.0], [0.0, 0.0, 0.3]], ("A", "A", "B"))
    assert left_out(found).errors[:2] == pytest.approx((math.expm1(0.2),) * 2)


def test_a_range_is_that_of_the_draws_that_others_speak_for() -> None:
    """All draws alike hold what was measured in the third run; the one that the others speak for does not."""
    found = _predicted([[0.0, 0.0, 0.3], [-0.4, -0.4, -0.3], [0.4, 0.4, 0.1]], ("A", "B", "C"))
    assert left_out(found).inside == (True, True, False)
    assert left_out(found, fitted=False).inside == (True, True, True)


def test_what_is_likely_lies_among_the_simulated_rates() -> None:
    rates = [90.0, 100.0, 110.0]
    assert likelihood(rates, 100.0) > likelihood(rates, 120.0) > likelihood(rates, 300.0)
