from __future__ import annotations

import pytest

from ndbplan.ndb.constants import EVIDENCE, all_constants, constant


@pytest.mark.parametrize("name", all_constants())
def test_every_constant_says_where_it_comes_from(name: str) -> None:
    found = constant(name)
    assert found.low <= found.value <= found.high
    assert found.evidence in EVIDENCE
    assert found.source
    assert found.meaning
    assert found.unit


def test_every_constant_is_used() -> None:
    from pathlib import Path

    import ndbplan

    package = Path(ndbplan.__file__).parent
    code = "".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    assert not [name for name in all_constants() if f'"{name}"' not in code]


def test_an_unknown_constant_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        constant("speed_of_light")
