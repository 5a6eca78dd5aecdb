"""The report on a synthetic table: what it discloses of the people inside, and of people outside."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from sqlaudit.base.result import MEANING
from sqlaudit.models.phrases import requirement_lines, requirements_met, verdict_of
from sqlaudit.release.synthetic.result import (
    AttributeDisclosure,
    ExcessDisclosed,
    HoldoutDisclosure,
    RowCopies,
    SyntheticResult,
)
from sqlaudit.reports import document as doc
from sqlaudit.reports.report import MeasuredReport

NO_HOLDOUT = (
    "Without a holdout, this report cannot separate what anyone knows about such people from what the table discloses "
    "about the people whose rows were used for it."
)
LIMITS = (
    "The figures are for someone who knows exactly these quasi-identifiers of a person in the original. Someone who "
    "knows more, fewer or other columns may learn more.",
    "The excess compares people inside with people outside. It is fair only if both were drawn in the same way and "
    "no one is in both.",
    "Copies are rows that are equal in all columns. Distances to the closest record are not computed: they do not show "
    "what a table discloses.",
)
_MEASURES = {
    "is": "group occurs in the synthetic table (iS)",
    "dis": "group has one value there (DiS)",
    "disco": "value disclosed (DiSCO)",
    "disdio": "disclosed, and disclosive in the table itself (DiSDiO)",
    "dcap": "right guess (DCAP)",
    "copies": "row occurs in the synthetic table",
    "uiois": "unique, and in the synthetic table (UiOiS)",
    "rep_u": "unique in both tables (repU)",
}
_DISTANCES = {"kolmogorov-smirnov": "Kolmogorov-Smirnov", "total-variation": "total variation"}
_SHOWN = 20
_DRAWN_PAIRS = 8
"""So many columns fit into a picture of pairs on a phone."""


class SyntheticReport(MeasuredReport[SyntheticResult]):
    """The report on a synthetic table: what it discloses of people inside, and of people outside."""

    kind = "Synthetic data"
    limits_last = True

    def headline(self, result: SyntheticResult) -> doc.Toned:
        return verdict_of(result.checks) if result.checks else headline(result)

    def key_figures(self, result: SyntheticResult) -> Iterator[doc.KeyFigure]:
        worst, copies = _most(result), result.synthetic.copies.rows
        yield from requirements_met(result.checks)
        if worst is not None:
            yield doc.KeyFigure(doc.percent(worst.disco), f"People whose {worst.sensitive} is disclosed")
        if worst is not None and (excess := _excess_of(result, worst)) is not None:
            tone = doc.bad_if(_is_above_outside(excess))
            yield doc.KeyFigure(_points(excess.excess), "Points above people outside", tone)
        elif not result.checks:
            yield doc.KeyFigure(doc.percent(result.synthetic.identity.rep_u), "Unique in both tables")
        if not result.checks:
            yield doc.KeyFigure(doc.count(copies), "Exact copies", "bad" if copies else "good")

    def opening(self, result: SyntheticResult) -> Iterator[doc.Content]:
        if result.checks:
            yield headline(result).text
            yield from requirement_lines(result.checks)
        yield [doc.warning(warned.message) for warned in result.warnings]

    def lead(self, result: SyntheticResult) -> Iterator[doc.Words]:
        for attribute in result.synthetic.attributes:
            excess, people = _excess_of(result, attribute), f"{doc.percent(attribute.disco)} of people inside"
            if excess is not None:
                people += f" and for {doc.percent(excess.outside)} of people outside"
                people += f". The excess is {_with_interval(excess)}"
            text = f"{attribute.sensitive} is disclosed for {people}."
            yield doc.Toned(text, doc.bad_if(_is_above_outside(excess)))
            if attribute.disco and (common := attribute.most_common) is not None:
                yield (
                    f"Of these, {doc.percent(common.of_disclosed)} have the most common value "
                    f"({doc.percent(common.share)} overall)."
                )
        yield from _of_copies(result.synthetic.copies)
        if result.synthetic.holdout is None:
            yield doc.Toned(NO_HOLDOUT)

    def sections(self, result: SyntheticResult) -> Iterator[tuple[doc.Section, ...]]:
        yield doc.section("People inside and outside", *_beside(result))
        yield doc.section("Columns of both tables", *_columns(result))
        yield doc.section("Pairs of columns", *_pairs(result))
        yield doc.section("Identity", _identity(result))
        yield doc.section("Sensitive values", *_attributes(result))
        yield from map(_dominant, result.synthetic.attributes)
        yield doc.section("Copies", *_copied(result))
        yield doc.section("Fewer known quasi-identifiers", _known(result))

    def method(self, result: SyntheticResult) -> Iterator[tuple[str, doc.Cell]]:
        rows = result.synthetic.rows
        missing = {"equal": "equal each other", "distinct": "equal nothing in a quasi-identifier"}
        yield "original", f"{result.original}, {doc.plural(rows.original, 'row')}"
        yield "synthetic table", f"{result.release}, {doc.plural(rows.synthetic, 'row')}"
        yield "holdout", f"{result.holdout}, {doc.plural(rows.holdout or 0, 'row')}" if result.holdout else ""
        yield "quasi-identifiers", doc.joined(result.qi)
        yield "sensitive columns", doc.joined(result.sensitive)
        yield "missing values", missing.get(result.nulls, result.nulls)
        if result.holdout:
            yield "intervals", "different people, not pairs: Clopper-Pearson for shares, Hoeffding for DCAP"

    def limits(self, result: SyntheticResult) -> tuple[str, ...]:
        return (*LIMITS, *([MEANING] if result.checks else []))


def _most(result: SyntheticResult) -> AttributeDisclosure | None:
    """The sensitive attribute that is disclosed for most rows."""
    return max(result.synthetic.attributes, key=lambda one: one.disco or 0, default=None)


def _excess_of(result: SyntheticResult, attribute: AttributeDisclosure) -> ExcessDisclosed | None:
    """Return by how much more often an attribute is disclosed of people inside; None without a holdout."""
    holdout = result.synthetic.holdout
    return None if holdout is None else holdout.of("disco", attribute.sensitive)


def _is_above_outside(excess: ExcessDisclosed | None) -> bool:
    """Return True if the excess is above 0 with its whole interval."""
    return excess is not None and excess.low is not None and excess.low > 0


def headline(result: SyntheticResult) -> doc.Toned:
    """The share of the people inside whose sensitive value is disclosed; without one, who is unique in both tables."""
    found, worst = result.synthetic, _most(result)
    if not found.rows.original or not found.rows.synthetic:
        return doc.warning(f"{result.target}: one of the tables is empty, so nothing can be measured")
    if worst is None:
        return doc.Toned(f"{result.target}: {doc.percent(found.identity.rep_u)} of people are unique in both tables")
    is_bad = _is_above_outside(_excess_of(result, worst)) or found.copies.unique_in_original
    disclosed = f"the value of {worst.sensitive} is disclosed for {doc.percent(worst.disco)} of people"
    return doc.Toned(f"{result.target}: {disclosed}", doc.bad_if(is_bad))


def _of_copies(copies: RowCopies) -> Iterator[doc.Words]:
    """Yield how many synthetic rows equal a row of the original."""
    columns = doc.plural(copies.columns, "column")
    if copies.rows:
        yield doc.bad(
            f"{doc.plural(copies.rows, 'synthetic row equals', 'synthetic rows equal')} a row of the original in all "
            f"{columns}; {doc.count(copies.unique_in_original)} of them equal a row that is unique there."
        )
    elif copies.columns:
        yield f"No synthetic row equals a row of the original in all {columns}."
    if copies.all_but_one_column:
        more = "more synthetic row matches" if copies.all_but_one_column == 1 else "more synthetic rows match"
        yield f"{doc.count(copies.all_but_one_column)} {more} an original row in all columns but one."


def _points(share: Fraction | float | None) -> str:
    """A difference of shares in points: `+2.1`, `−0.4`."""
    if share is None:
        return doc.UNDEFINED
    points = round(float(share) * 100, 1)
    return f"{points:+.1f}".replace("-", "−") if points else "0.0"


def _with_interval(excess: ExcessDisclosed) -> str:
    points = f"{_points(excess.excess)} points"
    if excess.low is None:
        return points
    return f"{points} (95% interval: {_interval(excess)})"


def _beside(result: SyntheticResult) -> Iterator[doc.Content]:
    """Yield the shares of people inside and outside, and their differences."""
    holdout = result.synthetic.holdout
    if holdout is None:
        return
    yield _picture(holdout)
    headings = ("Share of people", "#Inside", "#Outside", "#Excess in points", "#95% interval")
    yield doc.table(headings, map(_row, holdout.excess))
    sizes = (
        ""
        if result.synthetic.rows.original == result.synthetic.rows.holdout
        else (" Both tables must have as many rows for their excess; these do not.")
    )
    yield ("No interval: for these measures the rows are not independent." + sizes)


def _picture(holdout: HoldoutDisclosure) -> doc.Picture | None:
    """For how many people inside and outside the synthetic table discloses each sensitive value."""
    names = {"disco": "{}: value disclosed", "dcap": "{}: right guess", "copies": "row occurs in the table"}
    shown = [excess for excess in holdout.excess if excess.measure in names and excess.excess is not None]
    shown.sort(key=lambda excess: list(names).index(excess.measure))
    series = {
        "people inside": [float(excess.inside or 0) for excess in shown],
        "people outside": [float(excess.outside or 0) for excess in shown],
    }
    title = "What the synthetic table discloses of people who were used for it, and of people who were not"
    named = (names[excess.measure].format(excess.sensitive) for excess in shown)
    return doc.bars(title, named, series, "share of people", share=True) if shown else None


def _columns(result: SyntheticResult) -> Iterator[doc.Content]:
    """Yield the shapes of all columns in both tables, and how far they are apart."""
    columns, rows = result.synthetic.columns, result.synthetic.rows
    if not rows.original or not rows.synthetic:
        return
    charts = (
        doc.Panel(
            column.name,
            f"distance {doc.percent(column.distance)}",
            [round(spread.original / rows.original, 4) for spread in column.bins],
            [round(spread.synthetic / rows.synthetic, 4) for spread in column.bins],
        )
        for column in columns
        if column.distance is not None
    )
    title = (
        "Share of rows by value: numbers and dates in bins from small to large, else the most frequent values and all "
        "others; missing values come last"
    )
    yield doc.panels(title, charts, ("original", "synthetic table"))
    ranked = sorted(columns, key=lambda column: -(column.distance or 0))
    yield doc.table_of(
        ranked,
        ("Column", "name"),
        ("#Distance", lambda column: doc.percent(column.distance)),
        ("Measure", lambda column: _DISTANCES[column.measure]),
    )
    yield "Distance: 0% for equal shares, 100% for no value in common."


def _pairs(result: SyntheticResult) -> Iterator[doc.Content]:
    """Yield how strongly each two columns are associated in both tables, and those whose association changed most."""
    pairs = result.synthetic.pairs
    if not pairs or pairs[0].distance is None:
        return
    names = list(dict.fromkeys(name for pair in pairs for name in pair.columns))[:_DRAWN_PAIRS]
    by_names = {pair.columns: pair for pair in pairs}
    values: list[list[float | None]] = [[None] * len(names) for _ in names]
    for row, column in combinations(range(len(names)), 2):
        pair = by_names[names[row], names[column]]
        values[column][row], values[row][column] = (
            None if association is None else round(float(association), 4)
            for association in (pair.original, pair.synthetic)
        )
    texts = [["" if value is None else f"{value:.2f}".lstrip("0") for value in line] for line in values]
    heat = {
        "rows": names,
        "columns": names,
        "values": values,
        "texts": texts,
        "x": "column",
        "y": "Association, column",
    }
    title = "Association of columns (Cramér's V): original below the diagonal, synthetic table above it"
    yield doc.Picture("heat", title, heat)
    ranked = sorted(pairs, key=lambda pair: -abs(float(pair.original or 0) - float(pair.synthetic or 0)))
    yield doc.table_of(
        ranked[:_SHOWN],
        ("Columns", lambda pair: doc.listed(pair.columns)),
        ("#Original", lambda pair: _strength(pair.original)),
        ("#Synthetic", lambda pair: _strength(pair.synthetic)),
        ("#Distance", lambda pair: doc.percent(pair.distance)),
        caption="Association in both tables, largest change first",
    )
    yield (
        "Cramér's V of bins: 0 for independent columns, 1 where one column determines the other. Distance: total "
        "variation of the shares of pairs of bins."
    )


def _strength(association: Fraction | float | None) -> str:
    return "–" if association is None else f"{float(association):.2f}"


def _row(excess: ExcessDisclosed) -> tuple[str, ...]:
    """Return the row of a measure: its shares inside and outside, and the excess with its interval."""
    name = (f"{excess.sensitive}: " if excess.sensitive else "") + _MEASURES[excess.measure]
    points = "–" if excess.excess is None else _points(excess.excess)
    interval = "–" if excess.low is None else _interval(excess)
    return name, doc.percent(excess.inside), doc.percent(excess.outside), points, interval


def _interval(excess: ExcessDisclosed) -> str:
    """Return the interval of an excess in points: `+1.0 to +3.2`."""
    return f"{_points(excess.low)} to {_points(excess.high)}"


def _identity(result: SyntheticResult) -> doc.Table:
    """Return the shares of unique people."""
    found, holdout = result.synthetic.identity, result.synthetic.holdout
    rows = [
        ("unique in their own table (UiO)", "uio"),
        ("unique there, and in the synthetic table (UiOiS)", "uiois"),
        ("unique in both tables (repU)", "rep_u"),
        ("synthetic rows that are unique (UiS)", "uis"),
    ]
    outside = None if holdout is None else holdout.identity
    heads = ("Share", "#People inside", "#People outside" if outside else None)
    return doc.table(
        heads,
        (
            (said, doc.percent(getattr(found, name)), doc.percent(getattr(outside, name)) if outside else "")
            for said, name in rows
        ),
    )


def _attributes(result: SyntheticResult) -> Iterator[doc.Content]:
    """Yield the shares of people whose sensitive values are disclosed, by attribute."""
    names = {
        "dorig": "own group has one value in the original (Dorig)",
        "in_synthetic": "group occurs in the synthetic table (iS)",
        "dis": "group has one value there (DiS)",
        "disco": "which is their own (DiSCO)",
        "disdio": "and the original's group has one value, too (DiSDiO)",
        "tcap": "DiSCO of DiS (TCAP)",
        "tcap_alt": "DiSCO of iS (TCAP, other definition)",
        "dcap": "right guess in proportion to synthetic rows (DCAP)",
        "cap_d": "… to the original's rows (CAPd)",
        "base_cap_d": "… to the original's values (baseline CAP)",
        "dsyn": "synthetic rows whose group has one value (Dsyn)",
        "cap_s": "right guess about synthetic rows (CAPs)",
    }
    attributes = result.synthetic.attributes
    if attributes:
        heads = [doc.Column("Share of people inside"), *(doc.Column(one.sensitive, True) for one in attributes)]
        shares = ((said, *(doc.percent(getattr(one, name)) for one in attributes)) for name, said in names.items())
        yield doc.table(heads, shares)


def _dominant(one: AttributeDisclosure) -> tuple[doc.Section, ...]:
    """Return which groups disclose a sensitive attribute, and what guessing reaches."""
    common = one.most_common
    if common is None or not one.by_size:
        return ()
    bands = {3: "3 to 4", 5: "5 to 9", 10: "10 or more"}
    rows = ((bands.get(group.size, str(group.size)), group.groups, group.rows) for group in one.by_size)
    value = "" if common.value is None else f" ({common.value})"
    guess = (
        f"Guessing the most common value{value} is right for {doc.percent(common.share)} of people. "
        f"{doc.percent(common.of_disclosed)} of the disclosed people have it."
    )
    table = doc.table(("Synthetic rows of a group", "#Disclosive groups", "#People disclosed"), rows)
    return doc.section(f"What discloses {one.sensitive}", guess, table)


def _copied(result: SyntheticResult) -> Iterator[doc.Content]:
    """Yield how many rows are copied, beside those of the holdout."""
    inside, holdout = result.synthetic.copies, result.synthetic.holdout
    rows = [
        ("synthetic rows that equal a row in all columns", "rows"),
        ("… a row that is unique there", "unique_in_original"),
        ("synthetic rows that equal a row in all columns but one", "all_but_one_column"),
        ("rows that occur in the synthetic table", "copied"),
    ]
    outside = None if holdout is None else holdout.copies
    heads = ("Rows", "#Original", "#Holdout" if outside else None)
    yield doc.table(
        heads, ((said, _number(inside, name), _number(outside, name) if outside else "") for said, name in rows)
    )
    if holdout is not None:
        yield f"Rows that holdout and original have in common: {doc.count(holdout.shared)}."
    yield f"Compared: {doc.listed(result.compared, 20)}." if result.compared else "The tables share no column."


def _number(copies: RowCopies, name: str) -> str:
    number = getattr(copies, name)
    return doc.UNDEFINED if number is None else doc.count(number)


def _known(result: SyntheticResult) -> doc.Table:
    """Return the known columns that disclose most."""
    outside = result.synthetic.holdout is not None
    more = len(result.synthetic.known) - _SHOWN
    return doc.table_of(
        result.synthetic.known[:_SHOWN],
        ("Known", lambda known: doc.listed(known.keys)),
        ("Discloses" if result.sensitive else None, "sensitive"),
        ("#Disclosed (DiSCO)" if result.sensitive else None, lambda known: doc.percent(known.disco)),
        ("#Excess in points" if outside and result.sensitive else None, lambda known: _points(known.excess)),
        ("#Unique in both (repU)", lambda known: doc.percent(known.rep_u)),
        caption=f"The {_SHOWN} most disclosing; {doc.count(more)} more are in the JSON:" if more > 0 else "",
    )
