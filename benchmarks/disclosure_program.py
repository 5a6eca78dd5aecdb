"""How fast is the disclosure program itself, with no database in the way?

Random distinct signatures go straight into it: cost against their number, against k, against the straightforward
implementation of the paper's two procedures, for single classes, and for an index that follows small changes.

    python benchmarks/disclosure_program.py                   all parts, up to ten million signatures (3 GB)
    python benchmarks/disclosure_program.py --most 1000000    up to a million

Every class has more than k + 1 distinct values: with fewer somebody is certain, and the program has less to do.
"""

from __future__ import annotations

import argparse
import platform
import resource
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import accumulate

import numpy as np

from sqlaudit.classes.facts import Signatures
from sqlaudit.models.disclosure.index import DisclosureIndex
from sqlaudit.models.disclosure.program import class_disclosure, maximum_disclosure

CHUNK = 2**18


def random_signatures(number: int, k: int, seed: int = 1) -> Signatures:
    """`number` different signatures: skewed counts, and some rows beyond the k + 1 largest counts."""
    rng = np.random.default_rng(seed)
    rest = 60 if k > 3 else 20_000  # few counts alone would not give enough different signatures
    mixers = rng.integers(1, 2**63, size=k + 2, dtype=np.int64).astype(np.uint64) | np.uint64(1)
    table = np.empty((k + 2, number), dtype=np.int32)
    seen = np.empty(0, np.uint64)
    done = 0
    while done < number:
        counts = -np.sort(-rng.geometric(0.04, size=(min(CHUNK, number - done), k + 1)), axis=1)
        rows = np.column_stack([counts.sum(axis=1) + rng.integers(1, rest, len(counts)), counts])
        mixed = (rows.astype(np.uint64) * mixers).sum(axis=1)
        # Different sums come from different rows; equal ones may not, and are left out to be sure.
        _, first = np.unique(mixed, return_index=True)
        first = first[~np.isin(mixed[first], seen)]
        seen = np.concatenate([seen, mixed[first]])
        table[:, done : done + len(first)] = rows[first].T
        done += len(first)
    return Signatures(table[0], table[1:].T, np.ones(number, np.int32))


def paper_procedures(signatures: Signatures, k: int) -> list[float]:
    """Minimize1 and Minimize2 with a memo, class after class, in floats; all levels up to `k` at once."""
    ways: list[tuple[list[float], list[float]]] = []  # the best without and with the consequent placed, by atoms
    none = [1.0] + [float("inf")] * (k + 1)
    ways.append((none, [float("inf")] * (k + 2)))
    for position in range(len(signatures)):
        n, counts = signatures.signature(position)
        minimum = [minimize1(n, counts, j) for j in range(k + 2)]
        before, after = ways[-1]
        without, placed = list(before), list(after)
        for total in range(1, k + 2):
            for here in range(1, total + 1):
                without[total] = min(without[total], minimum[here] * before[total - here])
                here_placed = minimum[here] * before[total - here] * n / counts[0]
                placed[total] = min(placed[total], minimum[here] * after[total - here], here_placed)
        ways.append((without, placed))
    return [1 / (1 + ratio) for ratio in ways[-1][1][1:]]


def minimize1(n: int, counts: tuple[int, ...], atoms: int) -> float:
    top = list(accumulate(counts, initial=0))

    @cache
    def least(person: int, most: int, left: int) -> float:
        if left == 0:
            return 1.0
        if person == n:
            return float("inf")
        return min(
            max(0, n - person - top[part]) / (n - person) * least(person + 1, part, left - part)
            for part in range(1, min(most, left) + 1)
        )

    return least(0, atoms, atoms)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def sizes(most: int) -> Iterator[int]:
    size = 1000
    while size <= most:
        yield size
        size *= 10


def by_number(most: int) -> None:
    print(
        "\n| distinct signatures, k = 12 | whole curve, s | ns a signature | one level of every class, s | memory, GB |"
    )
    print("| ---: | ---: | ---: | ---: | ---: |")
    for size in sizes(most):
        signatures = random_signatures(size, 12)
        curve = seconds(lambda: maximum_disclosure(signatures, 12))  # noqa: B023
        classes = seconds(lambda: class_disclosure(signatures, 12))  # noqa: B023
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"| {size:,} | {curve:.3f} | {curve / size * 1e9:,.0f} | {classes:.3f} | {memory:.2f} |", flush=True)


def by_level(size: int) -> None:
    print(f"\n| k, {size:,} distinct signatures | whole curve, s | µs a signature |")
    print("| ---: | ---: | ---: |")
    for k in (0, 1, 3, 6, 12, 25, 50):
        signatures = random_signatures(size, k)
        curve = seconds(lambda: maximum_disclosure(signatures, k))  # noqa: B023
        print(f"| {k} | {curve:.3f} | {curve / size * 1e6:.2f} |", flush=True)


def against_the_paper(most: int) -> None:
    print("\n| classes | k | the paper's procedures, s | this program, s | ratio |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for size in sizes(min(most, 10_000)):
        for k in (3, 12):
            signatures = random_signatures(size, k)
            expected: list[float] = []
            slow = seconds(lambda: expected.extend(paper_procedures(signatures, k)))  # noqa: B023
            fast = min(seconds(lambda: maximum_disclosure(signatures, k)) for _ in range(3))  # noqa: B023
            found = [float(point.maximum) for point in maximum_disclosure(signatures, k).points]
            np.testing.assert_allclose(found, expected, rtol=1e-9)
            print(f"| {size:,} | {k} | {slow:.2f} | {fast:.4f} | {slow / fast:,.0f} |", flush=True)


def index_updates(most: int) -> None:
    print("\n| classes, k = 12 | make the index, s | replace 2 classes, ms | curve from scratch, ms | ratio |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for size in sizes(min(most, 1_000_000)):
        signatures = random_signatures(size, 12)
        start = time.perf_counter()
        index = DisclosureIndex(signatures, 12)
        make = time.perf_counter() - start
        rounds = 20
        start = time.perf_counter()
        for step in range(rounds):
            pair = signatures.take(np.array([2 * step, 2 * step + 1]))
            row = [int(pair.n.sum()), *pair.counts.sum(axis=0).tolist(), 1]
            index.replace(pair, Signatures.from_rows([row], 12))
            _ = index.curve
        update = (time.perf_counter() - start) / rounds
        again = seconds(lambda: maximum_disclosure(signatures, 12))  # noqa: B023
        print(f"| {size:,} | {make:.2f} | {update * 1e3:.2f} | {again * 1e3:.1f} | {again / update:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=10_000_000, help="most distinct signatures (default: %(default)s)")
    most = parser.parse_args().most
    print(f"Python {platform.python_version()}, numpy {np.__version__}, one thread")
    against_the_paper(most)
    by_level(min(most, 100_000))
    index_updates(most)
    by_number(most)


if __name__ == "__main__":
    main()
