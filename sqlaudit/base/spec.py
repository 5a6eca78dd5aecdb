"""What to audit: a target, the roles of its columns, and what is required. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sqlaudit.base.errors import UsageError


class NullPolicy(StrEnum):
    """How a NULL in a quasi-identifier is read.

    `EQUAL`: NULLs form a group, as GROUP BY does. `DISTINCT`: every row with a NULL is a class of its own.
    `WILDCARD`: a missing value matches any value; figures are then per row.
    """

    EQUAL = "equal"
    DISTINCT = "distinct"
    WILDCARD = "wildcard"


@dataclass(frozen=True)
class ReadOptions:
    """How files are read. Empty values mean: let the engine find out.

    Args:
        format: csv, json, parquet or arrow; empty = by the file's name.
        delimiter: the CSV separator.
        encoding: the CSV encoding, for instance latin-1.
        null_values: texts that mean NULL.
        all_text: read every column as text.
        header: whether the first CSV line has names; None = detect.
        hive_partitioning: read the values of folders named `column=value` as columns, as text.
    """

    format: str = ""
    delimiter: str = ""
    encoding: str = ""
    null_values: tuple[str, ...] = ()
    all_text: bool = False
    header: bool | None = None
    hive_partitioning: bool = False


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

    Raises:
        UsageError: when none or more than one of relation, query and frame is given.
    """

    relation: str = ""
    query: str = field(default="", repr=False)
    frame: Any = field(default=None, repr=False, compare=False)
    where: str = field(default="", repr=False)
    read: ReadOptions = ReadOptions()
    label: str = ""

    def __post_init__(self) -> None:
        given = [bool(self.relation), bool(self.query), self.frame is not None]
        if sum(given) != 1:
            raise UsageError("Name exactly one target: a table, view or file, or --query, or a frame.")

    @property
    def name(self) -> str:
        """The name for reports; never the text of a query."""
        return self.label or self.relation or ("query" if self.query else "frame")


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

    Raises:
        UsageError: when a column has two roles.
    """

    quasi_identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    entity: str | None = None
    joint: bool = False
    nulls: NullPolicy = NullPolicy.EQUAL

    def __post_init__(self) -> None:
        seen: dict[str, str] = {}
        for role, names in self.by_role().items():
            for name in names:
                if name in seen:
                    second = "twice as" if seen[name] == role else f"as {seen[name]} and as"
                    raise UsageError(f"Column {name!r} is named {second} {role}; give every column one role.")
                seen[name] = role

    def by_role(self) -> dict[str, tuple[str, ...]]:
        """The columns of each role, in the order they were given."""
        return {
            "quasi-identifier": self.quasi_identifiers,
            "sensitive attribute": self.sensitive,
            "direct identifier": self.identifiers,
            "entity": (self.entity,) if self.entity else (),
        }


@dataclass(frozen=True)
class Coverage:
    """What is said of columns that a verdict does not cover.

    Args:
        accepted_identifiers: direct identifiers that may be in the table; every other one that was named fails.
        insensitive: columns that somebody looked at and that need no role.
        all_columns_named: whether a column without a role is a failure.
    """

    accepted_identifiers: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    all_columns_named: bool = False


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
        memory: what the engine may use, as DuckDB writes it (`4GB`); empty = the engine's default.
        threads: threads the engine may use; None = all.
        temp_directory: where the engine may spill; empty = a private folder in the system's temporary directory.
    """

    timeout: float | None = None
    memory: str = ""
    threads: int | None = None
    temp_directory: str = ""


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


def several(names: Iterable[str] | str) -> tuple[str, ...]:
    """Names as Python gives them: several, or a single text, which is one of them."""
    return (names,) if isinstance(names, str) else tuple(names)
