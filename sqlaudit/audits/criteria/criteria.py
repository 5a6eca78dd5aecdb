"""An audit by criteria: what each asks, which figures answer it, and the report; for the public, no small count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Annotated, ClassVar, Literal, Protocol

from sqlaudit.base.result import (
    IF_ANY,
    MEANING,
    Documented,
    Number,
    PythonCall,
    Result,
    ShownRoles,
    Status,
    Warned,
    key,
    told,
)
from sqlaudit.base.spec import NullPolicy, Requirement, Roles
from sqlaudit.classes.failing import ClassSizes
from sqlaudit.models.base import IDENTIFIER, SAFE_HARBOR, Check, Model
from sqlaudit.models.phrases import VERDICTS, clause_text
from sqlaudit.models.presets import ALWAYS, find_preset
from sqlaudit.models.registry import INFERENCE, REGISTRY
from sqlaudit.reports import document as doc
from sqlaudit.reports.notebook import Shown
from sqlaudit.reports.report import Report, moment

# An audit by criteria, and its report. Frozen; in its public version without a small count.


@dataclass(frozen=True)
class ToldFigure(Documented):
    """A figure as it is told: what it is, and its text."""

    name: str
    text: str


@dataclass(frozen=True)
class Criterion(Documented):
    """A criterion, the figures that answer it, and what no figure answers.

    Args:
        name: stable, for programs. title: for people. source: where it stands. question: what it asks.
        figures: the answers, as far as there are figures. open: what people have to answer. quotation: its exact words.
    """

    name: str
    title: str
    source: str
    question: str
    figures: tuple[ToldFigure, ...]
    open: tuple[str, ...]
    quotation: str = field(default="", metadata=IF_ANY)


@dataclass(frozen=True, kw_only=True, repr=False)
class CriteriaResult(Result, Shown):
    """What an audit says to each criterion.

    Args:
        version: `internal`, or `public` with rounded counts. rounded_to: what counts are rounded to, 1 = not at all.
        target, engine, roles: as in the audit. rows: how many, as a text. status: the audit's verdict.
        required: the requirements that were judged, with their verdicts.
        remarks: how the table was read: a condition that selected rows, a header or dates that were guessed.
    """

    schema: ClassVar = "sqlaudit-criteria/1"
    shown_by: ClassVar = "sqlaudit.audits.criteria.criteria:CriteriaReport"
    frame_of: ClassVar = "criteria"

    version: Annotated[str, Literal["internal", "public"]]
    rounded_to: int
    target: str = field(metadata=key("target.name"))
    rows: str = field(metadata=key("target.rows"))
    engine: str = field(metadata=key("target.engine"))
    roles: ShownRoles
    required: tuple[ToldFigure, ...]
    criteria: tuple[Criterion, ...]
    status: Status
    remarks: tuple[Warned, ...] = ()

    @property
    @told("remarks")
    def selected_rows(self) -> bool:
        """True if only rows that meet a condition (`where`) were read."""
        return any(one.code == "selected_rows" for one in self.remarks)


_PUBLIC = (
    'Counts are rounded to multiples of {base}. Counts below {base} are shown as "fewer than {base}". Shares use '
    "rounded counts."
)
_INTERNAL = "Counts are exact, and small ones may identify people. Publish the public version instead."


class CriteriaReport(Report[CriteriaResult]):
    """The report on an audit by criteria: for those who answer to them, and for the public."""

    kind = "Data-protection criteria"

    def headline(self, result: CriteriaResult) -> str:
        number = "five" if len(result.criteria) == 5 else len(result.criteria)
        return f"Figures for {number} data protection criteria ({result.version} version)"

    def key_figures(self, result: CriteriaResult) -> Iterator[doc.KeyFigure]:
        for figure in result.criteria[0].figures[:2]:
            yield doc.KeyFigure(figure.text, doc.label(figure.name))
        if result.required:
            required = {check.name for check in result.required}
            met = required - {check.name for check in result.required if check.text != VERDICTS[Status.PASS].text}
            yield doc.KeyFigure(f"{len(met)} of {len(required)}", "Requirements met")

    def opening(self, result: CriteriaResult) -> Iterator[doc.Content]:
        quasi_identifiers = doc.listed(result.roles.get("quasi_identifiers", ()))
        yield f"{result.target}: {result.rows} rows. The attacker knows a person's {quasi_identifiers}."
        yield (f"{doc.label(check.name)}: {check.text}" for check in result.required)
        yield _PUBLIC.format(base=result.rounded_to) if result.version == "public" else _INTERNAL
        yield _shares_at_risk(result)

    def sections(self, result: CriteriaResult) -> Iterator[tuple[doc.Section, ...]]:
        for criterion in result.criteria:
            yield doc.section(criterion.title, *_criterion(criterion))

    def closing(self, result: CriteriaResult) -> Iterator[tuple[doc.Section, ...]]:
        how = doc.facts(
            ("table", result.target),
            ("quasi-identifiers", ", ".join(result.roles.get("quasi_identifiers", ()))),
            ("sensitive columns", ", ".join(result.roles.get("sensitive", ()))),
            ("computed by", f"sqlaudit {result.versions.get('sqlaudit', '')} on {result.engine}"),
            ("finished", moment(result.time)),
        )
        yield doc.section("How this was computed", how)
        yield doc.section("Limits of this report", (_LAWFUL, MEANING))


_LAWFUL = "Whether a release is anonymous or lawful is not decided here."


_SHARE = re.compile(r"(?:.* \()?((?:[a-z ]+ )?(\d+(?:\.\d+)?)%)\)?")
"""A text with a share: `181 (60.3%)`, `under 0.1%`, `at most 10.0%`."""


def _shares_at_risk(result: CriteriaResult) -> doc.Picture:
    """Return a picture of the shares in the answers, by criterion; each answer once. It has nothing but their texts."""
    portions: dict[str, list[doc.Portion]] = {}
    shown = set[str]()
    for criterion in result.criteria:
        for figure in criterion.figures:
            share = None if figure.name in shown else _SHARE.fullmatch(figure.text)
            if share is not None:
                shown.add(figure.name)
                what = re.split(" of | over ", figure.name.replace("smaller than", "below"))[0]
                portion = doc.Portion(float(share[2]), 100, f"{share[1]} {what}")
                portions.setdefault(criterion.title, []).append(portion)
    return doc.portions("Shares of rows at risk and chances of finding a record, by criterion", portions)


def _criterion(criterion: Criterion) -> Iterator[doc.Block]:
    yield doc.Paragraph(f"{criterion.question} ({criterion.source})")
    if criterion.quotation:
        yield doc.Paragraph(f"“{criterion.quotation}”")
    names = (one.name if ": " in one.name else doc.label(one.name) for one in criterion.figures)  # `column: figure`
    yield doc.table(("figure", "answer"), zip(names, (one.text for one in criterion.figures), strict=True))
    yield doc.Paragraph("Open questions that no figure answers:")
    yield doc.Bullets(tuple(_open(one) for one in criterion.open))


def _open(said: str) -> doc.Words:
    """An open question; a last sentence that names a command is a hint."""
    question, mark, last = said.rpartition("? ")
    return doc.Toned(question + mark.strip(), hint=last) if question and "`sqlaudit " in last else said


# The criteria: what each asks, which figures of an audit answer it, and what none does. Figures are told exactly, or
# for the public, where small counts are rounded so that none names a person.

BASE = 5
"""Counts of a public version are multiples of this; smaller ones are told as being smaller."""


@dataclass(frozen=True)
class Telling:
    """Texts for counts and shares of people.

    Args:
        base: what counts are rounded to; 1 = not at all.
    """

    base: int = 1

    def rounded(self, number: int) -> int:
        """The nearest multiple of the base; halves upwards."""
        return (2 * number + self.base) // (2 * self.base) * self.base

    def amount(self, number: int) -> str:
        """A count of people or classes.

        Example:
            >>> Telling().amount(1234), Telling(5).amount(3), Telling(5).amount(1234), Telling(5).amount(0)
            ('1,234', 'fewer than 5', 'about 1,235', '0')
        """
        if self.base == 1 or not number:
            return doc.count(number)
        return f"fewer than {self.base}" if number < self.base else f"about {doc.count(self.rounded(number))}"

    def part(self, number: int, whole: int) -> str:
        """A count with its share of all, the share made of counts as they are told.

        Example:
            >>> Telling().part(3, 20), Telling(5).part(3, 20), Telling(5).part(11, 19)
            ('3 (15.0%)', 'fewer than 5 (under 25%)', 'about 10 (50.0%)')
        """
        told, all_told = self.rounded(number), max(self.rounded(whole), self.base)
        if self.base == 1 or not number:
            share = doc.percent(Fraction(number, whole)) if whole else doc.UNDEFINED
        elif number < self.base:
            share = f"under {doc.figure(-(-100 * self.base // all_told))}%"
        else:
            share = doc.percent(min(Fraction(told, all_told), Fraction(1)))
        return f"{self.amount(number)} ({share})"

    def smallest(self, size: int) -> str:
        """The size of the smallest class, rounded downwards.

        Example:
            >>> Telling().smallest(13), Telling(5).smallest(13), Telling(5).smallest(4)
            ('13', 'at least 10', 'fewer than 5')
        """
        if self.base == 1:
            return doc.count(size)
        return f"fewer than {self.base}" if size < self.base else f"at least {doc.count(size // self.base * self.base)}"

    def risk(self, size: int) -> str:
        """The chance to pick the right one of so many.

        Example:
            >>> Telling().risk(4), Telling(5).risk(13), Telling(5).risk(4)
            ('25.0%', 'at most 10.0%', 'above 20.0%')
        """
        if self.base == 1:
            return doc.percent(Fraction(1, size))
        if size < self.base:
            return f"above {doc.percent(Fraction(1, self.base))}"
        return f"at most {doc.percent(Fraction(1, size // self.base * self.base))}"

    def average(self, classes: int, members: int) -> str:
        """The mean chance over all people: classes by members."""
        if self.base == 1:
            return doc.percent(Fraction(classes, members))
        return self.part(classes, members).partition(" (")[2].rstrip(")")

    def ratio(self, value: Number | None) -> str:
        """A share or distance inside a class, which tells the size of a small class when it is exact.

        Example:
            >>> Telling().ratio(Fraction(2, 3)), Telling(5).ratio(Fraction(2, 3)), Telling(5).ratio(1)
            ('0.6667', 'about 0.7', 'about 1')
        """
        if self.base == 1 or value is None:
            return doc.figure(value)
        return f"about {doc.figure(round(float(value), 1))}"


def wanted_besides(roles: Roles, requirements: tuple[Requirement, ...]) -> tuple[Requirement, ...]:
    """Return what has to be computed besides the requirements of an audit, without being required.

    Nothing where no requirement narrows what is computed, where no column is sensitive, and where classes overlap.
    """
    if not requirements or not roles.sensitive or roles.nulls is NullPolicy.WILDCARD:
        return ()
    already = {one.model for one in requirements}
    return tuple(Requirement(model.name) for model in INFERENCE if model.name not in already)


class AuditFigures(Protocol):
    """What the criteria read of an `AuditResult`, whose module imports this one when it is asked for the report."""

    @property
    def target(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def engine(self) -> str: ...
    @property
    def roles(self) -> ShownRoles: ...
    @property
    def classes(self) -> ClassSizes: ...
    @property
    def checks(self) -> tuple[Check, ...]: ...
    @property
    def required(self) -> tuple[Check, ...]: ...
    @property
    def warnings(self) -> tuple[Warned, ...]: ...
    @property
    def status(self) -> Status: ...
    @property
    def remarks(self) -> tuple[Warned, ...]: ...
    @property
    def versions(self) -> Mapping[str, str]: ...
    @property
    def time(self) -> str: ...
    @property
    def call(self) -> PythonCall | None: ...


def criteria_of(result: AuditFigures, *, public: bool = False, presets: Iterable[str] = ()) -> CriteriaResult:
    """Return what an audit says to the criteria.

    Args:
        result: the result of the audit, an `AuditResult`.
        public: round small counts, for readers who may not know them.
        presets: published rules whose clauses are sections, too.

    Raises:
        UsageError: an unknown preset.
    """
    presets, telling = tuple(presets), Telling(BASE if public else 1)
    figures = _Figures(result, telling)
    required = [ToldFigure(one.text, doc.text_of(VERDICTS[one.status]).lower()) for one in result.required]
    return CriteriaResult(
        version="public" if public else "internal",
        rounded_to=telling.base,
        target=result.target,
        rows=telling.amount(result.rows),
        engine=result.engine,
        roles=result.roles,
        required=tuple(one for one in required if one.name),
        criteria=tuple(_criteria(figures, dict.fromkeys((*ALWAYS, *presets)))),
        status=result.status,
        remarks=result.remarks,
        versions=result.versions,
        time=result.time,
        call=None if result.call is None else replace(result.call, then=_method(public, presets)),
    )


def _method(public: bool, presets: tuple[str, ...]) -> str:
    """Return the source of the method that returned the answers."""
    arguments = (["public=True"] if public else []) + ([f"presets={list(presets)!r}"] if presets else [])
    return f".by_criteria({', '.join(arguments)})"


def _criteria(found: _Figures, names: Iterable[str]) -> Iterator[Criterion]:
    """The sections of presets, with the figures that they name: a method of `_Figures`, and a size where it has one."""
    for preset in map(find_preset, names):
        for section in preset.sections:
            figures: list[ToldFigure] = []
            for wanted in section.figures:
                figure, *size = wanted.split()
                figures += getattr(found, figure)(*(preset.size if one == "limit" else int(one) for one in size))
            where = f"{preset.title}, {section.clause}" if section.clause else preset.source
            yield Criterion(
                section.name,
                section.title,
                f"{where}, {preset.date}",
                section.question,
                tuple(figures),
                section.open,
                section.quotation,
            )


class _Figures:
    """The figures of an audit in words."""

    def __init__(self, result: AuditFigures, telling: Telling) -> None:
        self._result, self._tell, self._sizes = result, telling, result.classes
        self._unit = "people" if result.roles.get("entity") else "rows"

    def alone(self) -> Iterator[ToldFigure]:
        """Rows that are unique on the quasi-identifiers."""
        yield ToldFigure(f"unique {self._unit}", self._below(2))
        if self._sizes.min_size is not None:
            yield ToldFigure("smallest group (k)", self._tell.smallest(self._sizes.min_size))

    def small(self, size: int) -> Iterator[ToldFigure]:
        """Rows in small groups."""
        yield ToldFigure(f"{self._unit} in groups smaller than {size}", self._below(size))

    def linked(self) -> Iterator[ToldFigure]:
        """The chance that an attacker with another table finds the right record."""
        yield ToldFigure("different combinations of the quasi-identifiers", self._tell.amount(self._sizes.count))
        yield from self.risks()

    def risks(self) -> Iterator[ToldFigure]:
        """The chance of finding the right record, for someone who knows that a person is in the table."""
        if self._sizes.min_size is None:
            return
        yield ToldFigure("highest chance of finding the right record", self._tell.risk(self._sizes.min_size))
        if not self._sizes.per_row:
            average = self._tell.average(self._sizes.count, self._sizes.members)
            yield ToldFigure(f"average chance over all {self._unit}", average)

    def population(self) -> Iterator[ToldFigure]:
        """Yield what was estimated of the population that the table is a sample of."""
        for model, check in self._checks(REGISTRY.values()):
            if (sentence := model.population_sentence(check, self._tell.amount)) is not None:
                yield ToldFigure(*sentence)

    def inference(self) -> Iterator[ToldFigure]:
        """Yield what a group reveals about the sensitive value."""
        columns = self._result.roles.get("sensitive", ())
        if not columns:
            yield ToldFigure("figures", "none (no sensitive columns)")
        for model, check in self._checks(INFERENCE):
            counted = "undefined" if check.level is None else str(check.level)
            text = counted if model.class_minimum else self._tell.ratio(check.level)
            yield ToldFigure(f"{check.sensitive}: {model.inference}", text)

    def identifiers(self) -> Iterator[ToldFigure]:
        """Direct identifiers that are in the table, and columns that look like some."""
        checks = (check for check in self._result.checks if check.of_columns == IDENTIFIER)
        named = [str(check.parameters.get("column")) for check in checks]
        yield ToldFigure("direct identifiers in the table", doc.listed(named) if named else "none named")
        alike = [
            name for one in self._result.warnings if one.code == "possible_direct_identifier" for name in one.columns
        ]
        if alike:
            yield ToldFigure("columns that look like direct identifiers", doc.listed(alike))

    def threshold(self, size: int) -> Iterator[ToldFigure]:
        """Return True if every group is large enough for a highest risk of 1 in that size."""
        least = self._sizes.min_size
        held = "no groups" if least is None else "yes" if least >= size else "no"
        yield ToldFigure(f"every group has at least {size} rows (risk at most 1/{size})", held)
        yield ToldFigure(f"{self._unit} above that risk", self._below(size))

    def roles(self) -> Iterator[ToldFigure]:
        """Yield which columns are known, sensitive or unassigned."""
        given = self._result.roles
        bare = [name for one in self._result.warnings if one.code == "columns_without_role" for name in one.columns]
        yield ToldFigure("quasi-identifiers", doc.listed(given.get("quasi_identifiers", ())))
        yield ToldFigure("sensitive columns", doc.listed(given.get("sensitive", ())) or "none")
        yield ToldFigure("columns without a role", doc.listed(bare) or "none")

    def models(self) -> Iterator[ToldFigure]:
        """The requirements and their verdicts."""
        for one in self._result.required:
            yield ToldFigure(one.text, doc.text_of(VERDICTS[one.status]).lower())
        if not self._result.required:
            yield ToldFigure("requirements", "none")

    def safe_harbor(self) -> Iterator[ToldFigure]:
        """Each of the 18 identifiers."""
        check = next((check for check in self._result.checks if check.of_columns == SAFE_HARBOR), None)
        if check is None:
            yield ToldFigure("identifiers", "not checked (not required)")
            return
        for one in check.details["clauses"]:
            yield ToldFigure(f"{one['clause']} {one['title']}", clause_text(one, self._tell.amount))
        if check.details["reviewed"]:
            yield ToldFigure("columns that you reviewed", doc.listing(check.details["reviewed"], None))

    def nothing(self) -> Iterator[ToldFigure]:
        """For a clause that no figure of a table answers."""
        yield ToldFigure("figures", "not checked (the table cannot answer this)")

    def _below(self, size: int) -> str:
        members = self._sizes.members
        return self._tell.part(self._sizes.below(size)[1], members) if members else "no rows"

    def _checks(self, models: Iterable[type[Model]]) -> Iterator[tuple[type[Model], Check]]:
        """Yield the checks of these models, in the order of the models."""
        return ((model, check) for model in models for check in self._result.checks if check.model == model.name)
