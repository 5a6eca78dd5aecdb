"""What to audit: a target, the roles of its columns, and what is required. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import (
    COLUMN,
    DELIMITER,
    FLAG,
    FOLDER,
    MEMORY,
    NAMES,
    RANGE,
    SECONDS,
    SHARE,
    SWITCH,
    TABLE,
    TEXT,
    TEXTS,
    WHOLE,
    Given,
    OptionKind,
    check_bounds,
    choice,
    made,
    one_of,
    option,
    options_of,
    request_from,
)
from sqlaudit.base.parameter_names import spelled

FILE_FORMATS = ("csv", "json", "parquet", "arrow", "excel", "spss", "stata", "sas")
LOOK, ROLES, HOLD, LIMITS = "What to look at", "Roles of the columns", "What must hold", "Limits"
"""Sections of the help page."""
_VALUES_OF = "A bucketized release: the values of its buckets. The other table has the persons."


class NullPolicy(StrEnum):
    """How a NULL in a quasi-identifier is read.

    `EQUAL`: NULLs form a group, as GROUP BY does. `DISTINCT`: every row with a NULL is a class of its own.
    `WILDCARD`: a missing value matches any value; figures are then per row.
    """

    EQUAL = "equal"
    DISTINCT = "distinct"
    WILDCARD = "wildcard"


class KnownRows(StrEnum):
    """How many rows of a person somebody knows who looks for that person in the table.

    `WORSE`: one or all, whichever is worse. `ONE`: one of them. `ALL`: all of them.
    """

    WORSE = "worse"
    ONE = "one"
    ALL = "all"


class Folding(StrEnum):
    """Whether texts that differ only in case, blanks, width or characters without a picture are one value, or several.

    `FOLD`: one. `EXACT`: several, as they are written.
    """

    FOLD = "fold"
    EXACT = "exact"


@dataclass(frozen=True)
class ReadOptions:
    """How files are read. Empty values mean: let the engine find out.

    Args:
        format: csv, json, parquet, arrow, excel, spss, stata or sas; empty = by the file's name.
        delimiter: the CSV separator.
        encoding: the encoding of a CSV, SPSS, Stata or SAS file, for instance latin-1.
        null_values: texts that mean NULL.
        all_text: read every column as text.
        header: whether the first CSV line has names; None = detect.
        hive_partitioning: read the values of folders named `column=value` as columns, as text.
        sheet: the sheet of an Excel file; empty = the only one that is not hidden.
        labels: read the value labels of an SPSS or Stata file instead of the codes.
    """

    format: str = option(
        "", one_of(*FILE_FORMATS), "What the file is, when its name does not say.", LOOK, name="file_format"
    )
    delimiter: str = option("", DELIMITER, "What separates CSV fields: a character, or tab.", LOOK, metavar="CHARACTER")
    encoding: str = option("", TEXT, "The encoding of a file, for instance latin-1.", LOOK, metavar="NAME")
    null_values: tuple[str, ...] = option(
        (), TEXTS, 'Texts that mean "missing", for instance "?,NA".', LOOK, metavar="TEXTS"
    )
    all_text: bool = option(False, FLAG, "Read every column of CSV or Excel as text (keeps leading zeros).", LOOK)
    header: bool | None = option(None, SWITCH, "Whether the first CSV line has the column names.", LOOK)
    hive_partitioning: bool = option(False, FLAG, "Read folders named column=value as columns, too.", LOOK)
    sheet: str = option("", TEXT, "The sheet of an Excel file.", LOOK, metavar="NAME")
    labels: bool = option(False, FLAG, "Read value labels of SPSS or Stata instead of codes.", LOOK)


@dataclass(frozen=True)
class Buckets:
    """The second table of a bucketized release: the sensitive values of each bucket of persons.

    Args:
        table: a table or file that is named as the target is, a frame, or a target. column: the bucket, in both tables.
        count: the column that says how often a value occurs in its bucket; empty = each row is one value.

    Raises:
        UsageError: no table, or no column of buckets.
    """

    table: Any = option(None, TABLE, _VALUES_OF, LOOK, name="buckets", metavar="TABLE")
    column: str = option("", COLUMN, "With --buckets: the bucket, a column of both.", LOOK, name="bucket_column")
    count: str = option("", COLUMN, "With --buckets: how often a value occurs.", LOOK, name="bucket_count")

    def __post_init__(self) -> None:
        if self.table is None:
            raise UsageError(f"Name the table with the values of the buckets with {spelled('buckets')}.")
        if not self.column:
            raise UsageError(f"Name the column of buckets, which both tables have, with {spelled('bucket_column')}.")

    def target(self, read: ReadOptions) -> Target:
        """The table of values as a target; files are read like those of the persons."""
        if isinstance(self.table, Target):
            return self.table
        if isinstance(self.table, str) or hasattr(self.table, "__fspath__"):
            return Target(relation=str(self.table), read=read)
        return Target(frame=self.table, read=read, label="the table of buckets")


@dataclass(frozen=True)
class Target:
    """What is audited: exactly one of a relation (or file path), a query, or a frame.

    Args:
        relation: a table or view as the user writes it (`main.patients`, `"Odd name"`), or a file path or glob.
        query: the text of one SELECT.
        frame: a pandas, polars or Arrow table.
        where: a SQL condition that restricts the rows.
        read: how files are read.
        label: how reports call the target; empty = the relation, or "query"/"frame".
        buckets: of a bucketized release the second table; what is read is then its values, one row a person.
        named: the columns whose values must be exact; of others a sample is enough. None = all.

    Raises:
        UsageError: when none or more than one of relation, query and frame is given, or a condition beside buckets.
    """

    relation: str = ""
    query: str = field(default="", repr=False)
    frame: Any = field(default=None, repr=False, compare=False)
    where: str = field(default="", repr=False)
    read: ReadOptions = ReadOptions()
    label: str = ""
    buckets: Buckets | None = field(default=None, repr=False)
    named: frozenset[str] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.buckets is not None and self.where:
            raise UsageError(f"{spelled('where')} would take persons out of their buckets; leave it out.")
        given = [bool(self.relation), bool(self.query), self.frame is not None]
        if sum(given) != 1:
            raise UsageError(f"Name exactly one target: a table, view or file, or {spelled('query')}, or a frame.")

    @property
    def tables(self) -> tuple[Target, ...]:
        """The tables that are read: one, or the two of a bucketized release."""
        if self.buckets is None:
            return (self,)
        return (replace(self, buckets=None), self.buckets.target(self.read))

    @property
    def name(self) -> str:
        """The name for reports; never the text of a query."""
        return self.label or self.relation or ("query" if self.query else "frame")


def values_option(section: str = ROLES) -> Any:
    """The option of what is one value, for every request with sensitive columns or persons."""
    said = "Whether persons and sensitive values that differ only in case, blanks or invisible characters are one."
    kind = OptionKind("folding", choice(Folding).read, choice(Folding).words)
    return option(None, kind, said, section, flags=tuple(f"--{one.value}-values" for one in Folding))


@dataclass(frozen=True)
class Sampling:
    """Which share of a population the table is; at most one of three ways to say it.

    Args:
        sampling_fraction: the share, above 0 and at most 1. population_size: the people of the population.
        weights: the column that says how many people a row stands for (read with six decimals).

    Raises:
        UsageError: more than one of them, or a number out of its range.
    """

    sampling_fraction: Fraction | None = option(
        None,
        SHARE,
        "The table is a sample: its share of the population, for instance 0.01.",
        ROLES,
        metavar="SHARE",
        above=0,
        most=1,
    )
    population_size: int | None = option(
        None, WHOLE, "The table is a sample: how many people the population has.", ROLES, metavar="N", least=1
    )
    weights: str | None = option(
        None, COLUMN, "The table is a sample: how many people a row stands for.", ROLES, metavar="COLUMN"
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        given = [name for name in SAMPLED_BY if getattr(self, name) is not None]
        if len(given) > 1:
            raise UsageError(
                f"{spelled(given[0])} and {spelled(given[1])} both say how large the population is; give one of them."
            )

    rows: int | None = None
    """Rows of the whole sample, where the table is what is left of it."""

    def of_release(self, rows: int, entity: str | None = None) -> Sampling:
        """The same for a release of a table of so many rows: a share stays what it is when rows are left out.

        Example:
            >>> Sampling(population_size=500).of_release(50).sampling_fraction
            Fraction(1, 10)
        """
        if self.population_size is None or not rows or entity is not None:
            return replace(self, rows=rows)
        return Sampling(sampling_fraction=Fraction(rows, max(rows, self.population_size)), rows=rows)

    @property
    def given(self) -> bool:
        """Whether it is said that the table is a sample."""
        return any(getattr(self, name) is not None for name in SAMPLED_BY)


SAMPLED_BY = ("sampling_fraction", "population_size", "weights")


@dataclass(frozen=True)
class Roles:
    """The roles of the columns (the same set of options in every command).

    Args:
        quasi_identifiers: column names or SQL expressions (`year(birth)`).
        sensitive: sensitive attributes, each audited on its own.
        identifiers: direct identifiers; never published, so only checked for.
        entity: the column that says which person a row belongs to; sizes then count distinct persons.
        joint: add the other sensitive attributes to the quasi-identifiers while one is audited.
        nulls: how a NULL in a quasi-identifier is read.
        sampling: which share of a population the table is, where it is a sample.
        known_rows: with an entity, how many rows of a person somebody knows for whom is judged.
        values: whether persons and sensitive values that folding merges are one; None = nobody said.

    Raises:
        UsageError: when a column has two roles, or rows of persons are known and no column names these.
    """

    quasi_identifiers: tuple[str, ...] = option(
        (), NAMES, 'Quasi-identifiers, or expressions: age,sex,"year(birth)".', ROLES, name="qi", metavar="COLUMNS"
    )
    sensitive: tuple[str, ...] = option(
        (), NAMES, "Sensitive columns, each looked at on its own.", ROLES, metavar="COLUMNS"
    )
    identifiers: tuple[str, ...] = option(
        (), NAMES, "Direct identifiers, which must not be published.", ROLES, name="identifier", metavar="COLUMNS"
    )
    entity: str | None = option(
        None, COLUMN, "Which person a row is about; sizes then count persons.", ROLES, metavar="COLUMN"
    )
    joint: bool = option(False, FLAG, "Other sensitive columns count as quasi-identifiers (stricter).", ROLES)
    nulls: NullPolicy = option(
        NullPolicy.EQUAL,
        choice(NullPolicy),
        "Missing quasi-identifiers are equal to each other, equal to nothing, or match anything.",
        ROLES,
        shown="equal",
    )
    known_rows: KnownRows = option(
        KnownRows.WORSE,
        choice(KnownRows),
        "With --entity: who knows one row of a person, all rows, or the worse of both.",
        ROLES,
        shown="worse",
    )
    sampling: Sampling = Sampling()
    values: Folding | None = values_option()

    def __post_init__(self) -> None:
        if self.known_rows is not KnownRows.WORSE and not self.entity:
            raise UsageError(
                f"{spelled('known_rows', self.known_rows.value)} is about persons with many rows; name the column that "
                f"says which person a row is about with {spelled('entity')}."
            )
        seen: dict[str, str] = {}
        for role, names in self.by_role().items():
            for name in names:
                if name in seen:
                    second = "twice as" if seen[name] == role else f"as {seen[name]} and as"
                    raise UsageError(f"Column {name!r} is named {second} {role}; give every column one role.")
                seen[name] = role

    def require_quasi_identifiers(self) -> None:
        """Nothing when quasi-identifiers are named: without any, all rows are one class, which meets every limit.

        Raises:
            UsageError: there are none.
        """
        if not self.quasi_identifiers:
            raise UsageError(
                "Name the quasi-identifiers: what others may know about a person, for instance "
                f"{spelled('qi', 'age', 'sex')}."
            )

    def by_role(self) -> dict[str, tuple[str, ...]]:
        """The columns of each role, in the order they were given."""
        return {
            "quasi-identifier": self.quasi_identifiers,
            "sensitive attribute": self.sensitive,
            "direct identifier": self.identifiers,
            "entity": (self.entity,) if self.entity else (),
            "sampling weights": (self.sampling.weights,) if self.sampling.weights else (),
        }


def roles_from(given: Mapping[str, Any], *, passed_over: Sequence[str] = (), **more: Any) -> Roles:
    """The roles from what a function was given: by its parameters, or whole as `roles`.

    Args:
        given: the function's parameters; `roles` among them is a `Roles`, a mapping of its fields, or None.
        passed_over: fields of `Roles` that may be given whole though the function looks at none of their columns.
        more: further fields.

    Raises:
        UsageError: a role in both ways, one that the function does not take, or a value that does not fit.

    Example:
        >>> roles_from({"roles": {"qi": "age,sex"}, "qi": (), "entity": None}).quasi_identifiers
        ('age', 'sex')
    """
    if given.get("roles") is None:
        return request_from(Roles, given, **more)
    known: Roles = made(Roles, given["roles"], "roles")
    for field_name, one in options_of(Roles):
        if one.name in given and given[one.name] not in (None, one.default, [], ""):
            raise UsageError(f"{spelled('roles')} and {spelled(one.name)} both name columns; give one of them.")
        taken = one.name in given or field_name in passed_over
        if not taken and getattr(known, field_name) != one.default:
            raise UsageError(f"{spelled('roles')} holds {field_name}, which is not asked here.")
    if "sampling" not in more and known.sampling.given:
        raise UsageError(f"{spelled('roles')} holds sampling, which is not asked here.")
    sampling = more.get("sampling", Sampling())
    return replace(known, sampling=sampling if sampling.given else known.sampling)


@dataclass(frozen=True)
class Coverage:
    """What is said of columns that a verdict does not cover.

    Args:
        accepted_identifiers: direct identifiers that may be in the table; every other one that was named fails.
        insensitive: columns that somebody looked at and that need no role.
        all_columns_named: whether a column without a role is a failure.
    """

    accepted_identifiers: tuple[str, ...] = option(
        (),
        NAMES,
        "Direct identifiers that may be in the table; every other one that is named fails.",
        HOLD,
        name="accept_identifier",
        metavar="COLUMNS",
    )
    insensitive: tuple[str, ...] = option(
        (), NAMES, "Columns that were looked at and need no role.", ROLES, metavar="COLUMNS"
    )
    all_columns_named: bool = option(False, FLAG, "A column without a role fails.", HOLD)


@dataclass(frozen=True)
class Requirement:
    """One requirement: a model by name, its parameters as exact numbers or texts.

    Args:
        model: the model's snake_case name.
        parameters: parameter name to value (int, Fraction or str).
        text: how the user wrote it, for reports.
        severity: `error`, or `warn` for a requirement that only warns.
    """

    model: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    severity: str = "error"


@dataclass(frozen=True)
class Limits:
    """Budgets of one audit.

    Args:
        timeout: seconds for the whole command, None = no limit.
        memory: what the engine may use, as DuckDB writes it (`4GB`); empty = half of what is free in DuckDB, else the
            engine's default.
        threads: threads the engine may use; None = all, and one where all files are small.
        temp_directory: where the engine may spill; empty = a private folder in the system's temporary directory.
    """

    timeout: float | None = option(None, SECONDS, "Give up after this time: 90s, 15m, 2h.", LIMITS, metavar="TIME")
    memory: str = option(
        "", MEMORY, "What DuckDB may use before it spills to disk: 4GB.", LIMITS, name="memory_limit", metavar="SIZE"
    )
    threads: int | None = option(None, RANGE, "How many threads DuckDB may use.", LIMITS, metavar="N", least=1)
    temp_directory: str = option("", FOLDER, "Where DuckDB may spill (encrypted).", LIMITS, metavar="FOLDER")


@dataclass(frozen=True)
class AuditSpec:
    """Everything one audit was asked for.

    Args:
        target: what is audited.
        roles: the roles of its columns.
        requirements: what must hold; empty = report every model that needs no further input.
        inputs: further inputs of models by name (categories, class functions, orders, trees, population …).
        coverage: identifiers that are accepted, and whether every column needs a role.
    """

    target: Target
    roles: Roles
    requirements: tuple[Requirement, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    coverage: Coverage = Coverage()


# From what people pass to a target.


def make_target(
    target: Any,
    *,
    query: str = "",
    where: str = "",
    read: ReadOptions | Mapping[str, Any] | None = None,
    buckets: Buckets | Mapping[str, Any] | None = None,
) -> Target:
    """A target from what people pass: a name or path, a frame, or a query; with buckets the persons of a release."""
    if isinstance(target, Target) and buckets is None:
        return target
    second = None if buckets is None else made(Buckets, buckets, "buckets")
    more: dict[str, Any] = {"query": query, "where": where, "read": made(ReadOptions, read, "read"), "buckets": second}
    if isinstance(target, Target):
        return replace(target, buckets=second)
    if target is None:
        return Target(**more)
    if isinstance(target, str) or hasattr(target, "__fspath__"):
        return Target(relation=str(target), **more)
    return Target(frame=target, **more)


def target_of(given: Given, parameter: str = "target") -> Target:
    """The target that a public function was given, with what else is said of it."""
    said = vars(given)
    more = {name: said[name] for name in ("query", "where", "read", "buckets") if name in said}
    return make_target(said[parameter], **more)
