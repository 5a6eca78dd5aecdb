"""What a report says of a table that is a sample: figures of the sample and of its population side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from sqlaudit.audits.classes_report import value_text
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.words import spelled
from sqlaudit.models.check import Check
from sqlaudit.reports.blocks import Block, Column, Paragraph, Table, Toned
from sqlaudit.reports.figures import count, figure, part, percent

_ESTIMATED = ("population_uniqueness", "population_k", "expected_reidentifications")


def sampled_paragraph(roles: Mapping[str, Any]) -> Iterator[Block]:
    """How the table is a sample, where that was said."""
    if roles.get("sampling_fraction") is not None:
        yield Paragraph(f"The table is a sample of {percent(roles['sampling_fraction'])} of its population.")
    elif roles.get("population_size") is not None:
        yield Paragraph(f"The table is a sample of a population of {count(roles['population_size'])} people.")
    elif roles.get("weights") is not None:
        yield Paragraph(f"The table is a sample: {roles['weights']} says how many people a row stands for.")


def population_blocks(result: AuditResult) -> Iterator[Block]:
    """A table with a column for the sample and one for the population, which is estimated."""
    checks = [check for check in result.checks if check.model in _ESTIMATED]
    if not checks:
        return
    yield Table(
        (Column("figure"), Column("sample", True), Column("population, estimated", True)),
        tuple(row for check in checks for row in _rows(check, result)),
        "Counted in the sample, and estimated for the population: two answers to two questions.",
    )


def beliefs_blocks(result: AuditResult) -> Iterator[Block]:
    """What an attacker believes of the stated person before and after the release, for each sensitive attribute."""
    told = {check.sensitive: check.details["person"] for check in result.checks if "person" in check.details}
    for sensitive, beliefs in told.items():
        yield Table(
            (Column(f"value of {sensitive}"), Column("prior", True), Column("posterior", True)),
            tuple((_value(one), percent(one["prior"]), _posterior(one["posterior"])) for one in beliefs),
            "The belief in each value that the population and the table know of people like this one; in every other "
            "it is 0 after the release.",
        )
        if not all("value" in one for one in beliefs):
            hint = f"{spelled('show_values', True)} names them."
            yield Paragraph(Toned("Values are numbered from the most frequent one of the table on.", hint=hint))


def _value(belief: Mapping[str, Any]) -> str:
    return value_text(belief["value"]) if "value" in belief else f"value {belief['rank']}"


def _posterior(belief: Fraction | None) -> str:
    return "contradicted" if belief is None else percent(belief)


def _rows(check: Check, result: AuditResult) -> Iterator[tuple[str, str, str]]:
    sizes, levels = result.classes, check.levels
    if check.model == "population_uniqueness":
        alone, _ = sizes.below(2)
        of_sample = f"{count(alone)} ({part(alone, sizes.members)})"
        share, people = levels.get("share"), levels.get("unique_people")
        name = f"unique people (estimator: {check.details.get('estimator', check.parameters.get('estimator'))})"
        yield name, of_sample, "no estimate" if share is None else f"{count(round(people or 0))} ({percent(share)})"
    elif check.model == "population_k":
        people = levels.get("people")
        yield "smallest class", count(sizes.min_size or 0), "–" if people is None else figure(people)
    elif levels.get("number") is not None:
        yield ("people re-identified, knowing who is in the sample (prosecutor)", figure(levels["prosecutor"]), "–")
        yield "people re-identified, one row after the other (journalist)", "–", figure(levels["journalist"])
        yield "people re-identified, all rows at once (marketer)", "–", figure(levels["marketer"])
