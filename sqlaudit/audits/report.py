"""The report of an audit: verdict, large figures and a line a requirement first, then details, then its limits."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from sqlaudit.audits.result import NOT_SAID, AuditResult
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.result import Status
from sqlaudit.base.spec import KnownRows
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.models.base import IDENTIFIER, SAFE_HARBOR
from sqlaudit.models.phrases import (
    VERDICTS,
    clause_text,
    full_title,
    level_text,
    limit_text,
    other_levels,
    published,
    requirement_lines,
    requirements_met,
    short_cell,
    statement_of,
    verdict_of,
)
from sqlaudit.models.registry import model_of
from sqlaudit.profiles.names import concept_of
from sqlaudit.reports import document as doc
from sqlaudit.reports.report import Report, computed_by, sql_section
from sqlaudit.reports.text import KNOWLEDGE

if TYPE_CHECKING:
    from sqlaudit.audits.classes import ClassDistribution, SharedValue
    from sqlaudit.audits.disclosure.attribute import Disclosure


# Text, tables and pictures of the equivalence classes, called groups here: sizes, those that fail, sensitive values.

FAILING_GROUPS, GROUP_SIZES, ALL_FIGURES, WARNINGS = "Failing groups", "Group sizes", "All figures", "Warnings"
"""Titles of sections that other reports show, too."""

_BANDS = ((1, 1), (2, 2), (3, 4), (5, 10), (11, 19), (20, 99), (100, None))
"""Bounds from rules and practice: 1 is unique, 5 and 11 are usual minimum cell sizes, 20 a cautious one."""
_LONGEST = 60
_FIGURES = {
    "distinct_values": "different values: {}",
    "largest": "most frequent value: {} times",
    "disclosure": "disclosure: {}",
    "people_in_population": "people in the population: {}",
    "share_of_population": "share of the population: {}",
    "highest_belief": "highest belief: {}",
    "lowest_belief": "lowest belief: {}",
    "psi_lowest": "lowest ψ: {}",
    "psi_highest": "highest ψ: {}",
    "dont_care_share": "share of the don't-care set: {}",
    "largest_category_share": "share of the largest category: {}",
}
"""Figures of a group in words."""


def unit_of(result: AuditResult) -> str:
    """Return what sizes count: people when there is an entity column, rows otherwise."""
    return "person" if result.roles.get("entity") else "row"


def _units(result: AuditResult) -> str:
    return "people" if result.roles.get("entity") else "rows"


def _members(number: int, result: AuditResult) -> str:
    return doc.plural(number, unit_of(result), _units(result))


def _unique(result: AuditResult) -> str:
    """Return what the members of groups of one are called: who is in several groups counts in each of them."""
    return f"unique {_units(result)}{', once per group' if _people_repeat(result) else ''}"


def _people_repeat(result: AuditResult) -> bool:
    """Return True if someone is in several groups."""
    return any(warned.code == "several_combinations" for warned in result.warnings)


def risk_facts(result: AuditResult) -> doc.Facts | None:
    """Return the risks of a prosecutor, who knows that a person is in the table; None for a table without groups."""
    sizes = result.classes
    if not sizes.count or sizes.min_size is None:
        return None
    average = Fraction(sizes.count, sizes.members)
    if sizes.per_row:
        average = sum((Fraction(rows, size) for size, rows in sizes.sizes), Fraction(0)) / sizes.count
    highest = f"1 in {doc.count(sizes.min_size)} ({doc.percent(Fraction(1, sizes.min_size))})"
    return doc.facts(
        ("highest", doc.Toned(highest, "bad" if sizes.min_size == 1 else "plain")),
        ("on average", doc.percent(average)),
        (_unique(result), _share_below(sizes, 2)),
        ("in groups smaller than 5", _share_below(sizes, 5)),
        ("in groups smaller than 11", _share_below(sizes, 11)),
    )


def _size_table(result: AuditResult) -> doc.Table:
    """Return the table of groups and rows by group size, without empty bands."""
    sizes, units = result.classes, _units(result)
    heads = ("group size", "#groups", f"#{units}", f"#share of {units}")
    of_rows = ("matching rows", None, "#for rows", "#share of rows")
    rows = (
        (band.name, doc.count(band.classes), doc.count(band.members), doc.part(band.members, sizes.members))
        for band in size_bands(sizes)
    )
    return doc.table(of_rows if sizes.per_row else heads, rows)


def failing_table(result: AuditResult) -> doc.Table:
    """Return the table of the failing groups that were read.

    With their values each group has a line. Without values, groups with equal sizes, failures and figures share one.
    """
    keyed = any(failing.key is not None for failing in result.failing)
    groups_by_cells = Counter[tuple[str, ...]]()
    for failing in result.failing:
        figures = [
            _FIGURES[name].format(doc.figure(value))
            if name in _FIGURES
            else f"{name.replace('_', ' ')}: {doc.figure(value)}"
            for name, value in failing.figures.items()
            if value is not None
        ]
        key = key_text(failing.key) if keyed else ""
        sizes = (doc.count(failing.size) if unit_of(result) == "person" else "", doc.count(failing.rows))
        fails = (", ".join(failing.fails), failing.sensitive or "" if len(result.sensitive) > 1 else "")
        groups_by_cells[*sizes, *fails, ", ".join(figures), key] += failing.classes
    heads = (
        None if keyed else "#groups",
        "#people" if unit_of(result) == "person" else None,
        "#rows" if keyed else "#rows each",
        "fails",
        "sensitive column" if len(result.sensitive) > 1 else None,
        "figures" if any(failing.figures for failing in result.failing) else None,
        "group" if keyed else None,
    )
    return doc.table(heads, ((doc.count(classes), *cells) for cells, classes in groups_by_cells.items()))


def key_text(key: Mapping[str, object] | None) -> str:
    """Return the values of a group as `age 34, sex Male`; missing ones are `(missing)`, long ones are cut."""
    return ", ".join(f"{name} {value_text(value)}" for name, value in (key or {}).items())


def _share_below(sizes: ClassSizes, k: int) -> str:
    _, rows = sizes.below(k)
    return f"{doc.count(rows)} ({doc.part(rows, sizes.members)})"


@dataclass(frozen=True)
class Band:
    """The groups whose sizes lie between two bounds, both included: how many, and their rows or people."""

    low: int
    high: int | None
    classes: int
    members: int

    @property
    def name(self) -> str:
        """The sizes in words."""
        if self.low == self.high:
            return f"{self.low}"
        return f"{self.low} or more" if self.high is None else f"{self.low} to {self.high}"


def size_bands(sizes: ClassSizes) -> Iterator[Band]:
    """Yield the bands of group sizes that contain groups, for the table and its picture."""
    for low, high in _BANDS:
        inside = [(s, n) for s, n in sizes.sizes if s >= low and (high is None or s <= high)]
        if inside:
            classes = sum(n for _, n in inside)
            yield Band(low, high, classes, classes if sizes.per_row else sum(s * n for s, n in inside))


def value_text(value: object) -> str:
    """Return a value as text for people: `(missing)` for NULL, two quotes for the empty text, long values cut."""
    if value is None:
        return "(missing)"
    text = str(value)
    return '""' if not text else text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


_WHOLE = "Whole table"
_FAILING = "failing"
_MOST_DRAWN = 3


def distribution_blocks(result: AuditResult) -> Iterator[doc.Block]:
    """Yield the distribution of each sensitive attribute in its worst groups and in the whole table.

    Values are named if the result contains them, else numbered by their rank.
    """
    for worst in result.worst_classes:
        which = f"the groups of at least two {_units(result)} in which it is least diverse"
        if worst.basis == _FAILING:
            which = "the largest groups that fail a requirement on it"
        text = f"Share of each value of {worst.sensitive} in the whole table and in {which}."
        text += " A person counts once for each value." if unit_of(result) == "person" else ""
        hint = ""
        if not any(value.shown for value in worst.values):
            text += " Values are numbered by frequency in the table, the most frequent first."
            hint = f"{spelled('show_values', True)} names the values."
        yield doc.Paragraph(doc.Toned(text, hint=hint))
        titles: list[str] = []  # numbered if equal, as they are keys of the series below
        for group in worst.classes:
            title = key_text(group.key) if group.key is not None else _title_by_size(result, group)
            repeats = sum(other == title or other.startswith(f"{title}, no. ") for other in titles)
            titles.append(f"{title}, no. {repeats + 1}" if repeats else title)
        names = [_name(value) for value in worst.values]
        columns = [[value.share for value in worst.values], *(group.shares for group in worst.classes)]
        drawn = dict(zip((_WHOLE, *titles[:_MOST_DRAWN]), columns, strict=False))
        series = {title: [float(share) for share in shares] for title, shares in drawn.items()}
        bars_title = f"Shares of each value of {worst.sensitive} in the whole table and in the worst groups"
        yield doc.bars(bars_title, names, series, "share", share=True)
        rows = ((name, *(doc.percent(shares[index]) for shares in columns)) for index, name in enumerate(names))
        yield doc.table(("value", *(doc.Column(title, True) for title in (_WHOLE, *titles))), rows)


def _title_by_size(result: AuditResult, group: ClassDistribution) -> str:
    """Return the title of a group, or of several equal ones, whose values are not shown."""
    members = _members(group.size, result)
    if result.classes.per_row:
        return f"{members} that match" + (f" (of {doc.count(group.classes)} rows)" if group.classes > 1 else "")
    return f"Group of {members}" if group.classes == 1 else f"{doc.count(group.classes)} groups of {members}"


def _name(value: SharedValue) -> str:
    if value.rank is None:
        return doc.plural(value.values, "other value")
    return value_text(value.value) if value.shown else f"value {value.rank}"


_MOST_POINTS = 400


def sizes_picture(result: AuditResult) -> doc.Picture | None:
    """Return the picture of rows (or people) by group size, in the bands of the table; None without groups."""
    bands = list(size_bands(result.classes))
    if not bands:
        return None
    units = _units(result)
    of_rows = (check for check in result.required if model_of(check.model).class_minimum == "rows")
    k = max((check.required for check in of_rows if check.required), default=0)
    split = any(band.low < k and (band.high is None or band.high >= k) for band in bands)
    return doc.Picture(
        "sizes",
        f"{units.capitalize()} by group size"
        + (f" (orange: below {doc.figure(k)}{', or some of them' if split else ''})" if bands[0].low < k else ""),
        {
            "labels": [band.name for band in bands],
            "from": [band.low for band in bands],
            "to": [band.high for band in bands],
            "values": [band.members for band in bands],
            "safe": math.ceil(k),
            "x": "group size",
            "y": units,
        },
    )


def risk_picture(result: AuditResult) -> doc.Picture | None:
    """Return the curve of the share of rows in groups up to each size, whose risk is at least 1 in that size."""
    sizes, units = result.classes, _units(result)
    rows = [(classes if sizes.per_row else size * classes) for size, classes in sizes.sizes]
    members = sizes.members
    points = [[float(size), total / members] for (size, _), total in zip(sizes.sizes, accumulate(rows), strict=True)]
    if len(points) < 2:
        return None
    step = -(-len(points) // _MOST_POINTS)
    points = points if step == 1 else [*points[:-1:step], points[-1]]
    logarithmic = points[-1][0] > 20
    return doc.Picture(
        "curves",
        f"Share of {units} in groups up to each size (a group of n: a risk of 1 in n)",
        {
            "curves": {units: points},
            "steps": True,
            "log_x": logarithmic,
            "x": "group size" + (", logarithmic scale" if logarithmic else ""),
            "y": f"share of {units}",
        },
    )


def disclosure_pictures(disclosures: Iterable[Disclosure], threshold: Fraction | None = None) -> Iterator[doc.Picture]:
    """Yield what k pieces of knowledge can reveal, for both attackers, beside the threshold if there is one."""
    for disclosure in disclosures:
        if len({(point.maximum, point.negated) for point in disclosure.points}) > 1:
            curves = {
                "any basic implications": [[point.k, float(point.maximum)] for point in disclosure.points],
                "negated atoms only": [[point.k, float(point.negated)] for point in disclosure.points],
            }
            title = f"What k pieces of knowledge can reveal about {disclosure.sensitive}"
            picture = doc.curves(title, curves, KNOWLEDGE, "maximum disclosure")
            limit = {} if threshold is None else {"limit": float(threshold), "limit_name": "threshold"}
            yield replace(picture, data={**picture.data, **limit})


def _single_values(result: AuditResult) -> Iterator[doc.Toned]:
    """Yield the sentence on sensitive columns with a single value in some group, if there are any."""
    names = [
        check.sensitive
        for check in result.checks
        if model_of(check.model).class_minimum == "values" and check.level == 1 and check.sensitive is not None
    ]
    if result.rows and names and result.classes.count > 1:
        where = "At least one group has" if len(names) == 1 else "Some groups have"
        single_value = f"a single value of {doc.listed(names, last='or')}"
        yield doc.bad(
            f"{where} {single_value}. Anyone known to be in {'it' if len(names) == 1 else 'one'} has that value."
        )


def _steps(result: AuditResult) -> Iterator[str]:
    """Yield the next steps, most useful first."""
    if not result.rows:
        yield f"No rows were found. Check the table and the {spelled('where')} condition."
        return
    # a missing role is mended by naming it, and shows in no group
    failed = [check for check in result.required if check.status is Status.FAIL and statement_of(check) is None]
    if failed and all(failing.key is None for failing in result.failing):
        yield (
            f"List the failing groups with {spelled('show_values', True)}, or write them to a file with "
            f"{spelled('failing_classes_to', 'FILE.csv')}. Keep that file as private as the table."
        )
    if failed or (result.classes.min_size or 2) < 2:
        yield (
            f"Try a coarser quasi-identifier before you change the data: {spelled('qi')} takes expressions"
            f"{_instance(result.roles.get('quasi_identifiers') or ())}."
        )
    if any(check.sensitive is not None for check in failed):
        yield "Merge groups whose sensitive values are too alike, or leave their rows out."
    if not result.sensitive:
        yield (
            f"Name the sensitive columns with {about('sensitive')}. Group sizes alone do not show what can be learned "
            "about a person."
        )
    if not result.required:
        yield (
            f"Add requirements, for example {spelled('require', 'k=5')}. `sqlaudit models` lists all models; "
            f"{spelled('preset')} takes published rules."
        )


def _instance(names: Sequence[str]) -> str:
    """Return an example of a coarser expression over the first column whose name suggests one; empty without one."""
    usual = {"birth_date": "year({})", "age": "floor({} / 10)"}
    for name in names:
        concept = concept_of(name) if name.isidentifier() else None
        if concept is not None and concept.name in usual:
            return f", for example {spelled('qi', usual[concept.name].format(name))}"
    return ""


def sampled_paragraph(roles: Mapping[str, Any]) -> Iterator[doc.Block]:
    """Yield how the table is a sample, where that is known."""
    if roles.get("sampling_fraction") is not None:
        yield doc.Paragraph(f"The table is a sample of {doc.percent(roles['sampling_fraction'])} of its population.")
    elif roles.get("population_size") is not None:
        yield doc.Paragraph(f"The table is a sample of a population of {doc.count(roles['population_size'])} people.")
    elif roles.get("weights") is not None:
        yield doc.Paragraph(f"The table is a sample. {roles['weights']} is the number of people that a row represents.")


def population_blocks(result: AuditResult) -> Iterator[doc.Block]:
    """Yield the table of figures of the sample and estimates for the population."""
    yield doc.table(
        ("figure", "#sample", "#population, estimated", "#bias"),
        (row for check in result.checks for row in model_of(check.model).population_rows(check, result.classes)),
        "Sample figures are counts; population figures are estimates. Bias: the estimate as a multiple of the truth, "
        "lowest and highest in tests on known populations.",
    )


def beliefs_blocks(result: AuditResult) -> Iterator[doc.Block]:
    """Yield an attacker's beliefs about the stated person before and after the release, by sensitive attribute."""
    beliefs_by_attribute = {
        check.sensitive: check.details["person"] for check in result.checks if "person" in check.details
    }
    for sensitive, beliefs in beliefs_by_attribute.items():
        yield doc.table(
            (f"value of {sensitive}", "#prior", "#posterior"),
            (
                (
                    value_text(belief["value"]) if "value" in belief else f"value {belief['rank']}",
                    doc.percent(belief["prior"]),
                    "contradicted" if belief["posterior"] is None else doc.percent(belief["posterior"]),
                )
                for belief in beliefs
            ),
            "Belief in each value that people like this one have in the population and in the table. All other values "
            "have a belief of 0 after the release.",
        )
        if not all("value" in belief for belief in beliefs):
            hint = f"{spelled('show_values', True)} names them."
            text = "Values are numbered by frequency in the table, the most frequent first."
            yield doc.Paragraph(doc.Toned(text, hint=hint))


_NULLS = {
    "equal": "equal to each other",
    "distinct": "different from every value and from each other",
    "wildcard": "match every value",
}


def _harbor_blocks(result: AuditResult) -> Iterator[doc.Block]:
    """Yield the findings for each clause of HIPAA's Safe Harbor, by column names and counts."""
    for check in (check for check in result.checks if check.of_columns == SAFE_HARBOR):
        clauses = check.details["clauses"]
        rows = ((clause["clause"], clause["title"], *clause_text(clause).partition(": ")[::2]) for clause in clauses)
        yield doc.table(("clause", "identifier", "verdict", "found"), rows)
        if reviewed := check.details["reviewed"]:
            yield doc.Paragraph(f"Not checked, because you reviewed them: {doc.listed(reviewed, None)}.")
        yield doc.Paragraph("Clause (ii), actual knowledge of the covered entity, cannot be checked in the table.")


class AuditReport(Report[AuditResult]):
    """The report on an audit. It shows the keys of classes where the result holds them, and only there."""

    kind = "Audit"

    def headline(self, result: AuditResult) -> doc.Toned:
        if not result.complete:
            return doc.warning("INCOMPLETE: the audit stopped before all figures were known")
        if not result.rows:
            return doc.warning("UNDETERMINED: the table has no rows")
        if not result.required:
            return doc.Toned("Figures of the table; no requirements were set")
        verdict, known_rows = verdict_of(result.required), _known_rows(result)
        if known_rows is None:
            return verdict
        whose = "one row" if known_rows == KnownRows.ONE else "all rows"
        return replace(verdict, text=f"{verdict.text} (attackers who know {whose} of a person)")

    def key_figures(self, result: AuditResult) -> Iterator[doc.KeyFigure]:
        sizes = result.classes
        if result.rows and sizes.min_size is not None:
            _, unique = sizes.below(2)
            is_accepted = result.required and result.passed  # what no requirement forbids is no bad news
            tone = doc.bad_if(unique and not is_accepted)
            smallest = "Fewest matching rows" if sizes.per_row else "Smallest group"
            yield doc.KeyFigure(_members(sizes.min_size, result), smallest, tone)
            yield doc.KeyFigure(_share_below(sizes, 2), _unique(result).capitalize(), tone)
            if not result.required:
                yield doc.KeyFigure(_share_below(sizes, 5), f"{_units(result).capitalize()} in groups below 5")
        yield from requirements_met(result.required)

    def opening(self, result: AuditResult) -> Iterator[doc.Content]:
        yield _about(result)
        yield from sampled_paragraph(result.roles)
        yield from requirement_lines(result.required, result.rows)

    def lead(self, result: AuditResult) -> Iterator[doc.Words]:
        return _single_values(result)

    def notices(self, result: AuditResult) -> Iterable[doc.Block]:
        return doc.notices_block(result.notices)

    def sections(self, result: AuditResult) -> Iterator[tuple[doc.Section, ...]]:
        yield doc.section(FAILING_GROUPS, *_failing(result))
        risk = "Risk from someone who knows the quasi-identifiers"
        yield doc.section(risk, risk_facts(result), risk_picture(result))
        yield doc.section("HIPAA, Safe Harbor", *_harbor_blocks(result))
        yield doc.section("Sample and population", *population_blocks(result))
        yield doc.section("Beliefs about the stated person", *beliefs_blocks(result))
        of_people = "Sizes count people. A person with rows in several groups counts in each of them."
        is_of_people = unit_of(result) == "person" and result.classes.count
        yield doc.section(GROUP_SIZES, of_people if is_of_people else None, sizes_picture(result), _size_table(result))
        notes = (f"{full_title(check)}: {check.note.rstrip('.')}." for check in result.checks if check.note)
        curves = disclosure_pictures(result.disclosures)
        yield doc.section(ALL_FIGURES, *_figures(result), dict.fromkeys(notes), *curves)
        yield doc.section("Sensitive values in the worst groups", *distribution_blocks(result))
        # no warning repeats what stands under the verdict, or in a check of its own
        stated = {*result.notices, *(warned for warned in result.warnings if warned.code == IDENTIFIER)}
        warnings = (doc.notice(warned, "warn") for warned in result.warnings if warned not in stated)
        yield doc.section(WARNINGS, warnings)
        yield doc.section("Next steps", _steps(result), repeating=True)

    def closing(self, result: AuditResult) -> Iterator[tuple[doc.Section, ...]]:
        roles = result.roles
        how = doc.facts(
            ("table", result.target),
            ("quasi-identifiers", doc.joined(roles.get("quasi_identifiers", ()))),
            ("sensitive columns", doc.joined(roles.get("sensitive", ()))),
            ("direct identifiers", doc.joined(roles.get("identifiers", ()))),
            ("person column", roles.get("entity") or ""),
            ("missing values", _NULLS.get(str(roles.get("nulls", "")), "")),
            ("published rules", published(result.checks)),
            *computed_by(result),
        )
        yield doc.section("How this was computed", how, repeating=True)
        yield doc.section("Limits of this audit", NOT_SAID)
        yield sql_section(result)

    def about(self, result: AuditResult) -> doc.About:
        return doc.About(result.target, result.time, checksum=_checksum(result))


def _known_rows(result: AuditResult) -> str | None:
    """Return how many rows of a person attackers know; None if that is not limited, or makes no difference."""
    return result.roles.get("known_rows") if _people_repeat(result) else None


def _about(result: AuditResult) -> str:
    known, rows = doc.listed(result.roles.get("quasi_identifiers", ())), doc.plural(result.rows, "row")
    if result.classes.per_row:
        return f"{result.target}: {rows}. A missing value matches any value of {known}."
    whose = "people" if unit_of(result) == "person" or _known_rows(result) == KnownRows.ALL else "rows"
    return f"{result.target}: {rows} in {doc.plural(result.classes.count, 'group')} ({whose} with the same {known})."


def _failing(result: AuditResult) -> Iterator[doc.Content]:
    if result.failing:
        listed = sum(failing.classes for failing in result.failing)
        total = max(result.failing_total or 0, listed)
        hidden = all(failing.key is None for failing in result.failing)
        keys = f"{spelled('show_values', True)} lists the groups with their values." if hidden else ""
        yield doc.Toned(_number_failing(result, total, listed), hint=keys)
        yield failing_table(result)
    yield [f"Not listed: {sentence}" for sentence in result.failing_unnamed]


def _number_failing(result: AuditResult, total: int, listed: int) -> str:
    """Return how many groups fail, and how many are listed. With several sensitive columns a group may be listed
    again."""
    if len(result.sensitive) < 2 or result.roles.get("joint"):
        by_size = all(failing.key is None for failing in result.failing)
        listing = "The smallest is" if listed == 1 else f"The {doc.count(listed)} smallest are"
        few = f" {listing} {'summarized by size' if by_size else 'listed'}." if listed < total else ""
        return f"{doc.plural(total, 'group')} {'fails' if total == 1 else 'fail'}.{few}"
    most = max(check.failing_classes or 0 for check in result.required if check.status is not Status.PASS)
    fail = doc.out_of(most, result.classes.count, "group") + (" fails" if most == 1 else " fail")
    few = f"the {doc.count(listed)} smallest of " if listed < total else ""
    least = "" if most == result.classes.count else "At least "
    return f"{least}{fail}. Groups are listed once for each sensitive column: {few}{doc.count(total)}."


def _figures(result: AuditResult) -> Iterator[doc.Table]:
    """Yield a table of the checks of quasi-identifiers, then one for each sensitive attribute."""
    subjects = dict.fromkeys(check.sensitive for check in result.checks)
    for subject in sorted(subjects, key=lambda name: name is not None):
        checks = [check for check in result.checks if check.sensitive == subject]
        rows: list[tuple[doc.Words, ...]] = []
        for check in checks:
            verdict = (limit_text(check), VERDICTS[check.status], short_cell(check, result.rows))
            rows.append((full_title(check), level_text(check), *verdict))
            rows += [(f"… {name}", level, "", "", "") for name, level in other_levels(check).items()]
        has_verdicts = any(check.status is not None for check in checks)
        verdicts = ("#limit", "verdict", "#failing rows") if has_verdicts else (None, None, None)
        yield doc.table(
            ("model", "#level", *verdicts), rows, f"Sensitive column {subject}:" if subject is not None else ""
        )


def _checksum(result: AuditResult) -> str:
    """Return a hash of group sizes, levels and verdicts, the same on every engine for the same figures."""
    levels = [
        (check.text, check.model, check.sensitive, doc.figure(check.level, 10), check.status) for check in result.checks
    ]
    sizes = [(int(size), int(classes)) for size, classes in result.classes.sizes]
    content = repr((int(result.rows), sizes, [[str(part) for part in level] for level in levels]))
    return hashlib.sha256(content.encode()).hexdigest()[:16]
