"""The requirements of a table as a policy writes them: `k=5`, `k: 5` with options, presets, limits on column sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import SqlauditError, UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.nodes import Node
from sqlaudit.base.spec import Requirement, Roles
from sqlaudit.gates.cell_limits import AGGREGATES, cells_text, read_cells
from sqlaudit.gates.keys import (
    OWNER,
    POSITIVE,
    SEVERITIES,
    SEVERITY,
    TAGS,
    TEXT,
    TEXT_OR_TEXTS,
    TEXTS_OF_IT,
    Keys,
    described,
)
from sqlaudit.gates.losses import LOSS, check_loss, loss_text, read_loss
from sqlaudit.gates.nodes import NO_TEXTS, Mistakes, choice, mistake_of, place_of, share, text, texts, threshold, whole
from sqlaudit.gates.series import M_INVARIANCE, check_series, read_series, series_text
from sqlaudit.gates.spec import ColumnLimit, TestSpec, Threshold
from sqlaudit.models.registry import REGISTRY
from sqlaudit.models.requirements import PRESETS, find_model, parse_requirement, parse_requirements, requirement_from

_CONDITION = {
    "type": "string",
    "pattern": r"^\s*(>=|<=|!=|==|=|>|<)\s*[0-9]+(\.[0-9]+)?\s*(%|rows?)?\s*$",
    "description": "A condition on the rows that fall short: '> 10' or '> 1%'.",
}
OPTIONS: Keys = {
    "severity": SEVERITY,
    "warn_if": _CONDITION,
    "error_if": _CONDITION,
    "sensitive": described("Only for these sensitive columns.", TEXT_OR_TEXTS),
    "tags": TAGS,
    "owner": OWNER,
    "description": TEXT,
}
"""What may stand beside a requirement; whatever else stands there is the requirement itself."""
COLUMN_SETS = "column_sets"
_AMONG = ("quasi_identifiers", "all")
COLUMN_KEYS: Keys = {
    "max_size": described("How many columns an attacker knows at most.", POSITIVE),
    "k": described("How many must share the values at least.", POSITIVE),
    "share": {
        "oneOf": [{"type": "number", "minimum": 0, "exclusiveMaximum": 1}, {"type": "string"}],
        "description": "A share of the rows: 1% or 0.01.",
    },
    "among": {"oneOf": [{"enum": list(_AMONG)}, TEXTS_OF_IT]},
    "exclude": TEXT_OR_TEXTS,
}


@dataclass(frozen=True)
class Common:
    """What tests have unless they say otherwise, from the table or the defaults of the policy; and where they are."""

    severity: str = "error"
    tags: tuple[str, ...] = ()
    owner: str = ""
    folder: Path = Path()
    connection: str = ""


def read_requirements(node: Node, common: Common, roles: Roles) -> list[TestSpec]:
    """The tests of a list of requirements; one that cannot be read becomes a test with its mistake.

    Raises:
        UsageError: it is no list.
    """
    found: list[TestSpec] = []
    for item in _flat(node):
        for test in _read(item, common, roles):
            found += _unless_said(test, found)
    return found


def _unless_said(test: TestSpec, found: Sequence[TestSpec]) -> list[TestSpec]:
    """The test, unless an earlier one is the same; one that only differs in its options is a mistake."""
    twin = next((one for one in found if (one.requirement, one.sensitive) == (test.requirement, test.sensitive)), None)
    if twin is None or test.mistake:
        return [test]
    if replace(test, place=twin.place) == twin:
        return []
    said = f"{test.requirement!r} also stands in line {twin.place.line}, with other options; keep one."
    return [
        replace(
            test,
            requirement=f"{test.requirement} (again)",
            model=None,
            columns=None,
            loss=None,
            cells=None,
            series=None,
            mistake=said,
        )
    ]


def column_limit_text(limit: ColumnLimit) -> str:
    """A limit on column sets, the same text however it was written.

    Example:
        >>> column_limit_text(ColumnLimit(3, share=Fraction(1, 100)))
        'column_sets=max_size:3,k:5,share:1%'
    """
    among = "" if limit.among == _AMONG[0] else f",among:{_joined(limit.among)}"
    exclude = f",exclude:{_joined(limit.exclude)}" if limit.exclude else ""
    share = f"{Decimal((limit.share * 100).numerator) / (limit.share * 100).denominator:f}%"
    return f"{COLUMN_SETS}=max_size:{limit.max_size},k:{limit.k},share:{share}{among}{exclude}"


def _joined(names: str | Sequence[str]) -> str:
    return names if isinstance(names, str) else "+".join(names)


def _flat(node: Node) -> Iterator[Node]:
    """The items, also those of lists in the list: an anchored list may be one item."""
    for item in node.items("'requirements'"):
        if isinstance(item.value, list) and not item.is_mapping:
            yield from _flat(item)
        else:
            yield item


def _read(item: Node, common: Common, roles: Roles) -> list[TestSpec]:
    try:
        return _tests(item, common, roles)
    except SqlauditError as error:
        return [_broken(item, mistake_of(error, item).message, _subject_text(item), common)]


def _broken(item: Node, mistake: str, subject: str, common: Common) -> TestSpec:
    return TestSpec(
        subject, place_of(item), mistake=mistake, severity=common.severity, tags=common.tags, owner=common.owner
    )


def _subject_text(item: Node) -> str:
    """What to call a requirement that could not be read."""
    if isinstance(item.value, str):
        return item.value
    if item.is_mapping and isinstance(item.value, list):
        names = [key.value for key, _ in item.value if isinstance(key.value, str)]  # type: ignore[misc]
        return next((name for name in names if name not in OPTIONS), "requirement")
    return "requirement"


def _tests(item: Node, common: Common, roles: Roles) -> list[TestSpec]:
    if not item.is_mapping:
        written = "".join(item.text("a requirement").split())
        test = TestSpec("", place_of(item))
        return [_with_model(test, one, common, roles) for one in parse_requirements(written)]
    pairs = item.pairs("a requirement")
    subjects = [(key, value) for key, value in pairs if key.value not in OPTIONS]
    if len(subjects) != 1:
        raise item.fail(_one_subject([str(key.value) for key, _ in subjects]))
    mistakes = Mistakes()
    base = _options({str(key.value): value for key, value in pairs}, item, common, roles, mistakes)
    key, value = subjects[0]
    found = [replace(base, place=place_of(key), **made) for made in _subject(key, value, mistakes, common)]
    if mistakes:
        said = " ".join(mistake.message for mistake in mistakes)
        return [_broken(item, said, _subject_text(item), common)]
    return [_checked(test, roles) for test in found]


def _one_subject(names: Sequence[str]) -> str:
    if not names:
        return "no requirement stands beside its options; write for instance k: 5."
    unknown = [name for name in names if not _is_subject(name)]
    if unknown:
        known = (*OPTIONS, *(short for model in REGISTRY.values() for short in (*model.short_forms, model.name)))
        return f"there is no option or privacy model {unknown[0]!r}.{closest(unknown[0], known)}"
    return f"{' and '.join(map(repr, names))} stand in one requirement; write each as an item of its own."


def _is_subject(name: str) -> bool:
    try:
        return name in (COLUMN_SETS, LOSS, AGGREGATES, M_INVARIANCE, "preset") or bool(
            find_model(name.partition("@")[0]).name
        )
    except UsageError:
        return False


def _options(found: Mapping[str, Node], item: Node, common: Common, roles: Roles, mistakes: Mistakes) -> TestSpec:
    attempt = mistakes.attempt
    severity = attempt(choice("severity", SEVERITIES), found.get("severity"), common.severity)
    none: Threshold | None = None
    warn_if: Threshold | None = attempt(threshold("warn_if"), found.get("warn_if"), none)
    error_if: Threshold | None = attempt(threshold("error_if"), found.get("error_if"), none)
    if error_if is not None and severity == "warn":
        attempt(_fail("error_if has no meaning beside severity: warn."), found["error_if"], None)
    if warn_if is not None and error_if is None and severity == "error":
        said = "warn_if alone changes nothing: any row is an error. Write severity: warn, or an error_if beside it."
        attempt(_fail(said), found["warn_if"], None)
    sensitive = attempt(texts("'sensitive'"), found.get("sensitive"), NO_TEXTS)
    unknown = [name for name in sensitive if name not in roles.sensitive]
    if unknown:
        hint = closest(unknown[0], roles.sensitive)
        attempt(_fail(f"{unknown[0]!r} is no sensitive column of this table.{hint}"), found["sensitive"], None)
    return TestSpec(
        "",
        place_of(item),
        severity=severity,
        warn_if=warn_if,
        error_if=error_if,
        sensitive=sensitive,
        tags=tuple(dict.fromkeys((*common.tags, *attempt(texts("tags"), found.get("tags"), NO_TEXTS)))),
        owner=attempt(text("owner"), found.get("owner"), common.owner),
        description=attempt(text("description"), found.get("description"), ""),
    )


def _fail(sentence: str) -> Callable[[Node], None]:
    def read(node: Node) -> None:
        raise node.fail(sentence)

    return read


def _subject(key: Node, value: Node, mistakes: Mistakes, common: Common) -> list[dict[str, Any]]:
    """What a requirement's key and value add to its options: one requirement, or those of a preset."""
    name = key.text("a requirement's name")
    if name == COLUMN_SETS:
        limit = _column_limit(value, mistakes)
        return [] if limit is None else [{"requirement": column_limit_text(limit), "columns": limit}]
    if name == LOSS:
        loss = read_loss(value, mistakes, common.connection, common.folder)
        return [] if loss is None else [{"requirement": loss_text(loss), "loss": loss}]
    if name == AGGREGATES:
        limits = read_cells(value, mistakes, common.connection, common.folder)
        return [{"requirement": cells_text(one), "cells": one} for one in limits]
    if name == M_INVARIANCE:
        series = read_series(value, mistakes, common.connection, common.folder)
        return [] if series is None else [{"requirement": series_text(series), "series": series}]
    if name == "preset":
        preset = choice("preset", PRESETS)(value)
        wanted = [parse_requirement(one) for one in PRESETS[preset].requirements]
    else:
        wanted = [_model(name, value)]
    return [{"requirement": one.text, "model": one} for one in wanted]


def _model(name: str, value: Node) -> Requirement:
    if value.is_mapping:
        given = {key.text("a parameter"): number.text("a parameter's value") for key, number in value.pairs(name)}
        return requirement_from(name, given)
    find_model(name.partition("@")[0])
    return requirement_from(name, value.text(f"the limit of {name}").strip())


def _column_limit(node: Node, mistakes: Mistakes) -> ColumnLimit | None:
    found = mistakes.section(node, COLUMN_SETS, COLUMN_KEYS)
    if "max_size" not in found:
        raise node.fail("column_sets needs max_size: how many columns an attacker knows at most.")
    attempt = mistakes.attempt
    among: str | tuple[str, ...] = _AMONG[0]
    limit = ColumnLimit(
        attempt(whole("max_size"), found["max_size"], 1),
        attempt(whole("k"), found.get("k"), 5),
        attempt(share("share"), found.get("share"), Fraction(0)),
        attempt(_among, found.get("among"), among),
        attempt(texts("exclude"), found.get("exclude"), NO_TEXTS),
    )
    return None if mistakes else limit


def _among(node: Node) -> str | tuple[str, ...]:
    return choice("among", _AMONG)(node) if isinstance(node.value, str) else texts("among")(node)


def _with_model(base: TestSpec, model: Requirement, common: Common, roles: Roles) -> TestSpec:
    test = replace(
        base, requirement=model.text, model=model, severity=common.severity, tags=common.tags, owner=common.owner
    )
    return _checked(test, roles)


def _checked(test: TestSpec, roles: Roles) -> TestSpec:
    """The test, when it fits the table's roles.

    Raises:
        UsageError: it does not; said before anything is connected.
    """
    if test.columns is not None:
        if test.columns.among == _AMONG[0] and not roles.quasi_identifiers:
            raise UsageError("column_sets looks at the quasi-identifiers, and the table names none; add 'among'.")
        _refuse_thresholds(test, "a limit on column sets has its own share")
        return test
    if test.loss is not None:
        check_loss(test.loss, roles)
        _refuse_thresholds(test, "a loss is a figure of the whole table")
        return test
    if test.series is not None:
        check_series(test.series, roles)
        _refuse_thresholds(test, "m-invariance is a figure of all releases together")
        return test
    if test.cells is not None:
        _refuse_thresholds(test, "a rule for cells counts cells")
    if test.model is None:
        return test
    model = REGISTRY[test.model.model]
    if model.needs_sensitive and not roles.sensitive:
        raise UsageError(f"{test.requirement!r} needs a sensitive column; name one under 'sensitive'.")
    if not roles.quasi_identifiers:
        raise UsageError(f"{test.requirement!r} needs quasi-identifiers; name them under 'quasi_identifiers'.")
    if model.verdict_by_level:
        _refuse_thresholds(test, f"{test.requirement!r} is about the whole table, where no single row falls short")
    if test.sensitive and not model.needs_sensitive and not roles.joint:
        raise UsageError(f"{test.requirement!r} is about no sensitive column; leave 'sensitive' out.")
    return test


def _refuse_thresholds(test: TestSpec, why: str) -> None:
    if test.warn_if is not None or test.error_if is not None:
        raise UsageError(f"warn_if and error_if count rows that fall short, and {why}; leave them out.")
