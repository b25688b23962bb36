"""Writers with tokens of their own, in processes of their own."""

from __future__ import annotations

import multiprocessing
import random
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

#: How many at once, and how often each writes.
WRITERS = 4
WRITES = 40


def race(write: Callable[[str, int], bool], where: str) -> int:
    """Lets them write, each with tokens that grow, in an order that nobody knows. How many writes were refused."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WRITERS, mp_context=spawn) as pool:
        all_of_them = [pool.submit(_write_on, write, where, number) for number in range(WRITERS)]
        return sum(one.result() for one in all_of_them)


def _write_on(write: Callable[[str, int], bool], where: str, number: int) -> int:
    chance, token, refused = random.Random(number), number + 1, 0
    for _ in range(WRITES):
        refused += not write(where, token)
        # Most writers go on with what they have for a while.
        token += WRITERS * (chance.random() < 0.3)
    return refused
