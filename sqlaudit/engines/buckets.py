"""A bucketized release as one relation: its persons with their buckets, and the sensitive values of each bucket.

The values of a bucket were permuted among its persons, whose quasi-identifiers are published unchanged. So only the
histogram of each bucket can be counted, and the bucket is the equivalence class. The relation has the columns of the
second table, and one row per person of the first. Source: Martin et al., Worst-Case Background Knowledge, ICDE 2007,
sections 2.1 and 2.2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlaudit.base.columns_of import find_column
from sqlaudit.base.errors import UnknownColumn, UsageError
from sqlaudit.base.names import closest_column, quote
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import ColumnInfo, Kind, Relation
from sqlaudit.base.spec import Buckets, Target
from sqlaudit.base.sql import Raw, render

if TYPE_CHECKING:
    from sqlaudit.engines.contract import Engine


def open_buckets(engine: Engine, target: Target, buckets: Buckets) -> Relation:
    """Return the sensitive values of a bucketized release with their buckets, one row per person.

    Args:
        engine: the engine that has both tables. target: the persons. buckets: the values.

    Raises:
        UsageError: a column does not exist, or the tables are not the two of one release.
    """
    persons, values = engine.open(replace(target, buckets=None)), engine.open(buckets.target(target))
    dialect = engine.dialect
    buckets_of_persons = _find_column(buckets.column, persons, "bucket_column")
    bucket = _find_column(buckets.column, values, "bucket_column")
    count_column = _find_column(buckets.count, values, "bucket_count") if buckets.count else None
    if buckets_of_persons.kind is not bucket.kind:
        raise UsageError(
            f"{bucket.name} is {buckets_of_persons.kind} in {persons.label} but {bucket.kind} in {values.label}. Give "
            "the column of buckets one type in both tables."
        )
    if count_column is not None and count_column.kind is not Kind.INTEGER:
        raise UsageError(f"{count_column.name} of {values.label} must have whole numbers, but is {count_column.kind}.")
    rest = tuple(column for column in values.columns if column not in (bucket, count_column))
    if not rest:
        raise UsageError(f"{values.label} has no column of sensitive values beside {bucket.name}.")
    names: dict[str, Any] = {
        "persons": Raw(persons.sql),
        "values": Raw(values.sql),
        "bucket_of_persons": Raw(quote(buckets_of_persons.name, dialect)),
        "bucket": Raw(quote(bucket.name, dialect)),
        "counted": Raw(quote(count_column.name, dialect)) if count_column else None,
    }
    _refuse_mismatch(engine, names, persons.label, values.label)
    columns = (bucket, *rest)
    statement = render(
        "engines/buckets.sql",
        dialect,
        step="buckets",
        columns=[Raw(quote(column.name, dialect)) for column in columns],
        **names,
    )
    return Relation(
        f"({statement.sql})",
        columns,
        persons.label,
        tuple(dict.fromkeys((*persons.tables, *values.tables))),
        persons.parsed or values.parsed,
        remarks=tuple(dict.fromkeys((*persons.remarks, *values.remarks))),
        respelled=tuple(name for name in values.respelled if name in {column.name for column in columns}),
        bucket=bucket.name,
    )


def _find_column(name: str, relation: Relation, option: str) -> ColumnInfo:
    """Return a column of one of the two tables; raise UsageError if it does not exist."""
    match = find_column(name, relation)
    if match is None:
        names = [column.name for column in relation.columns]
        raise UnknownColumn(f"{about(option)}: {relation.label} has no column {name!r}.{closest_column(name, names)}")
    return match


def _refuse_mismatch(engine: Engine, names: dict[str, Any], persons: str, values: str) -> None:
    """Refuse two tables in which a bucket does not have as many persons as values.

    Raises:
        UsageError: there is such a bucket.
    """
    statement = render("engines/buckets_differing.sql", engine.dialect, step="persons and values of buckets", **names)
    counts = engine.run(statement)[0]
    buckets_without_values, buckets_without_persons, differing, missing, odd = (int(number or 0) for number in counts)
    faults = [
        (missing, "rows have no bucket"),
        (odd, f"rows of {values} have a count below 1, or none"),
        (buckets_without_values, f"buckets of {persons} have no values in {values}"),
        (buckets_without_persons, f"buckets of {values} have no people in {persons}"),
        (differing, "buckets have different numbers of people and values"),
    ]
    messages = [f"{number:,} {what}" for number, what in faults if number]
    if messages:
        raise UsageError(
            f"{persons} and {values} are not the two tables of one bucketized release: {'; '.join(messages)}. "
            f"Each bucket needs one row per person and as many values (or counts of values, named with "
            f"{spelled('bucket_count')})."
        )
