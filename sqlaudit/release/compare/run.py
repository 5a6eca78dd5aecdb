"""A comparison from the request to the result."""

from __future__ import annotations

from contextlib import closing
from dataclasses import fields, replace
from typing import ClassVar

from sqlaudit.audits.request import AuditRequest, request_verdicts
from sqlaudit.audits.result import AuditResult
from sqlaudit.audits.run import audit_table, plan_audit
from sqlaudit.base.columns_of import resolve
from sqlaudit.base.errors import ExitCode, UsageError, verdict
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Relation, Statement
from sqlaudit.base.spec import Roles
from sqlaudit.classes.opening import find_columns
from sqlaudit.engines.command import command
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.engines.workbench import workbench_of
from sqlaudit.hierarchies.defaults import defaults_statements, without_levels
from sqlaudit.hierarchies.dictionary import column_type, values_statement
from sqlaudit.hierarchies.read import read_hierarchies
from sqlaudit.profiles.names import contents_of
from sqlaudit.release.attacks.request import AttackRequest
from sqlaudit.release.attacks.result import AttackResult
from sqlaudit.release.attacks.run import attack_release
from sqlaudit.release.compare.coding import cells_statement, read_spreads
from sqlaudit.release.compare.pairing import Bench, Side, alike, copied, find_pairing, folded, open_release, open_side
from sqlaudit.release.compare.queries import AskedTables, random_workload
from sqlaudit.release.compare.query_text import read_queries
from sqlaudit.release.compare.regions import OpenedTables, open_tables
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.compare.result import Answer, Coarser, CompareResult, Generalization, Recoding
from sqlaudit.release.losses import losses_of
from sqlaudit.release.synthetic.result import SyntheticResult
from sqlaudit.release.synthetic.run import find_disclosure, plan_disclosure
from sqlaudit.reports.document import plural

# Is the release coarser than another release of the same original? (Thesis, Definition 2.3.4 between two releases)
#
# One is coarser when the cell of every row stands for all values that the other one's cell stands for. Where rows are
# paired, every row that both have is looked at. Without pairs it can be told where both recoded globally: every value
# then has one cell in each, whatever row it is in.

_STEP = "comparison with the other release"
_LOCAL = "a value is generalized in more than one way, so rows must be paired; give"


def coarser(bench: Bench, release: OpenedTables, other: OpenedTables, name: str) -> Coarser:
    """Return which of two releases is coarser, with counts of what is not.

    Args:
        bench: where both are kept. name: what the other release is called.
    """
    both = list(zip(release.covered, other.covered, strict=True))
    if release.by != "containment":
        beside = _of_pairs(bench, release, other)
    elif Recoding.LOCAL in (release.generalization.recoding, other.generalization.recoding):
        return Coarser(name, "undecided", f"{_LOCAL} {spelled('key')} or {spelled('by_position', True)}.")
    else:  # original rows by the cells that their values have in both releases
        beside = bench.make(
            "beside",
            "compare/release_beside_values",
            _STEP,
            source=release.coded.original,
            places=[one.column.place for one, _ in both],
            covers=[{"place": one.column.place, "own": one.cover, "other": them.cover} for one, them in both],
            classes=release.classes,
            other_classes=other.classes,
        )
    orders = []
    for place, (own, them) in enumerate(both, 1):
        given = {"beside": beside, "place": place, "cover": own.cover, "other_cover": them.cover}
        orders.append(bench.make(f"order_{place}", "compare/release_cell_order", _STEP, **given))
    counts = bench.ask("compare/release_coarser", _STEP, beside=beside, orders=orders)[0]
    compared, not_coarser, not_finer = (int(count or 0) for count in counts)
    if not compared:
        return Coarser(name, "undecided", "no rows can be compared.")
    if not_coarser and not_finer:
        relation, finer = "neither", plural(not_coarser, "row has", "rows have")
        reason = f"{finer} a cell that is not coarser, {plural(not_finer, 'row')} one that is not finer."
    elif not_coarser or not_finer:
        relation, less = ("finer", "fine or finer") if not_coarser else ("coarser", "coarse or coarser")
        reason = f"every row is as {less}, {plural(not_coarser or not_finer, 'row is', 'rows are')} {relation}."
    else:
        relation, same = "equal", plural(compared, "row that was compared has", "rows that were compared have")
        reason = f"{same} cells of the same values in both."
    return Coarser(name, relation, reason, compared, not_coarser, not_finer)


def _of_pairs(bench: Bench, release: OpenedTables, other: OpenedTables) -> Relation:
    """Rows that both releases have, by their cells in both."""
    sides = release.release, other.release
    keys, columns = (
        [{"own": own, "other": them} for own, them in zip(*both, strict=True)]
        for both in ([side.keys for side in sides], [side.columns for side in sides])
    )
    given = {"keys": keys, "columns": columns, "release": sides[0].relation, "other": sides[1].relation}
    statement = bench.over_tables("compare/release_beside", _STEP, **given)
    types = [(f"{part}{place}", "VARCHAR") for place, _ in enumerate(release.covered, 1) for part in "gh"]
    seen = bench.count("beside_seen", statement, [*types, ("n", "BIGINT")])
    cells = [
        {"own": own.column.cells, "other": them.column.cells}
        for own, them in zip(release.covered, other.covered, strict=True)
    ]
    return bench.make("beside", "compare/release_beside_coded", _STEP, seen=seen, cells=cells)


ON_RELEASE = ("homogeneity", "background_knowledge", "skewness", "similarity")
"""Attacks that need nothing but the release."""


def compare_tables(engine: Engine, request: CompareRequest, *, with_spreads: bool = True) -> CompareResult:
    """The comparison of a request.

    Args:
        engine: where the tables lie. request: the tables, and how they are compared.
        with_spreads: False to leave out how rows spread over values, which reports show and tests do not need.

    Raises:
        UsageError: columns, cells, keys or inputs that do not fit.
        EngineError: the database refused a statement, failed or disconnected.
    """
    if request.release.buckets is not None:
        return compare_buckets(engine, request)
    already = len(engine.executed)
    with workbench_of(engine) as workbench, closing(Bench(engine, workbench)) as bench:
        queries = read_queries(request.queries, engine.dialect)
        original = open_side(engine, request.original, request)
        target, release = open_release(engine, request.release, request, original)
        relation = None if target is request.release else release.opened
        request = replace(request, release=target)
        sides = [folded(engine, side, request) for side in (original, release)]
        sides = [copied(bench, side, name) for side, name in zip(sides, ("original", "release"), strict=True)]
        tables = open_tables(bench, request, *sides)
        beside = None
        if request.other is not None:  # read in the same way
            with closing(Bench(engine, workbench, prefix=bench.prefix + "other_")) as other_bench:
                _, other = open_release(engine, request.other, request, original)
                other = copied(other_bench, folded(engine, other, request), "release")
                them = open_tables(other_bench, request, tables.original, other)
                beside = coarser(other_bench, tables, them, request.other.name)
        coded, generalization = tables.coded, tables.generalization
        known = coded.released <= coded.rows  # a join of two tables has more rows than the original
        result = CompareResult(
            original=request.original.name,
            release=request.release.name,
            rows=coded.rows,
            released=coded.released,
            qi=tuple(one.column.label for one in tables.covered),
            sensitive=tuple(attribute.label for attribute in coded.sensitive),
            pairing=tables.pairing,
            distance=request.distance,
            generalization=generalization,
            spreads=read_spreads(bench, coded, tables.covered) if with_spreads else (),
            losses=tuple(losses_of(tables, request, request.wanted)),
            audit=audit_alone(engine, request, known, relation),
            attacks=None if generalization.answer is Answer.NO else attack_alone(engine, request, known),
            coarser=beside,
            queries=tuple(AskedTables(tables, request, query).answer() for query in queries),
            workload=random_workload(tables, request.workload, request.seed)
            if request.workload and coded.rows
            else None,
        )
        return replace(result, **provenance(engine, already, workbench))


def plan_comparison(engine: Engine, request: CompareRequest) -> list[Statement]:
    """Return the statements known before any has run: the values of the original, the cells of the release, its audit.

    Raises:
        UsageError: a column that is not there, or a hierarchy that does not fit.
    """
    if request.synthetic:
        return plan_disclosure(engine, request)
    if request.release.buckets is not None:
        return plan_buckets(engine, request)
    original = open_side(engine, request.original, request)
    target, release = open_release(engine, request.release, request, original)
    request = replace(request, release=target)
    original, release = (folded(engine, side, request) for side in (original, release))
    hierarchies = read_hierarchies(request.hierarchies or {}).for_columns(request.qi)
    bench, asked = Bench(engine, engine), without_levels(original.columns, hierarchies)
    statements = defaults_statements(engine, original.relation, asked, contents_of)
    for own, other, hierarchy in zip(original.columns, release.columns, hierarchies, strict=True):
        holds, kept = column_type(engine, original.relation, own), engine.own_workbench
        values = values_statement(original.relation, own, hierarchy, holds, engine.dialect, with_value=kept)
        statements += [values, cells_statement(bench, release, other)]
    return statements + plan_audit(engine, _audit_of(request))


def _roles(request: CompareRequest) -> Roles:
    """Of the release by itself; the class of one in buckets is the bucket."""
    buckets = request.release.buckets
    return Roles(request.qi if buckets is None else (buckets.column,), request.sensitive, values=request.values)


def _audit_of(request: CompareRequest) -> AuditRequest:
    return request_verdicts(request.release, _roles(request), request.requirements, request.inputs)


def audit_alone(engine: Engine, request: CompareRequest, known: bool, relation: Relation | None = None) -> AuditResult:
    """Audit the release by itself.

    Args:
        known: whether its rows are people. relation: the release where it is read with its original's types.
    """
    return audit_table(engine, _audit_of(request), rows_are_people=known, relation=relation)


def attack_alone(engine: Engine, request: CompareRequest, known: bool) -> AttackResult:
    """The attacks on the release alone; `sqlaudit attack` takes further tables."""
    attacks = AttackRequest(request.release, _roles(request), inputs=request.inputs, seed=request.seed, only=ON_RELEASE)
    return attack_release(engine, attacks, rows_meant=known)


def code_of(result: CompareResult | SyntheticResult) -> ExitCode:
    """Return the exit code of a comparison's result."""
    if isinstance(result, SyntheticResult):
        return verdict(result.passed)
    unsafe = bool(result.audit.required) and not result.audit.passed
    return verdict(not unsafe and result.generalization.answer is not Answer.NO)


@command(CompareRequest, plan_comparison, code=code_of, reads=lambda request: request.targets)
def compare(engine: Engine, request: CompareRequest) -> CompareResult | SyntheticResult:
    """Compare a release with its original (`sqlaudit compare`).

    Args:
        original, release: tables, views, file paths, frames or `Target`s, both in one database or both files or frames.
        key: columns that identify a row in both. Without these or `by_position`, rows are paired by containment where
            that is unique.
        by_position: rows correspond by their order.
        hierarchies: a file, a folder or a mapping, as for `sqlaudit.hierarchies.read.read_hierarchies`.
        other: another release of the same original, to compare how coarse both are.
        measures: names of loss measures; all by default, range-query-noise only with `workload`.
        queries: aggregate queries (one text may have several) to run on both tables.
        workload: number of random counting queries; none by default.
        noise_queries: number of queries for the range-query noise.
        synthetic: `release` is a synthetic table: the result is what it discloses of the people of `original`.
        holdout: with `synthetic`, people who were not used for it, as `original` has those who were.
        known: with `synthetic`, also all sets of so many known quasi-identifiers, up to 3.
        require, inputs: as for `sqlaudit.audit`, for the audit of the release.
        show_values: whether answers of grouped queries show their groups, and synthetic data the most common value.
        buckets: the second table of a bucketized release, as for `sqlaudit.audit`; `release` has the people.

    Raises:
        UsageError: columns, cells, keys, hierarchies or queries that do not fit.
        EngineError: the database refused a statement, failed or disconnected.

    Example:
        >>> import pandas as pd, sqlaudit
        >>> people = pd.DataFrame({"age": [31, 38, 52, 57], "disease": list("aabb")})
        >>> public = pd.DataFrame({"age": ["30-39", "30-39", "50-59", "50-59"], "disease": list("aabb")})
        >>> found = sqlaudit.compare(people, public, qi=["age"], sensitive="disease")
        >>> found.generalization.answer.value, found.loss("modification-rate").value, found.loss("entropy").value
        ('yes', Fraction(1, 1), 4.0)
    """
    return find_disclosure(engine, request) if request.synthetic else compare_tables(engine, request)


# A bucketized release beside its original: are its persons those of the original, and each bucket's values theirs?
#
# Nothing is generalized there, so that no cell loses anything: what is lost is who of a bucket has which of its values.
# Rows have to be paired. Without pairs the question is whether there is a table of three dimensions (quasi-identifiers,
# buckets, values) with three given margins, and no count decides that in reasonable time.


class BucketizedResult(CompareResult):
    """The result for a bucketized release: the same document, without losses and answers to queries."""

    shown_by: ClassVar = "sqlaudit.release.compare.report:BucketizedReport"


def compare_buckets(engine: Engine, request: CompareRequest) -> BucketizedResult:
    """The comparison of a bucketized release with its original.

    Raises:
        UsageError: columns or keys that do not fit, tables that are not of one release, or options that do not apply to
            such a release.
        EngineError: the database refused a statement, failed or disconnected.
    """
    already = len(engine.executed)
    _refuse_others(request)
    with workbench_of(engine) as workbench:
        original, persons, values = _sides(engine, request)
        pairing = find_pairing(Bench(engine, workbench), request, original, persons)
        found = engine.run(_statement(engine, request, original, persons, values))[0]
        missing, foreign, moved, *surplus = (int(number) for number in found)
        changed = dict(zip((one.label for one in values.sensitive), surplus, strict=True))
        audit = audit_alone(engine, request, False)
        judged = _judged(missing, foreign, moved, changed)
        result = BucketizedResult(
            original=request.original.name,
            release=request.release.name,
            rows=audit.rows - foreign + missing,
            released=audit.rows,
            qi=request.qi,
            sensitive=request.sensitive,
            pairing=pairing,
            distance=request.distance,
            generalization=judged,
            losses=(),
            audit=audit,
            attacks=attack_alone(engine, request, False) if judged.answer is Answer.YES else None,
        )
        return replace(result, **provenance(engine, already, workbench))


def plan_buckets(engine: Engine, request: CompareRequest) -> list[Statement]:
    """The statements known before any has run: the comparison and the audit of the buckets.

    Raises:
        UsageError: as `compare_buckets`.
    """
    _refuse_others(request)
    return [_statement(engine, request, *_sides(engine, request)), *plan_audit(engine, _audit_of(request))]


def _refuse_others(request: CompareRequest) -> None:
    """Refuse what a release in buckets cannot be compared by."""
    if not request.sensitive:
        raise UsageError(f"No sensitive columns are named. Name the columns in buckets with {spelled('sensitive')}.")
    if not request.key and not request.by_position:
        raise UsageError(
            f"Counts cannot pair rows with buckets. Pair them by {spelled('key')} or {spelled('by_position', True)}."
        )
    defaults = {one.name: one.default for one in fields(request)}
    for name in ("hierarchies", "queries", "measures", "other", "beta", "distance", "noise_queries", "workload"):
        value: object = getattr(request, name)
        if value and value != defaults[name]:
            raise UsageError(
                f"{about(name)} does not apply to releases in buckets, which keep all cells. Leave it out."
            )


def _sides(engine: Engine, request: CompareRequest) -> tuple[Side, Side, Side]:
    """The original, the persons, and the values of buckets; whatever is compared has one type."""
    buckets = request.release.buckets
    assert buckets is not None
    original = open_side(engine, request.original, request)
    alone = replace(request, sensitive=())
    persons = open_side(engine, replace(request.release, buckets=None), alone)
    relation = engine.open(request.release)
    columns = find_columns(engine, relation, sensitive=request.sensitive, bucket_column=(buckets.column,))
    keyed, persons_keyed = alike(
        replace(original, sensitive=original.columns), replace(persons, sensitive=persons.columns), engine.dialect
    )
    buckets_of = Side(relation, relation, columns["bucket_column"], columns["sensitive"], ())
    own, values = alike(replace(original, keys=()), buckets_of, engine.dialect)
    original = replace(original, columns=keyed.sensitive, keys=keyed.keys, sensitive=own.sensitive)
    persons = replace(persons, columns=persons_keyed.sensitive, keys=persons_keyed.keys)
    return original, persons, values


def _statement(engine: Engine, request: CompareRequest, original: Side, persons: Side, values: Side) -> Statement:
    """Return the statement that puts persons and buckets beside the original."""
    assert request.release.buckets is not None
    bucket = resolve(request.release.buckets.column, persons.relation, engine.dialect, about("bucket_column"))
    return Bench(engine, engine).over_tables(
        "compare/bucketized",
        "persons and buckets beside the original",
        original=original.relation,
        persons=persons.relation,
        values=values.relation,
        original_keys=original.keys,
        original_columns=original.columns,
        original_sensitive=original.sensitive,
        release_keys=persons.keys,
        release_columns=persons.columns,
        release_sensitive=values.sensitive,
        bucket=values.columns[0],
        bucket_of_persons=bucket,
    )


def _judged(missing: int, foreign: int, moved: int, changed: dict[str, int]) -> Generalization:
    """Return True if it is a release of that table."""
    wrong = [
        (foreign, f"{plural(foreign, 'person has', 'people have')} no original row"),
        (moved, f"{plural(moved, 'person has', 'people have')} other quasi-identifiers than the original"),
        *(
            (n, f"{plural(n, 'value')} of {name} in a bucket whose people do not have it")
            for name, n in changed.items()
        ),
    ]
    said = "; ".join(sentence for number, sentence in wrong if number)
    answer = Answer.NO if said else Answer.YES
    reason = f"{said}." if said else "every bucket has exactly the values of its people."
    return Generalization(answer, reason, (), moved, 0, changed, foreign, missing, 0, Recoding.NONE)
