"""A seeded sample of the attack by inputs; `make attack` runs a million."""

from __future__ import annotations

import pytest

from attack.inputs import Finding, Reader, attack, readers, tried


@pytest.mark.parametrize("reader", [reader.name for reader in readers()])
def test_mutated_inputs_are_answered(reader: str) -> None:
    count = 8 if reader == "parameters" else 60
    assert list(attack(count, seed=11, only=reader)) == []


@pytest.mark.parametrize("reader", readers(), ids=lambda reader: reader.name)
def test_each_reader_takes_its_seeds(reader: Reader) -> None:
    taken = [tried(reader, seed) for seed in reader.seeds]
    assert taken == [None] * len(reader.seeds)


def test_a_fault_is_found() -> None:
    def fail(content: bytes) -> None:
        int(content)

    assert tried(Reader("x", (b"1",), fail), b"1") is None
    found = tried(Reader("x", (b"1",), fail), b"1e15")
    assert isinstance(found, Finding)
    assert "ValueError" in found.what
