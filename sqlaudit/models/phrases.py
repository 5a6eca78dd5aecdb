"""Checks in words, the checks of what no model sees, and the list of models with the page of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.result import Status, Warned
from sqlaudit.base.spec import KnownRows
from sqlaudit.models.base import COLUMNS_NAMED, IDENTIFIER, SAFE_HARBOR, WORST_FIRST, Check
from sqlaudit.reports import document as doc

# The checks of what no privacy model sees: direct identifiers in the table, and columns without a role.

ALL_NAMED = "all_columns_named"
"""The requirement as a policy calls it."""


def no_identifier(column: str) -> str:
    """The requirement that a direct identifier is not in the table, as reports call it."""
    return f"no direct identifier {column}"


def with_accepted(identifiers: Sequence[str], accepted: Sequence[str]) -> tuple[str, ...]:
    """The direct identifiers, those among them that are accepted included.

    Example:
        >>> with_accepted(["mail"], ["id", "mail"])
        ('mail', 'id')
    """
    return (*identifiers, *(name for name in accepted if name not in identifiers))


def identifier_checks(identifiers: Sequence[str], accepted: Sequence[str], rows: int | None) -> tuple[Check, ...]:
    """One check a direct identifier that the table has: it fails unless it was accepted by its name.

    It fails for every row; `rows` is None when no one counted them.

    Example:
        >>> [(one.parameters["column"], one.status.value) for one in identifier_checks(["mail", "id"], ["id"], 7)]
        [('mail', 'fail'), ('id', 'pass')]
    """
    checks = []
    for name in identifiers:
        is_accepted = name in accepted
        parameters_and_details = ({"column": name}, {"accepted": is_accepted})
        checks.append(
            _columns_check(IDENTIFIER, no_identifier(name), int(not is_accepted), rows, *parameters_and_details)
        )
    return tuple(checks)


def columns_check(warnings: Iterable[Warned], rows: int | None) -> Check:
    """Return the check that every column has a role, by the warnings of an audit.

    Example:
        >>> warned = [Warned("columns_without_role", ("bmi",), ""), Warned("unreadable_columns", ("name",), "")]
        >>> [columns_check(some, 7).status.value for some in (warned, warned[1:], [])]
        ['fail', 'undetermined', 'pass']
    """
    bare, unread = (
        [name for warning in warnings if warning.code == code for name in warning.columns]
        for code in ("columns_without_role", "unreadable_columns")
    )
    check = _columns_check(COLUMNS_NAMED, ALL_NAMED, len(bare), rows, {}, {"columns": bare})
    if bare or not unread:
        return check
    note = f"This database role cannot read {doc.listed(unread)}. Use a role that can, or after a review "
    return replace(check, status=Status.UNDETERMINED, note=f"{note}{spelled('insensitive', *unread)}.")


def _columns_check(
    name: str,
    text: str,
    columns: int,
    rows: int | None,
    parameters: Mapping[str, object],
    details: Mapping[str, object],
) -> Check:
    """The check that no column is at fault; where some are, it fails for every row."""
    short = rows if columns else 0
    return Check(
        model=name,
        sensitive=None,
        parameters=parameters,
        level=columns,
        levels={"columns": columns},
        operator="<=",
        required=0,
        status=Status.FAIL if columns else Status.PASS,
        failing_rows=short,
        failing_share=_share(short, rows),
        text=text,
        details=details,
    )


def _share(short: int | None, rows: int | None) -> float | None:
    return short / rows if rows and short is not None else None


# Checks in words.

WORDS = {">=": "at least", "<=": "at most", "<": "below", ">": "above"}
_SIGNS = {">=": "≥", "<=": "≤"}
_TITLES = {
    "k_anonymity": "k-anonymity",
    "alpha_k_anonymity": "(α,k)-anonymity",
    "basic_beta_likeness": "Basic β-likeness",
    "enhanced_beta_likeness": "Enhanced β-likeness",
    "delta_disclosure": "δ-disclosure privacy",
}
_OTHERS = {"delta_present": "values present only", "negated": "negated atoms only"}
VERDICTS: dict[Status | None, doc.Toned] = {
    Status.PASS: doc.good("passes"),
    Status.FAIL: doc.bad("FAILS"),
    Status.WARN: doc.warning("warning"),
    Status.UNDETERMINED: doc.warning("undetermined"),
    None: doc.Toned("–", "quiet"),
}


def title_of(check: Check) -> str:
    """The model's name for people."""
    words = check.model.replace("_l_diversity", " l-diversity").replace("t_closeness", "t-closeness").replace("_", " ")
    return doc.label(check.title or _TITLES.get(check.model, words))


def full_title(check: Check) -> str:
    """The model's name with its parameters: `Recursive (c,l)-diversity (c = 3, l = 2)`."""
    title, text = title_of(check), parameters(check.parameters)
    if text and title.endswith(")"):  # one pair of brackets is enough
        return f"{title[:-1]}, {text})"
    return title + (f" ({text})" if text else "")


def parameters(values: Mapping[str, object]) -> str:
    """Parameters as `c = 3, l = 2`."""
    return ", ".join(f"{name} = {parameter(value)}" for name, value in values.items() if value is not None)


def parameter(value: Any) -> str:
    """One parameter: numbers exactly, everything else as its text."""
    return str(value) if isinstance(value, str | bool | Sequence | Mapping) else doc.limit(value)


def level_text(check: Check) -> str:
    """The level with as many digits as the limit beside it asks for."""
    if check.model == IDENTIFIER:
        return "present"
    holds = None if check.status is None else check.status is Status.PASS
    return doc.level_against(check.level, check.required, check.operator, holds)


def limit_text(check: Check) -> str:
    """The limit as a table has it: `≥ 5`, empty when nothing was required."""
    if check.required is None:
        return ""
    if check.model == IDENTIFIER:
        return "accepted" if check.details.get("accepted") else "absent"
    return f"{_SIGNS.get(check.operator, check.operator)} {doc.limit(check.required)}".strip()


def other_levels(check: Check) -> dict[str, str]:
    """The figures beside the main one, by name, without those that stand elsewhere."""
    elsewhere = {next(iter(check.levels), ""), "k", *check.parameters}
    named = (
        (_OTHERS.get(name) or name.replace("_", " "), value)
        for name, value in check.levels.items()
        if name not in elsewhere
    )
    others = {name: doc.figure(value) for name, value in named}
    if check.known_rows is None:
        return others
    one_row, all_rows = check.known_rows.one.level, check.known_rows.all.level
    return others | {"one row known": doc.figure(one_row), "all rows known": doc.figure(all_rows)}


def by_requirement(checks: Iterable[Check]) -> list[list[Check]]:
    """The checks of each requirement, the worst first: one that was checked on several columns is one requirement."""
    grouped: dict[str, list[Check]] = {}
    for check in checks:
        grouped.setdefault(check.text or full_title(check), []).append(check)
    return sorted(
        (sorted(several, key=_worst_first) for several in grouped.values()), key=lambda group: _rank(group[0])
    )


def _rank(check: Check) -> int:
    return WORST_FIRST.index(check.status)


def _worst_first(check: Check) -> tuple[int, int]:
    return _rank(check), -(check.failing_rows or 0)


def verdict_of(checks: Iterable[Check]) -> doc.Toned:
    """The verdict on all of these requirements in a few words."""
    grouped = by_requirement(checks)
    number = len(grouped)
    for status, word, verb in (
        (Status.FAIL, "FAIL", "{} not met"),
        (Status.UNDETERMINED, "UNDETERMINED", "cannot be decided"),
        (Status.WARN, "WARNING", "{} not met (only a warning was required)"),
    ):
        if count := sum(several[0].status is status for several in grouped):
            text = f"{word}: {_how_many(verb, count, number)}"
            return doc.Toned(text, "bad" if status is Status.FAIL else "warn")
    if number == 1:
        return doc.good("PASS: the requirement is met")
    return doc.good(f"PASS: {'both' if number == 2 else f'all {number}'} requirements are met")


def _how_many(verb: str, count: int, number: int) -> str:
    """Return a sentence on how many of the requirements have a verdict.

    Example:
        >>> _how_many("{} not met", 1, 1), _how_many("{} not met", 2, 2), _how_many("{} not met", 3, 3)
        ('the requirement is not met', 'neither requirement is met', 'none of the 3 requirements is met')
    """
    if count == number > 1 and verb.startswith("{} not "):
        subject = "neither requirement" if number == 2 else f"none of the {number} requirements"
        return f"{subject} {verb.format('is').replace(' not', '', 1)}"
    subject = "the requirement" if number == 1 else f"{count} of {number} requirements"
    return f"{subject} {verb.format('is' if count == 1 else 'are')}"


def requirements_met(checks: Iterable[Check]) -> Iterator[doc.KeyFigure]:
    """Yield how many requirements are met, as a large figure; nothing when none was asked for."""
    if grouped := by_requirement(checks):
        met = sum(several[0].status is Status.PASS for several in grouped)
        tone: doc.Tone = "good" if met == len(grouped) else "bad" if grouped[0][0].status is Status.FAIL else "warn"
        yield doc.KeyFigure(f"{met} of {len(grouped)}", "Requirements met", tone)


def requirement_lines(checks: Iterable[Check], rows: int = 0) -> tuple[doc.Block, ...]:
    """A line for each requirement with its figure, its limit and what fails, then why any cannot be decided."""
    grouped = by_requirement(checks)
    if not grouped:
        return ()
    undecided = (check for several in grouped for check in several if check.status is Status.UNDETERMINED)
    reasons = tuple(doc.warning(f"{_named(check)}: {check.note.rstrip('.')}.") for check in undecided if check.note)
    return doc.lines(_line_of(several, rows) for several in grouped), doc.Bullets(reasons)


def _named(check: Check) -> str:
    return full_title(check) + (f" of {check.sensitive}" if check.sensitive is not None else "")


def _line_of(several: list[Check], rows: int) -> doc.Line:
    """The line of a requirement: the figures of the column on which it does worst."""
    check, number = several[0], len(several)
    verdict = VERDICTS[check.status]
    if check.model == IDENTIFIER:
        accepted = check.details.get("accepted")
        name = f"No direct identifier {check.parameters['column']}"
        return doc.Line(verdict, name, "present", "accepted by name" if accepted else "absent")
    if check.model == COLUMNS_NAMED:
        names = doc.listed(check.details.get("columns", ()))
        return doc.Line(verdict, "Columns without a role", check.level, "none", names)
    if check.model == SAFE_HARBOR:
        clauses = check.details["clauses"]
        return doc.Line(verdict, title_of(check), f"{check.level} of {len(clauses)} identifiers", "none", _found(check))
    failing = sum(other.status is Status.FAIL for other in several)
    many = f"{failing} of {number} columns fail" if failing > 1 else f"worst of {number} columns"
    of = f" ({many})" if number > 1 else ""
    limit = f"{WORDS.get(check.operator, check.operator)} {doc.limit(check.required)}".strip()
    short = "" if check.status is Status.PASS else f"{what_fails(check, rows)} {by_known_rows(check)}".strip()
    return doc.Line(verdict, _named(check) + of, level_text(check), "" if check.required is None else limit, short)


def statement_of(check: Check) -> str | None:
    """The sentence of a check that is about columns and not about a figure; None for the checks of models."""
    if check.model == IDENTIFIER:
        finding = f"{check.parameters['column']} is a direct identifier"
        accepted = check.details.get("accepted")
        return (
            f"{finding}, accepted by its name." if accepted else f"{finding}. Leave it out, or add an exception for it."
        )
    if check.model == COLUMNS_NAMED:
        names = check.details.get("columns", ())
        verb = "column has" if len(names) == 1 else "columns have"
        all_named = "Every column that can be read has a role." if check.note else "Every column has a role."
        return f"{len(names):,} {verb} no role: {doc.listed(names)}." if names else all_named
    if check.model == SAFE_HARBOR:
        identifiers = _found(check)
        return (
            f"Identifiers: {identifiers}."
            if identifiers
            else "No column is one of the identifiers by name, type or content."
        )
    return None


def _found(check: Check) -> str:
    """The clauses of Safe Harbor that are not met, else those that were not checked, with their columns."""
    clauses = [clause for clause in check.details["clauses"] if clause["found"]]
    worst = [clause for clause in clauses if clause["status"] == "not met"] or clauses
    return "; ".join(
        f"{clause['clause']} {doc.listed(dict.fromkeys(each['column'] for each in clause['found']))}"
        for clause in worst
    )


def clause_text(clause: Mapping[str, Any], amount: Callable[[int], str] = doc.count) -> str:
    """The verdict on a clause of Safe Harbor and what was found, without values of the table.

    Example:
        >>> found = {"column": "zip", "what": "ZIP codes with more than three digits", "rows": 1200}
        >>> clause_text({"status": "not met", "found": [found]})
        'not met: zip (ZIP codes with more than three digits in 1,200 rows)'
    """
    counts = ("" if finding["rows"] is None else f" in {amount(finding['rows'])} rows" for finding in clause["found"])
    findings = (
        f"{finding['column']} ({finding['what']}{count.replace(' 1 rows', ' 1 row')})"
        for finding, count in zip(clause["found"], counts, strict=True)
    )
    return ": ".join(part for part in (clause["status"], "; ".join(findings)) if part)


def published(checks: Iterable[Any]) -> str:
    """The published rules that require some of these: title, clause and date of each; empty without any."""
    names = list(dict.fromkeys(requiring.preset for requiring in checks if requiring.preset))
    if not names:
        return ""
    from sqlaudit.models.presets import find_preset

    return "; ".join(find_preset(name).line for name in names)


def what_fails(check: Check, rows: int) -> str:
    """Return `226 rows (3.2%) in 124 groups`; empty when nothing fails or no one counted."""
    if (people := check.details.get("persons")) is not None and check.failing_classes:
        failing = doc.count(check.failing_rows or 0)
        return f"{failing} of {doc.plural(people, 'person', 'people')} ({doc.percent(check.failing_share)})"
    if check.failing_classes:
        of_people = check.known_rows is not None and check.known_rows.worse is KnownRows.ALL
        groups = doc.plural(check.failing_classes, "group") + (" of people" if of_people else "")
        rows_in = doc.plural(check.failing_rows or 0, "row")
        has_rows = check.failing_rows is not None
        return f"{rows_in} ({doc.percent(_share_of(check, rows))}) in {groups}" if has_rows else groups
    return ""


def by_known_rows(check: Check) -> str:
    """Return both levels of a check where a person has several rows, in parentheses; empty elsewhere."""
    if not (both := check.known_rows):
        return ""
    one_row, all_rows = (level_text(replace(check, level=of.level, status=of.status)) for of in (both.one, both.all))
    level = next(iter(check.levels), "the level")
    return f"({level} is {one_row} for an attacker who knows one row of a person, {all_rows} for one who knows all)"


def short_cell(check: Check, rows: int) -> str:
    """Return what fails, as a table has it: `640 (9.0%)`."""
    if check.failing_rows is None:
        return ""
    return f"{doc.count(check.failing_rows)} ({doc.percent(_share_of(check, rows))})" if check.failing_rows else "0"


def _share_of(check: Check, rows: int) -> float | None:
    return check.failing_share if check.failing_share is not None else _share(check.failing_rows, rows)


# The list of privacy models, and the page of one.

Entry = Mapping[str, Any]


def catalogue_document(
    models: Sequence[Entry],
    presets: Sequence[Entry],
    rules: Sequence[Entry] = (),
    series: Sequence[Entry] = (),
    synthetic: Sequence[Entry] = (),
) -> doc.Document:
    """All models in a table, the rules for cells of published tables, those for several tables, and the presets.

    Args:
        models: entries as `sqlaudit models --format json` has them. presets: likewise.
    """
    rows = ((preset["name"], f"{preset['title']}, {preset['clause']} ({preset['date']})") for preset in presets)
    return doc.Document(
        "Privacy models",
        (doc.Paragraph("Require one by its name or short form: --require k=5. `sqlaudit models NAME` explains it."),),
        (
            *doc.section("Models", doc.Facts(tuple(_line(entry) for entry in models))),
            *doc.section("Rules for cells (sqlaudit aggregates)", doc.Facts(tuple(_line(entry) for entry in rules))),
            *doc.section("Several releases (sqlaudit releases)", doc.Facts(tuple(_line(entry) for entry in series))),
            *doc.section("Synthetic data (sqlaudit compare --synthetic)", doc.Facts(tuple(map(_line, synthetic)))),
            *doc.section("Published rules (--preset; sqlaudit models --presets explains them)", doc.Facts(tuple(rows))),
        ),
        about=doc.About(kind="Catalogue"),
    )


def presets_document(presets: Sequence[Entry]) -> doc.Document:
    """Published rules with their words: where each stands, what it requires, and its source."""
    rows, cells = "`sqlaudit audit --preset NAME`", "`sqlaudit aggregates --preset NAME`"
    lead = f"Require a rule for rows with {rows}, one for cells with {cells}."
    return doc.Document(
        "Published rules",
        (doc.Paragraph(lead),),
        tuple(part for preset in presets for part in doc.section(preset["name"], doc.facts(*_published(preset)))),
        about=doc.About(kind="Catalogue"),
    )


def _published(preset: Entry) -> Iterator[tuple[str, doc.Words]]:
    """Yield the fields of a preset that pages print, with their names."""
    yield "title", preset["title"]
    yield "clause", preset["clause"]
    yield "quotation", f"“{preset['quotation']}”" if preset["quotation"] else f"Not quoted. {preset['unquoted']}"
    yield "note", preset["note"]
    yield "limits for rows", ", ".join(preset["limits"]["audit"])
    yield "limits for cells", ", ".join(preset["limits"]["aggregates"])
    yield "checks columns for", "; ".join(preset["identifiers"])
    yield "sections of --criteria", "; ".join(preset["sections"])
    yield "source", " ".join(part for part in (f"{preset['source']}.", preset["link"]) if part)
    yield "date", preset["date"]


def model_document(entry: Entry) -> doc.Document:
    """Return what one model means, where it comes from, how to require it and what it needs."""
    facts = doc.facts(
        ("name", ", ".join([entry["name"], *entry["short_forms"]])),
        ("option", example(entry)),
        ("met when the level is", f"{WORDS.get(entry['operator'], entry['operator'])} the limit"),
        *_about(entry),
        ("source", entry["reference"]),
    )
    parameters: list[tuple[str, doc.Words]] = []
    for item in entry["parameters"]:
        default = "" if item["default"] is None else f", default {parameter(item['default'])}"
        parameters.append((item["name"], f"{item['help']} ({item['kind']}{default})"))
    note = (doc.Paragraph(entry["note"]),) if entry["note"] else ()
    return doc.Document(
        doc.label(entry["title"]),
        (doc.Paragraph(entry["definition"]), *note, facts),
        doc.section("Parameters", doc.Facts(tuple(parameters))),
        about=doc.About(kind="Privacy model"),
    )


def _about(entry: Entry) -> tuple[tuple[str, str], ...]:
    if entry["of_cells"]:
        return (("checked by", "sqlaudit aggregates, cell by cell"),)
    if entry["of_releases"]:
        return (("checked by", "sqlaudit releases, on several releases together"), ("needs", _needs(entry)))
    if entry["of_synthetic"]:
        return (("checked by", "sqlaudit compare --synthetic, beside the original"), ("needs", _needs(entry)))
    needs = ("needs", _needs(entry) or "quasi-identifiers only")
    return needs, ("when classes merge", _merging(entry))


def example(entry: Entry) -> str:
    """The option that requires a model, with dots for numbers."""
    name = entry["short_forms"][0] if entry["short_forms"] else entry["name"]
    parameters = [item["name"] for item in entry["parameters"]]
    if len(parameters) > 1:
        return f"--require {name}={','.join(f'{parameter}:…' for parameter in parameters)}"
    return f"--require {name}=…"


def _line(entry: Entry) -> tuple[str, str]:
    short = f" ({entry['short_forms'][0]})" if entry["short_forms"] else ""
    needs = _needs(entry)
    return entry["name"] + short, entry["definition"] + (f" Needs {needs}." if needs else "")


def _needs(entry: Entry) -> str:
    needed = ["a sensitive column"] if entry["needs_sensitive"] else []
    needed += ["a person column (--entity)"] if entry["needs_entity"] else []
    needed += ["ordered values"] if entry["needs_order"] else []
    return doc.listing([*needed, *(f"{need} (--inputs)" for need in entry["needs"])])


def _merging(entry: Entry) -> str:
    if not entry["stays_when_classes_merge"]:
        return "a release that meets it may fail once quasi-identifiers are coarsened further"
    also = ", also with a suppression limit" if entry["stays_with_suppression_limit"] else ""
    return f"still met when quasi-identifiers are coarsened further{also}"
