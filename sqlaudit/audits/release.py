"""How a release gets out: audited while it is made, and only then given its name; also in two tables, with buckets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlaudit.audits.request import AuditRequest, request_verdicts
from sqlaudit.audits.result import AuditResult
from sqlaudit.audits.run import audit_table
from sqlaudit.audits.written import Origin, refuse_changed_cells, rows_target, write_file, written_target
from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import EngineError, SqlauditError, UsageError
from sqlaudit.base.files import Batches, write_text
from sqlaudit.base.names import quote, spoken
from sqlaudit.base.office_files import FORMATS, names_in_file, refusal
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.publication import BucketPublication, Publication, TablePublication
from sqlaudit.base.relation import ColumnInfo, Kind, Relation, Remark, Statement
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Buckets, KnownRows, Limits, NullPolicy, Requirement, Roles, Sampling, Target
from sqlaudit.base.sql import Raw, expression, render
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines import connect, names_spark
from sqlaudit.engines.contract import Database, Engine, View
from sqlaudit.engines.writing import check_view, create_view
from sqlaudit.hierarchies.dictionary import column_type
from sqlaudit.models.base import Check
from sqlaudit.models.registry import REGISTRY, parse_requirement
from sqlaudit.profiles.identifying import ReleaseColumns, refuse_suspected, suspect_statements
from sqlaudit.profiles.warnings import equal_text_statement

# How a release gets out: nothing that identifies is written unless somebody said so, it is audited while it is kept,
# and only then written, as rows or as a SELECT. Lattices and all remedies write through here.

COUNTED = parse_requirement("k=1")
"""What is asked where nothing else can be: it holds, and rows and classes are counted."""

_MISSING_IN_FILE = (
    "Read again, {file} has another result: {format} cannot tell an empty text from a missing value. Nothing was "
    "published. Write a .parquet file, or use {way}."
)

_READ_AS_NUMBERS = (
    "Some texts of {file} read as equal numbers, such as 1.0 and 1: {few} groups instead of {many}. Read it with "
    "{way}, or write a .parquet file."
)
_BLANKS_BEHIND = "bpchar"
"""PostgreSQL's type of texts of any length that are equal however many blanks they end in."""


def before(engine: Engine, publication: Publication, written: ReleaseColumns) -> None:
    """Refuse, before long work, a release that could not be written.

    Raises:
        UsageError: a column of it looks like a direct identifier, or it would be SQL over a frame, which no other
            session can read.
    """
    if publication.wanted:
        refuse_suspected(engine, written)
        for column in written.columns:
            zoned = " ZONE" in column.type.upper() and "WITHOUT" not in column.type.upper()
            if zoned and publication.file and publication.file.suffix.lower() in FORMATS:
                raise refusal(publication.file, column.name, "TIMESTAMP WITH TIME ZONE")
    if publication.is_sql:
        engine.lasting(written.relation)
    if isinstance(publication, TablePublication) and publication.execute:
        engine.refuse_fleeting(View(publication.created, "", "table" if publication.table else "view"))


def statements_before(engine: Engine, publication: Publication, written: ReleaseColumns) -> list[Statement]:
    """Return the statements that `before` runs."""
    return suspect_statements(engine, written) if publication.wanted else []


def bare(statement: Statement) -> str:
    """Return a statement without the comment that names its step."""
    return statement.sql.partition("\n")[2]


@contextmanager
def kept(engine: Engine, name: str, select: str, step: str = "release") -> Iterator[Relation]:
    """Yield a release as a relation called `name`, kept for the block where the engine can.

    Args:
        engine: has the table. name: of the relation. select: the SELECT of the release. step: its name in messages.
    """
    item = f"({select})"
    if not engine.can_materialize:
        yield Relation(item, tuple(engine.result_columns(Statement(step, select))), name)
        return
    relation = engine.materialize(name, keeping(engine, step, item))
    try:
        yield relation
    finally:
        engine.drop(name)


def keeping(engine: Engine, step: str, item: str) -> Statement:
    """Return the statement that keeps a FROM item."""
    return render("audits/given.sql", engine.dialect, step=step, statement=Raw(item))


def in_one_spelling(engine: Engine, relation: Relation, roles: ResolvedRoles) -> ResolvedRoles:
    """Return the roles with quasi-identifiers whose equal values have one text, as a release has to write them.

    Raises:
        UsageError: a column has equal values that are written in several ways, and no one of these is the usual one.
    """

    def spelled_once(role: Resolved) -> Resolved:
        holds = column_type(engine, relation, role)
        loose = holds.kind is Kind.DECIMAL and spoken(engine.dialect).loose_decimals
        if loose or holds.kind is Kind.FLOAT or holds.type == _BLANKS_BEHIND:
            kind, value = holds.kind.value, Raw(role.sql)
            return replace(role, sql=expression("audits/one_spelling.sql", engine.dialect, value=value, kind=kind))
        _refuse_several_texts(engine, relation, replace(role, kind=holds.kind, type=holds.type))
        return role

    return replace(roles, quasi_identifiers=tuple(map(spelled_once, roles.quasi_identifiers)))


def _refuse_several_texts(engine: Engine, relation: Relation, role: Resolved) -> None:
    if role.kind is not Kind.OTHER:
        return
    if any(engine.run(statement)[0][1] for statement in equal_text_statement(engine, relation, [role])):
        raise UsageError(
            f"Column {role.label!r} has equal values with several spellings, and its type has no standard one. Use "
            "an expression with one spelling for each value, for example CAST(… AS TEXT)."
        )


def failed(audit: AuditResult) -> list[Check]:
    """Return the checks of a release's audit that do not pass."""
    return [check for check in audit.checks if check.status not in (None, Status.PASS, Status.WARN)]


def write(
    engine: Engine,
    publication: Publication,
    sql: str,
    names: Sequence[str],
    batches: Batches,
    expected: int,
    contradiction: str,
    check: Callable[[Path, Path | None], None] | None = None,
    origin: Origin | None = None,
    notes: Mapping[str, str] | None = None,
) -> None:
    """Write an audited release into its file, if it has one.

    Args:
        engine: has the table. publication: the destination. sql: its SELECT, for a file that takes that.
        names: its columns. batches: its rows, in the order of what is published: rows in the order of the table could
            be matched one by one with another release of it (unsorted matching, Sweeney 2002).
        expected: how many rows those are.
        contradiction: the sentence for another number of rows.
        check: looks at the file before it has its name. origin: the table, whose labels a file may keep.
        notes: metadata of a Parquet file, by key.

    Raises:
        EngineError: another number of rows came than was counted. UsageError: the file cannot be written.
    """
    if publication.file is None or publication.table:
        return
    if publication.only_sql:
        write_text(publication.file, sql + "\n")
        return
    written = write_file(engine, publication.file, names, batches, check, publication.encoding, origin, notes)
    if written != expected:
        raise EngineError(contradiction)


def refuse_creation(publication: TablePublication, db: Database, *, view: bool = False) -> None:
    """Raise UsageError if the table or view of a release cannot be made, as far as that is known before any work.

    Args:
        publication: its destination. db: the database. view: True for a view.

    Raises:
        UsageError: no database is named, or the table cannot have its name.
    """
    if publication.created:
        named = View(publication.created, "", "view" if view else "table")
        named.parts(3 if names_spark(db) else 2)
        if publication.execute:
            check_view(db, named)


def create_table(
    publication: TablePublication,
    select: str,
    counted: tuple[int, int],
    asked: tuple[Roles, Sequence[Requirement]],
    db: Database,
    limits: Limits,
) -> None:
    """Make the table of an audited release over a connection of its own, and audit it as others will read it.

    Args:
        publication: its name. select: its SELECT.
        counted: the rows and classes of its audit. asked: the roles and requirements that can be judged in it.
        db: the database. limits: of the audit.

    Raises:
        UsageError: the name is in use. EngineError: the database refused, or the table has other rows.
    """
    create_view(db, View(publication.table, select, "table"))
    target, (roles, requirements) = Target(relation=publication.table), asked
    with connect(db, limits, target) as engine:
        audit = audit_table(engine, request_verdicts(target, roles, requirements or (COUNTED,)), rows_are_people=True)
    if (audit.rows, audit.classes.count) != counted or audit.status is Status.FAIL:
        raise EngineError(
            f"The table {publication.table!r} differs from the audit: its source has changed. Drop it, and try again."
        )


def audit_written(
    engine: Engine,
    publication: Publication,
    written: Path,
    cells: Path | None,
    names: Sequence[str],
    request: AuditRequest,
    roles: ResolvedRoles,
    known: tuple[int, int, Sequence[str]],
    disagree: Callable[[str], str],
) -> None:
    """Audit a release as it was written, as somebody does who has nothing but the file.

    The texts of a CSV file are what its readers tell apart, so classes are counted by them, too.

    Args:
        engine: gets the remark on how the file has to be read. publication: what the file will be called.
        written: where it is now. cells: a Parquet file with its rows, for formats that may change cells.
        names: its columns. request: its audit, as it was in the database. roles: of the table.
        known: the rows and classes that were found there, and the texts of requirements that fail.
        disagree: the sentence for a contradiction.

    Raises:
        EngineError: the file says something else. UsageError, InputError: it can't be read.
    """
    rows, classes, failing = known
    file = publication.file or written
    if not rows:
        return  # nothing can be said of no row
    is_csv, counts = file.suffix.lower() == ".csv", []
    format = "CSV" if is_csv else "its format" if cells else ""
    """The format, if empty texts are missing values there."""
    for as_text in (False, True) if is_csv else (False,):
        target = written_target(written, file, all_text=as_text)
        with connect(None, None, target, *rows_target(cells)) as reader:
            reader.progress = engine.progress
            opened = reader.open(target)
            refuse_changed_cells(reader, opened, cells, file, names)
            columns = tuple(replace(column, name=name) for column, name in zip(opened.columns, names, strict=True))
            columns_list = ", ".join(quote(name, reader.dialect) for name in names)
            as_written = Relation(f"(SELECT * FROM {opened.sql} AS written({columns_list}))", columns, str(file))
            file_request = replace(_alone(request, roles, columns, count_only=as_text), target=target)
            audit = audit_table(reader, file_request, relation=as_written)
            if format and audit.rows == rows and audit.classes.count > classes:  # or the file has other groups
                equal = replace(file_request, roles=replace(file_request.roles, nulls=NullPolicy.EQUAL))
                with_equal_nulls = audit_table(reader, equal, relation=as_written)
                if request.roles.nulls is NullPolicy.DISTINCT and with_equal_nulls.classes.count <= classes:
                    raise UsageError(_MISSING_IN_FILE.format(file=file, format=format, way=spelled("nulls", "equal")))
        if format and _unmet(audit, failing) and any(attribute.null_rows for attribute in audit.sensitive):
            raise UsageError(_MISSING_IN_FILE.format(file=file, format=format, way=spelled("values", "fold")))
        if audit.rows != rows or audit.classes.count > classes:
            has = f"{audit.rows:,} rows in {audit.classes.count:,} groups"
            raise EngineError(disagree(f"{str(file)!r} has {has}, not {rows:,} in {classes:,}"))
        for text in _unmet(audit, failing):
            raise EngineError(disagree(f"{str(file)!r} does not meet {text!r}"))
        counts.append(audit.classes.count)
    if counts[0] < counts[-1]:
        sentence = _READ_AS_NUMBERS.format(file=file, few=counts[0], many=counts[-1], way=spelled("all_text", True))
        engine.note_remarks(Relation("", (), str(file), remarks=(Remark("texts_read_as_numbers", sentence),)))


def _unmet(audit: AuditResult, failing: Sequence[str]) -> list[str]:
    """Return the requirements that fail, though they are not among those that are known to fail."""
    return [check.text for check in failed(audit) if check.text not in failing]


def _alone(
    request: AuditRequest, roles: ResolvedRoles, columns: Sequence[ColumnInfo], *, count_only: bool
) -> AuditRequest:
    """Return the request as far as a file can answer it: without persons, other tables and changed sensitive values."""
    ordered = {column.name: column.kind.has_natural_order for column in columns}
    as_they_were = all(ordered.get(role.column or "") == role.kind.has_natural_order for role in roles.sensitive)
    # Where all cells are texts, weights are no numbers; counting needs none
    sampling = Sampling() if count_only else request.roles.sampling
    one_row_roles = replace(request.roles, entity=None, known_rows=KnownRows.WORSE, sampling=sampling)
    if count_only or request.roles.entity or request.inputs or not as_they_were:
        return replace(request, roles=replace(one_row_roles, sensitive=()), requirements=(COUNTED,), inputs={})
    return replace(request, roles=one_row_roles)


def contradiction(opening: str, what: str, again: str = "ask") -> str:
    """Return the sentence of the error that a contradiction between a release and its audit is."""
    return (
        f"{opening}: {what}. If the table has changed since, {again} again. Otherwise this is a bug in sqlaudit; "
        "please report it."
    )


# A release in two tables: persons with the number of their bucket, and the values of each bucket with their counts.
#
# The bucket is the class of the release, so that what was required of classes holds of buckets; which of its values a
# person has is told by neither table. Both are audited again, as the files that others will read (Martin et al., Worst-
# Case Background Knowledge, ICDE 2007, section 2.1; Xiao and Tao, Anatomy, VLDB 2006).

_BEYOND = {"original_qi", "population"}
"""What two tables of buckets cannot be asked: values from before, and other tables."""


@dataclass(frozen=True)
class InBuckets:
    """The columns of a release in two tables, of persons and of buckets.

    Args:
        source: the release, as a FROM item. keys: its columns that make a class. sensitive: those that buckets hold.
        persons: columns of the release, and what they are called in the table of persons.
    """

    source: str
    keys: tuple[str, ...]
    sensitive: tuple[str, ...]
    persons: tuple[tuple[str, str], ...]
    has_originals: bool = False
    """True if persons have their quasi-identifiers as they were."""

    @property
    def bucket(self) -> str:
        """The column of both tables that numbers buckets."""
        return _free("bucket", [*self.sensitive, *(name for _, name in self.persons)])

    @property
    def count(self) -> str:
        """The column that says how often a value occurs in its bucket."""
        return _free("persons", [*self.sensitive, self.bucket])


def _free(name: str, names: Iterable[str]) -> str:
    """Return the name, with underscores behind it until no other one is the same but for case."""
    folded = {other.casefold() for other in names}
    while name in folded:
        name += "_"
    return name


def laid_in_buckets(
    source: str, columns: Sequence[str], keys: Sequence[str], originals: Sequence[tuple[str, str]], roles: ResolvedRoles
) -> InBuckets:
    """Split a release into two tables: the sensitive columns in one, all others in the other.

    Args:
        source: the release, as a FROM item. columns: that are published. keys: those of them that make a class.
        originals: for each quasi-identifier the column of the release that has it as it was, and its name; empty where
            persons get the coarser ones. roles: of the table.
    """
    sensitive = tuple(role.column for role in roles.sensitive if role.column is not None)
    rest = [(name, name) for name in columns if name not in sensitive]
    if originals:
        rest = [*originals, *(pair for pair in rest if pair[0] not in keys)]
    return InBuckets(source, tuple(keys), sensitive, tuple(rest), bool(originals))


def refuse_without_buckets(publication: BucketPublication, roles_as_named: Roles, roles: ResolvedRoles) -> None:
    """Raise UsageError if a release of such a table is to be published in buckets, and cannot be."""
    if publication.buckets is None:
        return
    option = spelled("buckets_to")
    if not roles.sensitive or any(role.column is None for role in roles.sensitive):
        raise UsageError(
            f"{option} needs sensitive columns, whose values the buckets contain. Name them with "
            f"{spelled('sensitive')}."
        )
    if roles_as_named.entity is not None or roles_as_named.joint or roles_as_named.nulls is not NullPolicy.EQUAL:
        raise UsageError(
            f"{option} makes a bucket from each group of rows with the same quasi-identifiers, one row a person. "
            f"Leave out {spelled('entity')}, {spelled('joint', True)} and other ways to read missing values."
        )


def write_buckets(
    engine: Engine,
    publication: BucketPublication,
    buckets: InBuckets,
    request: AuditRequest,
    in_database: tuple[int, int, bool],
    original: Target | None,
) -> None:
    """Write the two tables of a release that was audited, and audit them as they were written.

    Args:
        engine: where the release is. publication: the files. buckets: what goes where.
        request: the audit of the release. in_database: its rows and classes, and whether a requirement fails in it.
        original: the table, for labels.

    Raises:
        UsageError: a file cannot be written. EngineError: what was written is not what was audited; then it is removed.
    """
    persons, values = publication.file, publication.buckets
    if persons is None or values is None:
        raise AssertionError("a release in buckets has two files")
    written: list[Path] = []
    origin = Origin(original, () if buckets.has_originals else buckets.keys, (buckets.bucket, buckets.count))
    columns = (
        [buckets.bucket, *(name for _, name in buckets.persons)],
        [buckets.bucket, *buckets.sensitive, buckets.count],
    )
    try:
        for file, statement, names in zip((persons, values), _statements(engine, buckets), columns, strict=True):
            write_file(engine, file, names, engine.stream(statement), None, publication.encoding, origin)
            written.append(file)
        _audit_again(persons, values, buckets, request, in_database)
    except SqlauditError:
        for file in filter(Path.is_file, written):
            file.unlink()
        raise


def _statements(engine: Engine, buckets: InBuckets) -> tuple[Statement, Statement]:
    """Return the statements that read persons and values of a release in buckets."""
    shared: dict[str, Any] = {
        "source": Raw(buckets.source),
        "keys": [quote(name, "duckdb") for name in buckets.keys],
        "bucket": quote(buckets.bucket, "duckdb"),
    }
    columns = [{"from": quote(column, "duckdb"), "name": quote(name, "duckdb")} for column, name in buckets.persons]
    persons = render("audits/bucket_persons.sql", engine.dialect, step="persons of buckets", columns=columns, **shared)
    values = render(
        "audits/bucket_values.sql",
        engine.dialect,
        step="values of buckets",
        values=[quote(name, "duckdb") for name in buckets.sensitive],
        count=quote(buckets.count, "duckdb"),
        **shared,
    )
    return persons, values


def _audit_again(
    persons: Path, values: Path, buckets: InBuckets, request: AuditRequest, in_database: tuple[int, int, bool]
) -> None:
    """Raise EngineError if the two files are not the release that was audited."""
    rows, classes, failing = in_database
    target = Target(relation=str(persons), buckets=Buckets(str(values), buckets.bucket, buckets.count))
    sensitive = names_in_file(values, [buckets.bucket, *buckets.sensitive, buckets.count])[1:-1]
    roles = replace(request.roles, quasi_identifiers=(buckets.bucket,), sensitive=tuple(sensitive))
    requirements = tuple(
        requirement for requirement in request.requirements if not _BEYOND & {*REGISTRY[requirement.model].needs}
    ) or (COUNTED,)
    inputs = {name: value for name, value in request.inputs.items() if name != "population"}
    try:
        with connect(None, None, target) as engine:
            audit = audit_table(engine, request_verdicts(target, roles, requirements, inputs))
    except SqlauditError as error:
        raise EngineError(_said(str(error))) from None
    if (audit.rows, audit.classes.count) != (rows, classes):
        raise EngineError(
            _said(f"they have {audit.rows:,} rows in {audit.classes.count:,} buckets, not {rows:,} in {classes:,}")
        )
    short = failed(audit)
    if short and not failing and audit.rows:
        raise EngineError(_said(f"they do not meet {short[0].text!r}"))


def _said(what: str) -> str:
    return (
        f"The two tables of buckets were deleted, because they differ from what was audited: {what.rstrip('.')}. CSV "
        "does not distinguish empty text from missing values. Write .parquet files."
    )
