"""The result of a profile, and its report. Frozen; `to_dict` gives the documented JSON."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, fields
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any, ClassVar, TypedDict

from sqlaudit.base import result as base
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import option_value
from sqlaudit.base.options import written
from sqlaudit.base.parameter_names import command, is_python, spelled
from sqlaudit.base.relation import Kind
from sqlaudit.base.spec import Roles
from sqlaudit.column_sets.result import ColumnSet, ColumnSets
from sqlaudit.reports import document as doc
from sqlaudit.reports.notebook import Shown
from sqlaudit.reports.report import MeasuredReport

NEARLY = 0.9
"""The share of different values from which on a column singles out almost every row."""
ALL_DIFFERENT = 20
"""Rows from which on it is no accident that all have different values."""
_INSIDE = {"email": "an e-mail address", "iban": "an account number (IBAN)", "national_id": "a social security number"}


class Role(StrEnum):
    """The role that is proposed for a column."""

    DIRECT_IDENTIFIER = "direct_identifier"
    QUASI_IDENTIFIER = "quasi_identifier"
    SENSITIVE = "sensitive"
    OTHER = "other"


def _seen(shapes: Mapping[str, int]) -> dict[str, int]:
    return {shape: rows for shape, rows in shapes.items() if rows}


class _TextLengths(TypedDict):
    shortest: int | None
    mean_length: Annotated[float, base.FROM_0] | None
    longest: int | None


@dataclass(frozen=True)
class ColumnFacts(base.Documented):
    """A column in numbers. No cell value is among them.

    Args:
        name: the exact name. type: as the database spells it. kind: the kind of its values.
        rows: of the table. nulls: rows without a value; always exact.
        distinct: different values without NULL; an estimate unless `exact`.
        exact: whether all rows were read, and not a sample.
        examined_rows: the number of rows that the figures from `filled` on come from.
        filled: rows with a value among these.
        smallest_group: rows of the rarest value, NULL being one; None in a sample.
        rows_below_5: rows whose value fewer than five rows have; None in a sample.
        unique_rows: rows with a unique value; None in a sample.
        entropy: of the groups with the same value, in bits. separation: share of pairs of rows with different values.
        shortest, mean_length, longest: characters of texts, None for other kinds.
        whole_numbers: rows whose floating-point or decimal number is whole, None for other kinds.
        width: largest minus smallest value of a column of whole numbers.
        spelling_variants: values that differ from another one only in case or spaces (the first of each is not
            counted).
        shapes: rows by the shape of their text: `email`, `phone`, `iban`, `date`, `free_text` …; of other kinds only
            what identifies people (`nhs_number`, `card_number`, `ip_address` …).
        contains: rows by what is inside a longer text, list, structure or JSON (the first of these): `email`, `iban`,
            `national_id`, `ip_address`, `url`.
        small: whether all whole numbers are from 0 to 9,999, as counts are.
        measured: rows whose text is a number with decimals.
        label: the variable label of SPSS, Stata or SAS; empty = none.
    """

    name: str
    type: str
    kind: Annotated[str, Kind]
    rows: int = field(metadata=base.LEFT_OUT)
    nulls: int
    distinct: int
    exact: bool
    examined_rows: int
    filled: int = 0
    smallest_group: int | None = None
    rows_below_5: int | None = None
    unique_rows: int | None = None
    entropy: Annotated[float, base.FROM_0] | None = None
    separation: Annotated[float, base.FROM_0_TO_1] | None = None
    shortest: int | None = field(default=None, metadata=base.LEFT_OUT)
    mean_length: float | None = field(default=None, metadata=base.LEFT_OUT)
    longest: int | None = field(default=None, metadata=base.LEFT_OUT)
    whole_numbers: int | None = None
    width: Annotated[float, base.FROM_0] | None = None
    spelling_variants: int = 0
    shapes: Mapping[str, int] = field(default_factory=dict, metadata=base.shown(_seen))
    contains: Mapping[str, int] = field(default_factory=dict)
    small: bool = field(default=False, metadata=base.LEFT_OUT)
    measured: int = field(default=0, metadata=base.LEFT_OUT)
    label: str = field(default="", metadata=base.IF_ANY | base.after("name"))

    @base.told("separation", base.key("text"))
    def _text(self) -> _TextLengths | None:
        """Characters of texts, None for other kinds."""
        if self.longest is None:
            return None
        return {"shortest": self.shortest, "mean_length": self.mean_length, "longest": self.longest}

    @property
    @base.told("distinct")
    def distinct_share(self) -> Annotated[float, base.FROM_0_TO_1] | None:
        """Different values over rows with a value, None when no row has one."""
        filled = self.rows - self.nulls
        return min(self.distinct / filled, 1.0) if filled else None

    @property
    @base.told("filled")
    def constant(self) -> bool:
        """True if every row has the same value, or none."""
        return self.distinct + (self.nulls > 0) <= 1

    @property
    @base.told("constant")
    def nearly_unique(self) -> bool:
        """True if the column alone singles out almost every row (of ten or more)."""
        share = self.distinct_share
        return share is not None and share >= NEARLY and self.rows - self.nulls >= 10

    @property
    def all_different(self) -> bool:
        """True if no two rows with a value have the same one, in enough rows that this is no accident."""
        return self.distinct == self.rows - self.nulls >= ALL_DIFFERENT

    @property
    def mentioned(self) -> tuple[str, ...]:
        """The kinds of identifiers inside its texts, in the words of reports; the address of a device or page alone may
        identify no one."""
        return tuple(
            f"{rows:,} {'row contains' if rows == 1 else 'rows contain'} {_INSIDE[kind]}"
            for kind, rows in self.contains.items()
            if kind in _INSIDE
        )

    def shape_share(self, *shapes: str) -> float:
        """The share of the rows with a value, as far as looked at, whose text has one of these shapes."""
        return sum(self.shapes.get(shape, 0) for shape in shapes) / self.filled if self.filled else 0.0


@dataclass(frozen=True)
class Proposal(base.Documented):
    """A role with the reasons for it, the strongest first.

    Args:
        role: the proposed role. reasons: why. concept: what the column seems to contain, a stable word.
        by_sets: whether the only reason is its part in column sets that single people out.
    """

    role: Role
    reasons: tuple[str, ...] = field(metadata=base.after("concept"))
    concept: str | None = field(default=None, metadata=base.after("role"))
    by_sets: bool = False

    @property
    def is_undecided(self) -> bool:
        """True if the column singles people out, and nothing shows whether others know it: a person decides that."""
        return self.role is Role.QUASI_IDENTIFIER and self.concept is None


@dataclass(frozen=True)
class ShownValues(base.Documented):
    """Cell values, read only when requested: smallest, largest, and the most frequent with their rows."""

    smallest: Any
    largest: Any
    most_frequent: tuple[tuple[Any, int], ...]


@dataclass(frozen=True)
class ColumnProfile(base.Documented):
    """A column: its facts, the role proposed for it, and its values when requested.

    Args:
        values: only where values may be shown.
    """

    facts: ColumnFacts = field(metadata=base.HERE)
    proposal: Proposal = field(metadata=base.HERE)
    values: ShownValues | None = field(default=None, metadata=base.IF_ANY)

    @property
    def name(self) -> str:
        """The column's exact name."""
        return self.facts.name

    @property
    def role(self) -> Role:
        """The proposed role."""
        return self.proposal.role


@dataclass(frozen=True)
class Twins(base.Documented):
    """Two equivalent columns: each follows from the other.

    Args:
        equal: whether every row has the same value in both, and not just a corresponding one.
    """

    first: str = field(metadata=base.LEFT_OUT)
    second: str = field(metadata=base.LEFT_OUT)
    equal: bool

    @property
    @base.told("")
    def columns(self) -> tuple[str, str]:
        """The names of both."""
        return self.first, self.second


@dataclass(frozen=True)
class ProfiledSets(base.Documented):
    """The column sets of a profile, and how far they were decided.

    Args:
        columns: the columns that took part. tolerance: share of the rows that may be in smaller groups.
        max_size: the most columns of a set. sets: the first 50 of the minimal sets, small sets first.
        complete: whether no minimal set of the size is missing.
        decided_size: every set of up to so many columns is decided.
        repair: the fewest columns without which no set is left; None where that is not known.
    """

    columns: tuple[str, ...]
    k: int
    tolerance: Annotated[Fraction, base.FROM_0_TO_1] = field(metadata=base.AS_FLOAT)
    max_size: int | None
    sets: tuple[ColumnSet, ...]
    sets_found: int
    complete: bool
    decided_size: Annotated[int, base.json_schema(minimum=-1)] | None
    repair: tuple[str, ...] | None


def _together(found: ColumnSets | None) -> ProfiledSets | None:
    return ProfiledSets(*(getattr(found, one.name) for one in fields(ProfiledSets))) if found else None


@dataclass(frozen=True)
class CountTable(base.Documented):
    """A table whose rows look like cells.

    Args:
        by: the columns that it is broken down by. count: the column of counts.
    """

    by: tuple[str, ...]
    count: str


@dataclass(frozen=True)
class ProposedEntity(base.Documented):
    """The column that seems to identify the person, where people have several rows.

    Args:
        column: its name. reason: why.
    """

    column: str
    reason: str


class ProposedRoles(TypedDict):
    """The roles that an audit of the table would be given.

    Args:
        undecided: columns without a role that single people out: a person decides whether others know them.
    """

    quasi_identifiers: list[str]
    sensitive: list[str]
    identifiers: list[str]
    entity: str | None
    undecided: list[str]


@dataclass(frozen=True, kw_only=True, repr=False)
class ProfileResult(base.MeasuredResult, Shown):
    """The result of a profile.

    Args:
        target: the table. rows: rows of the table. engine: the engine and its version.
        columns: sorted by proposed role, the most identifying first.
        equivalent_columns: pairs of equivalent columns.
        column_sets: minimal column sets that put more than `tolerance` of the rows into groups below `k`; None when not
            searched.
        not_searched: the reason as a sentence; None (in Python empty) when they were searched, or not requested.
        cells: only where every row looks like a cell of a published table: the columns that it is broken down by, and
            the column of counts.
        entity: only where people seem to have several rows: the column that seems to identify the person, and why.
        unreadable: columns of the table that the database role cannot read.
    """

    schema: ClassVar = "sqlaudit-profile/1"
    shown_by: ClassVar = "sqlaudit.profiles.result:ProfileReport"
    frame_of: ClassVar = "columns"

    target: str = field(metadata=base.key("target.name"))
    rows: int = field(metadata=base.key("target.rows"))
    engine: str = field(metadata=base.key("target.engine"))
    columns: tuple[ColumnProfile, ...]
    unreadable: tuple[str, ...] = ()
    equivalent_columns: tuple[Twins, ...] = ()
    column_sets: ColumnSets | None = field(default=None, metadata=base.shown(_together))
    not_searched: str = field(default="", metadata=base.OR_NULL)
    cells: CountTable | None = field(default=None, metadata=base.IF_ANY)
    entity: ProposedEntity | None = field(default=None, metadata=base.IF_ANY)

    def named(self, role: Role | str) -> tuple[str, ...]:
        """The columns for which a role is proposed (`Role.SENSITIVE`, or its text `sensitive`)."""
        return tuple(column.name for column in self.columns if column.role == role)

    def column(self, name: str) -> ColumnProfile:
        """The column of exactly that name.

        Raises:
            KeyError: there is none.
        """
        return {column.name: column for column in self.columns}[name]

    @property
    def likely(self) -> tuple[str, ...]:
        """The quasi-identifiers that every proposal names: their names or values suggest that others know them."""
        return tuple(column.name for column in self.columns if _is_likely(column))

    @property
    def undecided(self) -> tuple[str, ...]:
        """The columns that every proposal leaves out: they single people out, and nothing shows who knows them."""
        return tuple(column.name for column in self.columns if column.proposal.is_undecided)

    @property
    def roles(self) -> Roles:
        """The proposed roles, in the form an audit takes them; the entity has no other role."""
        entity = None if self.entity is None else self.entity.column
        likely, sensitive, identifiers = (
            tuple(name for name in names if name != entity)
            for names in (self.likely, self.named(Role.SENSITIVE), self.named(Role.DIRECT_IDENTIFIER))
        )
        return Roles(likely, sensitive, identifiers, entity)

    @base.told("columns", base.key("roles"))
    def _roles(self) -> ProposedRoles:
        roles = self.roles
        return {
            "quasi_identifiers": list(roles.quasi_identifiers),
            "sensitive": list(roles.sensitive),
            "identifiers": list(roles.identifiers),
            "entity": roles.entity,
            "undecided": list(self.undecided),
        }

    @property
    def candidates(self) -> tuple[str, ...]:
        """The columns worth searching for identifying sets: all but direct identifiers and constant columns."""
        return tuple(
            column.name
            for column in self.columns
            if column.role is not Role.DIRECT_IDENTIFIER and not column.facts.constant
        )


def _is_likely(column: ColumnProfile) -> bool:
    """Return True for a quasi-identifier because of its contents, not only because it singles people out."""
    return column.role is Role.QUASI_IDENTIFIER and not column.proposal.is_undecided


_TITLES: tuple[tuple[str, Callable[[ColumnProfile], bool]], ...] = (
    ("Direct identifiers (always leave them out)", lambda column: column.role is Role.DIRECT_IDENTIFIER),
    ("Quasi-identifiers (others may know them)", _is_likely),
    ("To decide (they single people out if others know them)", lambda column: column.proposal.is_undecided),
    ("Sensitive attributes (others must not learn them)", lambda column: column.role is Role.SENSITIVE),
    ("Other columns", lambda column: column.role is Role.OTHER),
)
"""The tables of columns, each with what is in it."""
_RIGHT = "Proposals follow from names and from counts of values. Check them against what you know."
_ALONE = "Sets of columns were not searched. Several columns together can single people out although none does alone."
_TEXTS = "Text that looks harmless can still name a person."
_HEADINGS = ("Column", "?#Values", "?#Missing", "?#Rare", "?Reasons")
UNKNOWN = "its name and values do not show what it contains"
"""The reason of a column without any other; the report has one sentence for all such columns."""
_MOST_SETS = 8
_MOST_ASKED = 20
_LONGEST = 40


def looks_like(what: str, names: Sequence[str]) -> str:
    """The verb and what columns of these names look like."""
    return f"looks like a {what}" if len(names) == 1 else f"look like {what}s"


class ProfileReport(MeasuredReport[ProfileResult]):
    """The report on a profile: the proposed roles, then notes, and the next steps. Values stand where it holds them."""

    kind = "Profile"
    method_title = "How this was computed"
    limits_title = "Limits of this profile"
    limits_last = True

    def headline(self, result: ProfileResult) -> doc.Toned:
        columns = doc.plural(len(result.columns), "column")
        return doc.Toned(f"{result.target}: {doc.plural(result.rows, 'row')}, {columns}")

    def key_figures(self, result: ProfileResult) -> Iterator[doc.KeyFigure]:
        if result.cells:
            return
        identifiers = result.named(Role.DIRECT_IDENTIFIER)
        yield doc.KeyFigure(doc.count(len(identifiers)), "Direct identifiers", doc.bad_if(identifiers))
        columns = f"{doc.count(len(result.likely))} of {doc.count(len(result.columns))}"
        yield doc.KeyFigure(columns, "Columns others may know")
        if result.column_sets is not None and result.column_sets.sets:
            fewest = min(len(column_set.columns) for column_set in result.column_sets.sets)
            yield doc.KeyFigure(doc.count(fewest), "Columns that single people out")

    def lead(self, result: ProfileResult) -> Iterator[doc.Words]:
        if result.cells is not None:
            yield doc.warning(
                f"Rows look like cells of a published table with counts in {result.cells.count}, not like people. "
                "Check the cells instead."
            )
        if identifiers := result.named(Role.DIRECT_IDENTIFIER):
            yield doc.bad(f"{doc.listed(identifiers)} {looks_like('direct identifier', identifiers)}.")
        if result.likely:
            yield f"Others may know {doc.listed(result.likely)}."
        if undecided := result.undecided:
            verb, them = ("singles", "it") if len(undecided) == 1 else ("single", "them")
            yield f"{doc.listed(undecided)} {verb} people out if others know {them}."
        if result.named(Role.SENSITIVE):
            yield f"Others must not learn {doc.listed(result.named(Role.SENSITIVE))}."
        if result.entity is not None:
            yield f"{result.entity.column} seems to identify the person: {result.entity.reason}."
        if result.unreadable:
            columns = doc.plural(len(result.unreadable), "column")
            yield doc.warning(f"Not read: {columns} that this role cannot read ({doc.listed(result.unreadable)}).")
        if not result.rows:
            yield doc.warning("The table has no rows. Roles are proposed by names only.")

    def sections(self, result: ProfileResult) -> Iterator[tuple[doc.Section, ...]]:
        for title, belongs in _TITLES:
            rows = [_row(column) for column in result.columns if belongs(column)]
            yield doc.section(title, doc.table(_HEADINGS, rows))
        yield doc.section("Columns that together single people out", *_sets_together(result))
        yield doc.section("Notes", _remarks(result))
        values = (
            (written(column.name), _shown(column.values)) for column in result.columns if column.values is not None
        )
        yield doc.section("Values", doc.facts(*values))
        yield doc.section("Next steps", _next(result), _questions(result), repeating=True)

    def method(self, result: ProfileResult) -> Iterator[tuple[str, doc.Cell]]:
        yield "table", result.target

    def limits(self, result: ProfileResult) -> tuple[str, ...]:
        most = 0 if result.column_sets is None else result.column_sets.max_size or 0
        beyond = (
            _ALONE
            if result.column_sets is None
            else f"Sets of more than {doc.plural(most, 'column')} were not searched."
        )
        return _RIGHT, beyond, _TEXTS


def _row(column: ColumnProfile) -> tuple[doc.Words, ...]:
    facts = column.facts
    values = ("" if facts.exact else "about ") + doc.count(facts.distinct)
    missing = doc.part(facts.nulls, facts.rows) if facts.nulls else ""
    rare = "?" if facts.rows_below_5 is None else doc.part(facts.rows_below_5, facts.rows) if facts.rows_below_5 else ""
    name = f"{written(column.name)} ({doc.shortened(facts.label, _LONGEST)})" if facts.label else written(column.name)
    return name, values, missing, rare, "; ".join(why for why in column.proposal.reasons if why != UNKNOWN)


def _remarks(result: ProfileResult) -> Iterator[doc.Words]:
    """Yield what the table of columns means, and what its reader should check."""
    columns = [column.facts for column in result.columns]
    if any(one.rows_below_5 for one in columns):
        yield "Rare: share of rows with a value that fewer than five rows have."
    if any("at risk" in why for column in result.columns for why in column.proposal.reasons):
        yield f"At risk: rows in groups smaller than {result.column_sets.k if result.column_sets else 5}."
    if unknown := [column.name for column in result.columns if UNKNOWN in column.proposal.reasons]:
        them = "it" if len(unknown) == 1 else "them"
        yield f"Unknown contents: {doc.listed(unknown)}. Check whether others can know {them}."
    for one in columns:
        yield from _remarks_on(one)
    codes = {column.name for column in result.columns if column.proposal.concept == "postal_code"}
    yield from _groups_of([facts for facts in columns if facts.name not in codes])
    for equal, what in ((True, "Equal columns"), (False, "Equivalent columns (each follows from the other)")):
        if pairs := [
            f"{written(one.first)} and {written(one.second)}" for one in result.equivalent_columns if one.equal is equal
        ]:
            yield f"{what}: {'; '.join(pairs)}."
    if sampled := [one for one in columns if not one.exact]:
        were, rows = doc.plural(len(sampled), "column was", "columns were"), doc.count(sampled[0].examined_rows)
        yield f"{were} read in a sample of about {rows} rows; numbers of values are estimates."


def _remarks_on(facts: ColumnFacts) -> Iterator[doc.Words]:
    """Yield what is odd about the values of a column."""
    if facts.spelling_variants:
        yield doc.warning(
            f"{written(facts.name)}: {doc.plural(facts.spelling_variants, 'value differs', 'values differ')} "
            "from another one only in "
            "case or spaces, which splits groups that belong together."
        )
    for said in facts.mentioned:
        yield doc.warning(f"{written(facts.name)}: {said}.")
    if missing := facts.shapes.get("missing", 0):
        yield doc.Toned(
            f"{written(facts.name)}: {doc.plural(missing, 'row has', 'rows have')} a text that usually means missing.",
            hint=f"If it does, read {written(facts.name)} with {spelled('null_values')}.",
        )


def _groups_of(columns: Sequence[ColumnFacts]) -> Iterator[doc.Words]:
    """Notes on several columns."""
    for shape in ("number", "date"):
        if names := [one.name for one in columns if one.shape_share(shape) > 0.5]:
            yield f"{doc.listed(names)} {'has' if len(names) == 1 else 'have'} {shape}s as text."
    if broken := [one.name for one in columns if one.kind == "float" and one.whole_numbers != one.filled]:
        verb, them = ("holds", "it") if len(broken) == 1 else ("hold", "them")
        yield f"{doc.listed(broken)} {verb} floating-point numbers. Round {them} before you compare values."


def _sets_together(result: ProfileResult) -> tuple[doc.Content, ...]:
    """Return the column sets that put many rows into small groups, and the command for a proof."""
    found = result.column_sets
    if found is None:
        return ((result.not_searched,),) if result.not_searched else ()
    sets = found.sets[:_MOST_SETS]
    rows = (
        (
            doc.joined(column_set.columns),
            column_set.rows_at_risk,
            doc.percent(column_set.share_at_risk),
            column_set.unique_rows,
        )
        for column_set in sets
    )
    more = found.sets_found - len(sets)
    caption = f"The first {doc.count(len(sets))}; {doc.count(more)} more were found." if more else ""
    shares = {"rows at risk": [column_set.share_at_risk for column_set in sets]}
    title = f"Rows in groups smaller than {found.k}, by column set"
    names = [doc.joined(column_set.columns) for column_set in sets]
    return (
        doc.bars(title, names, shares, "share of rows", share=True) if len(sets) > 1 else None,
        _about_sets(found),
        doc.table(("Columns", "#Rows below 5", "#Share", "#Unique rows"), rows, caption),
        _command("For a proof, and the contribution of each column:", "columns", result, tolerance="1%"),
    )


def _about_sets(found: ColumnSets) -> Iterator[doc.Words]:
    """Yield how many such sets there are, and how far the search came."""
    size = f"at most {doc.plural(found.max_size or 0, 'column')}"
    at_risk = f"more than {doc.percent(found.tolerance)} of the rows into groups smaller than {found.k}"
    if found.sets_found:
        put = "puts" if found.sets_found == 1 else "put"
        yield f"{doc.plural(found.sets_found, 'minimal set')} of {size} {put} {at_risk}."
    elif found.complete:
        yield f"No set of {size} puts {at_risk}."
    yield f"Searched: {doc.plural(len(found.columns), 'column')}, without sensitive ones."
    if not found.complete:
        decided = doc.plural(max(found.decided_size or 0, 0), "column")
        yield doc.warning(f"Time limit reached: only sets of at most {decided} were decided.")
    if found.sets_found and found.repair:
        yield f"Without {doc.listed(found.repair)}, no such set is left."


def _shown(values: ShownValues) -> str:
    if not values.most_frequent:
        return ""
    frequent = ", ".join(f"{_cut(value)} ({doc.count(rows)})" for value, rows in values.most_frequent)
    return f"from {_cut(values.smallest)} to {_cut(values.largest)}; most frequent: {frequent}"


def _cut(value: object) -> str:
    return doc.shortened(value, _LONGEST) or '""'


def _next(result: ProfileResult) -> doc.Content:
    """The proposed next command."""
    if result.cells is not None:
        by, count = list(result.cells.by), [result.cells.count]
        return _command("Check the cells:", "aggregates", result, by=by, count=count, require="threshold=5")
    roles = result.roles
    if not roles.quasi_identifiers:
        return (f"Name the columns that others may know with {spelled('qi')}, then run {command('audit')}.",)
    named = {"qi": roles.quasi_identifiers, "sensitive": roles.sensitive, "identifier": roles.identifiers}
    options: dict[str, list[str] | str] = {option: list(names) for option, names in named.items() if names}
    if roles.entity is not None:
        options |= {"entity": [roles.entity], "require": "k=5,km@2=5"}
    return _command("Correct the roles, then audit:", "audit", result, **options)


_ONE_COLUMN = ("entity", "count")
"""Options of one column."""


def _command(what: str, name: str, result: ProfileResult, **options: list[str] | str) -> doc.ProposedCommand:
    """Return a proposed command on the profiled table, or the call in Python, in which … is what `profile` was given.

    Args:
        what: the line above it. name: the command. options: lists of columns, and texts.
    """
    if is_python():
        alone = {option: value[0] for option, value in options.items() if option in _ONE_COLUMN}
        arguments = ", ".join(f"{option}={value!r}" for option, value in {**options, **alone}.items())
        return doc.ProposedCommand(what, (f"sqlaudit.{name}(…, {arguments})",))
    words = [
        word
        for option, value in options.items()
        for word in (f"--{option}", option_value(value) if isinstance(value, list) else value)
    ]
    return doc.ProposedCommand(what, ("sqlaudit", name, shlex.quote(result.target), *words))


def _questions(result: ProfileResult) -> Iterator[doc.Words]:
    """Yield what a person has to decide: columns that the command leaves out, and those that no group shares."""
    if result.cells is not None:
        return
    if undecided := result.undecided:
        it = "it" if len(undecided) == 1 else "them"
        yield f"Could others know {doc.listed(undecided, _MOST_ASKED)}? Then add {it} to {spelled('qi')}."
    quasi_identifiers = (column for column in result.columns if column.role is Role.QUASI_IDENTIFIER)
    if unique := [column.name for column in quasi_identifiers if column.facts.nearly_unique]:
        verb, it = ("has", "it") if len(unique) == 1 else ("have", "them")
        coarsen = f"Publish {it} coarsened, or leave {it} out."
        yield f"{doc.listed(unique, _MOST_ASKED)} {verb} a different value in almost every row. {coarsen}"
