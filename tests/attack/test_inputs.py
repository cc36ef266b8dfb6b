"""A seeded sample of the attack by inputs; `make attack` runs a million."""

from __future__ import annotations

import pytest

from attack.inputs import Finding, Reader, attack, readers, tried
from ndbplan.base.errors import UserError


@pytest.mark.parametrize("reader", [reader.name for reader in readers()])
def test_mutated_inputs_are_answered(reader: str) -> None:
    count = 6 if reader == "parameters" else 40
    assert list(attack(count, seed=11, only=reader)) == []


def _refused(reader: Reader) -> list[str]:
    found = []
    for seed in reader.seeds:
        try:
            reader.read(seed)
        except UserError as error:
            found.append(error.line)
    return found


@pytest.mark.parametrize("reader", readers(), ids=lambda reader: reader.name)
def test_each_reader_takes_its_seeds(reader: Reader) -> None:
    """What is refused at its first word attacks nothing behind it."""
    assert [tried(reader, seed) for seed in reader.seeds] == [None] * len(reader.seeds)
    # Measurements are of no disk until somebody says of which.
    assert [line for line in _refused(reader) if reader.name != "measurements" or "disk" not in line] == []


def test_a_fault_is_found() -> None:
    def fail(content: bytes) -> None:
        int(content)

    assert tried(Reader("x", (b"1",), fail), b"1") is None
    found = tried(Reader("x", (b"1",), fail), b"1e15")
    assert isinstance(found, Finding)
    assert "ValueError" in found.what
