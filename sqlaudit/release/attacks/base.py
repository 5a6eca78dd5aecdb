"""What an attack is: it says what it lacks, or how many persons it exposes; and which cells fit each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.columns_of import Resolved, resolve
from sqlaudit.base.errors import Undecidable
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import DATES, NUMBERS, Kind, Relation, Row
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.facts import ClassHistogram, Fact, SensitiveTable
from sqlaudit.classes.failing import ClassRequirement, FailingClasses
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.cell_reader import CellReader, plain_reader
from sqlaudit.hierarchies.cells import AnyValue, Exact, Interval
from sqlaudit.hierarchies.levels import Hierarchy, plain
from sqlaudit.release.attacks.request import AttackRequest, Pair
from sqlaudit.release.attacks.result import SINGULAR, Example, Exposure
from sqlaudit.reports.document import percent

# Which cells of one table fit which cells of another: equal ones, and generalized cells that hold the other one.
#
# Only the different values of one column at a time are looked at, never rows. What fits without being equal goes back
# to the database as parameters.

MAX_VALUES = 200_000
"""Up to this many different values of a column are compared with generalized cells."""

LOOKS_GENERALIZED = r"\[|\]|[(){}<>≤≥*]|^=-?[0-9.]+ *[-–] *-?[0-9.]+$"

MAX_COMPARED = 5_000_000
"""Up to this many (cell, value) pairs of a column are compared."""

_WITH_POINTS = (*NUMBERS, *DATES)

SPELLED = {Kind.FLOAT: "float", Kind.DECIMAL: "decimal"}
"""How `text_of` writes numbers of a kind so that a text can equal them."""


@dataclass(frozen=True)
class Match:
    """A column of two tables. `pairs`: (mine, theirs) texts that fit without being equal, with what theirs then is:
    `finer`, `coarser`, or `same` (the same in another spelling, or a NULL that fits anything); None = only equal ones.

    Args:
        label: what the user calls it. mine, theirs: its SQL in each table.
        form, other_form: how values are spelled on each side. null, other_null: the text of NULL on each side.
    """

    label: str
    mine: Resolved
    theirs: Resolved
    form: str
    other_form: str
    null: str
    other_null: str
    pairs: tuple[tuple[str, str, str], ...] | None = None


def as_parameters(
    matches: Sequence[Match], *, directions: bool = False
) -> tuple[list[dict[str, object]], list[object]]:
    """The matches as templates take them, and the parameters of the statement; three a match with `directions`."""
    template_parameters: list[dict[str, object]] = []
    parameters: list[object] = []
    for position, match in enumerate(matches, 1):
        fields = {name: value for name, value in vars(match).items() if name not in ("label", "pairs")}
        places = [Raw(f"${len(parameters) + further}") for further in (1, 2, 3)[: 3 if directions else 2]]
        template_parameters.append(
            {"name": f"m{position}", "listed": None if match.pairs is None else places, **fields}
        )
        if match.pairs is not None:
            parameters += [[pair[part] for pair in match.pairs] for part in range(len(places))]
    return template_parameters, parameters


def find_matches(
    release: AttackedRelease,
    other: Relation,
    pairs: Iterable[Pair],
    option: str,
    *,
    reading: bool = True,
    both_ways: bool = False,
) -> tuple[Match, ...]:
    """The columns that a release and another table are compared by, with the cells that fit.

    Args:
        pairs: the column's name in each table. option: how errors call the names.
        reading: whether generalized cells are read; else only equal cells fit, whatever they look like.
        both_ways: whether cells of the other table may stand for cells of the release, too.

    Raises:
        UsageError: a column that is not there, a cell that cannot be read, or too many different values.
    """
    matches, dialect = [], release.engine.dialect
    null = ("null", "other null") if release.request.roles.nulls is NullPolicy.DISTINCT else ("", "")
    for left, right in pairs:
        mine, theirs = resolve(left, release.relation, dialect, option), resolve(right, other, dialect, option)
        forms = SPELLED.get(mine.kind, ""), SPELLED.get(theirs.kind, "")
        if mine.kind in NUMBERS and theirs.kind in NUMBERS:  # spelled so that equal ones are equal texts
            forms = ("", "") if mine.kind is theirs.kind is Kind.INTEGER else ("double", "double")
        match = Match(left, mine, theirs, *forms, *null)
        matches.append(replace(match, pairs=_Fitting(release, other, match).pairs(both_ways)) if reading else match)
    return tuple(matches)


@dataclass(frozen=True)
class _Fitting:
    """The cells of one column that fit without being equal; side 0 is the release, side 1 the other table."""

    release: AttackedRelease
    other: Relation
    match: Match

    def pairs(self, both_ways: bool) -> tuple[tuple[str, str, str], ...] | None:
        """(mine, theirs, direction); None when no cell is generalized and NULL is no wildcard."""
        wildcard = self.release.request.roles.nulls is NullPolicy.WILDCARD
        cells = [self._cells(0), self._cells(1) if both_ways else []]
        if not any(cells) and not wildcard:
            return None
        covered: list[set[tuple[str, str]]] = [set(), set()]
        anything: set[tuple[str, str]] = set()
        for side in (0, 1):
            if cells[side] or wildcard:
                values = self._texts(1 - side)
                covered_pairs = self._covered(cells[side], values)
                free = {("", value) for value in values if wildcard}
                covered[side] = {(mine, theirs) for theirs, mine in covered_pairs} if side else covered_pairs
                anything |= {(mine, theirs) for theirs, mine in free} if side else free
        finer, coarser = covered
        same = (finer & coarser) | anything
        named = [(finer - same, "finer"), (coarser - same, "coarser"), (same, "same")]
        return tuple((*pair, direction) for pairs, direction in named for pair in sorted(pairs) if pair[0] != pair[1])

    @property
    def _hierarchy(self) -> Hierarchy:
        return self.release.request.hierarchies.get(self.match.label) or plain(self.match.label)

    def _covered(self, texts: Sequence[str], values: Sequence[str]) -> set[tuple[str, str]]:
        """(cell, text it stands for), in the spelling of statements; a NULL is covered by what covers everything.

        Raises:
            UsageError: a cell cannot be read, or there is too much to compare; the column is named, not the cell.
        """
        if not texts:
            return set()
        cells, hierarchy = [text[1:] for text in texts], self._hierarchy
        known_texts = [value[1:] for value in values if value.startswith("=")]
        reader = plain_reader(hierarchy, self._kind(cells, known_texts))
        read = {text: cell for text, cell in reader.read_all(cells).items() if not isinstance(cell, Exact)}
        if len(read) * len(known_texts) > MAX_COMPARED:
            raise Undecidable(
                f"{hierarchy.column}: {len(read):,} generalized cells and {len(known_texts):,} different values are "
                "too many to compare. Leave the column out, or compare a coarser expression."
            )
        # a text of the other table that cannot be read is covered by nothing but `*`
        others = [(text, value) for text in dict.fromkeys(known_texts) if (value := reader.read(text)) is not None]
        covered_pairs = {
            (f"={text}", f"={other}")
            for text, cell in read.items()
            for other, value in others
            if reader.covers(cell, value)
        }
        any_text = plain_reader(hierarchy, Kind.TEXT)
        any_cells = [cell for cell in cells if isinstance(any_text.read(cell), AnyValue)]
        return covered_pairs | {(f"={cell}", value) for cell in any_cells for value in values}

    def _kind(self, cells: Sequence[str], others: Sequence[str]) -> Kind:
        """Return the kind of the values. Texts are numbers if a cell is an interval of numbers and every text fits
        that."""
        kinds = (self.match.theirs.kind, self.match.mine.kind)
        kind = next((kind for kind in kinds if kind is not Kind.TEXT), Kind.TEXT)
        if kind in _WITH_POINTS:
            return kind
        as_numbers = CellReader(self._hierarchy, Kind.DECIMAL)
        read = [as_numbers.read(text) for text in (*cells, *others)]
        if any(cell is None for cell in read) or not any(isinstance(cell, Interval) for cell in read):
            return kind
        ends = [end for cell in read if isinstance(cell, Interval) for end in (cell.low, cell.high)]
        without_decimals = not any(isinstance(cell, Exact) and "." in (cell.key or "") for cell in read)
        are_whole = without_decimals and all(getattr(end, "denominator", 1) == 1 for end in ends)
        return Kind.INTEGER if are_whole else Kind.DECIMAL

    def _cells(self, side: int) -> list[str]:
        """The texts of one side that may be generalized cells: those that look so, or any where labels are known."""
        kinds = (self.match.mine.kind, self.match.theirs.kind)
        cells, values = kinds[side], kinds[1 - side]
        any_text = values in _WITH_POINTS and cells not in _WITH_POINTS
        any_text = any_text or self.match.label in self.release.request.hierarchies
        texts = self._texts(side, "" if any_text else LOOKS_GENERALIZED)
        return [text for text in texts if text.startswith("=")]

    def _texts(self, side: int, pattern: str = "") -> list[str]:
        """Read the different texts of a column on one side, in order.

        Raises:
            UsageError: there are too many.
        """
        match = self.match
        relation, column, form, null = (
            (self.release.relation, match.mine, match.form, match.null),
            (self.other, match.theirs, match.other_form, match.other_null),
        )[side]
        rows = self.release.ask(
            "attack_texts",
            f"values of {match.label}",
            source=relation,
            column=column,
            form=form,
            null=null,
            pattern=pattern,
            limit=MAX_VALUES + 1,
        )
        if len(rows) > MAX_VALUES:
            raise Undecidable(
                f"{match.label} has more than {MAX_VALUES:,} different values to compare with generalized cells. "
                "Leave it out, or compare a coarser expression."
            )
        return sorted(str(row[0]) for row in rows)


# What an attack is: it says what it lacks, or how many persons it exposes. All figures come from the database.

LI = "Li, Li, Venkatasubramanian: t-Closeness, ICDE 2007"
SWEENEY = "Sweeney: k-Anonymity, IJUFKS 2002"

FIRST = Fact("first_lane", "first_lane")
"""The lowest lane that occurs: the only one where there is only one value."""


@dataclass(frozen=True)
class AttackedAttribute:
    """One sensitive attribute of the release, its classes, and what is known of its values.

    `labels` are what the user calls the columns of the class key.
    """

    resolved: Resolved
    table: SensitiveTable
    histogram: ClassHistogram
    builder: HistogramBuilder
    inputs: Mapping[str, Any]
    labels: Sequence[str]

    @property
    def label(self) -> str:
        """Return what the user calls it."""
        return self.resolved.label

    def figures(
        self, template: str, facts: Sequence[Fact], names: Sequence[str], **parameters: object
    ) -> dict[str, Any]:
        """The one row of a template over class facts, by column name; `names` in the order of its columns."""
        step = f"{template.replace('_', ' ')} on {self.label}"
        statement = self.histogram.statement(f"release/attacks/{template}.sql", facts, step, **parameters)
        return dict(zip(names, self.histogram.engine.run(statement)[0], strict=True))


@dataclass(frozen=True)
class AttackedRelease:
    """The release with its roles and sensitive attributes, and what the attacker holds.

    `relation` and `roles` are the release as it stands, with its order of rows. `identified` and `other` are the
    attacker's tables, None when there are none. `workbench` keeps the labels of hierarchies.
    """

    engine: Engine
    relation: Relation
    roles: ResolvedRoles
    request: AttackRequest
    attributes: Sequence[AttackedAttribute]
    rows: int
    identified: Relation | None = None
    other: Relation | None = None
    workbench: Engine | None = None

    def ask(self, template: str, step: str, values: Sequence[object] = (), **parameters: Any) -> list[Row]:
        """The rows of a template of attacks over the release, and over what else the parameters name.

        Args:
            values: what stands in the statement as $1, $2, …
        """
        template_parameters = {"source": self.relation, **parameters}
        statement = render(f"release/attacks/{template}.sql", self.engine.dialect, step=step, **template_parameters)
        return self.engine.run(statement, values)

    @property
    def unit(self) -> str:
        """Return what classes count."""
        return "rows" if self.roles.entity is None else "persons"

    @property
    def overlapping(self) -> bool:
        """Return True if classes overlap, because a missing value matches any."""
        return self.request.roles.nulls is NullPolicy.WILDCARD


def numbered(
    release: AttackedRelease, other: Relation, names: Pair, option: str, step: str
) -> tuple[list[Raw], list[int]]:
    """The SQL of a column in the release and in another table, and how many rows of each repeat a value of it.

    Raises:
        UsageError: a column that is not there.
    """
    both = zip(names, (release.relation, other), strict=True)
    key = [Raw(resolve(name, table, release.engine.dialect, about(option)).sql) for name, table in both]
    return key, [int(number) for number in release.ask("attack_keys", step, key=key, identified=other)[0]]


class CannotTry(Exception):
    """An attack finds out on the way that it cannot be tried; the message says why, without a value."""


class Attack(ABC):
    """Base of all attacks."""

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    source: ClassVar[str] = ""

    @abstractmethod
    def lacks(self, release: AttackedRelease) -> str:
        """Return what keeps the attack from being tried, as a sentence; empty when nothing does."""

    @abstractmethod
    def run(self, release: AttackedRelease) -> Iterator[Exposure]:
        """Yield what the attack achieves, one exposure for each sensitive attribute that it is about.

        Raises:
            UsageError: what it was given does not fit.
            EngineError: the database refused, failed or went away.
        """

    def exposure(self, **figures: Any) -> Exposure:
        """Return the result of the attack under its name. The attacker is certain of the exposed people unless stated
        otherwise."""
        usual = {"attack": self.name, "title": self.title, "source": self.source}
        return Exposure(**{**usual, "about": None, "probability": Fraction(1), "highest": None, **figures})


class ClassAttack(Attack):
    """An attack on the classes of the release, one sensitive attribute at a time."""

    def lacks(self, release: AttackedRelease) -> str:
        """Return why the attack cannot be tried: no sensitive attribute, or classes that overlap."""
        if not release.attributes:
            return f"It needs a sensitive attribute ({spelled('sensitive')})."
        if release.overlapping:
            return f"Classes overlap with {spelled('nulls', 'wildcard')}: use {spelled('nulls', 'equal')} or distinct."
        return ""

    def run(self, release: AttackedRelease) -> Iterator[Exposure]:
        """One exposure an attribute."""
        for attribute in release.attributes:
            yield self.attack(release, attribute)

    def exposure_of(self, release: AttackedRelease, attribute: AttackedAttribute, **figures: Any) -> Exposure:
        """Return what the attack achieves against one attribute."""
        return self.exposure(about=attribute.label, unit=release.unit, **figures)

    @abstractmethod
    def attack(self, release: AttackedRelease, attribute: AttackedAttribute) -> Exposure:
        """Return what is learned about one attribute."""


def shown_classes(
    release: AttackedRelease, attribute: AttackedAttribute, condition: str, facts: Sequence[Fact]
) -> tuple[Example, ...]:
    """Some classes that satisfy a condition, smallest first, with the values in the lanes that facts called `…_lane`
    give; none unless values may be shown."""
    if not release.request.show_values or not release.request.top:
        return ()
    keyed = attribute.builder.build(attribute.resolved.sql, attribute.table, keep_keys=True)
    shown_facts = [replace(fact, in_reports=True) for fact in facts]
    collated = attribute.builder.frame.collated
    labels = tuple(attribute.labels)
    classes = FailingClasses(
        keyed, (ClassRequirement("", None, condition),), tuple(shown_facts), labels, tuple(collated), len(labels)
    )
    smallest, _ = classes.smallest(release.request.top)
    lanes = [fact.name for fact in facts if fact.name.endswith("_lane")]
    return tuple(
        Example(
            failing.key, failing.size, tuple(attribute.table.values[int(failing.figures[lane] or 0)] for lane in lanes)
        )
        for failing in smallest
    )


# Numbers as sentences have them. Counts only; no value of a table.


def some(number: int, unit: str) -> str:
    """A count with its unit.

    Example:
        >>> some(1, "rows"), some(1234, "groups")
        ('1 row', '1,234 groups')
    """
    return f"{number:,} {SINGULAR.get(unit, unit) if number == 1 else unit}"


def of_all(number: int, total: int, unit: str, verbs: tuple[str, str] | None = None) -> str:
    """A part of a whole, with the verb that one or several of them take: `3 of 12 rows (25.0%) lie`.

    Example:
        >>> of_all(3, 12, "rows"), of_all(0, 0, "rows"), of_all(1, 4, "rows", ("lies", "lie"))
        ('3 of 12 rows (25.0%)', '0 of 0 rows', '1 of 4 rows (25.0%) lies')
    """
    share = f" ({percent(Fraction(number, total))})" if total else ""
    verb = "" if verbs is None else f" {verbs[number != 1]}"
    return f"{number:,} of {some(total, unit)}{share}{verb}"


def chance(value: float | Fraction | None) -> str:
    """A probability as a percentage; only certainty prints as 100%.

    Example:
        >>> chance(Fraction(2, 3)), chance(1), chance(None)
        ('66.7%', '100%', 'unknown')
    """
    return "unknown" if value is None else percent(Fraction(value))
