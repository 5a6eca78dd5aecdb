"""How far an estimate would move with another sample: a seeded parametric bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from sqlaudit.population.estimate import Estimate
from sqlaudit.population.negative_binomial import SNB, NegativeBinomial, slide_negative_binomial
from sqlaudit.population.pitman import PITMAN, PitmanModel, fit_pitman
from sqlaudit.population.sample import Sample
from sqlaudit.population.zayatz import zayatz

if TYPE_CHECKING:
    import numpy as np

CONFIDENCE = 0.95
_AT_ONCE = 20_000_000
"""Marks of new classes that are held at a time."""


@dataclass(frozen=True)
class DrawnInterval:
    """Where the middle 95% of the estimates from drawn samples lie, as numbers of people, and how many had one.

    The middle of the drawn estimates is put on the estimate itself: the interval tells how much chance there is in it,
    and nothing of whether its model is true.
    """

    low: float
    high: float
    draws: int


def bootstrap(sample: Sample, found: Estimate, draws: int, seed: int) -> DrawnInterval | None:
    """Samples drawn from the model that was fitted, each estimated again.

    Pitman's model is drawn member by member, as its sampling formula says; the slide negative binomial's classes with
    binomial numbers of their people; Zayatz's classes from the sizes that the sample has, which are the population's by
    its assumption.

    Args:
        sample: what was estimated from. found: its estimate. draws: how many samples. seed: of the random numbers.

    Returns:
        The interval; None without an estimate, or where fewer than half of the samples drawn have one.
    """
    if found.uniques is None or not found.parameters or draws < 1:
        return None
    import numpy as np

    random = np.random.default_rng(seed)
    if found.estimator == PITMAN:
        values = _by_pitman(sample, PitmanModel(**found.parameters), draws, random)
    elif found.estimator == SNB:
        values = _by_snb(sample, NegativeBinomial(**found.parameters), draws, random)
    else:
        values = [zayatz(_as_large(sizes, sample)).uniques for sizes in _multinomial(sample, draws, random)]
    known = sorted(value for value in values if value is not None)
    if 2 * len(known) < draws or not known:
        return None
    cut = (1 - CONFIDENCE) / 2
    last = len(known) - 1
    shift = found.uniques - known[last // 2]
    low, high = known[floor(cut * last)] + shift, known[ceil((1 - cut) * last)] + shift
    return DrawnInterval(max(0.0, low), min(high, float(sample.population)), len(known))


def _as_large(sizes: tuple[tuple[int, int], ...], sample: Sample) -> Sample:
    """Drawn classes in a population of the same size."""
    return Sample(sizes, max(sample.population, sum(size * classes for size, classes in sizes)))


def _multinomial(sample: Sample, draws: int, random: np.random.Generator) -> list[tuple[tuple[int, int], ...]]:
    shares = [classes / sample.classes for _, classes in sample.sizes]
    counts = random.multinomial(sample.classes, shares, draws).tolist()
    sizes = [size for size, _ in sample.sizes]
    return [tuple((size, n) for size, n in zip(sizes, drawn, strict=True) if n) for drawn in counts]


def _by_snb(sample: Sample, model: NegativeBinomial, draws: int, random: np.random.Generator) -> list[float | None]:
    values = []
    for _ in range(draws):
        people = 1 + random.negative_binomial(model.alpha, model.beta, round(model.classes))
        members = random.binomial(people, sample.fraction)
        drawn = Sample(_histogram(members), int(people.sum()))
        values.append(slide_negative_binomial(drawn).uniques if drawn.members else None)
    return values


def _by_pitman(sample: Sample, model: PitmanModel, draws: int, random: np.random.Generator) -> list[float | None]:
    values: list[float | None] = []
    at_once = max(1, min(draws, _AT_ONCE // sample.members))
    while len(values) < draws:
        for new in _new_classes(sample.members, model, min(at_once, draws - len(values)), random):
            drawn = _as_large(_histogram(_sizes(new, model.alpha, random)), sample)
            fitted = fit_pitman(drawn, model) if drawn.of_size(1) else None
            values.append(fitted.uniques(sample.population) if fitted else None)
    return values


def _new_classes(members: int, model: PitmanModel, draws: int, random: np.random.Generator) -> Any:
    """Which members begin a class, for several samples at a time: with the chance (θ + uα)/(θ + i)."""
    import numpy as np

    new = np.zeros((draws, members), dtype=bool)
    classes = np.zeros(draws)
    for place in range(members):
        begins = random.random(draws) * (model.theta + place) < model.theta + classes * model.alpha
        if not place:
            begins[:] = True
        new[:, place] = begins
        classes += begins
    return new


def _sizes(new: Any, alpha: float, random: np.random.Generator) -> Any:
    """The sizes of the classes of one sample.

    A member that begins no class goes to one of size s with a chance in proportion to s - α: it follows an earlier
    member that began none either, or goes to any class, in the proportion of (i - u) to u (1 - α).
    """
    import numpy as np

    classes = np.cumsum(new)
    place = np.arange(len(new))
    home = np.where(new, classes - 1, -1)
    followers = np.flatnonzero(~new)
    before, known = place[followers] - classes[followers], classes[followers]
    follows = random.random(len(followers)) * (before + known * (1 - alpha)) < before
    chosen = np.floor(random.random(len(followers)) * np.where(follows, before, known)).astype(np.int64)
    leader = np.where(follows, chosen, np.arange(len(followers)))
    while True:
        further = leader[leader]
        if np.array_equal(further, leader):
            break
        leader = further
    home[followers] = chosen[leader]
    return np.bincount(home)


def _histogram(members: Any) -> tuple[tuple[int, int], ...]:
    """How many classes have each size, those without members aside."""
    import numpy as np

    counts = np.bincount(members)
    return tuple((size, int(counts[size])) for size in np.flatnonzero(counts).tolist() if size)
