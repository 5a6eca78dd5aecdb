"""Models on class sizes and on how diverse the sensitive values of a class are (SPEC of the field: see references)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import ClassVar

from sqlaudit.base.result import Number
from sqlaudit.classes.facts import Fact, Level
from sqlaudit.models.base import ClassModel, Parameter, band, expression

DISTINCT = Fact("distinct_values", "distinct_values", in_reports=True)
LARGEST = Fact("largest", "largest", in_reports=True)
CLOGC = Fact("count_log_count", "count_log_count")
MACHANAVAJJHALA = "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam: l-Diversity, TKDD 2007"


def head(j: int) -> Fact:
    """The fact `sum of the j largest counts`."""
    return Fact(f"head_{j}", "head", {"j": j})


def largest_l(c: Fraction, lanes: list[int] | None = None, name: str = "largest_l") -> Fact:
    """The fact `largest l for which recursive (c,l) holds`, of the largest count of all values or of some."""
    arguments = {"numerator": c.numerator, "denominator": c.denominator, "lanes": lanes}
    return Fact(f"{name}_{c.numerator}_{c.denominator}", "largest_l", arguments)


class KAnonymity(ClassModel):
    """Every class has at least k members."""

    name: ClassVar[str] = "k_anonymity"
    title: ClassVar[str] = "k-anonymity"
    definition: ClassVar[str] = "Every equivalence class has at least k rows (people, with an entity column)."
    reference: ClassVar[str] = "Samarati and Sweeney 1998; Sweeney, k-anonymity, IJUFKS 2002"
    parameters: ClassVar = (Parameter("k", "integer", "smallest class size allowed", 1),)
    short_forms: ClassVar = ("k",)
    class_minimum: ClassVar[str] = "rows"
    needs_sensitive: ClassVar[bool] = False
    inherited_with_limit: ClassVar[bool] = True
    wildcard: ClassVar[bool] = True
    by_counts: ClassVar[bool] = True

    def levels(self) -> dict[str, Level]:
        """The smallest class."""
        return {"k": Level("MIN", "size")}

    def failing(self) -> str:
        """Smaller than k."""
        return expression("below", fact="size", limit=self.values["k"])

    @property
    def fewest(self) -> int | None:
        """The k."""
        return int(self.values["k"])

    def holds(self, counts: Mapping[int, int]) -> bool:
        """At least k rows."""
        return bool(sum(counts.values()) >= self.values["k"])

    def verdict_by_counts(self, size: int, counts: Sequence[int]) -> bool | None:
        """The size is all that matters."""
        return bool(size >= self.values["k"])


class AlphaKAnonymity(ClassModel):
    """k-anonymity, and no value makes up more than a share alpha of a class."""

    name: ClassVar[str] = "alpha_k_anonymity"
    title: ClassVar[str] = "(α,k)-anonymity"
    definition: ClassVar[str] = "Every class has at least k rows, and no sensitive value has a share above α in it."
    reference: ClassVar[str] = "Wong, Li, Fu, Wang: (α,k)-anonymity, KDD 2006"
    operator: ClassVar[str] = "<="
    parameters: ClassVar = (
        Parameter("alpha", "decimal", "largest share allowed for one value", 0, 1),
        Parameter("k", "integer", "smallest class size allowed", 1, default=1),
    )
    short_forms: ClassVar = ("alpha",)
    inference: ClassVar[str] = "largest share of one value in a group (α)"
    by_counts: ClassVar[bool] = True

    def facts(self) -> tuple[Fact, ...]:
        """The largest count."""
        return (LARGEST,)

    def levels(self) -> dict[str, Level]:
        """The largest share of one value, and the smallest class."""
        return {"alpha": Level("MAX", expression("share", part="largest")), "k": Level("MIN", "size")}

    def failing(self) -> str:
        """Too small, or one value too frequent; exact in integers."""
        too_small = expression("below", fact="size", limit=self.values["k"])
        too_frequent = expression("share_above", part="largest", limit=self.values["alpha"])
        return expression("either", first=too_small, second=too_frequent)

    def holds(self, counts: Mapping[int, int]) -> bool:
        """Large enough, and no value too frequent."""
        size = sum(counts.values())
        return bool(size >= self.values["k"] and max(counts.values()) <= self.values["alpha"] * size)

    def verdict_by_counts(self, size: int, counts: Sequence[int]) -> bool | None:
        """Some value has at least its part of the size, and none more than all that there are of it."""
        most = self.values["alpha"] * size
        if size < self.values["k"] or -(-size // len(counts)) > most:
            return False
        return True if min(size, counts[0]) <= most else None


class DistinctDiversity(ClassModel):
    """Every class has at least l different sensitive values."""

    name: ClassVar[str] = "distinct_l_diversity"
    title: ClassVar[str] = "distinct l-diversity"
    definition: ClassVar[str] = "Every class has at least l different sensitive values (NULL is a value)."
    reference: ClassVar[str] = MACHANAVAJJHALA
    parameters: ClassVar = (Parameter("l", "integer", "fewest different values allowed", 1),)
    short_forms: ClassVar = ("l",)
    class_minimum: ClassVar[str] = "values"
    inference: ClassVar[str] = "fewest different values in a group (l)"
    inherited_with_limit: ClassVar[bool] = True
    wildcard: ClassVar[bool] = True
    by_counts: ClassVar[bool] = True

    def facts(self) -> tuple[Fact, ...]:
        """Return how many values occur."""
        return (DISTINCT,)

    def levels(self) -> dict[str, Level]:
        """The fewest values in a class."""
        return {"l": Level("MIN", "distinct_values")}

    def failing(self) -> str:
        """Fewer than l."""
        return expression("below", fact="distinct_values", limit=self.values["l"])

    def holds(self, counts: Mapping[int, int]) -> bool:
        """At least l values."""
        return bool(len(counts) >= self.values["l"])

    def verdict_by_counts(self, size: int, counts: Sequence[int]) -> bool | None:
        """Return True if l values cannot be avoided in a class of this size, False if they are impossible; None if it
        depends on the draw."""
        fewest = self.values["l"]
        if min(size, len(counts)) < fewest:
            return False
        return True if size > sum(counts[: fewest - 1]) else None


class EntropyDiversity(ClassModel):
    """The entropy of the sensitive values of every class is at least log l."""

    name: ClassVar[str] = "entropy_l_diversity"
    title: ClassVar[str] = "entropy l-diversity"
    definition: ClassVar[str] = (
        "In every class the entropy of the sensitive values is at least log l. The level is exp(entropy), a real "
        "number."
    )
    reference: ClassVar[str] = MACHANAVAJJHALA
    parameters: ClassVar = (Parameter("l", "decimal", "smallest exp(entropy) allowed", 1),)
    short_forms: ClassVar = ("entropy_l",)
    by_counts: ClassVar[bool] = True

    def facts(self) -> tuple[Fact, ...]:
        """Σ c ln c, and whether all counts are equal."""
        return (CLOGC, LARGEST, DISTINCT)

    def levels(self) -> dict[str, Level]:
        """The smallest exp(entropy)."""
        return {"l": Level("MIN", expression("entropy_l"))}

    def failing(self) -> str:
        """Clearly below."""
        limit = Fraction(self.values["l"])
        return expression("entropy_below", limit=limit, low=band(float(limit))[0])

    def doubtful(self) -> str:
        """Within float error of l."""
        low, high = band(float(self.values["l"]))
        return expression("entropy_between", low=low, high=high)

    def holds(self, counts: Mapping[int, int]) -> bool:
        """(b n)^n ≥ a^n Π c^c for l = a/b, decided exactly."""
        return entropy_at_least(list(counts.values()), Fraction(self.values["l"]))

    def verdict_by_counts(self, size: int, counts: Sequence[int]) -> bool | None:
        """The entropy of m values is at most log m."""
        return False if min(size, len(counts)) < self.values["l"] else None


class RecursiveDiversity(ClassModel):
    """The most frequent value is not too frequent against the rarer ones."""

    name: ClassVar[str] = "recursive_c_l_diversity"
    title: ClassVar[str] = "recursive (c,l)-diversity"
    definition: ClassVar[str] = (
        "r1 < c (r_l + … + r_m) in every class. l = 1 is always met; a class with fewer than l values always fails."
    )
    reference: ClassVar[str] = MACHANAVAJJHALA
    note: ClassVar[str] = "Any c above this level passes."
    operator: ClassVar[str] = "<"
    parameters: ClassVar = (
        Parameter("c", "decimal", "multiple of the tail that the largest count must stay below", 0),
        Parameter("l", "integer", "rank at which the tail begins", 1, default=2),
    )
    short_forms: ClassVar = ("recursive_l", "recursive_c_l", "recursive_cl_diversity")
    by_counts: ClassVar[bool] = True

    def facts(self) -> tuple[Fact, ...]:
        """The largest count, and the sum of the l−1 largest."""
        l, c = self.values["l"], self.values["c"]  # noqa: E741
        heads = () if l < 2 else (head(l - 1),)
        return (LARGEST, DISTINCT, *heads, *(() if c is None else (largest_l(Fraction(c)),)))

    def levels(self) -> dict[str, Level]:
        """The infimum of c for the given l, ∞ when a class has fewer than l values; the largest l for a given c."""
        c = "0.0" if self.values["l"] < 2 else expression("infimum", count="largest", tail=self._tail())
        levels = {"c": Level("MAX", c)}
        if self.values["c"] is not None:
            levels["largest_l"] = Level("MIN", largest_l(Fraction(self.values["c"])).name)
        return levels

    def _tail(self) -> str:
        return "n - " + head(self.values["l"] - 1).name

    def failing(self) -> str:
        """r1 ≥ c times the tail; exact in integers."""
        if self.values["l"] < 2:
            return expression("never")
        return expression("not_recursive", count="largest", tail=self._tail(), limit=Fraction(self.values["c"]))

    def holds(self, counts: Mapping[int, int]) -> bool:
        """r1 < c (r_l + … + r_m)."""
        first, ranked = self.values["l"], sorted(counts.values(), reverse=True)
        return bool(first == 1 or (len(ranked) >= first and ranked[0] < self.values["c"] * sum(ranked[first - 1 :])))

    def verdict_by_counts(self, size: int, counts: Sequence[int]) -> bool | None:
        """Fewer than l values have no tail."""
        if self.values["l"] == 1:
            return True
        return False if min(size, len(counts)) < self.values["l"] else None

    def conclude(self, levels: dict[str, object]) -> dict[str, Number | None]:
        """Keep c as the main number."""
        return {**super().conclude(levels), "l": self.values["l"]}


def entropy_at_least(counts: list[int], limit: Fraction) -> bool:
    """Return True if exp(entropy) of the counts is at least `limit`, exactly.

    With l = a/b the condition is (b n)^n ≥ a^n Π c^c. Logarithms in high precision decide unless both sides are
    equal, which is decided by the prime factors of the counts.
    """
    n = sum(counts)
    left: Counter[int] = Counter()
    right: Counter[int] = Counter()
    for base, power, side in [(limit.denominator * n, n, left), (limit.numerator, n, right)]:
        side.update({p: e * power for p, e in _factors(base).items()})
    for c in counts:
        right.update({p: e * c for p, e in _factors(c).items()})
    difference = {p: left[p] - right[p] for p in {*left, *right} if left[p] != right[p]}
    if not difference:
        return True
    return _log_sign(difference) > 0


def _log_sign(powers: Mapping[int, int]) -> int:
    """The sign of Σ e ln p, which is not zero: prime logarithms are independent over the rationals."""
    from decimal import Decimal, localcontext

    for digits in (50, 200, 1000, 5000):
        with localcontext() as context:
            context.prec = digits
            total = sum((Decimal(e) * Decimal(p).ln() for p, e in powers.items()), Decimal(0))
            scale = sum((abs(Decimal(e)) * Decimal(p).ln() for p, e in powers.items()), Decimal(0))
            if abs(total) > scale * Decimal(10) ** (5 - digits):
                return 1 if total > 0 else -1
    raise ArithmeticError("two logarithms could not be distinguished")


def _factors(value: int) -> dict[int, int]:
    """Prime factors of a positive whole number, by trial division."""
    exponents: dict[int, int] = {}
    rest, p = value, 2
    while p * p <= rest:
        while rest % p == 0:
            exponents[p] = exponents.get(p, 0) + 1
            rest //= p
        p += 1 if p == 2 else 2
    if rest > 1:
        exponents[rest] = exponents.get(rest, 0) + 1
    return exponents


# Recursive diversity where some values are not worth protecting: PD-recursive and NPD-recursive.

SMALLEST = Fact("smallest", "smallest", in_reports=True)
THESIS = "Hsu: Database Anonymization and Protections of Sensitive Attributes, Lakehead University 2008"


class PDRecursiveDiversity(ClassModel):
    """The most frequent value that matters is not too frequent against what remains after l−2 others are ruled out."""

    name: ClassVar[str] = "pd_recursive_c_l_diversity"
    title: ClassVar[str] = "PD-recursive (c,l)-diversity"
    definition: ClassVar = (
        "With r the count of the most frequent value outside the don't-care set, r < c (n − the l−2 largest counts − "
        "the smaller of r and the next largest) in every class. l = 1 is always met, and so is a class of don't-care "
        "values only."
    )
    reference: ClassVar[str] = (
        f"{MACHANAVAJJHALA}, definition 4.3; {THESIS}, 3.3.4 (with the cases corrected, errata H7)"
    )
    note: ClassVar[str] = RecursiveDiversity.note
    operator: ClassVar[str] = "<"
    parameters: ClassVar[tuple[Parameter, ...]] = RecursiveDiversity.parameters
    short_forms: ClassVar[tuple[str, ...]] = ("pd_recursive_l", "pd_recursive")
    needs: ClassVar[tuple[str, ...]] = ("dont_care",)

    def facts(self) -> tuple[Fact, ...]:
        """The largest count outside the don't-care set, and the sums of the largest counts."""
        heads = (self._head(count) for count in (self.values["l"] - 2, self.values["l"] - 1) if count > 0)
        return (self._top(), DISTINCT, *heads, *self._largest_l())

    def _watched(self) -> list[int]:
        unwatched = set(self.context.inputs["dont_care"])
        return [lane for lane in range(self.table.distinct) if lane not in unwatched]

    def _top(self) -> Fact:
        return Fact("largest_outside", "largest_of", {"lanes": self._watched()})

    def _head(self, count: int) -> Fact:
        return head(min(count, max(1, self.table.distinct)))

    def _largest_l(self) -> tuple[Fact, ...]:
        limit = self.values[self.main]
        return () if limit is None else (largest_l(Fraction(limit), self._watched(), "pd_largest_l"),)

    def _tail(self) -> str:
        size = self.values["l"]
        before = self._head(size - 2).name if size > 2 else "0"
        return expression("pd_tail", head=before, next_head=self._head(size - 1).name, top=self._top().name)

    def levels(self) -> dict[str, Level]:
        """The infimum of c for the given l; with c given the largest l, ∞ when every l holds."""
        top = self._top().name
        bound = "0.0" if self.values["l"] < 2 else expression("ratio", count=top, rest=self._tail())
        levels = {self.main: Level("MAX", bound)}
        for fact in self._largest_l():
            levels["largest_l"] = Level("MIN", expression("or_infinity", fact=fact.name))
        return levels

    def failing(self) -> str:
        """r ≥ c times the tail, and some value matters; exact in integers."""
        if self.values["l"] < 2:
            return expression("never")
        limit = Fraction(self.values[self.main])
        return expression("reaches", count=self._top().name, rest=self._tail(), limit=limit)

    def conclude(self, levels: dict[str, object]) -> dict[str, Number | None]:
        """The bound first, whole numbers as such."""
        numbers = super().conclude(levels)
        whole_numbers = {
            name: int(level) for name, level in numbers.items() if isinstance(level, float) and level.is_integer()
        }
        return {**numbers, **whole_numbers, "l": self.values["l"]}


class NPDRecursiveDiversity(PDRecursiveDiversity):
    """PD-recursive, and no value that occurs is so rare that it can be ruled out."""

    name: ClassVar[str] = "npd_recursive_c1_c2_l_diversity"
    title: ClassVar[str] = "NPD-recursive (c1,c2,l)-diversity"
    definition: ClassVar = (
        "PD-recursive (c1,l)-diversity, and every value that occurs in a class has a share of at least c2 there."
    )
    reference: ClassVar[str] = f"{THESIS}, 3.3.5"
    parameters: ClassVar = (
        Parameter("c1", "decimal", "multiple of the tail that the largest count must stay below", 0),
        Parameter("c2", "decimal", "smallest share allowed for a value", 0, 1),
        RecursiveDiversity.parameters[1],
    )
    short_forms: ClassVar[tuple[str, ...]] = ("npd_recursive_l", "npd_recursive")
    inherited: ClassVar[bool] = False

    def rarest(self) -> Fact:
        """The count of the rarest value that the model looks at."""
        return SMALLEST

    def facts(self) -> tuple[Fact, ...]:
        """As PD-recursive, and the rarest value."""
        return (*super().facts(), self.rarest())

    def levels(self) -> dict[str, Level]:
        """As PD-recursive, and the smallest share of a value."""
        return {**super().levels(), "c2": Level("MIN", expression("share", part=self.rarest().name))}

    def failing(self) -> str:
        """PD-recursive fails, or a value is too rare; exact in integers."""
        rare = expression("share_below", part=self.rarest().name, limit=Fraction(self.values["c2"]))
        return expression("either", first=super().failing(), second=rare)


class NPDRecursiveOfSet(NPDRecursiveDiversity):
    """NPD-recursive where given values must be frequent enough in every class, also where they are absent."""

    name: ClassVar[str] = "npd_recursive_c1_c2_l_diversity_of_set"
    title: ClassVar[str] = "NPD-recursive (c1,c2,l)-diversity of a set"
    definition: ClassVar = (
        "PD-recursive (c1,l)-diversity, and every value of a given set has a share of at least c2 in every class; an "
        "absent one has share 0."
    )
    reference: ClassVar[str] = f"{MACHANAVAJJHALA}, definition 4.4"
    short_forms: ClassVar[tuple[str, ...]] = ("npd_recursive_of_set",)
    needs: ClassVar[tuple[str, ...]] = ("dont_care", "must_occur")
    inherited: ClassVar[bool] = True

    def rarest(self) -> Fact:
        """The count of the rarest of the given values; 0 when the table does not hold one of them."""
        required = self.context.inputs["must_occur"]
        if required.absent:
            return Fact("smallest_of_set", "smallest_of", {"lanes": []})
        if not required.lanes:
            return Fact("size_of_class", "members", {"lanes": list(range(self.table.distinct))})
        return Fact("smallest_of_set", "smallest_of", {"lanes": list(required.lanes)})


# k-anonymity for an attacker who knows the sensitive value, too.


class ExtendedKAnonymity(ClassModel):
    """k-anonymity with the sensitive attribute added to the quasi-identifiers."""

    name: ClassVar[str] = "extended_k_anonymity"
    title: ClassVar[str] = "extended k-anonymity"
    definition: ClassVar = (
        "Every sensitive value that occurs in a class occurs there at least k times: k-anonymity with the sensitive "
        "attribute added to the quasi-identifiers."
    )
    reference: ClassVar[str] = THESIS
    note: ClassVar[str] = "A group fails when a sensitive value occurs in it fewer than k times."
    parameters: ClassVar = (Parameter("k", "integer", "fewest rows allowed with one value", 1),)
    short_forms: ClassVar = ("extended_k",)

    def facts(self) -> tuple[Fact, ...]:
        """The count of the rarest value that occurs."""
        return (SMALLEST,)

    def levels(self) -> dict[str, Level]:
        """The rarest value of any class."""
        return {"k": Level("MIN", SMALLEST.name)}

    def failing(self) -> str:
        """Some value fewer than k times."""
        return expression("below", fact=SMALLEST.name, limit=self.values["k"])
