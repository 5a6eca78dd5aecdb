"""Brute force for the rarer models, straight from their definitions, in fractions. Slow, short and obvious.

Classes come from `tests.oracle`; `Given` holds the further inputs by value. Nothing here knows how the package
computes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

from tests.oracle import Expected, Group, Row, Table, by_class, comparable

INFINITY = math.inf


@dataclass(frozen=True)
class Given:
    """Further inputs: categories and don't-care values, values that must occur, an order, a tree as paths from the
    root to each leaf (the leaf last), a class function, width and kappa, factors of belief, and a population."""

    categories: Mapping[str, frozenset[Any]]
    dont_care: frozenset[Any]
    must_occur: Sequence[Any]
    order: Sequence[Any]
    paths: Sequence[tuple[Any, ...]]
    cf: Mapping[Any, Fraction]
    width: Fraction
    kappa: Fraction
    alpha: Mapping[Any, Fraction]
    population: Sequence[Row]
    qi: Sequence[str]
    original: Sequence[str]
    sensitive: str


def ratio(count: int, rest: int) -> Any:
    """The smallest c with count ≤ c · rest."""
    if not count:
        return 0
    return Fraction(count, rest) if rest else INFINITY


# --- recursive ---


def holds_recursively(counts: Mapping[Any, int], ignored: frozenset[Any], c: Fraction, l: int) -> bool:
    """The most frequent value that is not ignored stays below c times what is left when the l−2 others that weigh most
    are ruled out, and itself set aside."""
    watched = [n for value, n in counts.items() if value not in ignored]
    return l == 1 or not watched or max(watched) < c * left_over(counts, ignored, l)


def left_over(counts: Mapping[Any, int], ignored: frozenset[Any], l: int) -> int:
    top = max((value for value in counts if value not in ignored), key=lambda value: counts[value])
    others = [n for value, n in counts.items() if value != top]
    return min(sum(others) - sum(out) for out in combinations(others, min(l - 2, len(others))))


def by_case_split(counts: Mapping[Any, int], ignored: frozenset[Any], c: Fraction, l: int) -> bool:
    """The same as definitions print it, with y the rank of the most frequent value that is not ignored."""
    ranked = sorted(counts, key=lambda value: -counts[value])
    watched = [rank for rank, value in enumerate(ranked, 1) if value not in ignored]
    if l == 1 or not watched:
        return True
    y = watched[0]
    r = [0, *(counts[value] for value in ranked)]
    if y <= l - 1:
        return r[y] < c * sum(r[l:])
    return r[y] < c * (sum(r[l - 1 : y]) + sum(r[y + 1 :]))


def smallest_c(g: Group, ignored: frozenset[Any], l: int) -> Any:
    watched = [n for value, n in g.counts.items() if value not in ignored]
    return 0 if l == 1 or not watched else ratio(max(watched), left_over(g.counts, ignored, l))


def largest_l(table: Table, ignored: frozenset[Any], c: Fraction) -> Any:
    """The largest l that all classes satisfy; no class satisfies an l beyond its values, unless all are ignored."""
    levels = []
    for g in table.groups:
        if set(g.counts) <= ignored:
            levels.append(INFINITY)
            continue
        levels.append(max(l for l in range(1, len(g.counts) + 2) if holds_recursively(g.counts, ignored, c, l)))
    return min(levels, default=None)


def pd_recursive_c_l_diversity(table: Table, given: Given, c: Fraction, l: int = 2) -> Expected:
    level = max((smallest_c(g, given.dont_care, l) for g in table.groups), default=None)
    return by_class(table, level, lambda g: holds_recursively(g.counts, given.dont_care, c, l))


def npd_recursive_c1_c2_l_diversity(table: Table, given: Given, c1: Fraction, c2: Fraction, l: int = 2) -> Expected:
    level = max((smallest_c(g, given.dont_care, l) for g in table.groups), default=None)

    def satisfied(g: Group) -> bool:
        rare = min(Fraction(n, g.n) for n in g.counts.values())
        return holds_recursively(g.counts, given.dont_care, c1, l) and rare >= c2

    return by_class(table, level, satisfied)


def npd_recursive_c1_c2_l_diversity_of_set(
    table: Table, given: Given, c1: Fraction, c2: Fraction, l: int = 2
) -> Expected:
    level = max((smallest_c(g, given.dont_care, l) for g in table.groups), default=None)

    def satisfied(g: Group) -> bool:
        shares = [Fraction(g.counts.get(value, 0), g.n) for value in given.must_occur]
        return holds_recursively(g.counts, given.dont_care, c1, l) and min(shares, default=Fraction(1)) >= c2

    return by_class(table, level, satisfied)


def extended_k_anonymity(table: Table, given: Given, k: int) -> Expected:
    level = min((min(g.counts.values()) for g in table.groups), default=None)
    return by_class(table, level, lambda g: min(g.counts.values()) >= k)


# --- distances ---


def earth_movers(
    supply: Mapping[Any, int], demand: Mapping[Any, int], cost: Callable[[Any, Any], Fraction]
) -> Fraction:
    """The cheapest way to turn one heap into another of the same mass: cheapest paths of a growing flow."""
    flow: Counter[tuple[Any, Any]] = Counter()
    supply, demand = Counter(supply), Counter(demand)
    while any(supply.values()):
        reached: dict[Any, tuple[Fraction, list[Any]]] = {
            ("from", v): (Fraction(0), [("from", v)]) for v in supply if supply[v]
        }
        for _ in range(2 * len(supply) + 2 * len(demand)):
            for (side, v), (paid, path) in list(reached.items()):
                for w in demand if side == "from" else supply:
                    edge = (v, w) if side == "from" else (w, v)
                    node = ("to" if side == "from" else "from", w)
                    if side == "to" and not flow[edge]:
                        continue
                    price = paid + (cost(*edge) if side == "from" else -cost(*edge))
                    if node not in reached or price < reached[node][0]:
                        reached[node] = (price, [*path, node])
        _, path = min((reached["to", w] for w in demand if demand[w]), key=lambda found: found[0])
        steps = list(pairwise(path))
        back = [flow[w, v] for (side, v), (_, w) in steps if side == "to"]
        amount = min([supply[path[0][1]], demand[path[-1][1]], *back])
        for (side, v), (_, w) in steps:
            if side == "from":
                flow[v, w] += amount
            else:
                flow[w, v] -= amount
        supply[path[0][1]] -= amount
        demand[path[-1][1]] -= amount
    return sum((n * cost(*edge) for edge, n in flow.items()), Fraction(0))


def distance(table: Table, g: Group, cost: Callable[[Any, Any], Fraction]) -> Fraction:
    here = {value: n * table.total for value, n in g.counts.items()}
    there = {value: n * g.n for value, n in table.totals.items()}
    return earth_movers(here, there, cost) / (g.n * table.total)


def t_closeness_hierarchical(table: Table, given: Given, t: Fraction) -> Expected:
    height = max(map(len, given.paths))
    # a shorter path goes on as copies of its leaf
    padded = {path[-1]: [*path, *[path[-1]] * (height - len(path))] for path in given.paths}

    def cost(one: Any, other: Any) -> Fraction:
        if one == other:
            return Fraction(0)
        shared = next(i for i, (a, b) in enumerate(zip(padded[one], padded[other], strict=True)) if a != b)
        return Fraction(height - shared, height)

    return by_class(
        table,
        max((distance(table, g, cost) for g in table.groups), default=None),
        lambda g: distance(table, g, cost) <= t,
    )


def t_closeness_ordered(table: Table, given: Given, t: Fraction) -> Expected:
    def cost(one: Any, other: Any) -> Fraction:
        gap = abs(given.order.index(one) - given.order.index(other))
        return Fraction(gap, max(1, len(given.order) - 1))

    return by_class(
        table,
        max((distance(table, g, cost) for g in table.groups), default=None),
        lambda g: distance(table, g, cost) <= t,
    )


# --- categories ---


def share_of(g: Group, values: Iterable[Any]) -> Fraction:
    return Fraction(sum(g.counts.get(value, 0) for value in set(values)), g.n)


def cover(g: Group, given: Given) -> int:
    sets = [*given.categories.values(), given.dont_care]
    return next(
        size
        for size in range(len(sets) + 1)
        if any(set(g.counts) <= frozenset().union(*chosen) for chosen in combinations(sets, size))
    )


def l_categorical_diversity(table: Table, given: Given, l: int) -> Expected:
    return by_class(table, min((cover(g, given) for g in table.groups), default=None), lambda g: cover(g, given) >= l)


def largest_share(g: Group, given: Given) -> Fraction:
    return max((share_of(g, values) for values in given.categories.values()), default=Fraction(0))


def d_density_control(table: Table, given: Given, d: Fraction, *, diluted: bool = False) -> Expected:
    def densest(g: Group) -> Fraction:
        return largest_share(g, given) if diluted else max(largest_share(g, given), share_of(g, given.dont_care))

    return by_class(table, max(map(densest, table.groups), default=None), lambda g: densest(g) <= d)


def mu_dilution(table: Table, given: Given, mu: Fraction) -> Expected:
    level = min((share_of(g, given.dont_care) for g in table.groups), default=None)
    return by_class(table, level, lambda g: share_of(g, given.dont_care) >= mu)


def _bounded(table: Table, given: Given, rest: Callable[[Group], Fraction], c: Fraction) -> Expected:
    def needed(g: Group) -> Any:
        largest = largest_share(g, given)
        return 0 if not largest else largest / rest(g) if rest(g) else INFINITY

    return by_class(
        table, max(map(needed, table.groups), default=None), lambda g: largest_share(g, given) <= c * rest(g)
    )


def c_l_categorical_recursive_diversity(table: Table, given: Given, c: Fraction, l: int = 2) -> Expected:
    def uncovered(g: Group) -> Fraction:
        size = min(l, len(given.categories))
        unions = [frozenset().union(*chosen) for chosen in combinations(given.categories.values(), size)]
        return 1 - max(share_of(g, union) for union in unions)

    return _bounded(table, given, uncovered, c)


def c_l_density_control(table: Table, given: Given, c: Fraction, l: int = 2) -> Expected:
    def tail(g: Group) -> Fraction:
        shares = sorted((share_of(g, values) for values in given.categories.values()), reverse=True)
        return sum(shares[l - 1 :], Fraction(0))

    return _bounded(table, given, tail, c)


# --- class functions ---


def numbers(g: Group, given: Given) -> list[Fraction]:
    return sorted({given.cf[value] for value in g.counts})


def delta_range_control(table: Table, given: Given, delta: Fraction) -> Expected:
    def spread(g: Group) -> Fraction:
        return max(numbers(g, given)) - min(numbers(g, given))

    return by_class(table, min(map(spread, table.groups), default=None), lambda g: spread(g) >= delta)


def intervals(points: Sequence[Fraction], r: Fraction) -> int:
    """Try all choices of where intervals begin; beginning at a point loses nothing."""
    return next(
        size
        for size in range(len(points) + 1)
        if any(
            all(any(start <= point <= start + r for start in starts) for point in points)
            for starts in combinations(points, size)
        )
    )


def l_r_linear_diversity(table: Table, given: Given, l: int, r: Fraction) -> Expected:
    level = min((intervals(numbers(g, given), r) for g in table.groups), default=None)
    return by_class(table, level, lambda g: intervals(numbers(g, given), r) >= l)


def apart(given: Given, one: Any, other: Any) -> Fraction:
    """A distance that is no line and no tree: that of the class function, and 1 more between different values."""
    return abs(given.cf[one] - given.cf[other]) + (one != other)


def _within(table: Table, cost: Any, t: Fraction) -> Expected:
    level = max((distance(table, g, cost) for g in table.groups), default=None)
    return by_class(table, level, lambda g: distance(table, g, cost) <= t)


def t_closeness_numeric(table: Table, given: Given, t: Fraction) -> Expected:
    return _within(table, lambda one, other: abs(given.cf[one] - given.cf[other]), t)


def t_closeness_matrix(table: Table, given: Given, t: Fraction) -> Expected:
    return _within(table, lambda one, other: apart(given, one, other), t)


def estimates(g: Group, given: Given) -> list[float]:
    """ψ of every value of the class."""
    sigma, kappa = float(given.width), float(given.kappa)

    def density(x: float, mean: float) -> float:
        return math.exp(-((x - mean) ** 2) / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi))

    rows = [float(given.cf[value]) for value, n in g.counts.items() for _ in range(n)]
    return [kappa * math.fsum(density(float(given.cf[value]), mean) for mean in rows) for value in g.counts]


def psi_security_estimate(table: Table, given: Given, psi: Fraction) -> Expected:
    level = min((min(estimates(g, given)) for g in table.groups), default=None)
    return by_class(table, level, lambda g: min(estimates(g, given)) >= psi)


def psi_positive_disclosure(table: Table, given: Given, psi: Fraction) -> Expected:
    level = max((max(estimates(g, given)) for g in table.groups), default=None)
    return by_class(table, level, lambda g: max(estimates(g, given)) <= psi)


# --- population ---


def key_of(row: Row, columns: Sequence[str]) -> tuple[Any, ...]:
    return tuple(comparable(row[column]) for column in columns)


def people_of(given: Given) -> Counter[tuple[Any, ...]]:
    return Counter(key_of(row, given.qi) for row in given.population)


def journalist_risk(table: Table, given: Given, risk: Fraction) -> Expected:
    people = people_of(given)
    level = max((Fraction(1, people[g.key]) for g in table.groups), default=None)
    return by_class(table, level, lambda g: Fraction(1, people[g.key]) <= risk)


def marketer_risk(table: Table, given: Given, risk: Fraction) -> Expected:
    people = people_of(given)
    right = sum((Fraction(g.size, people[g.key]) for g in table.groups), Fraction(0))
    level = right / sum(g.size for g in table.groups) if table.groups else None
    return Expected(level, None if level is None else level <= risk, None, None)


def k_map(table: Table, given: Given, k: int) -> Expected:
    people = people_of(given)
    return by_class(table, min((people[g.key] for g in table.groups), default=None), lambda g: people[g.key] >= k)


def delta_presence(table: Table, given: Given, max: Fraction, min: Fraction = Fraction(0)) -> Expected:
    sizes = {g.key: g for g in table.groups}
    shares = {key: Fraction(sizes[key].size if key in sizes else 0, n) for key, n in people_of(given).items()}
    short = [key for key, share in shares.items() if not min <= share <= max]
    level = sorted(shares.values())[-1] if shares else None
    failing = tuple(sizes.get(key, Group(0, 0, {}, key)) for key in short)
    return Expected(level, not short, len(short), sum(group.rows for group in failing), failing)


# --- belief ---


@dataclass(frozen=True)
class Belief:
    """What an attacker thinks of a value for people alike: before and after the table (None = impossible)."""

    group: Group
    prior: Fraction
    posterior: Fraction | None


def beliefs(table: Table, given: Given) -> list[Belief]:
    """For every q0 that the population has inside a class, and every value of table or population."""
    values = set(table.totals) | {comparable(row[given.sensitive]) for row in given.population}
    found = []
    for g in table.groups:
        around = [row for row in given.population if key_of(row, given.qi) == g.key]
        for q0 in {key_of(row, given.original) for row in around}:
            alike = [row for row in around if key_of(row, given.original) == q0]
            terms = {}
            for s in values:
                n = g.counts.get(s, 0)
                if n:
                    terms[s] = (
                        n * given.alpha.get(s, Fraction(1)) * frequency(s, alike, given) / frequency(s, around, given)
                    )
            total = sum(terms.values())
            found += [
                Belief(g, frequency(s, alike, given), terms.get(s, Fraction(0)) / total if total else None)
                for s in values
            ]
    return found


def frequency(value: Any, rows: Sequence[Row], given: Given) -> Fraction:
    return Fraction(sum(1 for row in rows if comparable(row[given.sensitive]) == value), len(rows))


def _breached(table: Table, given: Given, level: Any, breach: Callable[[Belief], bool]) -> Expected:
    short = [b for b in beliefs(table, given) if b.posterior is not None and breach(b)]
    groups = [g for g in table.groups if any(b.group is g for b in short)]
    found = len(short) if level is None else level
    return Expected(found, not short, len(groups), sum(g.rows for g in groups), tuple(groups))


def posteriors(table: Table, given: Given) -> list[Fraction]:
    return [b.posterior for b in beliefs(table, given) if b.posterior is not None]


def bayes_optimal_belief(table: Table, given: Given, posterior: Fraction) -> Expected:
    found = posteriors(table, given)
    return _breached(table, given, max(found) if found else "none", lambda b: b.posterior > posterior)


def rho1_rho2_breach(table: Table, given: Given, rho1: Fraction, rho2: Fraction) -> Expected:
    return _breached(
        table,
        given,
        None,
        lambda b: (b.prior < rho1 and b.posterior > rho2) or (b.prior > 1 - rho1 and b.posterior < 1 - rho2),
    )


def delta_positive_disclosure(table: Table, given: Given, delta: Fraction) -> Expected:
    return bayes_optimal_belief(table, given, 1 - delta)


def epsilon_negative_disclosure(table: Table, given: Given, epsilon: Fraction) -> Expected:
    found = posteriors(table, given)
    return _breached(table, given, min(found) if found else "none", lambda b: b.posterior < epsilon)


MODELS: Mapping[str, Callable[..., Expected]] = {
    function.__name__: function
    for function in (
        pd_recursive_c_l_diversity,
        npd_recursive_c1_c2_l_diversity,
        npd_recursive_c1_c2_l_diversity_of_set,
        extended_k_anonymity,
        t_closeness_ordered,
        t_closeness_hierarchical,
        l_categorical_diversity,
        d_density_control,
        mu_dilution,
        c_l_categorical_recursive_diversity,
        c_l_density_control,
        delta_range_control,
        l_r_linear_diversity,
        t_closeness_numeric,
        t_closeness_matrix,
        psi_security_estimate,
        psi_positive_disclosure,
        journalist_risk,
        marketer_risk,
        k_map,
        delta_presence,
        bayes_optimal_belief,
        rho1_rho2_breach,
        delta_positive_disclosure,
        epsilon_negative_disclosure,
    )
}
