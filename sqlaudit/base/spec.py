"""What to audit: a target, the roles of its columns, and what is required. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from sqlaudit.base.errors import ConflictingRoles, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import (
    COLUMN,
    DELIMITER,
    FILE,
    FLAG,
    FOLDER,
    MEMORY,
    NAMES,
    RANGE,
    SECONDS,
    SHARE,
    SWITCH,
    TABLE,
    TABLES,
    TEXT,
    TEXTS,
    WHOLE,
    Given,
    Option,
    OptionKind,
    check_bounds,
    choice,
    made,
    one_of,
    option,
    options_of,
    part,
    request_from,
)
from sqlaudit.base.parameter_names import spelled

FILE_FORMATS = ("csv", "json", "parquet", "arrow", "excel", "spss", "stata", "sas")
DATE_ORDERS = ("dmy", "mdy", "ymd")
LOOK, ROLES, HOLD, CLASSES, LIMITS = "Input", "Column roles", "Requirements", "Failing groups", "Limits"
"""Sections of the help page."""
MOST_THREADS = 1024
_VALUES_OF = "Table of the bucket values of a bucketized release (TARGET is the table of people)."


class NullPolicy(StrEnum):
    """How a NULL in a quasi-identifier is read.

    `EQUAL`: NULLs form a group, as GROUP BY does. `DISTINCT`: every row with a NULL is a class of its own.
    `WILDCARD`: a missing value matches any value; figures are then per row.
    """

    EQUAL = "equal"
    DISTINCT = "distinct"
    WILDCARD = "wildcard"


class KnownRows(StrEnum):
    """How many rows of a person an attacker knows.

    `WORSE`: one or all, whichever is worse. `ONE`: one of them. `ALL`: all of them.
    """

    WORSE = "worse"
    ONE = "one"
    ALL = "all"


class Folding(StrEnum):
    """Whether texts that differ only in case, blanks, width or invisible characters are one value or several.

    `FOLD`: one. `EXACT`: several, as they are written.
    """

    FOLD = "fold"
    EXACT = "exact"


@dataclass(frozen=True)
class ReadOptions:
    """How files are read. Empty values: the engine decides.

    Args:
        format: csv, json, parquet, arrow, excel, spss, stata or sas; empty = by the file's name.
        delimiter: the CSV separator.
        encoding: the encoding of a CSV, SPSS, Stata or SAS file, for instance latin-1.
        null_values: texts that mean NULL; also numbers of Excel, and codes of SPSS, Stata and SAS (-98, .a).
        all_text: read every column as text.
        header: whether the first line of CSV, or row of Excel, has names; None = detect.
        hive_partitioning: read the values of folders named `column=value` as columns, as text.
        skip: lines of CSV, or rows of Excel, above the header, such as a title.
        decimal: what stands before the decimals of numbers in a CSV file, a point or a comma.
        date_order: the order of the parts of dates in a CSV file, such as dmy; empty = as the dates suggest.
        sheet: the sheet of an Excel file; empty = the only one that is not hidden.
        labels: read the value labels of an SPSS or Stata file instead of the codes.

    Raises:
        UsageError: another decimal sign, or a number of lines that is out of range.
    """

    format: str = option(
        "", one_of(*FILE_FORMATS), "File format (default: by the file's name).", LOOK, name="file_format"
    )
    delimiter: str = option("", DELIMITER, "CSV field separator: a character, or tab.", LOOK, metavar="CHARACTER")
    encoding: str = option("", TEXT, "Encoding of the file, for example latin-1.", LOOK, metavar="NAME")
    null_values: tuple[str, ...] = option(
        (), TEXTS, 'Texts that mean "missing", for example "?,NA".', LOOK, metavar="TEXTS"
    )
    all_text: bool = option(False, FLAG, "Read every column of CSV or Excel as text (keeps leading zeros).", LOOK)
    header: bool | None = option(None, SWITCH, "The first line (CSV, Excel) has the column names, or not.", LOOK)
    hive_partitioning: bool = option(False, FLAG, "Read folders named column=value as columns, too.", LOOK)
    skip: int = option(
        0, RANGE, "Lines (CSV, Excel) above the header, such as a title.", LOOK, metavar="N", least=0, most=1000
    )
    decimal: str = option(".", one_of(".", ","), "The decimal sign in a CSV file.", LOOK, shown=".")
    date_order: str = option("", one_of(*DATE_ORDERS), "Order of day, month and year in a CSV file's dates.", LOOK)
    sheet: str = option("", TEXT, "The sheet of an Excel file.", LOOK, metavar="NAME")
    labels: bool = option(False, FLAG, "Read value labels of SPSS or Stata instead of codes.", LOOK)

    def __post_init__(self) -> None:
        check_bounds(self)

    @property
    def given(self) -> frozenset[str]:
        """The names of the options that are not at their default."""
        return frozenset(option.name for option in fields(self) if getattr(self, option.name) != option.default)


TableOptions = Mapping[str, Any]
"""Options of one table: fields of `ReadOptions` with their values."""
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def table_options_from_texts(texts: Mapping[str, str | Sequence[str]]) -> TableOptions:
    """Return options of one table from texts, as the command line and files have them.

    Raises:
        UsageError: there is no such option, or it does not take the text.

    Example:
        >>> table_options_from_texts({"sheet": "Daten", "skip": "2", "header": "no"})
        {'sheet': 'Daten', 'skip': 2, 'header': False}
    """
    kinds, values = {name: option.kind for name, option in options_of(ReadOptions)}, dict[str, object](texts)
    for key, text in texts.items():
        word = str(text).strip().casefold()
        if kinds.get(key) in (FLAG, SWITCH):
            if word not in _WORDS:
                raise UsageError(f"{spelled('read')}: {key} is yes or no, not {word[:60]!r}.")
            values[key] = _WORDS[word]
        elif kinds.get(key) is RANGE:
            if not (word.isascii() and word.isdecimal() and len(word) < 10):
                raise UsageError(f"{spelled('read')}: {key} is a whole number, not {word[:60]!r}.")
            values[key] = int(word)
    return _checked_table_options(values)


def _checked_table_options(values: Mapping[str, object] | ReadOptions) -> TableOptions:
    """Return options of one table, read and checked as those of all tables are."""
    options = made(ReadOptions, values, "read")
    names = {option.name: name for name, option in options_of(ReadOptions)}
    keys = options.given if isinstance(values, ReadOptions) else [names.get(key, key) for key in values]
    return {key: getattr(options, key) for key in keys}


@dataclass(frozen=True)
class Reading:
    """The options for reading the files of a command.

    Args:
        options: of all its tables. A table is read without those that its format does not have.
        tables: options of one table, which go first, by its role in the command (`release`) or the name of its file.
    """

    options: ReadOptions = ReadOptions()
    tables: Mapping[str, TableOptions] = field(default_factory=dict)

    def table(self, target: Target, role: str = "", own: TableOptions | None = None) -> Target:
        """Return a table with its role in the command and its own options, which replace those of all tables."""
        named, own = replace(target, role=role, reading=self), dict(own or {})
        for name in (name for name in self.tables if name in named.names):
            own |= self.tables[name]
        return replace(named, read=replace(self.options, **own), shared=self.options.given - own.keys())

    def over(self, target: Target, role: str = "") -> Target:
        """Return a table with the options that it has already, and with those of this one table in their place."""
        read = replace(self, options=target.read).table(target, role)
        return replace(read, shared=read.shared & target.shared)


def reading_from(read: object) -> Reading:
    """Return how tables are read: options as `read=` takes them, also by table (`{"release": {"sheet": "Daten"}}`).

    Raises:
        UsageError: something else, an unknown option, or a value that its option does not take.
    """
    if isinstance(read, Reading):
        return read
    tables = {}
    if isinstance(read, Mapping):
        tables = {
            str(name): _checked_table_options(value)
            for name, value in read.items()
            if isinstance(value, Mapping | ReadOptions)
        }
        read = {name: value for name, value in read.items() if str(name) not in tables}
    options: Any = read
    return Reading(made(ReadOptions, options, "read"), tables)


@dataclass(frozen=True)
class Buckets:
    """The second table of a bucketized release: the sensitive values of each bucket of persons.

    Args:
        table: a table or file that is named as the target is, a frame, or a target. column: the bucket, in both tables.
        count: the column that says how often a value occurs in its bucket; empty = each row is one value.

    Raises:
        UsageError: no table, or no column of buckets.
    """

    table: object = option(None, TABLE, _VALUES_OF, LOOK, name="buckets", metavar="TABLE")
    column: str = option(
        "", COLUMN, "With --buckets: column of the bucket, in both tables.", LOOK, name="bucket_column"
    )
    count: str = option("", COLUMN, "With --buckets: column with the count of a value.", LOOK, name="bucket_count")

    def __post_init__(self) -> None:
        if self.table is None:
            raise UsageError(f"The table of bucket values is missing. Name it with {spelled('buckets')}.")
        if not self.column:
            raise UsageError(
                f"The bucket column is missing. Name it with {spelled('bucket_column')}; both tables have it."
            )

    def target(self, persons: Target) -> Target:
        """The table of values as a target; files are read like those of the persons."""
        reading = persons.reading or Reading(persons.read)
        if isinstance(self.table, Target):
            return reading.over(self.table, "buckets")
        if isinstance(self.table, str) or hasattr(self.table, "__fspath__"):
            return reading.table(Target(relation=str(self.table)), "buckets")
        return reading.table(Target(frame=self.table, label="the table of buckets"), "buckets")


@dataclass(frozen=True)
class Target:
    """What is audited: exactly one of a relation (or file path), a query, or a frame.

    Args:
        relation: a table or view as the user writes it (`main.patients`, `"Odd name"`), or a file path or glob.
        query: the text of one SELECT.
        frame: a pandas, polars or Arrow table.
        where: a SQL condition that restricts the rows.
        read: how files are read.
        label: the target's name in reports; empty = the relation, or "query"/"frame".
        buckets: of a bucketized release the second table; what is read is then its values, one row a person.
        named: the columns whose values must be exact; of others a sample is enough. None = all.
        shared: those of the options that several tables have; what this table's format does not have is
            passed over, where any other is an error.
        role: what the table is in its command (`release`); empty = nothing. reading: the options of all its tables.

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
    shared: frozenset[str] = field(default=frozenset(), repr=False, compare=False)
    role: str = field(default="", repr=False, compare=False)
    reading: Reading | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.buckets is not None and self.where:
            raise UsageError(
                f"{spelled('where')} cannot be combined with buckets, because it takes people out of them. Leave it "
                "out."
            )
        given = [bool(self.relation), bool(self.query), self.frame is not None]
        if sum(given) != 1:
            raise UsageError(f"Name exactly one target: a table, view or file, {spelled('query')}, or a frame.")

    @property
    def tables(self) -> tuple[Target, ...]:
        """The tables that are read: one, or the two of a bucketized release."""
        if self.buckets is None:
            return (self,)
        return (replace(self, buckets=None), self.buckets.target(self))

    @property
    def names(self) -> frozenset[str]:
        """The names that `--read` accepts for the table: its role, its name, and the name of its file."""
        texts = (self.role, self.role.replace("_", "-"), self.relation, Path(self.relation).name, self.label)
        return frozenset(filter(None, texts))

    def read_as(self, options: Iterable[str]) -> ReadOptions:
        """Return the options of the table where its format has these; others are left out if they were shared."""
        defaults = ReadOptions()
        return replace(self.read, **{name: getattr(defaults, name) for name in self.shared.difference(options)})

    def file(self, name: str) -> Target:
        """Return a file that the query names, read as the query is, and with the options of this file."""
        reading = replace(self.reading or Reading(), options=self.read)
        return reading.over(Target(relation=name, read=self.read, shared=self.shared))

    @property
    def name(self) -> str:
        """The name for reports; never the text of a query."""
        return self.label or self.relation or ("query" if self.query else "frame")


def values_option(section: str = ROLES, **more: Any) -> Any:
    """The option of what is one value, for every request with sensitive columns or persons; `more` as `option` has."""
    said = (
        "Treat values of sensitive and person columns that differ only in case, blanks or invisible characters as "
        "one, or not."
    )
    kind = OptionKind("folding", choice(Folding).read, choice(Folding).words)
    return option(None, kind, said, section, flags=tuple(f"--{one.value}-values" for one in Folding), **more)


@dataclass(frozen=True)
class Sampling:
    """The share of a population that the table is; at most one of three fields.

    Args:
        sampling_fraction: the share, above 0 and at most 1. population_size: the people of the population.
        weights: the column that says how many people a row stands for (read with six decimals).

    Raises:
        UsageError: more than one of them, or a number out of its range.
    """

    sampling_fraction: Fraction | None = option(
        None, SHARE, "Sampling fraction, if the table is a sample: 0.01.", ROLES, metavar="SHARE", above=0, most=1
    )
    population_size: int | None = option(
        None, WHOLE, "Size of the population, if the table is a sample.", ROLES, metavar="N", least=1
    )
    weights: str | None = option(
        None, COLUMN, "Column of sampling weights, if the table is a sample.", ROLES, metavar="COLUMN"
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        given = [name for name in SAMPLED_BY if getattr(self, name) is not None]
        if len(given) > 1:
            raise UsageError(
                f"{spelled(given[0])} and {spelled(given[1])} both set the size of the population. Give one of them."
            )

    rows: int | None = None
    """Rows of the whole sample, if some were left out."""

    def of_release(self, rows: int, entity: str | None = None) -> Sampling:
        """Return the sampling of a release with this number of rows: a share stays what it is when rows are left out.

        Example:
            >>> Sampling(population_size=500).of_release(50).sampling_fraction
            Fraction(1, 10)
        """
        if self.population_size is None or not rows or entity is not None:
            return replace(self, rows=rows)
        return Sampling(sampling_fraction=Fraction(rows, max(rows, self.population_size)), rows=rows)

    @property
    def given(self) -> bool:
        """Return True if it is said that the table is a sample."""
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
        values: whether persons and sensitive values that folding merges are one; None = no one said.

    Raises:
        UsageError: when a column has two roles, or rows of persons are known and no column names these.
    """

    quasi_identifiers: tuple[str, ...] = option(
        (),
        NAMES,
        'Quasi-identifiers: columns or expressions: age,"(year(birth))".',
        ROLES,
        name="qi",
        metavar="COLUMNS",
    )
    sensitive: tuple[str, ...] = option(
        (), NAMES, "Sensitive columns, each audited on its own.", ROLES, metavar="COLUMNS"
    )
    identifiers: tuple[str, ...] = option(
        (),
        NAMES,
        "Direct identifiers. The audit fails if the table has them.",
        ROLES,
        name="identifier",
        metavar="COLUMNS",
    )
    entity: str | None = option(
        None, COLUMN, "Column that identifies the person; group sizes then count people.", ROLES, metavar="COLUMN"
    )
    joint: bool = option(False, FLAG, "Treat the other sensitive columns as quasi-identifiers (stricter).", ROLES)
    nulls: NullPolicy = option(
        NullPolicy.EQUAL,
        choice(NullPolicy),
        "Missing quasi-identifiers equal each other, equal nothing, or match anything.",
        ROLES,
        shown="equal",
    )
    known_rows: KnownRows = option(
        KnownRows.WORSE,
        choice(KnownRows),
        "With --entity: rows of a person that an attacker knows: one, all, or the worse of both.",
        ROLES,
        shown="worse",
    )
    sampling: Sampling = Sampling()
    values: Folding | None = values_option()

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.known_rows is not KnownRows.WORSE and not self.entity:
            raise UsageError(
                f"{spelled('known_rows', self.known_rows.value)} is about people with many rows. Name the column "
                f"that identifies the person with {spelled('entity')}."
            )
        seen: dict[str, str] = {}
        for role, names in self.by_role().items():
            for name in names:
                if name in seen:
                    second = "twice as" if seen[name] == role else f"as {seen[name]} and as"
                    raise ConflictingRoles(f"Column {name!r} is named {second} {role}. Give every column one role.")
                seen[name] = role

    def require_quasi_identifiers(self) -> None:
        """Raise UsageError if no quasi-identifiers are named: all rows are then one class, which meets every limit.

        Raises:
            UsageError: there are none.
        """
        if not self.quasi_identifiers:
            raise UsageError(
                "No quasi-identifiers are named. Name the columns that others may know about a person, for example "
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


def roles_from(given: Given, *, passed_over: Sequence[str] = (), **more: Any) -> Roles:
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
            raise UsageError(f"{spelled('roles')} and {spelled(one.name)} both name columns. Give one of them.")
        taken = one.name in given or field_name in passed_over
        if not taken and getattr(known, field_name) != one.default:
            raise UsageError(f"{spelled('roles')} has {field_name}, which this function does not use.")
    if "sampling" not in more and known.sampling.given:
        raise UsageError(f"{spelled('roles')} has sampling, which this function does not use.")
    sampling = more.get("sampling", Sampling())
    return replace(known, sampling=sampling if sampling.given else known.sampling)


@dataclass(frozen=True)
class Coverage:
    """Columns that a verdict does not cover.

    Args:
        accepted_identifiers: direct identifiers that may be in the table; every other one that was named fails.
        insensitive: columns that were reviewed and need no role.
        all_columns_named: whether a column without a role is a failure.
    """

    accepted_identifiers: tuple[str, ...] = option(
        (),
        NAMES,
        "Direct identifiers that may stay in the table; all others fail.",
        HOLD,
        name="accept_identifier",
        metavar="COLUMNS",
    )
    insensitive: tuple[str, ...] = option(
        (), NAMES, "Columns that were reviewed and need no role.", ROLES, metavar="COLUMNS"
    )
    all_columns_named: bool = option(False, FLAG, "Fail if a column has no role.", HOLD)

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(frozen=True)
class SafeHarbor:
    """How HIPAA's Safe Harbor is checked.

    Args:
        zip_areas: a CSV file of the three-digit ZIP areas with 20,000 people or fewer; None = those of the 2000 census.
        reviewed: columns that people reviewed; they are not checked.
    """

    preset: ClassVar[str] = "hipaa-safe-harbor"
    zip_areas: Path | None = option(
        None,
        FILE,
        "With --preset hipaa-safe-harbor: CSV file of ZIP areas with 20,000 people or fewer (column area).",
        HOLD,
        metavar="FILE",
    )
    reviewed: tuple[str, ...] = option(
        (), NAMES, "With --preset hipaa-safe-harbor: columns that you reviewed.", HOLD, metavar="COLUMNS"
    )


@dataclass(frozen=True)
class Requirement:
    """One requirement: a model by name, its parameters as exact numbers or texts.

    Args:
        model: the model's snake_case name.
        parameters: parameter name to value (int, Fraction or str).
        text: how the user wrote it, for reports.
        severity: `error`, or `warn` for a requirement that only warns.
        preset: the published rule that requires it, empty = none.
    """

    model: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    severity: str = "error"
    preset: str = field(default="", compare=False)


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

    timeout: float | None = option(None, SECONDS, "Stop after this time: 90s, 15m, 2h.", LIMITS, metavar="TIME")
    memory: str = option(
        "",
        MEMORY,
        "Memory that DuckDB may use before it spills to disk: 4GB.",
        LIMITS,
        name="memory_limit",
        metavar="SIZE",
    )
    threads: int | None = option(
        None, RANGE, "Threads that DuckDB may use.", LIMITS, metavar="N", least=1, most=MOST_THREADS
    )
    temp_directory: str = option("", FOLDER, "Folder for DuckDB's spill files (encrypted).", LIMITS, metavar="FOLDER")

    def __post_init__(self) -> None:
        check_bounds(self)


# From what people pass to a target.


def make_target(
    target: object,
    *,
    query: str = "",
    where: str = "",
    read: Reading | ReadOptions | Mapping[str, object] | None = None,
    buckets: Buckets | Mapping[str, object] | None = None,
    role: str = "",
    name: str = "",
    frame: str = "",
) -> Target:
    """A target from what people pass: a name or path, a frame, or a query; with buckets the persons of a release.

    Args:
        target, query, where, read, buckets: as people pass them. role: what the table is in its command.
        name: what reports call a frame or a query. frame: what they call a frame without a name; empty = "frame".

    Raises:
        UsageError: none or several of target and query, or a name for what has one.
    """
    if name and (isinstance(target, str | Target) or hasattr(target, "__fspath__")):
        raise UsageError(f"{spelled('name')} names frames and queries. A table or file is called by its own name.")
    reading = reading_from(read)
    second = None if buckets is None else made(Buckets, buckets, "buckets")
    if isinstance(target, Target):
        target = reading.over(target, role) if target.reading is None else target
        return target if second is None else replace(target, buckets=second)
    more: dict[str, Any] = {"query": query, "where": where, "buckets": second}
    if isinstance(target, str) or hasattr(target, "__fspath__"):
        more["relation"] = str(target)
    elif target is not None:
        more |= {"frame": target, "label": frame}
    return reading.table(Target(**more | ({"label": name} if name else {})), role)


def target_from(given: Given, parameter: str) -> Target:
    """Return the target that an edge was given, with what else is said of it."""
    more = {name: given[name] for name in ("query", "where", "read", "buckets") if name in given}
    return make_target(given[parameter], role=parameter, name=name_from(given, parameter, is_main=True), **more)


def name_from(given: Given, parameter: str, *, is_main: bool = False) -> str:
    """Return what reports call a table, as `name=` gives it; empty if it does not.

    Args:
        given: the function's parameters. parameter: that of the table. is_main: whether a text names this one.

    Raises:
        UsageError: neither a text nor a mapping of them by parameter.
    """
    names = given.get("name") or ""
    if isinstance(names, str):
        return names if is_main else ""
    is_mapping = isinstance(names, Mapping) and all(isinstance(name, str) for name in names.values())
    if not is_mapping or not given.keys() >= names.keys():
        raise UsageError(
            f"{spelled('name')} takes a text, or texts by parameter, such as {{{parameter!r}: 'patients'}}."
        )
    return str(names.get(parameter, ""))


# The parts of requests that every command has, or many: a target, roles, a further table.


def target_part(parameter: str = "target", *, buckets: bool = False) -> Any:
    """Return the field of the target.

    Args:
        parameter: its name in Python. buckets: whether it may be a bucketized release, with a second table.
    """
    names = (parameter, "name", "query", "where", "read", *(("buckets",) if buckets else ()))
    return part(
        lambda given, _: target_from(given, parameter), parameters=names, kind="bucketized" if buckets else "target"
    )


def roles_part(
    *, without: Sequence[str] = (), passed_over: Sequence[str] = (), sampling: Sequence[str] = (), **default: Any
) -> Any:
    """Return the field of the roles.

    Args:
        without: names of options that Python does not take here.
        passed_over: fields of `Roles` that may be given whole though none of their columns is looked at.
        sampling: the options of `Sampling` that are taken, none where the command has nothing to do with samples.
        default: as `part` has it.
    """

    def make(given: Given, _: str) -> Roles:
        if not sampling:
            return roles_from(given, passed_over=passed_over)
        named = {name: value for name, value in given.items() if name in sampling}
        return roles_from(given, passed_over=passed_over, sampling=request_from(Sampling, named))

    def options() -> Iterator[Option]:
        for _, one in options_of(Roles):
            yield replace(one, only_command_line=True) if one.name in without else one
        yield from (one for _, one in options_of(Sampling) if one.name in sampling)

    return part(make, options, parameters=("roles",), **default)


def among_roles(role: str, *, passed_over: Sequence[str] = (), columns: str = "qi") -> dict[str, Any]:
    """Return what makes an option that Python may also give with all roles at once, as `roles`.

    Args:
        role: the field of `Roles` that the value is from.
        passed_over: fields of `Roles` that may be given whole though none of their columns is looked at.
        columns: the parameter of the quasi-identifiers.
    """

    def make(given: Given, _: str) -> object:
        if given.get(columns):
            raise UsageError(f"{spelled('roles')} and {spelled(columns)} both name columns. Give one of them.")
        return getattr(roles_from({**given, "qi": ()}, passed_over=passed_over), role)

    return {"make": make, "parameters": ("roles",)}


def table_option(help: str, section: str, label: str = "", **more: Any) -> Any:
    """Return the field of a further table, which is read as the target is.

    Args:
        help, section, more: as `Option` has them. label: the name of a frame in reports; empty = "frame".
    """

    def make(given: Given, parameter: str) -> Target | None:
        table = given.get(parameter)
        if table is None:
            return None
        return make_target(table, read=given.get("read"), role=parameter, name=name_from(given, parameter), frame=label)

    return option(None, TABLE, help, section, make, **more)


def tables_option(help: str, section: str, **more: Any) -> Any:
    """Return the field of several further tables, which are read as the target is.

    Args:
        help, section, more: as `Option` has them.
    """

    def make(given: Given, parameter: str) -> tuple[Target, ...]:
        tables = given.get(parameter)
        several = () if tables is None else tables
        return tuple(make_target(table, read=given.get("read"), role=parameter) for table in several)

    return option((), TABLES, help, section, make, **more)
