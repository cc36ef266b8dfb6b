"""Error bars of a precision cover what very many worlds come to: some seeds here, 200 in `make attack`."""

from __future__ import annotations

import json

from attack.error_bars import covered
from simulate.truth_of_worlds import KEPT


def test_error_bars_cover_the_mean_of_very_many_worlds() -> None:
    assert covered(range(1, 9)) >= 7


def test_what_is_kept_is_known_well_enough() -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    assert kept["standard_error_per_s"] < 0.001 * kept["accepted_per_s"]
