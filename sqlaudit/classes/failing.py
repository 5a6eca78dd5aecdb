"""The classes that fail requirements: selected, counted, read from the database, and written to files."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from math import gcd, isqrt
from typing import Annotated, Any

from sqlaudit.base.files import Batches
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.relation import Row, Statement
from sqlaudit.base.result import FROM_1, Documented, Number, after, told
from sqlaudit.base.sql import Raw, environment
from sqlaudit.classes.facts import ClassHistogram, Fact

# What selects the failing classes: a condition over facts, or a listing if facts are not enough.


@dataclass(frozen=True)
class ClassListing:
    """A way to select the failing classes that facts alone do not describe.

    Subclasses bring their own relation or estimates into the statement; `name` is the name that these get there.
    """

    def figure_columns(self, name: str) -> list[tuple[str, str]]:
        """Return (label, column) of the figures that the listing has of each class."""
        return []

    def figure_columns_with_values(self, name: str) -> list[tuple[str, str]]:
        """Return the figures with labels that may contain sensitive values."""
        return self.figure_columns(name)

    def condition(self, name: str) -> str:
        """Return the SQL condition that is true for a failing class."""
        return level_macro("always")

    def key_relations(self, name: str) -> list[tuple[str, Raw, list[str]]]:
        """Return (name, FROM item, figures) of the relation of class keys, if there is one."""
        return []

    def signature_relations(self, name: str) -> list[tuple[str, Raw, int]]:
        """Return (name, FROM item, counts in a signature) of the relation of signatures, if there is one."""
        return []

    def estimate_parameters(self) -> Mapping[str, Any] | None:
        """Return the parameters of the estimates that it needs of every class; None = it needs no estimates."""
        return None


@dataclass(frozen=True)
class ClassFigure:
    """A figure that a model reports of a failing class.

    Args:
        label: its label.
        expression: SQL over facts.
        facts: the facts in the expression.
        label_with_values: the label where values may be shown, if it differs: labels from users may contain values.
    """

    label: str
    expression: str
    facts: tuple[Fact, ...]
    label_with_values: str = ""


class AllClassesListing(ClassListing):
    """A listing of all classes: each of them fails."""


@dataclass(frozen=True)
class KeyListing(ClassListing):
    """A listing by key: a row for every class with its key q1, q2, …, `short` (1 = it fails, or 0) and its figures.

    It may also have classes that are not in the table.

    Args:
        relation: makes the FROM item, in the engine's dialect, when it is needed.
        figures: the columns of the figures.
        labels: the labels of the figures.
    """

    relation: Callable[[], str]
    figures: tuple[str, ...]
    labels: tuple[str, ...]

    def figure_columns(self, name: str) -> list[tuple[str, str]]:
        """Return (label, column) of its figures."""
        return [(label, f"{name}_{figure}") for label, figure in zip(self.labels, self.figures, strict=True)]

    def condition(self, name: str) -> str:
        """Return the condition that the class is marked as failing."""
        return level_macro("marked", name=name)

    def key_relations(self, name: str) -> list[tuple[str, Raw, list[str]]]:
        """Return its relation."""
        return [(name, Raw(self.relation()), list(self.figures))]


@dataclass(frozen=True)
class SignatureListing(ClassListing):
    """A listing by signature: the signatures of the failing classes, each with a figure.

    Args:
        relation: makes VALUES of `rows:largest:next…` and the figure, when they are needed.
        depth: the number of counts in a signature.
        label: the label of the figure.
    """

    relation: Callable[[], str]
    depth: int
    label: str

    def figure_columns(self, name: str) -> list[tuple[str, str]]:
        """Return (label, column) of its figure."""
        return [(self.label, name)]

    def condition(self, name: str) -> str:
        """Return the condition that the signature of the class is listed."""
        return level_macro("known", name=name)

    def signature_relations(self, name: str) -> list[tuple[str, Raw, int]]:
        """Return its relation."""
        return [(name, Raw(self.relation()), self.depth)]


@dataclass(frozen=True)
class EstimateListing(ClassListing):
    """A listing by security estimates, which are computed for every class.

    Args:
        parameters: the parameters of `_estimates.sql`.
        over: the condition on psi_lowest and psi_highest that a failing class meets.
        columns: the estimates that are reported.
        values: the values whose own estimates are reported.
    """

    parameters: Mapping[str, object]
    over: str
    columns: tuple[str, ...]
    values: tuple[str, ...] = ()

    def figure_columns(self, name: str) -> list[tuple[str, str]]:
        """Return the estimates, those of values labelled with the rank of the value."""
        ranks = range(1, len(self.values) + 1)
        return [(column, column) for column in self.columns] + [(f"ψ of value {n}", f"psi_of_{n - 1}") for n in ranks]

    def figure_columns_with_values(self, name: str) -> list[tuple[str, str]]:
        """Return the estimates, those of values labelled with the value."""
        values = [(f"ψ of {value}", f"psi_of_{lane}") for lane, value in enumerate(self.values)]
        return [(column, column) for column in self.columns] + values

    def condition(self, name: str) -> str:
        """Return the condition on the estimates."""
        return self.over

    def estimate_parameters(self) -> Mapping[str, object] | None:
        """Return its parameters."""
        return self.parameters


@dataclass(frozen=True)
class ClassRequirement:
    """A requirement on equivalence classes, with what selects the classes that fail it.

    Args:
        text: the requirement as the user wrote it.
        sensitive: the attribute that its check names; None = none.
        predicate: SQL over facts that selects the failing classes; empty if `listing` does.
        listing: the listing that selects them; None = the predicate does.
        of_values: whether it is about sensitive values, and not about sizes alone.
        classes: the number of failing classes; None = it is not known.
        is_met: whether no class fails. The predicate is in the statement nevertheless, so that the statement can be
            written before any check is decided.
        figures: what its model reports of a failing class in addition to the facts for reports.
    """

    text: str
    sensitive: str | None
    predicate: str = ""
    listing: ClassListing | None = None
    of_values: bool = False
    classes: int | None = None
    is_met: bool = False
    figures: tuple[ClassFigure, ...] = ()

    @property
    def has_keys(self) -> bool:
        """True if its failing classes are listed by key."""
        return isinstance(self.listing, KeyListing)

    def condition(self, name: str) -> str:
        """Return the SQL condition that is true for a failing class. `name` is the name of what its listing brings."""
        return self.predicate if self.listing is None else self.listing.condition(name)


def level_macro(macro: str, **arguments: object) -> str:
    """Render a level, predicate or condition over facts: a macro of `_levels.sql` with integers and names of facts."""
    return str(getattr(environment().get_template("models/_levels.sql").module, macro)(**arguments))


# Results on equivalence classes: their sizes, and those that fail.


@dataclass(frozen=True)
class ClassSizes(Documented):
    """The equivalence classes by size. Sizes are persons when there is an entity column, rows otherwise.

    Args:
        sizes: pairs (size, number of classes of that size), ascending.
        per_row: whether classes overlap (a missing value matches any): then each row counts as one class, of the rows
            that match it.
    """

    sizes: tuple[tuple[Annotated[int, FROM_1], Annotated[int, FROM_1]], ...]
    per_row: bool = field(default=False, metadata=after("max_size"))

    @property
    @told("")
    def count(self) -> int:
        """The number of classes."""
        return sum(classes for _, classes in self.sizes)

    @property
    def members(self) -> int:
        """Rows (or people) in all classes together."""
        return self.count if self.per_row else sum(size * classes for size, classes in self.sizes)

    @property
    def all_squares(self) -> bool:
        """True if every class has a square number of rows, and one has 9 or more."""
        return bool(self.sizes) and self.sizes[-1][0] >= 9 and all(isqrt(size) ** 2 == size for size, _ in self.sizes)

    @property
    def all_multiples(self) -> bool:
        """True if a number from 3 on divides the sizes of all classes."""
        return gcd(*(size for size, _ in self.sizes)) >= 3

    @property
    @told("count")
    def min_size(self) -> Annotated[int, FROM_1] | None:
        """The smallest class, None for an empty table."""
        return self.sizes[0][0] if self.sizes else None

    @property
    @told("min_size")
    def max_size(self) -> Annotated[int, FROM_1] | None:
        """The largest class, None for an empty table."""
        return self.sizes[-1][0] if self.sizes else None

    def below(self, k: int) -> tuple[int, int]:
        """Return the number of classes smaller than k, and of the rows in them."""
        small = [(size, classes) for size, classes in self.sizes if size < k]
        rows = sum(classes if self.per_row else size * classes for size, classes in small)
        return sum(classes for _, classes in small), rows


@dataclass(frozen=True)
class FailingClass(Documented):
    """A class that fails at least one requirement.

    Args:
        size: rows, or persons when there is an entity column.
        rows: rows of one such class; a class that only a population has has none.
        figures: the class's own figures.
        fails: the requirements it fails, as they were written.
        sensitive: the attribute that one of these is about, None when none is.
        key: its quasi-identifier values, None unless values were asked for; what JSON has no type for is text.
        classes: classes that this entry stands for: without keys, classes with the same counts are one entry.
    """

    size: Annotated[int, FROM_1]
    rows: int
    figures: Mapping[str, Number | None]
    fails: tuple[str, ...] = field(metadata=after("sensitive"))
    sensitive: str | None = field(default=None, metadata=after("classes"))
    key: Mapping[str, object] | None = None
    classes: Annotated[int, FROM_1] = field(default=1, metadata=after("rows"))


# The failing classes, read from the database: the smallest ones, or all in batches.


@dataclass(frozen=True)
class FailingClasses:
    """The classes that fail at least one of several requirements.

    Args:
        histogram: the classes, separate and with their keys if `keys` has any or a requirement needs them.
        requirements: the requirements, with what selects the classes that fail them.
        facts: the facts in conditions, and those that are reported.
        keys: the labels of q1, q2, …; empty = keys are not shown.
        collated: whether each of these is text.
        width: the number of columns of a class key, shown or not.
        sensitive: the attribute that every class names, even if no requirement is about it, because classes differ
            between attributes; None = none.
    """

    histogram: ClassHistogram
    requirements: tuple[ClassRequirement, ...]
    facts: tuple[Fact, ...]
    keys: tuple[str, ...] = ()
    collated: tuple[bool, ...] = ()
    width: int = 0
    sensitive: str | None = None

    def smallest(self, limit: int | None) -> tuple[list[FailingClass], int]:
        """Return the smallest failing classes, and the number of all. Without keys, equal ones are counted together.

        Args:
            limit: how many to return; None = all.
        """
        rows = self.histogram.ask(self.statement(limit))
        total = int(rows[0][-1]) if rows else 0
        return [self._class(row) for row in rows[:limit]], total

    def __iter__(self) -> Iterator[FailingClass]:
        """Yield all failing classes, read in batches, for an export."""
        for batch in self.histogram.engine.stream(self.statement(None)):
            for row in batch:
                yield self._class(row)

    @property
    def figures(self) -> tuple[str, ...]:
        """The labels of the figures of a class."""
        return tuple(self._figures)

    @cached_property
    def _named_requirements(self) -> list[tuple[ClassRequirement, str]]:
        """The requirements, each with the name for what its listing brings."""
        return [(requirement, f"listing_{position}") for position, requirement in enumerate(self.requirements)]

    @property
    def _listings(self) -> list[tuple[ClassListing, str]]:
        return [(r.listing, name) for r, name in self._named_requirements if r.listing is not None]

    @cached_property
    def _model_figures(self) -> tuple[ClassFigure, ...]:
        return tuple(figure for requirement in self.requirements for figure in requirement.figures)

    @cached_property
    def _figures(self) -> dict[str, str]:
        """The SQL expressions of the figures over the columns of a class, by label."""
        expressions: dict[str, list[str]] = {fact.name: [fact.name] for fact in self.facts if fact.in_reports}
        for listing, name in self._listings:
            labels = listing.figure_columns_with_values(name) if self.keys else listing.figure_columns(name)
            for label, column in labels:
                expressions.setdefault(label, []).append(column)
        for figure in self._model_figures:
            with_values = self.keys and figure.label_with_values
            expressions.setdefault(figure.label_with_values if with_values else figure.label, [figure.expression])
        # Requirements that share a figure each list it, with NULL in the classes that they do not list
        return {
            label: same_figure[0] if len(same_figure) == 1 else level_macro("first_known", names=same_figure)
            for label, same_figure in expressions.items()
        }

    def statement(self, limit: int | None) -> Statement:
        """Return the statement that reads the failing classes, the smallest first; limit None = all."""
        by_key = [relation for listing, name in self._listings for relation in listing.key_relations(name)]
        by_signature = [relation for listing, name in self._listings for relation in listing.signature_relations(name)]
        all_estimates = (listing.estimate_parameters() for listing, _ in self._listings)
        estimates = next((parameters for parameters in all_estimates if parameters is not None), None)
        tops = {depth: Fact(f"top_counts_{depth}", "top", {"count": depth}) for _, _, depth in by_signature}
        further = {fact.name: fact for figure in self._model_figures for fact in figure.facts}
        facts = list({fact.name: fact for fact in (*self.facts, *further.values(), *tops.values())}.values())
        names = [f"q{position}" for position in range(1, self.width + 1)]
        return self.histogram.statement(
            "classes/failing_classes.sql",
            facts,
            "failing classes",
            key_names=names if self.keys else [],
            key_columns=names if self.keys or by_key else [],
            collated=list(self.collated),
            columns=[
                *(fact.name for fact in facts),
                *(() if estimates is None else ("psi_lowest", "psi_highest")),
                *(f"psi_of_{lane}" for lane in range(0 if estimates is None else estimates["each"])),
                *(name for name, _, _ in by_signature),
            ],
            keyed=by_key,
            listed=by_signature,
            estimates=None if estimates is None else dict(estimates),
            figures=list(self._figures.items()),
            predicates=self._predicates(bool(by_key)),
            limit=None if limit is None else max(1, limit),
        )

    def _predicates(self, has_key_relations: bool) -> list[tuple[str, str]]:
        """Return (name, condition) of every requirement.

        Relations of keys may bring classes without members. These fail no requirement but those listed by key.
        """
        predicates = []
        for position, (requirement, name) in enumerate(self._named_requirements):
            condition = requirement.condition(name)
            if has_key_relations and not requirement.has_keys:
                condition = level_macro("both", first=level_macro("known", name="size"), second=condition)
            predicates.append((f"fails_{position}", condition))
        return predicates

    def _class(self, row: Row) -> FailingClass:
        """Return the failing class of a row: key, size, classes, rows, figures, a flag per requirement, the total."""
        at = len(self.keys)
        size, classes, table_rows = (int(value) for value in row[at : at + 3])
        figures = row[at + 3 : at + 3 + len(self._figures)]
        flags = row[at + 3 + len(self._figures) : -1]
        failed = [requirement for requirement, fails in zip(self.requirements, flags, strict=True) if fails]
        return FailingClass(
            size=size,
            rows=table_rows // classes,
            figures={name: _plain_number(value) for name, value in zip(self._figures, figures, strict=True)},
            fails=tuple(requirement.text for requirement in failed),
            sensitive=self.sensitive or next((r.sensitive for r in failed if r.sensitive), None),
            key=dict(zip(self.keys, row, strict=False)) if self.keys else None,
            classes=classes,
        )


@dataclass(frozen=True)
class AllFailing:
    """All failing classes of all sensitive attributes, one after the other, for an export.

    Args:
        parts: the classes of each attribute.
        unnamed: sentences on requirements whose failing classes cannot be selected.
    """

    parts: tuple[FailingClasses, ...]
    unnamed: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[FailingClass]:
        for part in self.parts:
            yield from part

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of all keys, each once. With joined attributes, not every class has all of them."""
        return tuple(dict.fromkeys(key for part in self.parts for key in part.keys))

    @property
    def figures(self) -> tuple[str, ...]:
        """The labels of the figures of all classes, each once."""
        return tuple(dict.fromkeys(figure for part in self.parts for figure in part.figures))


def _plain_number(value: Any) -> int | float | None:
    if value is None or isinstance(value, int | float):
        return value
    return int(value) if value == int(value) else float(value)


# Failing classes as rows of a file.


def failing_batches(
    failing: Iterable[FailingClass], keys: Sequence[str] = (), figures: Sequence[str] = (), batch: int = 10_000
) -> tuple[list[str], Batches]:
    """Return failing classes as rows of a file, for `write_rows`. One batch is read at a time.

    Args:
        failing: the classes.
        keys: the columns of their keys; empty = keys are not written.
        figures: the labels of their figures.
        batch: rows in a batch.

    Returns:
        The names of the columns, and the batches. The columns are those of the keys, then size, rows, classes,
        sensitive, failed_requirements, and the figures. A key column or figure that a class does not have is missing.
    """
    class_columns = ["size", "rows", "classes", "sensitive", "failed_requirements", *figures]
    names = [*keys, *(name + "_" if name in keys else name for name in class_columns)]

    def row(failing_class: FailingClass) -> list[object]:
        fields = [
            failing_class.size,
            failing_class.rows,
            failing_class.classes,
            failing_class.sensitive,
            ", ".join(failing_class.fails),
        ]
        return [*map((failing_class.key or {}).get, keys), *fields, *map(failing_class.figures.get, figures)]

    rows = map(row, failing)
    return names, iter(lambda: list(itertools.islice(rows, batch)), [])
