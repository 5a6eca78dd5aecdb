"""How a release gets out: audited while it is made, and only then given its name; also in two tables, with buckets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlaudit.audits.auditor import Auditor
from sqlaudit.audits.request import AuditRequest, request_verdicts
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.columns_of import Resolved
from sqlaudit.base.errors import EngineError, SqlauditError, UsageError
from sqlaudit.base.files import Batches, write_rows, write_text
from sqlaudit.base.names import quote, spoken
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.publication import BucketPublication, Publication
from sqlaudit.base.relation import ColumnInfo, Kind, Relation, Remark, Statement
from sqlaudit.base.result import Status
from sqlaudit.base.spec import Buckets, KnownRows, NullPolicy, ReadOptions, Roles, Target
from sqlaudit.base.sql import Raw, expression, render
from sqlaudit.classes.opening import ResolvedRoles
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.dictionary import column_type
from sqlaudit.models.base import Check
from sqlaudit.models.registry import REGISTRY, parse_requirement
from sqlaudit.profiles.identifying import Written, refuse_suspected, suspect_statements
from sqlaudit.profiles.warnings import equal_text_statement

# How a release gets out: nothing that identifies is written unless somebody said so, it is audited while it is kept,
# and only then written, as rows or as a SELECT. Lattices and all remedies write through here.

COUNTED = parse_requirement("k=1")
"""What is asked where nothing else can be: it holds, and rows and classes are counted."""

_MISSING_IN_CSV = (
    "Read again, {file} has another result: CSV cannot tell an empty text from a missing value. Nothing was published. "
    "Write a .parquet file, or use {way}."
)

_READ_AS_NUMBERS = (
    "Some texts of {file} read as equal numbers, such as 1.0 and 1: {few} groups instead of {many}. Read it with "
    "{way}, or write a .parquet file."
)
_BLANKS_BEHIND = "bpchar"
"""PostgreSQL's type of texts of any length that are equal however many blanks they end in."""


def before(engine: Engine, publication: Publication, written: Written) -> None:
    """What is asked before long work, whose release is to be written.

    Raises:
        UsageError: a column of it looks like a direct identifier, or it would be SQL over a frame, which no other
            session can read.
    """
    if publication.wanted:
        refuse_suspected(engine, written)
    if publication.is_sql:
        engine.lasting(written.relation)


def statements_before(engine: Engine, publication: Publication, written: Written) -> list[Statement]:
    """The statements that `before` runs."""
    return suspect_statements(engine, written) if publication.wanted else []


def bare(statement: Statement) -> str:
    """A statement without the comment that names its step."""
    return statement.sql.partition("\n")[2]


@contextmanager
def kept(engine: Engine, name: str, select: str) -> Iterator[Relation]:
    """A release as a relation called `name`, kept for a while where the engine can."""
    item = f"({select})"
    if not engine.can_materialize:
        yield Relation(item, tuple(engine.result_columns(Statement("release", select))), name)
        return
    relation = engine.materialize(name, keeping(engine, "release", item))
    try:
        yield relation
    finally:
        engine.drop(name)


def keeping(engine: Engine, step: str, item: str) -> Statement:
    """The statement that keeps a FROM item."""
    return render("audits/given.sql", engine.dialect, step=step, statement=Raw(item))


def in_one_spelling(engine: Engine, relation: Relation, roles: ResolvedRoles) -> ResolvedRoles:
    """The roles with quasi-identifiers whose equal values have one text, as a release has to write them.

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


def failed(found: AuditResult) -> list[Check]:
    """What an audit of a release finds fault with."""
    return [check for check in found.checks if check.status not in (None, Status.PASS, Status.WARN)]


def write(
    publication: Publication,
    sql: str,
    names: Sequence[str],
    batches: Batches,
    expected: int,
    contradiction: str,
    check: Callable[[Path], None] | None = None,
) -> None:
    """Write an audited release into its file, if it has one.

    Args:
        sql: its SELECT, for a file that takes that. names: its columns. batches: its rows, in the order of what is
            published: rows in the order of the table could be matched one by one with another release of it
            (unsorted matching, Sweeney 2002). expected: how many rows those are.
        contradiction: the sentence for another number of rows.
        check: looks at the file before it has its name.

    Raises:
        EngineError: another number of rows came than was counted. UsageError: the file cannot be written.
    """
    if publication.file is None:
        return
    if publication.only_sql:
        write_text(publication.file, sql + "\n")
    elif write_rows(publication.file, names, batches, check) != expected:
        raise EngineError(contradiction)


def audit_written(
    engine: Engine,
    publication: Publication,
    written: Path,
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
        written: where it is now. names: its columns. request: its audit, as it was in the database.
        roles: of the table.
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
    for as_text in (False, True) if is_csv else (False,):
        read = ReadOptions(format="csv" if is_csv else "parquet", header=True if is_csv else None, all_text=as_text)
        target = Target(relation=str(written), read=read, label=str(file))
        with connect(None, None, target) as reader:
            opened = reader.open(target)
            columns = tuple(replace(one, name=name) for one, name in zip(opened.columns, names, strict=True))
            listed = ", ".join(quote(name, reader.dialect) for name in names)
            there = Relation(f"(SELECT * FROM {opened.sql} AS written({listed}))", columns, str(file))
            asked = replace(_alone(request, roles, columns, counted=as_text), target=target)
            found = Auditor(reader, relation=there).audit(asked)
            if is_csv and found.rows == rows and found.classes.count > classes:  # or the file has other groups
                equal = replace(asked, roles=replace(asked.roles, nulls=NullPolicy.EQUAL))
                alike = Auditor(reader, relation=there).audit(equal)
                if request.roles.nulls is NullPolicy.DISTINCT and alike.classes.count <= classes:
                    raise UsageError(_MISSING_IN_CSV.format(file=file, way=spelled("nulls", "equal")))
        if is_csv and _unmet(found, failing) and any(one.null_rows for one in found.sensitive):
            raise UsageError(_MISSING_IN_CSV.format(file=file, way=spelled("values", "fold")))
        if found.rows != rows or found.classes.count > classes:
            has = f"{found.rows:,} rows in {found.classes.count:,} groups"
            raise EngineError(disagree(f"{str(file)!r} has {has}, not {rows:,} in {classes:,}"))
        for text in _unmet(found, failing):
            raise EngineError(disagree(f"{str(file)!r} does not meet {text!r}"))
        counts.append(found.classes.count)
    if counts[0] < counts[-1]:
        said = _READ_AS_NUMBERS.format(file=file, few=counts[0], many=counts[-1], way=spelled("all_text", True))
        engine.note_remarks(Relation("", (), str(file), remarks=(Remark("texts_read_as_numbers", said),)))


def _unmet(found: AuditResult, failing: Sequence[str]) -> list[str]:
    """Return the requirements that fail, though they are not among those that are known to fail."""
    return [check.text for check in failed(found) if check.text not in failing]


def _alone(
    request: AuditRequest, roles: ResolvedRoles, columns: Sequence[ColumnInfo], *, counted: bool
) -> AuditRequest:
    """What can be asked of a file: without persons and other tables, and with sensitive values as they were."""
    ordered = {column.name: column.kind.has_natural_order for column in columns}
    as_they_were = all(ordered.get(role.column or "") == role.kind.has_natural_order for role in roles.sensitive)
    given = replace(request.roles, entity=None, known_rows=KnownRows.WORSE)
    if counted or request.roles.entity or request.inputs or not as_they_were:
        return replace(request, roles=replace(given, sensitive=()), requirements=(COUNTED,), inputs={})
    return replace(request, roles=given)


def contradiction(opening: str, what: str, again: str = "ask") -> str:
    """The sentence of the error that a contradiction between a release and its audit is."""
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
            f"{option} needs sensitive columns, whose values the buckets contain. Name them with "
            f"{spelled('sensitive')}."
        )
    if given.entity is not None or given.joint or given.nulls is not NullPolicy.EQUAL:
        raise UsageError(
            f"{option} makes a bucket from each group of rows with the same quasi-identifiers, one row a person. "
            f"Leave out {spelled('entity')}, {spelled('joint', True)} and other ways to read missing values."
        )


def write_buckets(
    engine: Engine, publication: BucketPublication, made: InBuckets, request: AuditRequest, known: tuple[int, int, bool]
) -> None:
    """Write the two tables of a release that was audited, and audit them as they were written.

    Args:
        engine: where the release is. publication: the files. made: what goes where.
        request: the audit of the release. known: its rows and classes, and whether a requirement fails in it.

    Raises:
        UsageError: a file cannot be written. EngineError: what was written is not what was audited; then it is removed.
    """
    persons, values = publication.file, publication.buckets
    if persons is None or values is None:
        raise AssertionError("a release in buckets has two files")
    written: list[Path] = []
    columns = ([made.bucket, *(name for _, name in made.persons)], [made.bucket, *made.sensitive, made.count])
    try:
        for file, statement, names in zip((persons, values), _statements(engine, made), columns, strict=True):
            write_rows(file, names, engine.stream(statement))
            written.append(file)
        _audit_again(persons, values, made, request, known)
    except SqlauditError:
        for file in filter(Path.is_file, written):
            file.unlink()
        raise


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


def _audit_again(
    persons: Path, values: Path, made: InBuckets, request: AuditRequest, known: tuple[int, int, bool]
) -> None:
    """Nothing when the two files are the release that was audited.

    Raises:
        EngineError: they are not.
    """
    rows, classes, failing = known
    target = Target(relation=str(persons), buckets=Buckets(str(values), made.bucket, made.count))
    roles = replace(request.roles, quasi_identifiers=(made.bucket,), sensitive=made.sensitive)
    asked = tuple(one for one in request.requirements if not _BEYOND & {*REGISTRY[one.model].needs}) or (COUNTED,)
    inputs = {name: one for name, one in request.inputs.items() if name != "population"}
    try:
        with connect(None, None, target) as engine:
            found = Auditor(engine).audit(request_verdicts(target, roles, asked, inputs))
    except SqlauditError as error:
        raise EngineError(_said(str(error))) from None
    if (found.rows, found.classes.count) != (rows, classes):
        raise EngineError(
            _said(f"they have {found.rows:,} rows in {found.classes.count:,} buckets, not {rows:,} in {classes:,}")
        )
    short = failed(found)
    if short and not failing and found.rows:
        raise EngineError(_said(f"they do not meet {short[0].text!r}"))


def _said(what: str) -> str:
    return (
        f"The two tables of buckets were deleted, because they differ from what was audited: {what.rstrip('.')}. CSV "
        "does not distinguish empty text from missing values. Write .parquet files."
    )
