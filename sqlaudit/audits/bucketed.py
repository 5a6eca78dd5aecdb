"""A release in two tables: persons with the number of their bucket, and the values of each bucket with their counts.

The bucket is the class of the release, so that what was required of classes holds of buckets; which of its values a
person has is told by neither table. Both are audited again, as the files that others will read (Martin et al., Worst-
Case Background Knowledge, ICDE 2007, section 2.1; Xiao and Tao, Anatomy, VLDB 2006).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlaudit.audits.auditor import Auditor
from sqlaudit.audits.emit import failed
from sqlaudit.base.errors import EngineError, SqlauditError, UsageError
from sqlaudit.base.files import write_rows
from sqlaudit.base.names import quote
from sqlaudit.base.publication import BucketPublication
from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import AuditSpec, Buckets, NullPolicy, Roles, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import spelled
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.models.registry import REGISTRY
from sqlaudit.models.requirements import parse_requirement

_BEYOND = {"original_qi", "population"}
"""What two tables of buckets cannot be asked: values from before, and other tables."""
_COUNTED = parse_requirement("k=1")


@dataclass(frozen=True)
class InBuckets:
    """What of a release goes into which table.

    Args:
        source: the release, as a FROM item. keys: its columns that make a class. sensitive: those that buckets hold.
        persons: columns of the release, and what they are called in the table of persons.
    """

    source: str
    keys: tuple[str, ...]
    sensitive: tuple[str, ...]
    persons: tuple[tuple[str, str], ...]

    @property
    def bucket(self) -> str:
        """The column of both tables that numbers buckets."""
        return _free("bucket", [*self.sensitive, *(name for _, name in self.persons)])

    @property
    def count(self) -> str:
        """The column that says how often a value occurs in its bucket."""
        return _free("persons", [*self.sensitive, self.bucket])


def _free(wanted: str, taken: Iterable[str]) -> str:
    names = {name.casefold() for name in taken}
    while wanted in names:
        wanted += "_"
    return wanted


def laid_in_buckets(
    source: str, columns: Sequence[str], keys: Sequence[str], originals: Sequence[tuple[str, str]], roles: ResolvedRoles
) -> InBuckets:
    """A release as two tables: what is sensitive in one, and all the rest in the other.

    Args:
        source: the release, as a FROM item. columns: that are published. keys: those of them that make a class.
        originals: for each quasi-identifier the column of the release that has it as it was, and its name; empty where
            persons get the coarser ones. roles: of the table.
    """
    sensitive = tuple(role.column for role in roles.sensitive if role.column is not None)
    rest = [(name, name) for name in columns if name not in sensitive]
    if originals:
        rest = [*originals, *(pair for pair in rest if pair[0] not in keys)]
    return InBuckets(source, tuple(keys), sensitive, tuple(rest))


def refuse_without_buckets(publication: BucketPublication, given: Roles, roles: ResolvedRoles) -> None:
    """Nothing when a release of such a table can be published in buckets, or is not to be.

    Raises:
        UsageError: it cannot.
    """
    if publication.buckets is None:
        return
    option = spelled("buckets_to")
    if not roles.sensitive or any(role.column is None for role in roles.sensitive):
        raise UsageError(
            f"{option}: buckets hold the values of sensitive columns; name them with {spelled('sensitive')}."
        )
    if given.entity is not None or given.joint or given.nulls is not NullPolicy.EQUAL:
        raise UsageError(
            f"{option}: a bucket is a class of rows with equal quasi-identifiers, each of a person of its own; leave "
            f"{spelled('entity')}, {spelled('joint', True)} and other ways to read missing values out."
        )


def write_buckets(
    engine: Engine, publication: BucketPublication, made: InBuckets, spec: AuditSpec, known: tuple[int, int, bool]
) -> None:
    """Write the two tables of a release that was audited, and audit them as they were written.

    Args:
        engine: where the release is. publication: the files. made: what goes where.
        spec: the audit of the release. known: its rows and classes, and whether a requirement fails in it.

    Raises:
        UsageError: a file cannot be written. EngineError: what was written is not what was audited; then it is removed.
    """
    persons, values = publication.file, publication.buckets
    if persons is None or values is None:
        raise AssertionError("a release in buckets has two files")
    written: list[Path] = []
    try:
        for file, statement, names in zip((persons, values), _statements(engine, made), _names(made), strict=True):
            write_rows(file, names, engine.stream(statement))
            written.append(file)
        _audit_again(persons, values, made, spec, known)
    except SqlauditError:
        for file in filter(Path.is_file, written):
            file.unlink()
        raise


def _names(made: InBuckets) -> tuple[list[str], list[str]]:
    return [made.bucket, *(name for _, name in made.persons)], [made.bucket, *made.sensitive, made.count]


def _statements(engine: Engine, made: InBuckets) -> tuple[Statement, Statement]:
    shared: dict[str, Any] = {
        "source": Raw(made.source),
        "keys": [quote(name, "duckdb") for name in made.keys],
        "bucket": quote(made.bucket, "duckdb"),
    }
    columns = [{"from": quote(column, "duckdb"), "name": quote(name, "duckdb")} for column, name in made.persons]
    persons = render("audits/bucket_persons.sql", engine.dialect, step="persons of buckets", columns=columns, **shared)
    values = render(
        "audits/bucket_values.sql",
        engine.dialect,
        step="values of buckets",
        values=[quote(name, "duckdb") for name in made.sensitive],
        count=quote(made.count, "duckdb"),
        **shared,
    )
    return persons, values


def _audit_again(persons: Path, values: Path, made: InBuckets, spec: AuditSpec, known: tuple[int, int, bool]) -> None:
    """Nothing when the two files are the release that was audited.

    Raises:
        EngineError: they are not.
    """
    rows, classes, failing = known
    target = Target(relation=str(persons), buckets=Buckets(str(values), made.bucket, made.count))
    roles = replace(spec.roles, quasi_identifiers=(made.bucket,), sensitive=made.sensitive)
    asked = tuple(one for one in spec.requirements if not _BEYOND & {*REGISTRY[one.model].needs}) or (_COUNTED,)
    inputs = {name: one for name, one in spec.inputs.items() if name != "population"}
    try:
        with connect(None, None, target) as engine:
            found = Auditor(engine, failing_classes=0).audit(AuditSpec(target, roles, asked, inputs))
    except SqlauditError as error:
        raise EngineError(_said(str(error))) from None
    if (found.rows, found.classes.count) != (rows, classes):
        raise EngineError(
            _said(f"they have {found.rows:,} rows in {found.classes.count:,} buckets, not {rows:,} in {classes:,}")
        )
    short = failed(found)
    if short and not failing and found.rows:
        raise EngineError(_said(f"{short[0].text!r} does not hold in them"))


def _said(what: str) -> str:
    return (
        f"The two tables of buckets were removed again, as they did not say what was audited: {what.rstrip('.')}. "
        "CSV does not tell an empty text from a missing value; write .parquet files."
    )
