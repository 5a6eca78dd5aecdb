"""Models on categories of sensitive values: how many are mixed in a class, and how much one of them makes up."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import ClassVar

from sqlaudit.base.errors import Undecidable
from sqlaudit.classes.attribute_inputs import Categories
from sqlaudit.classes.facts import Fact, Level
from sqlaudit.classes.failing import ClassFigure
from sqlaudit.models.base import (
    ClassModel,
    HistogramModel,
    Judgement,
    Parameter,
    combinations_of,
    decide,
    expression,
    presence_facts,
)
from sqlaudit.models.diversity import THESIS

# Smallest covers and largest unions of few sets, exactly. Elements are bits.


def smallest_cover(elements: int, sets: Sequence[int]) -> int | None:
    """Return how many of the sets are needed to cover all elements; None when they cannot.

    Args:
        elements: what is to be covered, a number whose bits are the elements.
        sets: the same of every set.

    Example:
        >>> smallest_cover(0b1111, [0b0111, 0b1100, 0b0011])
        2
    """
    all_covers = sorted({cover & elements for cover in sets})
    useful = [
        cover for cover in all_covers if not any(cover != other and cover & other == cover for other in all_covers)
    ]
    if functools.reduce(operator.or_, useful, 0) != elements:
        return None
    return next(size for size in range(len(useful) + 1) if _covers(elements, useful, size))


def _covers(elements: int, sets: Sequence[int], size: int) -> bool:
    """Return True if `size` sets are enough: some set must hold the element that the fewest sets hold."""
    if not elements:
        return True
    if not size:
        return False
    rest, fewest = elements, list(sets)
    while rest:
        bit = rest & -rest
        rest ^= bit
        holding = [cover for cover in sets if cover & bit]
        if len(holding) < len(fewest) or rest == elements ^ bit:
            fewest = holding
    return any(_covers(elements & ~cover, sets, size - 1) for cover in fewest)


def largest_unions(sets: Sequence[frozenset[int]], count: int, limit: int) -> list[frozenset[int]] | None:
    """The unions of `count` sets (all of them when there are fewer) that lie in no other; None beyond `limit` choices.

    Example:
        >>> largest_unions([frozenset({0}), frozenset({0, 1}), frozenset({2})], 1, 10)
        [frozenset({0, 1}), frozenset({2})]
    """
    size = min(count, len(sets))
    if comb(len(sets), size) > limit:
        return None
    unions = {frozenset[int]().union(*chosen) for chosen in combinations(sets, size)}
    return sorted((union for union in unions if not any(union < other for other in unions)), key=sorted)


MAX_CATEGORIES = 20
"""Up to this many categories the smallest cover is computed."""
MAX_UNIONS = 500
"""Up to this many choices of l categories the largest union is computed."""
DONT_CARE = "members_of_dont_care"
DONT_CARE_SHARE = "dont_care_share"


def _share_of(label: str, name: str, lanes: Sequence[int], named: str = "") -> ClassFigure:
    fact = Fact(name, "members", {"lanes": list(lanes)})
    return ClassFigure(label, expression("share", part=name), (fact,), named)


class CategoricalModel(ClassModel):
    """Base of the models that need categories."""

    needs: ClassVar[tuple[str, ...]] = ("categories",)

    @property
    def categories(self) -> Categories:
        """The categories on lanes."""
        categories: Categories = self.context.inputs["categories"]
        return categories

    def largest_category(self) -> Fact:
        """The rows of the largest category, the don't-care set aside."""
        return Fact("largest_category", "largest_set", {"sets": [list(lanes) for lanes in self.categories.lanes]})


class CategoricalDiversity(HistogramModel, CategoricalModel):
    """The values of every class are spread over at least l categories."""

    name: ClassVar[str] = "l_categorical_diversity"
    title: ClassVar[str] = "l-categorical diversity"
    definition: ClassVar = (
        "At least l of the categories (the don't-care set counts as one) are needed to cover the values of every "
        f"class; exact, with up to {MAX_CATEGORIES} categories."
    )
    reference: ClassVar[str] = f"{THESIS}, 3.5.3"
    parameters: ClassVar = (Parameter("l", "integer", "fewest categories allowed", 1),)
    short_forms: ClassVar[tuple[str, ...]] = ("categorical_l",)
    inherited_with_limit: ClassVar[bool] = True
    wildcard: ClassVar[bool] = True

    def prepare(self) -> None:
        """Refuse more categories than an exact answer allows."""
        if len(self.categories.names) > MAX_CATEGORIES:
            raise Undecidable(
                f"{self.categories.place}: {self.name} is computed for up to {MAX_CATEGORIES} categories, "
                f"there are {len(self.categories.names)}."
            )

    def _groups(self) -> dict[int, list[int]]:
        """Lanes by the sets that hold them: those in the same sets are alike."""
        groups: dict[int, list[int]] = {}
        for lane in range(self.table.distinct):
            member = sum(1 << index for index, lanes in enumerate(self.categories.sets) if lane in lanes)
            groups.setdefault(member, []).append(lane)
        return groups

    def facts(self) -> tuple[Fact, ...]:
        """Return which kinds of values occur."""
        return presence_facts("kinds", list(self._groups().values()))

    def judge_histogram(self, rows: Sequence[tuple[object, ...]]) -> Judgement:
        """The smallest cover of every combination that occurs."""
        members = list(self._groups())
        sets = [
            sum(1 << kind for kind, member in enumerate(members) if member >> index & 1)
            for index in range(len(self.categories.sets))
        ]
        covers = [(occurring, smallest_cover(occurring.mask, sets) or 0) for occurring in combinations_of(rows)]
        return decide(covers, self.facts(), self.values["l"], "l")


class DensityControl(CategoricalModel):
    """No category makes up more than a share d of a class."""

    name: ClassVar[str] = "d_density_control"
    title: ClassVar[str] = "d-density control"
    definition: ClassVar[str] = "Every category, and the don't-care set, has a share of at most d in every class."
    reference: ClassVar[str] = f"{THESIS}, 3.5.5 and 3.5.6"
    note: ClassVar[str] = "With mu_dilution also required, the don't-care set has no upper limit (level and verdict)."
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (Parameter("d", "decimal", "largest share allowed", 0, 1),)
    short_forms: ClassVar[tuple[str, ...]] = ("d_density", "density")

    def facts(self) -> tuple[Fact, ...]:
        """The rows of the largest category."""
        return (self._largest(),)

    def _largest(self) -> Fact:
        if "mu_dilution" in self.context.beside:
            return self.largest_category()
        return Fact("largest_set", "largest_set", {"sets": [list(lanes) for lanes in self.categories.sets]})

    def class_figures(self) -> tuple[ClassFigure, ...]:
        """The share of every category, so that one sees which is too large."""
        figures = []
        for number, (name, lanes) in enumerate(zip(self.categories.names, self.categories.lanes, strict=True), 1):
            label = f"share of category {number}"
            figures.append(_share_of(label, f"members_of_category_{number}", lanes, f"share of {name}"))
        return (*figures, _share_of(DONT_CARE_SHARE, DONT_CARE, self.categories.dont_care))

    def levels(self) -> dict[str, Level]:
        """The largest share."""
        return {"d": Level("MAX", expression("share", part=self._largest().name))}

    def failing(self) -> str:
        """Some share above d; exact in integers."""
        return expression("share_above", part=self._largest().name, limit=Fraction(self.values["d"]))


class Dilution(ClassModel):
    """Values that no one cares about make up at least a share mu of every class."""

    name: ClassVar[str] = "mu_dilution"
    title: ClassVar[str] = "μ-dilution"
    definition: ClassVar[str] = "The don't-care set has a share of at least μ in every class."
    reference: ClassVar[str] = f"{THESIS}, 3.5.6"
    note: ClassVar[str] = "It overrides the limit that d_density_control sets on the don't-care set."
    parameters: ClassVar = (Parameter("mu", "decimal", "smallest share allowed", 0, 1),)
    short_forms: ClassVar[tuple[str, ...]] = ("dilution",)
    needs: ClassVar[tuple[str, ...]] = ("dont_care",)

    def facts(self) -> tuple[Fact, ...]:
        """The rows with a don't-care value."""
        return (Fact(DONT_CARE, "members", {"lanes": list(self.context.inputs["dont_care"])}),)

    def class_figures(self) -> tuple[ClassFigure, ...]:
        """Their share."""
        return (_share_of(DONT_CARE_SHARE, DONT_CARE, self.context.inputs["dont_care"]),)

    def levels(self) -> dict[str, Level]:
        """The smallest share."""
        return {"mu": Level("MIN", expression("share", part=DONT_CARE))}

    def failing(self) -> str:
        """A share below mu; exact in integers."""
        return expression("share_below", part=DONT_CARE, limit=Fraction(self.values["mu"]))


class CategoricalRecursive(CategoricalModel):
    """The largest category stays small against what l categories leave uncovered."""

    name: ClassVar[str] = "c_l_categorical_recursive_diversity"
    title: ClassVar[str] = "(c,l)-categorical recursive diversity"
    definition: ClassVar = (
        "The largest category's share is at most c times the share that no l categories together can cover, in every "
        "class. The don't-care set is not a category here; its rows are uncovered."
    )
    reference: ClassVar[str] = f"{THESIS}, 3.5.7 and 3.5.8"
    note: ClassVar[str] = "The level is the smallest c that is met with this l."
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (
        Parameter("c", "decimal", "largest share allowed, as a multiple of the uncovered share", 0),
        Parameter("l", "integer", "number of categories that cover together", 1, default=2),
    )
    short_forms: ClassVar[tuple[str, ...]] = ("categorical_recursive",)

    def facts(self) -> tuple[Fact, ...]:
        """The largest category, and the largest union of l categories."""
        return (self.largest_category(), self._covered())

    def _covered(self) -> Fact:
        size = self.values["l"]
        sets = [frozenset(lanes) for lanes in self.categories.lanes]
        unions = largest_unions(sets, size, MAX_UNIONS)
        if unions is None:
            raise Undecidable(
                f"{self.categories.place}: {self.name} tries every choice of l categories, up to {MAX_UNIONS}; "
                f"{len(sets)} categories and l = {size} give more."
            )
        return Fact(f"largest_union_{size}", "largest_set", {"sets": [sorted(union) for union in unions]})

    def class_figures(self) -> tuple[ClassFigure, ...]:
        """The share of the largest category, and of what it is compared with."""
        facts = self.facts()
        return (
            ClassFigure("largest_category_share", expression("share", part=self.largest_category().name), facts),
            ClassFigure(self.rest_label(), expression("share", part=f"({self.rest()})"), facts),
        )

    def rest_label(self) -> str:
        """Return what the rows that the largest category is compared with are called."""
        return f"share_that_{self.values['l']}_categories_leave"

    def rest(self) -> str:
        """SQL over facts: the rows that the largest category is compared with."""
        return f"n - {self._covered().name}"

    def levels(self) -> dict[str, Level]:
        """The smallest c for the given l, ∞ when nothing is left."""
        return {"c": Level("MAX", expression("ratio", count=self.largest_category().name, rest=self.rest()))}

    def failing(self) -> str:
        """The largest exceeds c times the rest; exact in integers."""
        limit = Fraction(self.values["c"])
        return expression("exceeds", count=self.largest_category().name, rest=self.rest(), limit=limit)


class CLDensityControl(CategoricalRecursive):
    """The same with the shares of the categories added up, which is quicker and less exact where they overlap."""

    name: ClassVar[str] = "c_l_density_control"
    title: ClassVar[str] = "(c,l)-density control"
    definition: ClassVar = (
        "With the categories by descending share, the first share is at most c times the sum of the shares from the "
        "l-th on, in every class. The don't-care set is not a category here."
    )
    reference: ClassVar[str] = f"{THESIS}, 3.5.10 (the sum starts at l, not at 1)"
    parameters: ClassVar = (
        Parameter("c", "decimal", "largest share allowed, as a multiple of the tail", 0),
        Parameter("l", "integer", "category at which the tail begins", 1, default=2),
    )
    short_forms: ClassVar[tuple[str, ...]] = ("c_l_density",)

    def facts(self) -> tuple[Fact, ...]:
        """The largest category, all of them, and the l−1 largest added up."""
        return (self.largest_category(), self._largest_together(len(self.categories.lanes)), *self._head())

    def _head(self) -> tuple[Fact, ...]:
        count = min(self.values["l"] - 1, len(self.categories.lanes))
        return (self._largest_together(count),) if count else ()

    def _largest_together(self, count: int) -> Fact:
        sets = [list(lanes) for lanes in self.categories.lanes]
        return Fact(f"largest_{count}_categories", "head_of_sets", {"sets": sets, "j": count})

    def rest_label(self) -> str:
        """Return what these are called."""
        return f"shares_from_category_{self.values['l']}_on"

    def rest(self) -> str:
        """All category shares added up, without the l−1 largest."""
        total = self._largest_together(len(self.categories.lanes)).name
        return " - ".join([total, *(fact.name for fact in self._head())])
