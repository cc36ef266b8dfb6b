"""Compiled key hash: NDB's variant of MD5 over many keys at once. Imported only when keys are hashed.

Differences from RFC 1321 (md5_hash.cpp): the length in the last block counts bytes, the padding marker is the
word 0x80000000, and the input is whole words. Keys are laid side by side so that the processor's vector units
hash several at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint32, uint64

from ndbplan.base.compiled import machine_code

LANES = 128
"""Keys that go through the rounds together: enough to fill any vector unit, and fitting the first cache."""

_A, _B, _C, _D = 0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476
_MARKER = 0x80000000
"""The four words that MD5 begins with, and the bit behind a message (RFC 1321, 3.1 and 3.3)."""


@machine_code(inline="always")
def _turn(a: Any, b: Any, f: Any, x: Any, s: int, k: int) -> Any:
    """The end of every step: add word and constant, rotate left by s, add b; all in 32 bits."""
    t = uint32(a + f + x + uint32(k))
    return uint32(uint32(uint32(t << uint32(s)) | uint32(t >> uint32(32 - s))) + b)


@machine_code(inline="always")
def _f(a: Any, b: Any, c: Any, d: Any, x: Any, s: int, k: int) -> Any:
    return _turn(a, b, uint32(d ^ (b & (c ^ d))), x, s, k)


@machine_code(inline="always")
def _g(a: Any, b: Any, c: Any, d: Any, x: Any, s: int, k: int) -> Any:
    return _turn(a, b, uint32(c ^ (d & (b ^ c))), x, s, k)


@machine_code(inline="always")
def _h(a: Any, b: Any, c: Any, d: Any, x: Any, s: int, k: int) -> Any:
    return _turn(a, b, uint32(b ^ c ^ d), x, s, k)


@machine_code(inline="always")
def _i(a: Any, b: Any, c: Any, d: Any, x: Any, s: int, k: int) -> Any:
    return _turn(a, b, uint32(c ^ (b | ~d)), x, s, k)


@machine_code(nogil=True, error_model="numpy")
def _rounds(block: Any, state: Any, lanes: int) -> None:
    """One block for each lane: block is [16, lane], state is [4, lane]."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    b0, b1, b2, b3, b4, b5, b6, b7 = (
        block[0], block[1], block[2], block[3], block[4], block[5], block[6], block[7]
    )  # fmt: skip
    b8, b9, b10, b11, b12, b13, b14, b15 = (
        block[8], block[9], block[10], block[11], block[12], block[13], block[14], block[15]
    )  # fmt: skip
    for lane in range(lanes):
        a, b, c, d = s0[lane], s1[lane], s2[lane], s3[lane]
        x0, x1, x2, x3 = b0[lane], b1[lane], b2[lane], b3[lane]
        x4, x5, x6, x7 = b4[lane], b5[lane], b6[lane], b7[lane]
        x8, x9, x10, x11 = b8[lane], b9[lane], b10[lane], b11[lane]
        x12, x13, x14, x15 = b12[lane], b13[lane], b14[lane], b15[lane]
        a = _f(a, b, c, d, x0, 7, 0xD76AA478)
        d = _f(d, a, b, c, x1, 12, 0xE8C7B756)
        c = _f(c, d, a, b, x2, 17, 0x242070DB)
        b = _f(b, c, d, a, x3, 22, 0xC1BDCEEE)
        a = _f(a, b, c, d, x4, 7, 0xF57C0FAF)
        d = _f(d, a, b, c, x5, 12, 0x4787C62A)
        c = _f(c, d, a, b, x6, 17, 0xA8304613)
        b = _f(b, c, d, a, x7, 22, 0xFD469501)
        a = _f(a, b, c, d, x8, 7, 0x698098D8)
        d = _f(d, a, b, c, x9, 12, 0x8B44F7AF)
        c = _f(c, d, a, b, x10, 17, 0xFFFF5BB1)
        b = _f(b, c, d, a, x11, 22, 0x895CD7BE)
        a = _f(a, b, c, d, x12, 7, 0x6B901122)
        d = _f(d, a, b, c, x13, 12, 0xFD987193)
        c = _f(c, d, a, b, x14, 17, 0xA679438E)
        b = _f(b, c, d, a, x15, 22, 0x49B40821)
        a = _g(a, b, c, d, x1, 5, 0xF61E2562)
        d = _g(d, a, b, c, x6, 9, 0xC040B340)
        c = _g(c, d, a, b, x11, 14, 0x265E5A51)
        b = _g(b, c, d, a, x0, 20, 0xE9B6C7AA)
        a = _g(a, b, c, d, x5, 5, 0xD62F105D)
        d = _g(d, a, b, c, x10, 9, 0x02441453)
        c = _g(c, d, a, b, x15, 14, 0xD8A1E681)
        b = _g(b, c, d, a, x4, 20, 0xE7D3FBC8)
        a = _g(a, b, c, d, x9, 5, 0x21E1CDE6)
        d = _g(d, a, b, c, x14, 9, 0xC33707D6)
        c = _g(c, d, a, b, x3, 14, 0xF4D50D87)
        b = _g(b, c, d, a, x8, 20, 0x455A14ED)
        a = _g(a, b, c, d, x13, 5, 0xA9E3E905)
        d = _g(d, a, b, c, x2, 9, 0xFCEFA3F8)
        c = _g(c, d, a, b, x7, 14, 0x676F02D9)
        b = _g(b, c, d, a, x12, 20, 0x8D2A4C8A)
        a = _h(a, b, c, d, x5, 4, 0xFFFA3942)
        d = _h(d, a, b, c, x8, 11, 0x8771F681)
        c = _h(c, d, a, b, x11, 16, 0x6D9D6122)
        b = _h(b, c, d, a, x14, 23, 0xFDE5380C)
        a = _h(a, b, c, d, x1, 4, 0xA4BEEA44)
        d = _h(d, a, b, c, x4, 11, 0x4BDECFA9)
        c = _h(c, d, a, b, x7, 16, 0xF6BB4B60)
        b = _h(b, c, d, a, x10, 23, 0xBEBFBC70)
        a = _h(a, b, c, d, x13, 4, 0x289B7EC6)
        d = _h(d, a, b, c, x0, 11, 0xEAA127FA)
        c = _h(c, d, a, b, x3, 16, 0xD4EF3085)
        b = _h(b, c, d, a, x6, 23, 0x04881D05)
        a = _h(a, b, c, d, x9, 4, 0xD9D4D039)
        d = _h(d, a, b, c, x12, 11, 0xE6DB99E5)
        c = _h(c, d, a, b, x15, 16, 0x1FA27CF8)
        b = _h(b, c, d, a, x2, 23, 0xC4AC5665)
        a = _i(a, b, c, d, x0, 6, 0xF4292244)
        d = _i(d, a, b, c, x7, 10, 0x432AFF97)
        c = _i(c, d, a, b, x14, 15, 0xAB9423A7)
        b = _i(b, c, d, a, x5, 21, 0xFC93A039)
        a = _i(a, b, c, d, x12, 6, 0x655B59C3)
        d = _i(d, a, b, c, x3, 10, 0x8F0CCC92)
        c = _i(c, d, a, b, x10, 15, 0xFFEFF47D)
        b = _i(b, c, d, a, x1, 21, 0x85845DD1)
        a = _i(a, b, c, d, x8, 6, 0x6FA87E4F)
        d = _i(d, a, b, c, x15, 10, 0xFE2CE6E0)
        c = _i(c, d, a, b, x6, 15, 0xA3014314)
        b = _i(b, c, d, a, x13, 21, 0x4E0811A1)
        a = _i(a, b, c, d, x4, 6, 0xF7537E82)
        d = _i(d, a, b, c, x11, 10, 0xBD3AF235)
        c = _i(c, d, a, b, x2, 15, 0x2AD7D2BB)
        b = _i(b, c, d, a, x9, 21, 0xEB86D391)
        s0[lane] = uint32(s0[lane] + a)
        s1[lane] = uint32(s1[lane] + b)
        s2[lane] = uint32(s2[lane] + c)
        s3[lane] = uint32(s3[lane] + d)


@machine_code(nogil=True, error_model="numpy")
def hash_words(words: Any, out: Any) -> None:
    """Digest words 0 and 1 of each row of `words` (uint32 [key, word]) into `out` (uint32 [key, 2])."""
    keys, length = words.shape
    block = np.zeros((16, LANES), dtype=np.uint32)
    state = np.empty((4, LANES), dtype=np.uint32)
    blocks = (length + 2) // 16 + 1
    for first in range(0, keys, LANES):
        lanes = min(LANES, keys - first)
        state[0, :], state[1, :] = uint32(_A), uint32(_B)
        state[2, :], state[3, :] = uint32(_C), uint32(_D)
        for number in range(blocks):
            for j in range(16):
                at = number * 16 + j
                if at < length:
                    for lane in range(lanes):
                        block[j, lane] = words[uint64(first + lane), uint64(at)]
                elif at == length:
                    block[j, :] = uint32(_MARKER)
                else:
                    block[j, :] = uint32(0)
            if number == blocks - 1:
                block[14, :] = uint32(4 * length)
            _rounds(block, state, LANES)
        for lane in range(lanes):
            out[uint64(first + lane), 0] = state[0, lane]
            out[uint64(first + lane), 1] = state[1, lane]
