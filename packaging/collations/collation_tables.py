"""Makes resources/ndb/collations.npz from the weights that the Go program beside it prints.

    go run . > weights.txt && python collation_tables.py weights.txt ../../resources/ndb/collations.npz

Code points whose weights follow the implicit rule of the Unicode collation algorithm are left out; the
program computes them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

UCA = {
    "utf8mb4_unicode_ci": ("uca400", 1),
    "utf8mb4_unicode_520_ci": ("uca520", 1),
    "utf8mb4_0900_as_cs": ("uca900", 3),
}
SAME = {"utf8mb3_unicode_ci": "utf8mb4_unicode_ci", "utf8mb3_general_ci": "utf8mb4_general_ci"}


def implicit(cp: int, name: str, base: int) -> list[list[int]]:
    first = [[base + (cp >> 15), (cp & 0x7FFF) | 0x8000]]
    return first if UCA[name][1] == 1 else [*first, [0x20], [0x02]]


def levels(text: str, count: int) -> list[list[int]]:
    words = [int(text[i : i + 4], 16) for i in range(0, len(text), 4)]
    if count == 1:
        return [words]
    found: list[list[int]] = [[]]
    for word in words:
        if word == 0:
            found.append([])
        else:
            found[-1].append(word)
    assert len(found) == count, text
    return found


def hangul(cp: int, table: dict[int, list[list[int]]]) -> list[list[int]]:
    index = cp - 0xAC00
    jamo = [0x1100 + index // 588, 0x1161 + index % 588 // 28, 0x11A7 + index % 28]
    if index % 28 == 0:
        jamo.pop()
    return [[weight for j in jamo for weight in table[j][level]] for level in range(3)]


def main(source: str, target: str) -> None:
    bytes_: dict[str, bytes] = {}
    seen: dict[str, dict[int, str]] = {}
    for line in Path(source).read_text(encoding="ascii").splitlines():
        parts = line.rstrip("\n").split(" ")
        if parts[0] == "8bit":
            assert len(parts[2]) == 512
            bytes_[parts[1]] = bytes.fromhex(parts[2])
        elif not parts[0].startswith("pair"):
            seen.setdefault(parts[0], {})[int(parts[1], 16)] = parts[2]
    for name, other in SAME.items():
        differing = [cp for cp in seen[name] if cp < 0x10000 and seen[name][cp] != seen[other][cp]]
        print(name, "differs from", other, "at", len(differing), [hex(c) for c in differing[:5]])
    # ai_ci and as_ci are the first levels of as_cs.
    for name, count in (("utf8mb4_0900_ai_ci", 1), ("utf8mb4_0900_as_ci", 2)):
        for cp, text in seen[name].items():
            assert levels(text, count) == levels(seen["utf8mb4_0900_as_cs"][cp], 3)[:count], (name, cp)
    arrays: dict[str, np.ndarray] = {
        "simple_names": np.array(sorted(bytes_)),
        "simple_weights": np.array([list(bytes_[n]) for n in sorted(bytes_)], dtype=np.uint8),
    }
    general = seen["utf8mb4_general_ci"]
    moved = [cp for cp in range(0x10000) if cp in general and int(general[cp], 16) != cp]
    arrays["general_cp"] = np.array(moved, dtype=np.uint16)
    arrays["general_weight"] = np.array([int(general[cp], 16) for cp in moved], dtype=np.uint16)
    assert all(general[cp] == "fffd" for cp in general if cp > 0xFFFF)
    for name, (short, count) in UCA.items():
        table = {cp: levels(text, count) for cp, text in seen[name].items()}
        if short == "uca400":
            # Vitess leaves the last code point of the table out; the product weighs it by the implicit rule.
            table[0xFFFF] = implicit(0xFFFF, name, 0xFBC0)
        kept, other_base = [], []
        for cp, value in table.items():
            if value == implicit(cp, name, 0xFBC0) or (short == "uca400" and cp > 0xFFFF):
                assert short != "uca400" or cp <= 0xFFFF or value == [[0xFFFD]]
                continue
            if count == 3 and 0xAC00 <= cp <= 0xD6FF:
                # From U+D700 on the product's own table says otherwise (tertiary weights 3); kept as it is.
                assert value == hangul(cp, table), hex(cp)
                continue
            if count == 3 and 0x17000 <= cp <= 0x187EC:
                assert value == [[0xFB00, (cp - 0x17000) | 0x8000], [0x20], [0x02]], hex(cp)
                continue
            base = next((b for b in (0xFB40, 0xFB80) if value == implicit(cp, name, b)), None)
            if base is not None:
                other_base.append((cp, base))
            else:
                kept.append(cp)
        print(short, len(kept), len(other_base), max(len(v[0]) for v in table.values()))
        arrays[f"{short}_cp"] = np.array(kept, dtype=np.uint32)
        ranges: list[list[int]] = []
        for cp, base in other_base:
            if ranges and ranges[-1][1] == cp - 1 and ranges[-1][2] == base:
                ranges[-1][1] = cp
            else:
                ranges.append([cp, cp, base])
        arrays[f"{short}_ranges"] = np.array(ranges, dtype=np.uint32)
        for level in range(count):
            arrays[f"{short}_count{level + 1}"] = np.array(
                [len(table[cp][level]) for cp in kept], dtype=np.uint8
            )
            arrays[f"{short}_weight{level + 1}"] = np.array(
                [w for cp in kept for w in table[cp][level]], dtype=np.uint16
            )
    np.savez_compressed(target, **arrays)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
