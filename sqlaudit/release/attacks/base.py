"""What an attack is: it says what it lacks, or how many persons it exposes; and which cells fit each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any, ClassVar

from sqlaudit.base.columns_of import Resolved, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Kind, Relation
from sqlaudit.base.spec import NullPolicy, Roles
from sqlaudit.base.sql import Raw, render
from sqlaudit.classes.facts import ClassHistogram, Fact, SensitiveTable
from sqlaudit.classes.failing import FailingClasses, Short
from sqlaudit.classes.histogram import HistogramBuilder
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.cell_reader import CellReader, plain_reader
from sqlaudit.hierarchies.cells import AnyValue, Cell, Exact, Interval
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

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)

_WITH_POINTS = (*_NUMBERS, Kind.DATE, Kind.TIMESTAMP)

SPELLED = {Kind.FLOAT: "float", Kind.DECIMAL: "decimal"}
"""How `text_of` writes numbers of a kind so that a text can equal them."""


@dataclass(frozen=True)
class ColumnReader:
    """The reader of one column.

    Args:
        hierarchy: the column's; `plain` when none was given.
        listed: whether it was given, so that any text may be a label.
    """

    hierarchy: Hierarchy
    listed: bool

    def reads_all(self, cells: Kind, values: Kind) -> bool:
        """Whether any text of a column may be a generalized cell, not only those that look so."""
        return self.listed or (values in _WITH_POINTS and cells not in _WITH_POINTS)

    def pairs(self, cells: Sequence[str], others: Sequence[str], kind: Kind) -> Iterator[tuple[str, str]]:
        """(cell, other) for all generalized cells and all texts (values, or cells of another release) that they cover.

        Args:
            kind: what the values are, as far as the database knows.

        Raises:
            UsageError: a cell cannot be read, or there is too much to compare; the column is named, not the cell.
        """
        reader = plain_reader(self.hierarchy, self._kind(cells, others, kind))
        read = {text: cell for text, cell in reader.read_all(cells).items() if not isinstance(cell, Exact)}
        if len(read) * len(others) > MAX_COMPARED:
            raise UsageError(
                f"{self.hierarchy.column}: {len(read):,} generalized cells and {len(others):,} different values are "
                "too many to compare one by one; leave the column out, or compare a coarser expression."
            )
        # a text of the other table that cannot be read is covered by nothing but `*`
        values = [(text, value) for text in dict.fromkeys(others) if (value := reader.read(text)) is not None]
        for text, cell in read.items():
            yield from ((str(text), other) for other, value in values if reader.covers(cell, value))

    def everything(self, cells: Sequence[str]) -> list[str]:
        """The cells that stand for everything, NULL too."""
        reader = plain_reader(self.hierarchy, Kind.TEXT)
        return [cell for cell in cells if isinstance(reader.read(cell), AnyValue)]

    def _kind(self, cells: Sequence[str], others: Sequence[str], kind: Kind) -> Kind:
        """What the values are; texts are numbers when a cell is an interval of numbers and every text fits that."""
        if kind in _WITH_POINTS:
            return kind
        as_numbers = CellReader(self.hierarchy, Kind.DECIMAL)
        read = [as_numbers.read(text) for text in (*cells, *others)]
        if any(cell is None for cell in read) or not any(isinstance(cell, Interval) for cell in read):
            return kind
        whole = all(_is_whole(cell) for cell in read if cell is not None)
        return Kind.INTEGER if whole else Kind.DECIMAL


def _is_whole(cell: Cell) -> bool:
    if isinstance(cell, Exact):
        return cell.key is None or "." not in cell.key
    if isinstance(cell, Interval):
        return all(getattr(end, "denominator", 1) == 1 for end in (cell.low, cell.high))
    return True


Readers = Callable[[str], ColumnReader]
"""The reader of a column by its label."""


def readers_for(hierarchies: Mapping[str, Hierarchy]) -> Readers:
    """The reader of each column.

    Args:
        hierarchies: those that were given, by column.
    """
    return lambda label: ColumnReader(hierarchies.get(label) or plain(label), label in hierarchies)


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


def named(matches: Sequence[Match], *, directions: bool = False) -> tuple[list[dict[str, Any]], list[Any]]:
    """The matches as templates take them, and the parameters of the statement; three a match with `directions`."""
    listed: list[dict[str, Any]] = []
    parameters: list[Any] = []
    for position, match in enumerate(matches, 1):
        places = [Raw(f"${len(parameters) + further}") for further in (1, 2, 3)[: 3 if directions else 2]]
        listed.append(
            {
                "name": f"m{position}",
                "mine": match.mine,
                "theirs": match.theirs,
                "form": match.form,
                "other_form": match.other_form,
                "null": match.null,
                "other_null": match.other_null,
                "listed": None if match.pairs is None else places,
            }
        )
        if match.pairs is not None:
            parameters += [[pair[part] for pair in match.pairs] for part in range(len(places))]
    return listed, parameters


def find_matches(
    engine: Engine,
    mine: Relation,
    theirs: Relation,
    pairs: Iterable[Pair],
    nulls: NullPolicy,
    option: str,
    readers: Readers | None = None,
    *,
    both_ways: bool = False,
) -> tuple[Match, ...]:
    """The columns that two tables are compared by, with the cells that fit.

    Args:
        pairs: the column's name in each table. nulls: what a NULL fits. option: how errors call the names.
        readers: what generalized cells of a column stand for; None = only equal cells fit, whatever they look like.
        both_ways: whether cells of the second table may stand for cells of the first, too.

    Raises:
        UsageError: a column that is not there, a cell that cannot be read, or too many different values.
    """
    found = []
    for left, right in pairs:
        one, other = resolve(left, mine, engine.dialect, option), resolve(right, theirs, engine.dialect, option)
        forms = _forms(one.kind, other.kind)
        null = ("null", "other null") if nulls is NullPolicy.DISTINCT else ("", "")
        match = Match(left, one, other, *forms, *null)
        if readers is not None:
            cells = _Pairs(engine, mine, theirs, match, readers(left))
            match = replace(match, pairs=cells.found(both_ways, nulls is NullPolicy.WILDCARD))
        found.append(match)
    return tuple(found)


def _forms(mine: Kind, theirs: Kind) -> tuple[str, str]:
    """How the values of two columns are spelled so that equal ones are equal texts."""
    if mine in _NUMBERS and theirs in _NUMBERS:
        return ("", "") if mine is theirs is Kind.INTEGER else ("double", "double")
    return SPELLED.get(mine, ""), SPELLED.get(theirs, "")


@dataclass(frozen=True)
class _Pairs:
    """The cells of one column that fit without being equal."""

    engine: Engine
    mine: Relation
    theirs: Relation
    match: Match
    reader: ColumnReader

    def found(self, both_ways: bool, wildcard: bool) -> tuple[tuple[str, str, str], ...] | None:
        """(mine, theirs, direction); None when no cell is generalized and NULL is no wildcard."""
        cells = self._cells(first=True)
        others = self._cells(first=False) if both_ways else []
        if not cells and not others and not wildcard:
            return None
        finer: set[tuple[str, str]] = set()
        coarser: set[tuple[str, str]] = set()
        anything: set[tuple[str, str]] = set()
        if cells or wildcard:
            values = self._texts(first=False)
            finer = self._covered(cells, values)
            anything |= {("", value) for value in values if wildcard}
        if others or wildcard:
            values = self._texts(first=True)
            coarser = {(value, cell) for cell, value in self._covered(others, values)}
            anything |= {(value, "") for value in values if wildcard}
        same = (finer & coarser) | anything
        named = [(finer - same, "finer"), (coarser - same, "coarser"), (same, "same")]
        return tuple((*pair, direction) for pairs, direction in named for pair in sorted(pairs) if pair[0] != pair[1])

    def _covered(self, cells: Sequence[str], values: Sequence[str]) -> set[tuple[str, str]]:
        """(cell, text it stands for), in the spelling of statements; a NULL is covered by what covers everything."""
        if not cells:
            return set()
        kinds = (self.match.theirs.kind, self.match.mine.kind)
        kind = next((kind for kind in kinds if kind is not Kind.TEXT), Kind.TEXT)
        texts = [cell[1:] for cell in cells]
        known = [value[1:] for value in values if value.startswith("=")]
        nulls = [value for value in values if not value.startswith("=")]
        found = {("=" + cell, "=" + value) for cell, value in self.reader.pairs(texts, known, kind)}
        every = {"=" + cell for cell in self.reader.everything(texts)}
        return found | {(cell, value) for cell in every for value in (*nulls, *("=" + value for value in known))}

    def _cells(self, *, first: bool) -> list[str]:
        """The texts of one side that may be generalized cells."""
        mine, theirs = self.match.mine.kind, self.match.theirs.kind
        all_of_them = self.reader.reads_all(mine, theirs) if first else self.reader.reads_all(theirs, mine)
        found = self._texts(first=first, pattern="" if all_of_them else LOOKS_GENERALIZED)
        return [text for text in found if text.startswith("=")]

    def _texts(self, *, first: bool, pattern: str = "") -> list[str]:
        match = self.match
        side = (self.mine, match.mine, match.form, match.null)
        relation, column, form, null = (
            side if first else (self.theirs, match.theirs, match.other_form, match.other_null)
        )
        statement = render(
            "release/attacks/attack_texts.sql",
            self.engine.dialect,
            step=f"values of {match.label}",
            source=relation,
            column=column,
            form=form,
            null=null,
            pattern=pattern,
            limit=MAX_VALUES + 1,
        )
        found = [str(row[0]) for row in self.engine.run(statement)]
        if len(found) > MAX_VALUES:
            raise UsageError(
                f"{match.label} has more than {MAX_VALUES:,} different values to compare with generalized cells; "
                "leave it out, or compare by a coarser expression."
            )
        return sorted(found)


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
        """What the user calls it."""
        return self.resolved.label

    def figures(self, template: str, facts: Sequence[Fact], **parameters: Any) -> dict[str, Any]:
        """The one row of a template over class facts, by column name; `names` in the order of its columns."""
        names = parameters.pop("names")
        step = PurePosixPath(template).stem.replace("_", " ")
        statement = self.histogram.statement(template, facts, f"{step} on {self.label}", **parameters)
        return dict(zip(names, self.histogram.engine.run(statement)[0], strict=True))


@dataclass(frozen=True)
class Scene:
    """What every attack may use: the release, its roles, its sensitive attributes, and what the attacker holds.

    `relation` and `roles` are the release as it stands, with its order of rows. `identified` and `other` are the
    attacker's tables, None when there are none. `workbench` keeps the labels of hierarchies.
    """

    engine: Engine
    relation: Relation
    roles: ResolvedRoles
    given: Roles
    request: AttackRequest
    attributes: Sequence[AttackedAttribute]
    rows: int
    identified: Relation | None = None
    other: Relation | None = None
    workbench: Engine | None = None

    @property
    def readers(self) -> Readers:
        """What generalized cells stand for, column by column."""
        return readers_for(self.request.hierarchies)

    @property
    def unit(self) -> str:
        """What classes count."""
        return "rows" if self.roles.entity is None else "persons"

    @property
    def overlapping(self) -> bool:
        """Whether classes overlap, because a missing value matches any."""
        return self.given.nulls is NullPolicy.WILDCARD


def numbered(scene: Scene, other: Relation, names: Pair, option: str, step: str) -> tuple[list[Raw], list[int]]:
    """The SQL of a column in the release and in another table, and how many rows of each repeat a value of it.

    Raises:
        UsageError: a column that is not there.
    """
    dialect = scene.engine.dialect
    both = zip(names, (scene.relation, other), strict=True)
    key = [Raw(resolve(name, table, dialect, about(option)).sql) for name, table in both]
    sources: dict[str, Any] = {"source": scene.relation, "identified": other}
    statement = render("release/attacks/attack_keys.sql", dialect, step=step, key=key, **sources)
    return key, [int(number) for number in scene.engine.run(statement)[0]]


class CannotTry(Exception):
    """An attack finds out on the way that it cannot be tried; the message says why, without a value."""


class Attack(ABC):
    """Base of all attacks."""

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    source: ClassVar[str] = ""

    @abstractmethod
    def lacks(self, scene: Scene) -> str:
        """What keeps the attack from being tried, as a sentence; empty when nothing does."""

    @abstractmethod
    def run(self, scene: Scene) -> Iterator[Exposure]:
        """What the attack achieves, one exposure for each sensitive attribute that it is about.

        Raises:
            UsageError: what it was given does not fit.
            EngineError: the database refused, failed or went away.
        """

    def exposure(self, **figures: Any) -> Exposure:
        """What the attack achieves, under its name."""
        return Exposure(**{"attack": self.name, "title": self.title, "source": self.source, "about": None} | figures)


class ClassAttack(Attack):
    """An attack on the classes of the release, one sensitive attribute at a time."""

    def lacks(self, scene: Scene) -> str:
        """A sensitive attribute, and classes that do not overlap."""
        if not scene.attributes:
            return f"It needs a sensitive attribute ({spelled('sensitive')})."
        if scene.overlapping:
            return f"Classes overlap with {spelled('nulls', 'wildcard')}; use {spelled('nulls', 'equal')} or distinct."
        return ""

    def run(self, scene: Scene) -> Iterator[Exposure]:
        """One exposure an attribute."""
        for attribute in scene.attributes:
            yield self.attack(scene, attribute)

    @abstractmethod
    def attack(self, scene: Scene, attribute: AttackedAttribute) -> Exposure:
        """What is learned about one attribute."""


def shown_classes(
    scene: Scene, attribute: AttackedAttribute, condition: str, facts: Sequence[Fact]
) -> tuple[Example, ...]:
    """Some classes that satisfy a condition, smallest first, with the values in the lanes that facts called `…_lane`
    give; none unless values may be shown."""
    if not scene.request.show_values or not scene.request.top:
        return ()
    keyed = attribute.builder.build(attribute.resolved.sql, attribute.table, keep_keys=True)
    shown = [replace(fact, shown=True) for fact in facts]
    collated = attribute.builder.frame.collated
    labels = tuple(attribute.labels)
    classes = FailingClasses(keyed, (Short("", None, condition),), tuple(shown), labels, tuple(collated), len(labels))
    found, _ = classes.smallest(scene.request.top)
    lanes = [fact.name for fact in facts if fact.name.endswith("_lane")]
    return tuple(
        Example(one.key, one.size, tuple(attribute.table.values[int(one.figures[lane] or 0)] for lane in lanes))
        for one in found
    )


# Numbers as sentences have them. Counts only; no value of a table.


def some(number: int, unit: str) -> str:
    """A count with its unit.

    Example:
        >>> some(1, "rows"), some(1234, "classes")
        ('1 row', '1,234 classes')
    """
    return f"{number:,} {SINGULAR.get(unit, unit) if number == 1 else unit}"


def of_all(number: int, whole: int, unit: str, verbs: tuple[str, str] | None = None) -> str:
    """A part of a whole, with the verb that one or several of them take: `3 of 12 rows (25.0%) lie`.

    Example:
        >>> of_all(3, 12, "rows"), of_all(0, 0, "rows"), of_all(1, 4, "rows", ("lies", "lie"))
        ('3 of 12 rows (25.0%)', '0 of 0 rows', '1 of 4 rows (25.0%) lies')
    """
    share = f" ({percent(Fraction(number, whole))})" if whole else ""
    verb = "" if verbs is None else f" {verbs[number != 1]}"
    return f"{number:,} of {some(whole, unit)}{share}{verb}"


def chance(value: float | Fraction | None) -> str:
    """A probability as a percentage; only certainty prints as 100%.

    Example:
        >>> chance(Fraction(2, 3)), chance(1), chance(None)
        ('66.7%', '100%', 'unknown')
    """
    return "unknown" if value is None else percent(Fraction(value))
