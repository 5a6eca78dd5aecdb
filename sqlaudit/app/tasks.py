"""What the process of the window computes: functions of an open table that return plain data, no value of a cell."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlaudit
from sqlaudit.base.addresses import Whereabouts
from sqlaudit.base.errors import InputError, SqlauditError
from sqlaudit.base.names import untyped
from sqlaudit.base.options import request_from
from sqlaudit.base.spec import Limits, NullPolicy, ReadOptions, Roles, Sampling, Target
from sqlaudit.column_sets.counting import Figures, SetCounter, choose_column, code_columns, drop_codes
from sqlaudit.engines import connect
from sqlaudit.profiles.columns import list_sources, spread_rows
from sqlaudit.profiles.names import words_of
from sqlaudit.reports.document import figure, percent

if TYPE_CHECKING:
    from sqlaudit.engines.contract import Engine

Task = Callable[..., Mapping[str, Any]]
TASKS: dict[str, Task] = {}
"""The functions that pages ask for, by name."""
BARS, RARE = 20, 5
"""Bars of the picture of a column, and rows below which a value is rare."""
READ_WORDS = {
    "sheet": "the sheet",
    "skip": "the row with the column names",
    "header": "“Column names”",
    "null_values": "“Texts that mean missing”",
    "all_text": "“Read every column as text”",
    "encoding": "“Encoding”",
    "delimiter": "“Separator”",
    "decimal": "“Decimal sign”",
    "date_order": "“Order of dates”",
    "labels": "“Use value labels”",
    "file_format": "“File format”",
    "sampling_fraction": "the fraction of the sample",
    "population_size": "the number of people in the population",
}
"""What the options for reading a file are called on the screen, by their fields."""


_PLAIN = (
    ("direct identifier", "column that names people", "columns that name people"),
    ("quasi-identifier", "column that others may know", "columns that others may know"),
    ("sensitive attribute", "column to keep secret", "columns to keep secret"),
    ("equivalence class", "group", "groups"),
)
"""Words of the field, and what the window says instead: one, and several."""


def in_the_window(field: str, values: tuple[object, ...]) -> str:
    """Return what the window calls a field of a request. One that it does not offer is an option of commands.

    Example:
        >>> in_the_window("skip", (2,)), in_the_window("header", (False,)), in_the_window("where", ())
        ('the row with the column names (row 3)', '“Column names” (none)', '--where of the commands')
    """
    word = READ_WORDS.get(field)
    if word is None:
        return f"--{field.replace('_', '-')} of the commands"
    if not values or values[0] is True:
        return word
    if field == "skip" and isinstance(values[0], int):
        return f"{word} (row {values[0] + 1})"
    return f"{word} ({'none' if values[0] is False else values[0]})"


def in_plain_words(text: str) -> str:
    """Return a sentence of the engine in the words of the window.

    Example:
        >>> in_plain_words("Quasi-identifiers: zip. A direct identifier is in the table.")
        'Columns that others may know: zip. A column that names people is in the table.'
    """
    for word, one, several in _PLAIN:
        many = word + ("es" if word.endswith("s") else "s")
        for old, new in ((many, several), (word, one)):
            text = text.replace(old, new).replace(old.capitalize(), new.capitalize())
    return text


class OpenTable:
    """The table of a project, opened when a task first needs it, and kept open for the next.

    Args:
        place: where it is: `db`, `relation`, `read`, and the `stamp` of a file. progress: takes steps and shares.
    """

    def __init__(self, place: Mapping[str, Any], progress: Callable[[str, float | None], None]) -> None:
        self.place, self._progress = place, progress
        self.memory: dict[object, Any] = {}
        """What tasks keep for the next task on the same table, such as a histogram."""
        self._engine: Engine | None = None

    @property
    def target(self) -> Target:
        """The table, as requests name it."""
        read = self.place["read"]
        return Target(
            relation=self.place["relation"],
            read=ReadOptions(**{**read, "null_values": tuple(read["null_values"])}),
            label=Path(self.place["relation"]).name if self.place["stamp"] else "",
        )

    @property
    def engine(self) -> Engine:
        """The engine with the table.

        Raises:
            SqlauditError: it cannot be opened.
        """
        if self._engine is None:
            db = self.place["db"]
            self._engine = connect(None if db is None else Whereabouts(**db), Limits(), self.target)
            self._engine.progress = self._progress
            # Each function opens the table again, which reads an Excel file as often
            vars(self._engine)["open"] = cache(self._engine.open)
        return self._engine

    def check_unchanged(self) -> None:
        """Raise InputError if the file is not what it was when the window last looked."""
        from sqlaudit.app.worker import stamp_of

        if self.place["stamp"] and stamp_of(self.place["relation"]) != self.place["stamp"]:
            raise InputError("The file has changed while it was read. All is read again.")

    def cancel(self) -> None:
        """Stop the running statement; safe to call from another thread."""
        with contextlib.suppress(SqlauditError):
            if self._engine is not None:
                self._engine.cancel()

    def close(self) -> None:
        """Close the engine, and what was kept."""
        for kept in self.memory.values():
            if hasattr(kept, "close"):
                with contextlib.suppress(SqlauditError):
                    kept.close()
        self.memory.clear()
        if self._engine is not None:
            self._engine.close()
            self._engine = None


def task(function: Task) -> Task:
    """Register a function as a task of its name."""
    TASKS[function.__name__] = function
    return function


@task
def sheets(table: OpenTable) -> Mapping[str, Any]:
    """Return the visible sheets of an Excel file, with their rows, columns and rows above the column names."""
    from sqlaudit.engines.duckdb.excel import describe_sheets

    facts = describe_sheets(Path(table.place["relation"]))
    return {"sheets": [{"name": s.name, "rows": s.rows, "columns": s.columns, "title": s.title} for s in facts]}


@task
def describe(table: OpenTable, sets: bool) -> Mapping[str, Any]:
    """Return the columns of the table in its order: names, types, counts, and the role that is proposed and why.

    Args:
        sets: whether columns that together single people out are looked for, which takes longer.
    """
    profile = sqlaudit.profile(table.target, db=table.engine, sets=sets)
    relation = table.engine.open(table.target)
    order = [column.name for column in relation.columns]
    facts = {column.name: column for column in profile.columns}
    roles = profile.roles
    of_roles = dict.fromkeys(roles.sensitive, "sensitive") | dict.fromkeys(roles.identifiers, "identifiers")
    proposed = of_roles | dict.fromkeys(roles.quasi_identifiers, "quasi_identifiers")
    if profile.entity is not None:
        proposed[profile.entity.column] = "entity"
    columns = []
    for name in order:
        column = facts.get(name)
        if column is None:
            continue
        measured, proposal = column.facts, column.proposal
        columns.append(
            {
                "name": name,
                "kind": measured.kind,
                "label": measured.label,
                "empty": measured.nulls,
                "distinct": measured.distinct,
                "rare": measured.rows_below_5,
                "role": proposed.get(name) or ("insensitive" if proposal.concept or measured.constant else ""),
                "is_weight": measured.kind in ("integer", "decimal", "float")
                and bool(_WEIGHTS.intersection([*words_of(name), *words_of(measured.label)])),
                "reasons": list(proposal.reasons),
            }
        )
    return {
        "rows": profile.rows,
        "columns": columns,
        "unreadable": list(profile.unreadable),
        "remarks": [remark.message for remark in profile.remarks],
        "is_cells": profile.cells is not None,
    }


@task
def spread(table: OpenTable, columns: Sequence[str]) -> Mapping[str, Any]:
    """Return how the rows are spread over the values of columns: rows by rank of the value, rare values together."""
    relation = table.engine.open(table.target)
    sources = [source for source in list_sources(relation, table.engine.dialect) if source.name in columns]
    spreads = spread_rows(table.engine, relation, sources, RARE, BARS)
    return {source.name: [*of_column] for source, of_column in zip(sources, spreads, strict=True)}


_WEIGHTS = {"weight", "weights", "wgt", "wt", "gewicht", "hochrechnungsfaktor", "hochrechnung", "poids", "peso"}
"""Words of names of columns that may say how many people a row stands for."""


_Columns = Mapping[str, Sequence[str]]


def _roles(roles: _Columns, sampling: Sequence[str] = ("", "")) -> Roles:
    """Return the roles of columns that stand under the keys of a policy, and how the table is a sample."""
    sampled = {sampling[0]: sampling[1]} if sampling[0] else {}
    if roles["weights"]:
        sampled = {"weights": roles["weights"][0]}
    return Roles(
        quasi_identifiers=tuple(roles["quasi_identifiers"]),
        sensitive=tuple(roles["sensitive"]),
        identifiers=tuple(roles["identifiers"]),
        entity=next(iter(roles["entity"]), None),
        sampling=request_from(Sampling, sampled),
    )


@task
def verdict(
    table: OpenTable, roles: _Columns, requirements: Sequence[str], sampling: Sequence[str], k: int
) -> Mapping[str, Any]:
    """Return the figures of the table as it is, and how each requirement ends.

    Args:
        roles: columns by role. requirements: as the command line has them. sampling: an option's name and its text.
        k: the size of a group below which rows or people are counted.
    """
    audited = sqlaudit.audit(
        table.target,
        db=table.engine,
        roles=_roles(roles, sampling),
        accept_identifier=list(roles["identifiers"]),  # they are left out of a release
        insensitive=list(roles["insensitive"]),
        require=list(requirements),
        failing_classes=0,
        worst_classes=0,
    )
    result = audited.to_dict()
    sizes = result["classes"]["sizes"]
    counted, unique, below = (sum(size * groups for size, groups in sizes if size < most) for most in (inf, 2, k))
    if roles["entity"]:  # a person with rows in several groups is in the sizes of each of them
        everything = (1 << len(roles["quasi_identifiers"])) - 1
        counted, (people,) = _count_groups(table, roles, k, [everything])
        unique, below = people.unique, people.at_risk
    checks = [check for check in result["checks"] if check["required"] is not None or check["status"] is not None]
    return {
        "rows": result["target"]["rows"],
        "counted": counted,
        "unique": unique,
        "below": below,
        "smallest": result["classes"]["min_size"],
        "groups": result["classes"]["count"],
        "status": result["status"],
        "complete": result["complete"],
        "checks": [check for check in checks if check["model"] != "direct_identifier"],
        "warnings": [warning["message"] for warning in result["warnings"] if warning["code"] != "direct_identifier"],
    }


@task
def population(table: OpenTable, roles: _Columns, sampling: Sequence[str]) -> Mapping[str, Any]:
    """Return what a sample shows of its population: the estimated figures of an audit, with how far they were off."""
    audited = sqlaudit.audit(
        table.target, db=table.engine, roles=_roles({**roles, "sensitive": [], "identifiers": []}, sampling)
    )
    figures = []
    for check in audited.to_dict()["checks"]:
        if check["title"].endswith("(estimated)") and check["level"] is not None:
            is_share = "share" in check["levels"]
            text = percent(check["level"]) if is_share else figure(check["level"])
            figures.append([check["title"].removesuffix(" (estimated)").capitalize(), text])
    return {"figures": figures}


@task
def causes(table: OpenTable, roles: _Columns, k: int) -> Mapping[str, Any]:
    """Return for each column that others may know the rows in groups below k by it alone, and without it.

    The column without which fewest rows are left in such groups comes first. With a person id, people are counted.

    Args:
        roles: columns by role. k: the size of a group.
    """
    known = roles["quasi_identifiers"]
    alone = [1 << place for place in range(len(known))]
    _, figures = _count_groups(table, roles, k, [*alone, *(sum(alone) - column for column in alone)])
    by_itself, by_others = figures[: len(known)], figures[len(known) :]
    found = [
        {"column": untyped(column), "alone": one.at_risk, "without": others.at_risk}
        for column, one, others in zip(known, by_itself, by_others, strict=True)
    ]
    return {"columns": sorted(found, key=lambda cause: (cause["without"], -cause["alone"]))}


def _count_groups(table: OpenTable, roles: _Columns, k: int, sets: Sequence[int]) -> tuple[int, list[Figures]]:
    """Return the number of rows, or of people, and the figures of sets of columns that others may know.

    Args:
        sets: each as a number whose bit i stands for column i. k: the size of a group.
    """
    engine, relation = table.engine, table.engine.open(table.target)
    chosen = [choose_column(relation, engine.dialect, column, "qi") for column in roles["quasi_identifiers"]]
    entity = [choose_column(relation, engine.dialect, column, "entity") for column in roles["entity"]]
    try:
        coded = code_columns(engine, relation, chosen, next(iter(entity), None))
        return coded.persons, SetCounter(engine, coded, k, NullPolicy.EQUAL).figures(sets)
    finally:
        drop_codes(engine)
