"""The report of an audit: the verdict first, what stands out and what to do next, what the audit does not say last."""

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
from sqlaudit.models.base import WORST_FIRST, Check
from sqlaudit.models.phrases import (
    IDENTIFIER,
    VERDICTS,
    full_title,
    level_text,
    limit_text,
    other_levels,
    required_sentence,
    short_cell,
    statement_of,
    verdict_of,
)
from sqlaudit.profiles.names import concept_of
from sqlaudit.reports import document as doc
from sqlaudit.reports.stored import made, sql_section
from sqlaudit.reports.text import KNOWLEDGE

if TYPE_CHECKING:
    from sqlaudit.audits.classes import ClassDistribution, SharedValue
    from sqlaudit.audits.disclosure.attribute import Disclosure


# What a report says and draws of the equivalence classes: their sizes, the few that fall short, their values.

_BANDS = ((1, 1), (2, 2), (3, 4), (5, 10), (11, 19), (20, 99), (100, None))
"""Bounds that rules and practice draw: 1 is unique, 5 and 11 are usual minimum cell sizes, 20 a cautious one."""
_LONGEST = 60
_FIGURES = {
    "distinct_values": "different values {}",
    "largest": "most frequent value {} times",
    "disclosure": "disclosure {}",
    "people_in_population": "people in the population {}",
    "share_of_population": "share of the population {}",
    "highest_belief": "highest belief {}",
    "lowest_belief": "lowest belief {}",
    "psi_lowest": "lowest ψ {}",
    "psi_highest": "highest ψ {}",
    "dont_care_share": "share of the don't-care set {}",
    "largest_category_share": "share of the largest category {}",
}
"""How figures of a class are said."""


def unit_of(result: AuditResult) -> str:
    """What sizes count: persons when there is an entity column, rows otherwise."""
    return "person" if result.roles.get("entity") else "row"


def risk_facts(result: AuditResult) -> doc.Facts | None:
    """The risk of being picked out by somebody who knows that a person is in the table (prosecutor), in words."""
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
        ("alone in their class", _share_below(sizes, 2)),
        ("in classes below 5", _share_below(sizes, 5)),
        ("in classes below 11", _share_below(sizes, 11)),
    )


def size_table(sizes: ClassSizes, unit: str) -> doc.Table:
    """How many classes and rows there are of which size; empty bands are left out."""
    heads = ("class size", "#classes", f"#{unit}s", f"#share of {unit}s")
    of_rows = ("rows that match", None, "#for rows", "#share of rows")
    rows = (
        (band.name, doc.count(band.classes), doc.count(band.members), doc.part(band.members, sizes.members))
        for band in size_bands(sizes)
    )
    return doc.table(of_rows if sizes.per_row else heads, rows)


def failing_table(result: AuditResult) -> doc.Table:
    """The failing classes that were read: one a line with their keys, where the result holds them, else alike ones
    in one line."""
    keyed = any(failing.key is not None for failing in result.failing)
    alike = Counter[tuple[str, ...]]()
    for failing in result.failing:
        said = [
            _FIGURES[name].format(doc.figure(value))
            if name in _FIGURES
            else f"{name.replace('_', ' ')} {doc.figure(value)}"
            for name, value in failing.figures.items()
            if value is not None
        ]
        key = key_text(failing.key) if keyed else ""
        sizes = (doc.count(failing.size) if unit_of(result) == "person" else "", doc.count(failing.rows))
        fails = (", ".join(failing.fails), failing.sensitive or "" if len(result.sensitive) > 1 else "")
        alike[*sizes, *fails, ", ".join(said), key] += failing.classes
    heads = (
        None if keyed else "#classes",
        "#persons" if unit_of(result) == "person" else None,
        "#rows" if keyed else "#rows each",
        "falls short of",
        "sensitive column" if len(result.sensitive) > 1 else None,
        "figures" if any(failing.figures for failing in result.failing) else None,
        "class" if keyed else None,
    )
    return doc.table(heads, ((doc.count(classes), *cells) for cells, classes in alike.items()))


def key_text(key: Mapping[str, Any] | None) -> str:
    """A class key as `age 34, sex Male`; missing values are said to be missing, long ones are cut."""
    return ", ".join(f"{name} {value_text(value)}" for name, value in (key or {}).items())


def _share_below(sizes: ClassSizes, k: int) -> str:
    _, rows = sizes.below(k)
    return f"{doc.count(rows)} ({doc.part(rows, sizes.members)})"


@dataclass(frozen=True)
class Band:
    """The classes whose sizes lie between two bounds, both included: how many, and their rows or persons."""

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
    """The bands that hold any class, for the table and the picture beside it."""
    for low, high in _BANDS:
        inside = [(s, n) for s, n in sizes.sizes if s >= low and (high is None or s <= high)]
        if inside:
            classes = sum(n for _, n in inside)
            yield Band(low, high, classes, classes if sizes.per_row else sum(s * n for s, n in inside))


def value_text(value: Any) -> str:
    """A value for people: missing ones are said to be missing, the empty text is two quotes, long ones are cut."""
    if value is None:
        return "(missing)"
    text = str(value)
    return '""' if not text else text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


_WHOLE = "whole table"
_FAILING = "failing"
_MOST_DRAWN = 3


def distribution_blocks(result: AuditResult) -> Iterator[doc.Block]:
    """How the values of every sensitive attribute are spread in its worst classes, beside the whole table.

    Values are named where the result holds them, else by their rank.
    """
    unit = unit_of(result)
    for worst in result.worst_classes:
        which = f"The classes of at least two {unit}s in which {worst.sensitive} is least diverse"
        if worst.basis == _FAILING:
            which = f"Classes that fall short of a requirement on {worst.sensitive}, the largest first"
        said = f"{which}: how often each value occurs in them and in the whole table."
        said += " A person counts once for each value." if unit == "person" else ""
        hint = ""
        if not any(value.shown for value in worst.values):
            said += " Values are numbered from the most frequent one of the table on."
            hint = f"{spelled('show_values', True)} names the values in the worst classes."
        yield doc.Paragraph(doc.Toned(said, hint=hint))
        titles: list[str] = []  # no two alike
        for found in worst.classes:
            title = key_text(found.key) if found.key is not None else _sized(result, found)
            alike = sum(other == title or other.startswith(f"{title}, no. ") for other in titles)
            titles.append(f"{title}, no. {alike + 1}" if alike else title)
        names = [_name(value) for value in worst.values]
        columns = [[value.share for value in worst.values], *(found.shares for found in worst.classes)]
        drawn = dict(zip((_WHOLE, *titles[:_MOST_DRAWN]), columns, strict=False))
        yield doc.Picture(
            "bars",
            f"How often each value of {worst.sensitive} occurs in the whole table and in its worst classes",
            {
                "names": names,
                "series": {title: [float(share) for share in shares] for title, shares in drawn.items()},
                "share": True,
                "x": "share",
            },
        )
        rows = ((name, *(doc.percent(shares[place]) for shares in columns)) for place, name in enumerate(names))
        yield doc.table(("value", *(doc.Column(title, True) for title in (_WHOLE, *titles))), rows)


def _sized(result: AuditResult, found: ClassDistribution) -> str:
    members = doc.plural(found.size, unit_of(result))
    if result.classes.per_row:
        return f"{members} that match" + (f" (of {doc.count(found.classes)} rows)" if found.classes > 1 else "")
    return f"class of {members}" if found.classes == 1 else f"{doc.count(found.classes)} classes of {members}"


def _name(value: SharedValue) -> str:
    if value.rank is None:
        return doc.plural(value.values, "other value")
    return value_text(value.value) if value.shown else f"value {value.rank}"


_MOST_POINTS = 400


def sizes_picture(result: AuditResult) -> doc.Picture | None:
    """Rows (or persons) by the size of their class, in the bands of the table beside it."""
    bands = list(size_bands(result.classes))
    if not bands:
        return None
    unit = unit_of(result)
    required = [check.required for check in result.required if check.model == "k_anonymity" and check.required]
    k = max(required, default=0)
    split = any(band.low < k and (band.high is None or band.high >= k) for band in bands)
    return doc.Picture(
        "sizes",
        f"How many {unit}s lie in classes of which size"
        + (f"; red: below {doc.figure(k)}{', or some of them' if split else ''}" if required else ""),
        {
            "labels": [band.name for band in bands],
            "from": [band.low for band in bands],
            "to": [band.high for band in bands],
            "values": [band.members for band in bands],
            "safe": math.ceil(k),
            "x": "class size",
            "y": f"{unit}s",
        },
    )


def risk_picture(result: AuditResult) -> doc.Picture | None:
    """The share of rows whose class has at most so many: their risk is at least 1 in that many."""
    sizes, unit = result.classes, unit_of(result)
    rows = [(classes if sizes.per_row else size * classes) for size, classes in sizes.sizes]
    points = [
        [float(size), total / sizes.members] for (size, _), total in zip(sizes.sizes, accumulate(rows), strict=True)
    ]
    if len(points) < 2:
        return None
    step = -(-len(points) // _MOST_POINTS)
    points = points if step == 1 else [*points[:-1:step], points[-1]]
    logarithmic = points[-1][0] > 20
    return doc.Picture(
        "curves",
        f"Share of {unit}s in classes of at most that size: each of them is picked out with at least 1 in that size",
        {
            "curves": {f"{unit}s": points},
            "steps": True,
            "log_x": logarithmic,
            "x": "class size" + (", on a logarithmic scale" if logarithmic else ""),
            "y": f"share of {unit}s",
        },
    )


def disclosure_pictures(disclosures: Iterable[Disclosure], threshold: Fraction | None = None) -> Iterator[doc.Picture]:
    """What k pieces of knowledge can reveal, for both attackers, beside the threshold if there is one."""
    for disclosure in disclosures:
        if len(disclosure.points) > 1:
            limit = {} if threshold is None else {"limit": float(threshold), "limit_name": "threshold"}
            yield doc.Picture(
                "curves",
                f"What k pieces of knowledge can reveal about {disclosure.sensitive}",
                {
                    "curves": {
                        "any basic implications": [[point.k, float(point.maximum)] for point in disclosure.points],
                        "negated atoms only": [[point.k, float(point.negated)] for point in disclosure.points],
                    },
                    "x": KNOWLEDGE,
                    "y": "maximum disclosure",
                    **limit,
                },
            )


def standing_out(result: AuditResult) -> tuple[doc.Toned, ...]:
    """The worst facts in words, worst first."""
    return tuple(_worst(result)) if result.rows else ()


def _worst(result: AuditResult) -> Iterator[doc.Toned]:
    unit, sizes = unit_of(result), result.classes
    known = doc.listing(result.roles.get("quasi_identifiers", ())) or "quasi-identifiers"
    _, alone = sizes.below(2)
    if alone:
        verb = "is" if alone == 1 else "are"
        said = (
            f"{doc.plural(alone, unit)} ({doc.part(alone, sizes.members)}) {verb} alone: nobody else has the "
            f"same {known}."
        )
        yield doc.Toned(said, "bad")
    elif sizes.min_size is not None and sizes.per_row:
        yield doc.Toned(
            f"Nobody is alone: every row matches at least {doc.plural(sizes.min_size, unit)}, itself included."
        )
    elif sizes.min_size is not None:
        few, least = sizes.sizes[0][1], doc.plural(sizes.min_size, unit)
        which = f"smallest class has {least}" if few == 1 else f"{doc.count(few)} smallest classes have {least} each"
        yield doc.Toned(f"Nobody is alone. The {which}.")
    names = [
        check.sensitive
        for check in result.checks
        if check.model == "distinct_l_diversity" and check.level == 1 and check.sensitive is not None
    ]
    if names and sizes.count > 1:
        yield doc.Toned(
            f"At least one class holds a single value of {doc.listing(names)}: who finds a person there "
            "learns it, however "
            "large the class is.",
            "bad",
        )


def _steps(result: AuditResult) -> Iterator[str]:
    """What a reader can do about it, most useful first."""
    if not result.rows:
        yield f"Check the target and the {spelled('where')} condition: no row was found, so nothing was measured."
        return
    # a missing role is mended by naming it, and shows in no class
    failed = [check for check in result.required if check.status is Status.FAIL and statement_of(check) is None]
    if failed and all(failing.key is None for failing in result.failing):
        yield (
            f"See which classes fall short with {spelled('show_values', True)}, or write all of them to a file with "
            f"{spelled('failing_classes_to', 'FILE.csv')} (keep that file as private as the table)."
        )
    if failed or (result.classes.min_size or 2) < 2:
        yield (
            f"Coarsen a quasi-identifier and audit again before you change the data: {spelled('qi')} takes "
            f"expressions{_instance(result.roles.get('quasi_identifiers') or ())}."
        )
    if any(check.sensitive is not None for check in failed):
        yield "Classes whose sensitive values are too alike get better when they are merged, or when rows are left out."
    if not result.sensitive:
        yield (
            f"Name the sensitive columns with {about('sensitive')}: class sizes do not say what is learned "
            "about a person."
        )
    if not result.required:
        yield (
            f"State what must hold, for instance {spelled('require', 'k=5')}; `sqlaudit models` lists every "
            f"model, and {spelled('preset')} takes "
            "published rules."
        )


def _instance(names: Sequence[str]) -> str:
    """An expression over a column that the table has, where a usual one fits its name."""
    usual = {"birth_date": "year({})", "age": "floor({} / 10)"}
    for name in names:
        concept = concept_of(name) if name.isidentifier() else None
        if concept is not None and concept.name in usual:
            return f", for instance {spelled('qi', usual[concept.name].format(name))}"
    return ""


_ESTIMATED = ("population_uniqueness", "population_k", "expected_reidentifications")


def sampled_paragraph(roles: Mapping[str, Any]) -> Iterator[doc.Block]:
    """How the table is a sample, where that was said."""
    if roles.get("sampling_fraction") is not None:
        yield doc.Paragraph(f"The table is a sample of {doc.percent(roles['sampling_fraction'])} of its population.")
    elif roles.get("population_size") is not None:
        yield doc.Paragraph(f"The table is a sample of a population of {doc.count(roles['population_size'])} people.")
    elif roles.get("weights") is not None:
        yield doc.Paragraph(f"The table is a sample: {roles['weights']} says how many people a row stands for.")


def population_blocks(result: AuditResult) -> Iterator[doc.Block]:
    """A table with a column for the sample and one for the population, which is estimated."""
    yield doc.table(
        ("figure", "#sample", "#population, estimated", "#bias"),
        (row for check in result.checks if check.model in _ESTIMATED for row in _estimated_rows(check, result)),
        "Counted in the sample, and estimated for the population: two answers to two questions. Bias: the lowest and "
        "the highest multiple of the truth that such estimates were in tests on known populations.",
    )


def beliefs_blocks(result: AuditResult) -> Iterator[doc.Block]:
    """What an attacker believes of the stated person before and after the release, for each sensitive attribute."""
    told = {check.sensitive: check.details["person"] for check in result.checks if "person" in check.details}
    for sensitive, beliefs in told.items():
        yield doc.table(
            (f"value of {sensitive}", "#prior", "#posterior"),
            (
                (
                    value_text(one["value"]) if "value" in one else f"value {one['rank']}",
                    doc.percent(one["prior"]),
                    "contradicted" if one["posterior"] is None else doc.percent(one["posterior"]),
                )
                for one in beliefs
            ),
            "The belief in each value that the population and the table know of people like this one; in every other "
            "it is 0 after the release.",
        )
        if not all("value" in one for one in beliefs):
            hint = f"{spelled('show_values', True)} names them."
            yield doc.Paragraph(doc.Toned("Values are numbered from the most frequent one of the table on.", hint=hint))


def _times(bias: Mapping[str, Any]) -> str:
    return f"{bias['lowest']:g} to {bias['highest']:g} ×" if bias else ""


_NULLS = {
    "equal": "missing quasi-identifiers are equal to each other",
    "distinct": "a missing quasi-identifier equals nothing, not even another one",
    "wildcard": "a missing quasi-identifier matches every value",
}


def audit_document(result: AuditResult) -> doc.Document:
    """The result of an audit as a document for any layout.

    Args:
        result: what the audit found; the keys of classes are shown where it holds them, and only there.
    """
    ranked = sorted(result.required, key=lambda check: WORST_FIRST.index(check.status))
    verdicts = [required_sentence(check, result.classes.count, result.rows) for check in ranked]
    # what stands under the verdict, or in a check of its own, is no warning again
    said = {*result.notices, *(one for one in result.warnings if one.code == IDENTIFIER)}
    warnings = [doc.notice(warned, "warn") for warned in result.warnings if warned not in said]
    notes = (f"{full_title(check)}: {check.note.rstrip('.')}." for check in result.checks if check.note)
    roles = result.roles
    how = doc.facts(
        ("table", result.target),
        ("quasi-identifiers", ", ".join(roles.get("quasi_identifiers", ()))),
        ("sensitive columns", ", ".join(roles.get("sensitive", ()))),
        ("direct identifiers", ", ".join(roles.get("identifiers", ()))),
        ("person column", roles.get("entity") or ""),
        ("missing values", _NULLS.get(str(roles.get("nulls", "")), "")),
        *made(result),
    )
    document = doc.report_on(
        result,
        headline(result),
        (
            _about(result),
            *sampled_paragraph(roles),
            *([doc.Bullets(tuple(verdicts))] if verdicts else []),
            *doc.notices_block(result.notices),
        ),
        doc.section("What stands out", doc.Bullets(standing_out(result))),
        doc.section("Classes that fall short", *_failing(result)),
        doc.section(
            "Risk of being picked out by someone who knows the quasi-identifiers",
            risk_facts(result),
            risk_picture(result),
        ),
        doc.section("Sample and population", *population_blocks(result)),
        doc.section("Beliefs about the stated person", *beliefs_blocks(result)),
        doc.section(
            "How large the classes are",
            doc.Paragraph("Sizes count persons. A person with rows in several classes counts in each of them.")
            if unit_of(result) == "person" and result.classes.count
            else None,
            sizes_picture(result),
            size_table(result.classes, unit_of(result)),
        ),
        doc.section(
            "All figures",
            *_figures(result),
            doc.Bullets(tuple(dict.fromkeys(notes))),
            *disclosure_pictures(result.disclosures),
        ),
        doc.section("Sensitive values in the worst classes", *distribution_blocks(result)),
        doc.section("Warnings", doc.Bullets(tuple(warnings))),
        doc.section("What to look at next", doc.Bullets(tuple(_steps(result))), repeating=True),
        doc.section("How this was computed", how, repeating=True),
        doc.section("What this audit does not say", doc.Bullets(NOT_SAID)),
        sql_section(result),
    )
    about = replace(document.about, checksum=_checksum(result))
    return replace(document, worst=standing_out(result), about=about)


def headline(result: AuditResult) -> doc.Toned:
    """The verdict on the whole table in a few words, with whom it is about."""
    if not result.complete:
        return doc.Toned("INCOMPLETE: the audit was stopped before every figure was known", "warn")
    if not result.rows:
        return doc.Toned("UNDETERMINED: there is no row to audit", "warn")
    if not result.required:
        return doc.Toned("No verdict was asked for: these are the figures of the table")
    verdict, known = verdict_of(result.required), _known_rows(result)
    if known is None:
        return verdict
    whose = "one row" if known == KnownRows.ONE else "all rows"
    return replace(verdict, text=f"{verdict.text}, for somebody who knows {whose} of a person")


def _known_rows(result: AuditResult) -> str | None:
    """How many rows of a person are known, where somebody narrowed that and it makes a difference."""
    several = any(warned.code == "several_combinations" for warned in result.warnings)
    return result.roles.get("known_rows") if several else None


def _about(result: AuditResult) -> doc.Paragraph:
    known, rows = doc.listing(result.roles.get("quasi_identifiers", ())), doc.plural(result.rows, "row")
    if result.classes.per_row:
        return doc.Paragraph(f"{result.target}: {rows}; a missing value matches any value of {known}.")
    classes = doc.plural(result.classes.count, "equivalence class", "equivalence classes")
    whose = "persons with equal" if _known_rows(result) == KnownRows.ALL else "equal"
    return doc.Paragraph(f"{result.target}: {rows} in {classes} of {whose} {known}.")


def _failing(result: AuditResult) -> Iterator[doc.Block]:
    if result.failing:
        told = sum(failing.classes for failing in result.failing)
        total = max(result.failing_total or 0, told)
        which = "all of them are" if total > 1 else "it is"
        shown = which if total == told else f"the {doc.count(told)} smallest {'is' if told == 1 else 'are'}"
        short = f"{doc.plural(total, 'class falls', 'classes fall')} short"
        hidden = all(failing.key is None for failing in result.failing)
        keys = f"Their values are hidden; {spelled('show_values', True)} shows them." if hidden else ""
        several = len({failing.sensitive for failing in result.failing}) > 1 and not result.roles.get("joint")
        again = " A class counts for each column that it falls short for." if several else ""
        yield doc.Paragraph(doc.Toned(f"{short}; {shown} listed.{again}", hint=keys))
        yield failing_table(result)
    yield doc.Bullets(tuple(f"Not listed: {sentence}" for sentence in result.failing_unnamed))


def _figures(result: AuditResult) -> Iterator[doc.Table]:
    """One table of the checks that concern the whole record, then one for each sensitive attribute."""
    subjects = dict.fromkeys(check.sensitive for check in result.checks)
    for subject in sorted(subjects, key=lambda name: name is not None):
        checks = [check for check in result.checks if check.sensitive == subject]
        rows: list[tuple[doc.Words, ...]] = []
        for check in checks:
            verdict = (limit_text(check), VERDICTS[check.status], short_cell(check, result.rows))
            rows.append((full_title(check), level_text(check), *verdict))
            rows += [(f"… {name}", level, "", "", "") for name, level in other_levels(check).items()]
        judged = any(check.status is not None for check in checks)
        verdicts = ("#limit", "verdict", "#rows that fall short") if judged else (None, None, None)
        yield doc.table(
            ("model", "#level", *verdicts), rows, f"Sensitive column {subject}:" if subject is not None else ""
        )


def _estimated_rows(check: Check, result: AuditResult) -> Iterator[tuple[str, str, str, str]]:
    sizes, levels, bias = result.classes, check.levels, check.details.get("bias", {})
    if check.model == "population_uniqueness":
        alone, _ = sizes.below(2)
        of_sample = f"{doc.count(alone)} ({doc.part(alone, sizes.members)})"
        share, people = levels.get("share"), levels.get("unique_people")
        name = f"unique people (estimator: {check.details.get('estimator', check.parameters.get('estimator'))})"
        told = "no estimate" if share is None else f"{doc.count(round(people or 0))} ({doc.percent(share)})"
        yield name, of_sample, told, _times(bias)
        if (bound := levels.get("upper_bound")) is not None:
            yield "unique people at most (95% confidence)", "", doc.percent(bound), ""
    elif check.model == "population_k":
        people = levels.get("people")
        yield (
            "smallest class",
            doc.count(sizes.min_size or 0),
            "–" if people is None else f"at least {doc.figure(people)}",
            "",
        )
    elif levels.get("number") is not None:
        yield (
            "people re-identified, knowing who is in the sample (prosecutor)",
            doc.figure(levels["prosecutor"]),
            "–",
            "",
        )
        for name, how in (("journalist", "one row after the other"), ("marketer", "all rows at once")):
            yield f"people re-identified, {how} ({name})", "–", doc.figure(levels[name]), _times(bias[name])


def _checksum(result: AuditResult) -> str:
    """The same for the same figures on every engine: sizes of classes, levels and verdicts."""
    levels = [
        (check.text, check.model, check.sensitive, doc.figure(check.level, 10), check.status) for check in result.checks
    ]
    sizes = [(int(size), int(classes)) for size, classes in result.classes.sizes]
    said = repr((int(result.rows), sizes, [[str(part) for part in level] for level in levels]))
    return hashlib.sha256(said.encode()).hexdigest()[:16]
