"""The requirements of a table as a policy writes them: `k=5`, `k: 5` with options, presets, and other limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import closest, closest_column
from sqlaudit.base.nodes import Node
from sqlaudit.base.spec import Requirement, Roles, SafeHarbor
from sqlaudit.gates.cell_limits import AGGREGATES, CELL_KEYS, PRESET, cells_text, read_cells
from sqlaudit.gates.column_limits import (
    COLUMN_KEYS,
    HARBOR_KEYS,
    check_columns,
    column_limit_text,
    harbor_text,
    read_columns,
    read_harbor,
)
from sqlaudit.gates.keys import TEXT, TEXT_OR_TEXTS, Key, Keys, described
from sqlaudit.gates.nodes import Mistakes, PolicySection, children, choice, place_of, text, texts, threshold
from sqlaudit.gates.release_limits import (
    LOSS,
    LOSS_KEYS,
    M_INVARIANCE,
    SERIES_KEYS,
    SYNTHETIC,
    SYNTHETIC_KEYS,
    check_loss,
    check_series,
    check_synthetic,
    loss_text,
    read_loss,
    read_series,
    read_synthetic,
    series_text,
    synthetic_text,
)
from sqlaudit.gates.result import Limit, SafeHarborLimit, TestSpec
from sqlaudit.models import presets
from sqlaudit.models.base import COLUMN_SETS, SAFE_HARBOR
from sqlaudit.models.registry import REGISTRY, find_model, parse_requirements, requirement_from

REQUIREMENTS: Key = {"$ref": "#/$defs/requirements", "description": "Requirements."}
SEVERITIES = ("error", "warn")
SEVERITY: Key = {"enum": list(SEVERITIES), "description": "error: the test blocks publication, warn: it does not."}
TAGS: Key = TEXT_OR_TEXTS | {"description": "For --select tag:…"}
OWNER: Key = TEXT | {"description": "Person responsible for the table."}
DERIVED_FROM: Key = TEXT_OR_TEXTS | {"description": "Names of tables from which this one is made, for --select name+"}
_CONDITION = {
    "type": "string",
    "pattern": r"^\s*((>=|>)\s*[0-9]+(\.[0-9]+)?\s*(%|rows?)?|!=\s*0\s*(%|rows?)?)\s*$",
    "description": "A condition on the number of failing rows: '> 10' or '> 1%'.",
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
    tests: list[TestSpec] = []
    for item in _flat(node):
        mistakes = Mistakes()
        for test in mistakes.attempt(_tests, item, (), common, roles):
            tests += _unless_said(test, tests)
        if mistakes:
            tests += _unless_said(_broken(item, mistakes, common), tests)
    return tests


def _unless_said(test: TestSpec, tests: Sequence[TestSpec]) -> list[TestSpec]:
    """The test, unless an earlier one is the same; one that only differs in its options is a mistake."""
    twin = next(
        (other for other in tests if (other.requirement, other.sensitive) == (test.requirement, test.sensitive)), None
    )
    if twin is None or test.mistake:
        return [test]
    if replace(test, place=twin.place) == twin:
        return []
    sentence = f"{test.requirement!r} also stands in line {twin.place.line}, with other options; keep one."
    return [replace(test, requirement=f"{test.requirement} (again)", model=None, limit=None, mistake=sentence)]


def _flat(node: Node) -> Iterator[Node]:
    """The items, also those of lists in the list: an anchored list may be one item."""
    for item in node.items("'requirements'"):
        if isinstance(item.value, list) and item.value and not item.is_mapping:
            yield from _flat(item)
        else:
            yield item


def _test_of(item: Node, common: Common, requirement: str = "", mistake: str = "") -> TestSpec:
    """A test with what holds of all tests of its table."""
    test = TestSpec(requirement, place_of(item), mistake=mistake)
    return replace(test, severity=common.severity, tags=common.tags, owner=common.owner)


def _broken(item: Node, mistakes: Mistakes, common: Common) -> TestSpec:
    """A requirement that could not be read, called by what of it was."""
    called = next((name for name in children(item) if name not in OPTIONS), "requirement")
    sentences = " ".join(mistake.message for mistake in mistakes)
    return _test_of(item, common, item.value if isinstance(item.value, str) else called, sentences)


_NOTHING = "this requires nothing, so nothing would be tested. Write for example k=5."


def _tests(item: Node, common: Common, roles: Roles) -> list[TestSpec]:
    """Read the tests of one item of a list of requirements; a broken test if it has mistakes."""
    if item.value == []:
        raise item.fail(_NOTHING)
    if not item.is_mapping:
        written = "".join(item.text("a requirement").split())
        models = parse_requirements(written)
        return [
            _checked(replace(_test_of(item, common, requirement.text), model=requirement), roles)
            for requirement in models
        ]
    pairs = item.pairs("a requirement")
    subjects = [(key, value) for key, value in pairs if key.value not in OPTIONS]
    if len(subjects) != 1:
        raise item.fail(_one_subject([str(key.value) for key, _ in subjects]))
    mistakes = Mistakes()
    base = _options(PolicySection(item, mistakes, children(item)), common, roles)
    key, value = subjects[0]
    tests = [replace(base, place=place_of(key), **fields) for fields in _subject(key, value, mistakes, common)]
    if not tests and not mistakes:
        mistakes.add(item, _NOTHING)
    if mistakes:
        return [_broken(item, mistakes, common)]
    return [_checked(test, roles) for test in tests]


def _one_subject(names: Sequence[str]) -> str:
    if not names:
        return "a requirement is missing beside its options. Write for example k: 5."
    if unknown := [name for name in names if not _is_subject(name)]:
        words = (*OPTIONS, *(short for model in REGISTRY.values() for short in (*model.short_forms, model.name)))
        return f"there is no option or privacy model {unknown[0]!r}.{closest(unknown[0], words)}"
    return f"{' and '.join(map(repr, names))} are in one requirement. Write each as its own item."


def _is_subject(name: str) -> bool:
    try:
        return name in (*LIMITS, PRESET) or bool(find_model(name.partition("@")[0]).name)
    except UsageError:
        return False


def _options(section: PolicySection, common: Common, roles: Roles) -> TestSpec:
    """A test with the options that stand beside its requirement, which is not read yet."""
    mistakes = section.mistakes
    severity = section.take("severity", choice, common.severity, SEVERITIES)
    warn_if, error_if = section.take("warn_if", threshold, None), section.take("error_if", threshold, None)
    if error_if is not None and severity == "warn":
        mistakes.add(section["error_if"], "error_if and severity: warn exclude each other.")
    if warn_if is not None and error_if is None and severity == "error":
        sentence = "warn_if alone changes nothing: any row is an error. Write severity: warn, or an error_if beside it."
        mistakes.add(section["warn_if"], sentence)
    sensitive = section.take("sensitive", texts, (), what="'sensitive'")
    if unknown := [name for name in sensitive if name not in roles.sensitive]:
        hint = closest_column(unknown[0], roles.sensitive)
        mistakes.add(section["sensitive"], f"{unknown[0]!r} is no sensitive column of this table.{hint}")
    return TestSpec(
        "",
        place_of(section.node),
        severity=severity,
        warn_if=warn_if,
        error_if=error_if,
        sensitive=sensitive,
        tags=tuple(dict.fromkeys((*common.tags, *section.take("tags", texts, ())))),
        owner=section.take("owner", text, common.owner),
        description=section.take("description", text, ""),
    )


def _subject(key: Node, value: Node, mistakes: Mistakes, common: Common) -> list[dict[str, Any]]:
    """Return what a requirement's key and value add to its options: one requirement, or those of a preset."""
    name = key.text("a requirement's name")
    if name in LIMITS:
        kind = LIMITS[name]
        limits = kind.read(mistakes.section(value, name, kind.keys), common.connection, common.folder)
        return [{"requirement": kind.text(limit), "limit": limit} for limit in limits]
    if name == PRESET:
        preset = value.text(PRESET)
        if preset == SafeHarbor.preset:
            limit = SafeHarborLimit()
            return [{"requirement": harbor_text(limit), "limit": limit}]
        required = presets.of_rows([preset])
    else:
        required = (_model(name, value),)
    return [{"requirement": requirement.text, "model": requirement} for requirement in required]


def _model(name: str, value: Node) -> Requirement:
    if value.is_mapping:
        parameters = {
            key.text("a parameter"): parameter.text("a parameter's value") for key, parameter in value.pairs(name)
        }
        return requirement_from(name, parameters)
    find_model(name.partition("@")[0])
    return requirement_from(name, value.text(f"the limit of {name}").strip())


def _checked(test: TestSpec, roles: Roles) -> TestSpec:
    """The test, when it fits the table's roles.

    Raises:
        UsageError: it does not; said before anything is connected.
    """
    if test.limit is not None:
        kind = LIMITS[test.requirement.partition("=")[0]]
        kind.check(test.limit, roles)
        _refuse_thresholds(test, kind.counts)
    if test.model is None:
        return test
    model = REGISTRY[test.model.model]
    if model.needs_sensitive and not roles.sensitive:
        raise UsageError(f"{test.requirement!r} needs a sensitive column: name one under 'sensitive'.")
    if not roles.quasi_identifiers:
        raise UsageError(f"{test.requirement!r} needs quasi-identifiers: name them under 'quasi_identifiers'.")
    if model.verdict_by_level:
        _refuse_thresholds(test, f"{test.requirement!r} is about the whole table, which has no failing rows")
    if test.sensitive and not model.needs_sensitive and not roles.joint:
        raise UsageError(f"{test.requirement!r} does not use a sensitive column: leave out 'sensitive'.")
    return test


def _refuse_thresholds(test: TestSpec, why: str) -> None:
    if test.warn_if is not None or test.error_if is not None:
        raise UsageError(f"warn_if and error_if count failing rows, but {why}: leave them out.")


@dataclass(frozen=True)
class _LimitKind:
    """A kind of limit besides the privacy models.

    Args:
        keys: of its section. read: the limits in the section. text: of one.
        check: refuses one that does not fit the roles. counts: why no threshold on failing rows stands beside it.
    """

    keys: Keys
    read: Callable[[PolicySection, str, Path], tuple[Limit, ...]]
    text: Callable[[Any], str]
    check: Callable[[Any, Roles], None]
    counts: str


_OF_COLUMNS = "a limit on column sets has its own share"
_OF_IDENTIFIERS = "Safe Harbor is about columns"
_OF_RELEASES = "m-invariance is a figure of all releases together"
_OF_SYNTHETIC_DATA = "what a synthetic table discloses is a figure of the whole table"
LIMITS = {
    COLUMN_SETS: _LimitKind(COLUMN_KEYS, read_columns, column_limit_text, check_columns, _OF_COLUMNS),
    LOSS: _LimitKind(LOSS_KEYS, read_loss, loss_text, check_loss, "a loss is a figure of the whole table"),
    AGGREGATES: _LimitKind(CELL_KEYS, read_cells, cells_text, lambda *_: None, "a rule for cells counts cells"),
    SAFE_HARBOR: _LimitKind(HARBOR_KEYS, read_harbor, harbor_text, lambda *_: None, _OF_IDENTIFIERS),
    M_INVARIANCE: _LimitKind(SERIES_KEYS, read_series, series_text, check_series, _OF_RELEASES),
    SYNTHETIC: _LimitKind(SYNTHETIC_KEYS, read_synthetic, synthetic_text, check_synthetic, _OF_SYNTHETIC_DATA),
}
