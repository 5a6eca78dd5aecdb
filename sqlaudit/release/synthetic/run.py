"""What a synthetic table discloses of its original and of people outside: counted in the database, judged here.

`counting` opens the tables and counts. Here its sums become shares, for the people inside and for those of a holdout,
and each requirement gets a verdict, as far as `doubts` leaves one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Statement
from sqlaudit.base.result import Number
from sqlaudit.base.spec import NullPolicy
from sqlaudit.classes.opening import spelling_statements
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.models.base import WORST_FIRST, Check, Context
from sqlaudit.models.judge import Asked, check_of
from sqlaudit.models.registry import OF_SYNTHETIC
from sqlaudit.models.synthetic import Disclosed
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.release.synthetic.counting import (
    HOLDOUT,
    ORIGINAL,
    Counting,
    Counts,
    open_counting,
    open_tables,
    spellings_of,
)
from sqlaudit.release.synthetic.doubts import Doubts, find_doubts, unmatched_sentence, warn_of_doubts
from sqlaudit.release.synthetic.interval import DOUBT, means_apart, proven, shares_apart
from sqlaudit.release.synthetic.result import (
    AttributeDisclosure,
    DisclosiveGroups,
    ExcessDisclosed,
    HoldoutDisclosure,
    IdentityDisclosure,
    KnownKeys,
    MostCommon,
    RowCopies,
    SyntheticFigures,
    SyntheticResult,
    SyntheticRows,
)
from sqlaudit.reports.document import plural

_CELLS = "sqlaudit_synthetic_cells"


def find_disclosure(engine: Engine, request: CompareRequest, *, with_shapes: bool = True) -> SyntheticResult:
    """Measure what a synthetic table discloses of the people behind it.

    Args:
        engine: where the tables lie. request: the tables, and how they are compared.
        with_shapes: False to leave out how alike columns and pairs of columns are: reports show it, tests do not need
            it, and it takes a fifth of the time.

    Raises:
        UsageError: columns, types or requirements that do not fit.
        EngineError: the database refused a statement, failed or disconnected.
    """
    already = len(engine.executed)
    _refuse_requirements(request)
    counting = open_counting(engine, request)
    all_keys, targets = tuple(range(len(request.qi))), [*range(len(request.sensitive))] or [None]
    if engine.can_materialize and request.known and request.nulls is NullPolicy.EQUAL:
        counting.cells = engine.materialize(_CELLS, counting.kept())
    try:
        answers = [counting.ask(all_keys, target) for target in targets]
        known_keys = tuple(sorted(_by_keys(counting, targets), key=_most_disclosing))
    finally:
        if counting.cells is not None:
            engine.drop(_CELLS)
    counts = answers[0][0]
    overlaps = counting.overlaps(int(counts["d_rows"]), int(counts["s_rows"]))
    hiding = {
        column.name
        for column in overlaps[len(counting.tables[0].roles) :]
        if column.is_row_number or (column.is_unmatched and not column.may_be_drawn)
    }
    counting.tables = [table.without(hiding) for table in counting.tables]
    synthetic = _figures(counting, answers, known_keys)
    if with_shapes:
        roles = len(counting.tables[0].roles)
        shown = overlaps[:roles] + [column for column in overlaps[roles:] if column.name not in hiding]
        shapes, pairs = counting.compare_shapes(shown)
        synthetic = replace(synthetic, columns=shapes, pairs=pairs)
    doubts = find_doubts(counting, overlaps, synthetic)
    result = SyntheticResult(
        original=request.original.name,
        release=request.release.name,
        holdout=None if request.holdout is None else request.holdout.name,
        qi=request.qi,
        sensitive=request.sensitive,
        nulls=request.nulls.value,
        compared=tuple(column.label for column in counting.tables[0].columns),
        synthetic=synthetic,
        warnings=tuple(warn_of_doubts(synthetic, doubts, hiding, counting.tables)),
        checks=tuple(_checks(request, synthetic, doubts)),
    )
    return replace(result, **provenance(engine, already))


def plan_disclosure(engine: Engine, request: CompareRequest) -> list[Statement]:
    """Return the statements, for `--dry-run`.

    Raises:
        UsageError: as `find_disclosure`.
    """
    _refuse_requirements(request)
    counting = Counting(engine, open_tables(engine, request), request)
    all_keys, targets = range(len(request.qi)), [*range(len(request.sensitive))] or [None]
    sets = [all_keys, *(keys for keys in _subsets(request))]
    return [
        *spelling_statements(engine, spellings_of(counting.tables), request.values),
        *(counting.figures(keys, target) for keys in sets for target in targets),
        *([counting.copies()] if counting.tables[0].columns else []),
        counting.shared(),
        counting.shapes(),
    ]


def _subsets(request: CompareRequest) -> Iterator[tuple[int, ...]]:
    """Yield the sets of fewer quasi-identifiers than all, the small ones first."""
    all_keys = range(len(request.qi))
    for size in range(1, min(request.known, len(request.qi) - 1) + 1):
        yield from combinations(all_keys, size)


def _by_keys(counting: Counting, targets: Sequence[int | None]) -> Iterator[KnownKeys]:
    """Yield the disclosure for every set of known columns and every attribute."""
    request = counting.request
    for keys in _subsets(request):
        for target in targets:
            counts, _, _ = counting.ask(keys, target)
            names, of_rows = tuple(request.qi[position] for position in keys), _identity(counts, ORIGINAL)
            if target is None:
                yield KnownKeys(names, None, of_rows.rep_u, None, None)
                continue
            inside, other = (_attribute(counts, x, request.sensitive[target]) for x in (ORIGINAL, HOLDOUT))
            excess = _excess_of(
                "disco", inside.sensitive, inside.disco, other.disco, int(counts["d_rows"]), int(counts["h_rows"])
            )
            yield KnownKeys(
                names, inside.sensitive, of_rows.rep_u, inside.dis, inside.disco, excess.excess, excess.high, excess.low
            )


def _most_disclosing(disclosed: KnownKeys) -> tuple[Fraction | float, int]:
    return -((disclosed.rep_u if disclosed.sensitive is None else disclosed.disco) or 0), len(disclosed.keys)


# From sums to shares.


Figure = Fraction | float | None


SideFigures = tuple[IdentityDisclosure, tuple[AttributeDisclosure, ...], RowCopies]
"""The figures for the people of one table."""


def _figures(
    counting: Counting,
    answers: Sequence[tuple[Counts, list[DisclosiveGroups], str | None]],
    known_keys: tuple[KnownKeys, ...],
) -> SyntheticFigures:
    """Return all figures of a comparison."""
    request, columns = counting.request, len(counting.tables[0].columns)
    counts = [counts_of_target for counts_of_target, _, _ in answers]
    rows, others = int(counts[0]["d_rows"]), int(counts[0]["h_rows"])
    named = [*zip(request.sensitive, counts, strict=False)]
    copies = counting.whole_rows() if columns else Counter[str]()
    sides: list[SideFigures] = []
    for x in (ORIGINAL, HOLDOUT)[: len(counting.tables) - 1]:
        attributes = tuple(_attribute(counts_of_target, x, name) for name, counts_of_target in named)
        sides.append((_identity(counts[0], x), attributes, _copies(copies, x, columns)))
    holdout = None
    if request.holdout is not None:
        holdout = HoldoutDisclosure(*sides[1], int(copies["shared"]), tuple(_excess(sides, rows, others)))
    of_original = tuple(
        replace(attribute, most_common=_most_common(counts_of_target, value), by_size=tuple(sizes))
        for attribute, (counts_of_target, sizes, value) in zip(sides[0][1], answers, strict=False)
    )
    sizes = SyntheticRows(rows, int(counts[0]["s_rows"]), None if holdout is None else others)
    return SyntheticFigures(sizes, sides[0][0], of_original, sides[0][2], holdout, known=known_keys)


def _share(part: Any, total: Any) -> Figure:
    """Return the share, exact where both are counts; None of nothing."""
    if not total:
        return None
    return min(float(part) / int(total), 1.0) if isinstance(part, float) else Fraction(int(part), int(total))


def _identity(counts: Counts, side: str) -> IdentityDisclosure:
    rows = counts[f"{side}_rows"]
    return IdentityDisclosure(
        uio=_share(counts[f"{side}_unique"], rows),
        uis=_share(counts["s_unique"], counts["s_rows"]),
        uiois=_share(counts[f"{side}_unique_there"], rows),
        rep_u=_share(counts[f"{side}_unique_both"], rows),
    )


def _attribute(counts: Counts, side: str, sensitive: str) -> AttributeDisclosure:
    """Return the disclosure of an attribute on one side (original or holdout)."""

    def of_rows(name: str) -> Figure:
        return _share(counts[f"{side}_{name}"], counts[f"{side}_rows"])

    rows, disclosed = counts[f"{side}_rows"], counts[f"{side}_disclosed"]
    return AttributeDisclosure(
        sensitive=sensitive,
        dorig=of_rows("pure"),
        dsyn=_share(counts["s_pure"], counts["s_rows"]),
        in_synthetic=of_rows("there"),
        dis=of_rows("in_pure"),
        disco=of_rows("disclosed"),
        disdio=of_rows("disclosed_pure"),
        cap_d=_share(float(counts[f"{side}_cap"]), rows),
        base_cap_d=_share(float(counts[f"{side}_total_squares"]), rows * rows),
        cap_s=_share(float(counts["s_cap"]), counts["s_rows"]),
        dcap=_share(float(counts[f"{side}_dcap"]), rows),
        tcap=_share(disclosed, counts[f"{side}_in_pure"]),
        tcap_alt=_share(disclosed, counts[f"{side}_there"]),
    )


def _copies(counts: Mapping[str, Any], side: str, columns: int) -> RowCopies:
    near = counts.get(f"{side}_near")
    return RowCopies(
        columns=columns,
        rows=int(counts[f"{side}_copies"]),
        all_but_one_column=None if near is None else int(near),
        unique_in_original=int(counts[f"{side}_copies_of_unique"]),
        copied=int(counts[f"{side}_copied"]),
    )


def _most_common(counts: Counts, value: str | None) -> MostCommon:
    return MostCommon(
        _share(counts["d_common"], counts["d_rows"]), _share(counts["common_disclosed"], counts["d_disclosed"]), value
    )


_OF_TABLES = ("uiois", "rep_u", "disdio")
"""Measures that look at the other rows of the original, too; of the others each row counts by itself."""


def _excess(sides: Sequence[SideFigures], rows: int, others: int) -> Iterator[ExcessDisclosed]:
    """Yield the excess of every measure for the people inside over the people outside."""
    (identity, attributes, copies), (other_identity, other_attributes, other_copies) = sides
    for name in ("uiois", "rep_u"):
        yield _excess_of(name, None, getattr(identity, name), getattr(other_identity, name), rows, others)
    yield _excess_of("copies", None, _share(copies.copied, rows), _share(other_copies.copied, others), rows, others)
    for inside_attribute, other in zip(attributes, other_attributes, strict=True):
        for name, field in {"is": "in_synthetic", **dict.fromkeys(("dis", "disco", "disdio", "dcap"), "")}.items():
            inside, outside = (getattr(attribute, field or name) for attribute in (inside_attribute, other))
            yield _excess_of(name, inside_attribute.sensitive, inside, outside, rows, others)


def _excess_of(
    measure: str, sensitive: str | None, inside: Figure, outside: Figure, rows: int, others: int
) -> ExcessDisclosed:
    """Return the excess of a share, with its interval where rows are counted one by one."""
    low: float | None = None
    high: float | None = None
    if inside is None or outside is None or (measure in _OF_TABLES and rows != others):
        return ExcessDisclosed(measure, sensitive, inside, outside, None, low, high)
    if measure == "dcap":
        low, high = means_apart(float(inside) - float(outside), rows, others)
    elif measure not in _OF_TABLES:
        low, high = shares_apart(int(inside * rows), rows, int(outside * others), others)
    return ExcessDisclosed(measure, sensitive, inside, outside, inside - outside, low, high)


# The verdicts.


def _refuse_requirements(request: CompareRequest) -> None:
    """Refuse requirements that a comparison with the original cannot judge.

    Raises:
        UsageError: it is about a table alone, or lacks a sensitive column or a holdout.
    """
    for requirement in request.requirements:
        model = OF_SYNTHETIC.get(requirement.model)
        if model is None:
            raise UsageError(
                f"{requirement.text!r} is about a table alone. With {spelled('synthetic', True)}, require "
                f"{', '.join(OF_SYNTHETIC)}, and audit the synthetic table by itself."
            )
        if model.needs_sensitive and not request.sensitive:
            raise UsageError(f"{requirement.text!r} needs a sensitive column: name one with {spelled('sensitive')}.")
        if model.needs_holdout and request.holdout is None:
            raise UsageError(
                f"{requirement.text!r} needs people who were not used for the synthetic table: name them with "
                f"{spelled('holdout')}."
            )


def _checks(request: CompareRequest, synthetic: SyntheticFigures, doubts: Doubts) -> Iterator[Check]:
    """Judge each requirement for each set of known columns. The worst verdict counts, then the highest level."""
    for requirement in request.requirements:
        model = OF_SYNTHETIC[requirement.model](requirement.parameters, Context(None, 0))
        for sensitive in request.sensitive if model.needs_sensitive else (None,):
            figures = _JudgedFigures(synthetic, doubts, sensitive)
            item, rows = Asked(model, requirement, sensitive), figures.rows(holdout=model.needs_holdout)
            judgements = map(model.judge_synthetic, model.figures(figures))
            checks = (check_of(item, judgement, rows) for judgement in judgements)
            check = min(checks, key=lambda check: (WORST_FIRST.index(check.status), -(check.level or 0)))
            empty = f"a table is empty ({plural(synthetic.rows.synthetic, 'synthetic row')})"
            yield check if rows else replace(check, note=empty)


@dataclass(frozen=True)
class _JudgedFigures:
    """The figures of one sensitive attribute with the doubts about them, as models of synthetic data ask for them.

    Args:
        figures: the figures of the comparison. doubts: why requirements on them may not pass.
        sensitive: the sensitive attribute; None for models that need none.
    """

    figures: SyntheticFigures
    doubts: Doubts
    sensitive: str | None

    def rows(self, *, holdout: bool) -> int:
        """Return the rows of the smallest table that is compared."""
        rows = self.figures.rows
        return min(rows.original, rows.synthetic, *((rows.holdout or 0,) if holdout else ()))

    def replicated_uniques(self) -> Iterator[Disclosed]:
        """Yield the share of the original's rows that are unique in both tables."""
        yield Disclosed(self.figures.identity.rep_u, doubt=self._doubt)
        yield from (
            Disclosed(known_keys.rep_u, keys=known_keys.keys, doubt=self._doubt) for known_keys in self.figures.known
        )

    def correct_disclosure(self) -> Iterator[Disclosed]:
        """Yield DiSCO: first of an attacker who knows all keys, then of those who know fewer."""
        yield Disclosed(self._attribute.disco, doubt=self._doubt)
        for known_keys in self._known_keys:
            yield Disclosed(known_keys.disco, keys=known_keys.keys, doubt=self._doubt)

    def excess_disclosure(self) -> Iterator[Disclosed]:
        """Yield the excess of DiSCO for the original's rows over the holdout's, with all keys and with fewer."""
        assert self.figures.holdout is not None
        excess, rows = self.figures.holdout.of("disco", self.sensitive), self.figures.rows.original
        disclosures = [_excess_disclosed(self._attribute.disco, excess, (), rows)]
        for known_keys in self._known_keys:
            disclosures.append(_excess_disclosed(known_keys.disco, known_keys, known_keys.keys, rows))
        for disclosure in disclosures:
            yield replace(disclosure, doubt=self._doubt, doubt_of_holdout=self.doubts.holdout)

    def copies(self, limit: Number | None) -> Iterator[Disclosed]:
        """Yield the synthetic rows that equal a row of the original."""
        copies = self.figures.copies
        hidden = [(number, sentence) for number, sentence in self.doubts.copies if limit is None or number > limit]
        doubts = (
            unmatched_sentence(self.doubts.hiding),
            max(hidden, default=(0, ""))[1],
            "" if copies.columns else "the tables share no column",
        )
        details = {"all_but_one_column": copies.all_but_one_column, "unique_in_original": copies.unique_in_original}
        yield Disclosed(copies.rows, details=details, doubt=next(filter(None, doubts), ""))

    @property
    def _doubt(self) -> str:
        return unmatched_sentence(self.doubts.unmatched)

    @property
    def _attribute(self) -> AttributeDisclosure:
        return next(attribute for attribute in self.figures.attributes if attribute.sensitive == self.sensitive)

    @property
    def _known_keys(self) -> Iterator[KnownKeys]:
        return (known_keys for known_keys in self.figures.known if known_keys.sensitive == self.sensitive)


def _excess_disclosed(
    disco: Figure, excess_of_keys: ExcessDisclosed | KnownKeys, keys: tuple[str, ...], rows: int
) -> Disclosed:
    """Return the excess of DiSCO with its interval, and its upper bound over all holdouts.

    Args:
        disco: DiSCO of the original's rows. excess_of_keys: its excess over the holdout, with the ends of its interval.
        keys: the quasi-identifiers that the attacker knows; empty = all.
        rows: rows of the original.
    """
    excess = None if excess_of_keys.excess is None else Fraction(excess_of_keys.excess)
    most = None if disco is None else proven(int(disco * rows), rows, DOUBT / 2)[1]
    return Disclosed(excess_of_keys.high, excess, keys, low=excess_of_keys.low, most=most)
