"""The hash index of one fragment played through, key by key: what resources/ndb/hash_index.json comes from.

    .venv/bin/python tests/ndb/hash_index_growth.py      # the table of overflow pages, some seconds

A page has 72 buffers of 28 words. A bucket begins at the left end of a buffer of its page; a container that
finds no room takes a free end in its page, else in an overflow page. When entries pass 22 words a bucket on
average, the next bucket in turn is split. Written after Dbacc of NDB (insertElement, getfreelist,
expandcontainer), checked against memory_per_fragment of 7.4.10 and 8.4.8.
"""

from __future__ import annotations

import math
import random

BUFFER_WORDS, HEAD_WORDS, ENTRY_WORDS = 28, 2, 2
BUFFERS, BUCKETS_PER_PAGE = 72, 64
TAKES_BOTH_ENDS, GIVES_ONE_END = 14, 12
SPARSE_CONTAINERS = 65
"""An overflow page with more containers takes no new one."""
BUCKET_WORDS = 22
LEFT, RIGHT = 0, 1


class Page:
    """Buffers of a page: words used at each end, and which ends are free."""

    def __init__(self, *, is_overflow: bool) -> None:
        self.is_overflow = is_overflow
        self.used = [[0, 0] for _ in range(BUFFERS)]
        self.both_ends = [[False, False] for _ in range(BUFFERS)]
        first = 0 if is_overflow else BUCKETS_PER_PAGE
        self.free = [list(range(BUFFERS - 1, first - 1, -1)), list(range(BUFFERS - 1, -1, -1))]
        self.taken = 0
        for buffer in range(first):
            self.used[buffer][LEFT] = HEAD_WORDS


Container = tuple[Page, int, int]
"""Page, buffer, end."""


class HashIndex:
    """The index of one fragment, with the hash of each key it holds."""

    def __init__(self) -> None:
        self.pages: list[Page] = []
        self.overflow: list[Page] = []
        self.sparse: list[Page] = []
        self.buckets: list[list[Container]] = []
        self.keys: list[list[int]] = []
        for _ in range(BUCKETS_PER_PAGE):
            self._add_bucket()
        self.slack = BUCKET_WORDS * BUCKETS_PER_PAGE

    @property
    def page_count(self) -> int:
        """Pages of buckets and overflow pages."""
        return len(self.pages) + len(self.overflow)

    def insert(self, key: int) -> None:
        """Stores a key by its hash; splits the next bucket when there is too little slack."""
        bucket = self._bucket_of(key)
        self.keys[bucket].append(key)
        self._put(bucket)
        self.slack -= ENTRY_WORDS
        while self.slack < 0:
            self._split()

    def _bucket_of(self, key: int) -> int:
        count = len(self.buckets)
        span = 1 << (count - 1).bit_length()
        bucket = key & (span - 1)
        return bucket if bucket < count else bucket & (span // 2 - 1)

    def _add_bucket(self) -> None:
        number = len(self.buckets)
        if number % BUCKETS_PER_PAGE == 0:
            self.pages.append(Page(is_overflow=False))
        self.buckets.append([(self.pages[number // BUCKETS_PER_PAGE], number % BUCKETS_PER_PAGE, LEFT)])
        self.keys.append([])

    def _split(self) -> None:
        new = len(self.buckets)
        old = new - (1 << (new.bit_length() - 1))
        self._add_bucket()
        moving = [key for key in self.keys[old] if self._bucket_of(key) == new]
        self.keys[old] = [key for key in self.keys[old] if self._bucket_of(key) == old]
        self.keys[new] = moving
        for _ in moving:
            self._take(old)
            self._put(new)
        self.slack += BUCKET_WORDS

    def _put(self, bucket: int) -> None:
        containers = self.buckets[bucket]
        if any(self._fits(*container) for container in containers):
            return
        page = containers[-1][0]
        if not any(page.free):
            if not self.sparse:
                self.overflow.append(Page(is_overflow=True))
                self.sparse.append(self.overflow[-1])
            page = self.sparse[0]
        end = LEFT if page.free[LEFT] else RIGHT
        buffer = page.free[end][-1]
        self._seize(page, buffer, end)
        page.used[buffer][end] = HEAD_WORDS
        containers.append((page, buffer, end))
        assert self._fits(page, buffer, end)

    def _fits(self, page: Page, buffer: int, end: int) -> bool:
        """Puts an entry into a container if it has room for it."""
        used, other = page.used[buffer][end], page.used[buffer][1 - end]
        has_both = page.both_ends[buffer][end]
        room = BUFFER_WORDS - used - (0 if has_both else other)
        if used >= BUFFER_WORDS - ENTRY_WORDS or room < ENTRY_WORDS:
            return False
        if not has_both and not other and used + ENTRY_WORDS > TAKES_BOTH_ENDS:
            page.both_ends[buffer][end] = True
            self._seize(page, buffer, 1 - end)
        page.used[buffer][end] = used + ENTRY_WORDS
        return True

    def _take(self, bucket: int) -> None:
        """Removes the last entry of a bucket."""
        containers = self.buckets[bucket]
        page, buffer, end = containers[-1]
        page.used[buffer][end] -= ENTRY_WORDS
        if page.both_ends[buffer][end] and page.used[buffer][end] < GIVES_ONE_END:
            page.both_ends[buffer][end] = False
            self._release(page, buffer, 1 - end)
        if page.used[buffer][end] == HEAD_WORDS and len(containers) > 1:
            containers.pop()
            self._release(page, buffer, end)

    def _seize(self, page: Page, buffer: int, end: int) -> None:
        page.free[end].remove(buffer)
        page.taken += 1
        if page.is_overflow and page.taken == SPARSE_CONTAINERS + 1:
            self.sparse.remove(page)

    def _release(self, page: Page, buffer: int, end: int) -> None:
        page.used[buffer][end] = 0
        page.free[end].append(buffer)
        page.taken -= 1
        if not page.is_overflow:
            return
        if page.taken == 0:
            self.overflow.remove(page)
            self.sparse.remove(page)
        elif page.taken == SPARSE_CONTAINERS:
            self.sparse.insert(0, page)


def filled(rows: int, seed: int = 1) -> HashIndex:
    """A fragment with so many random keys."""
    keys, index = random.Random(seed), HashIndex()
    for _ in range(rows):
        index.insert(keys.getrandbits(40))
    return index


def overflow_shares(doubling: int = 14) -> list[float]:
    """Overflow pages for each page of buckets, at sixteenths between 2^doubling and twice as many buckets."""
    keys, index, shares = random.Random(7), HashIndex(), []
    for sixteenth in range(16):
        buckets = math.ceil(2 ** (doubling + sixteenth / 16))
        while len(index.buckets) < buckets:
            index.insert(keys.getrandbits(40))
        shares.append(round(len(index.overflow) / (buckets / BUCKETS_PER_PAGE), 4))
    return shares


if __name__ == "__main__":
    print(overflow_shares())
