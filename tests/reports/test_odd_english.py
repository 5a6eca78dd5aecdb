"""Words that stopped readers once: they occur in no report of what people ask of a table, however small it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

import sqlaudit
from sqlaudit.reports.document import Document
from sqlaudit.reports.notebook import Shown, document_of
from sqlaudit.reports.text import render_text

_NOUNS = (
    "rows|persons|people|classes|columns|sets|nodes|cells|messages|boxes|groups|pieces|values|records|tests|tables|"
    "requirements|events|attacks|others|users|merges|signatures|patterns|combinations|strategies|queries|statements"
)
_ONE = "row|person|class|column|set|node|cell|piece|box|group|user|message|record"
_PLURAL_VERBS = "are|have|lie|fall|fit|share|hold|reach|follow|count|say|do|look|pick|satisfy"
ODD = (
    r"The table as it is does not do",
    r"'[^']*' is none",
    r"\bas listed \d",
    r"sets of any size columns",
    r"\babout 0\.2\b",
    rf"(?<![\d.,:/-])1 (?:{_NOUNS})\b",
    rf"(?<![\d.,:/-])1 (?:{_ONE}) (?:of \w+ )?(?:{_PLURAL_VERBS})\b",
    rf"(?<![\d.,:/-])1 of [\d,]+ \w+ \([\d.]+%\) (?:{_PLURAL_VERBS})\b",
    r"one of [01] (?:safe )?sets?\b",
    r"\bin 0 (?:classes|rows) of\b",
    r"(?<![\d.,:/-])\d{4,}(?:\.\d+)?(?! UTC)(?![\d:-])",
    r"\.\.(?!\.)(?<!\.\.\.)",
    r"\bNone\b",
)
"""What was odd: sentences of old reports, one of what are many, and numbers without separators."""
TABLES = {
    "nobody": [],
    "one": [(34, "f", "flu")],
    "one class": [(30, "f", ("flu", "cold")[n % 2]) for n in range(6)],
    "one is alone": [(34, "f", "flu"), *((30 + n % 2, "m", ("flu", "cold")[n // 2 % 2]) for n in range(12))],
    "many": [(30 + n * n % 7, "fm"[n % 2], ("flu", "cold", "burn")[n * n % 5 % 3]) for n in range(1_200)],
}
QI: dict[str, Any] = {"qi": ["age", 'it\'s "sex"']}
ASKED: dict[str, Any] = {**QI, "sensitive": "ill"}


def _results(table: pd.DataFrame) -> Iterator[Shown]:
    yield sqlaudit.audit(table, **ASKED)
    yield sqlaudit.audit(table, **ASKED, require=["k=5", "l=2", "t=0.25"], failing_classes=5)
    yield sqlaudit.profile(table)
    yield sqlaudit.columns(table)
    yield sqlaudit.disclosure_curve(table, **ASKED, knowledge=2)
    yield sqlaudit.attack(table, **ASKED)
    yield sqlaudit.lattice(table, **QI, require="k=2", suppress="50%")
    if len(table) > 1:
        yield sqlaudit.records(table, **QI)
        yield sqlaudit.suppress(table, **QI, require="k=2", how="fast")
    if len(table) in (1, 13):
        yield sqlaudit.lattice(table, **ASKED, require="k=2", find="all", knowledge=[0, 1])
        yield sqlaudit.recode(table, **ASKED, require="k=2")
        yield sqlaudit.compare(table, table, **ASKED)
        yield sqlaudit.persons(table, entity="age", qi=["ill"], known="1..2", effects=True)


def _said(document: Document) -> str:
    """The report with its cells and sentences apart, without the moment that it was made."""
    text = re.sub(r" {2,}", " | ", render_text(document, 400))
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d|seed \d+", "", text)


@pytest.mark.parametrize("name", TABLES)
def test_no_report_says_what_stopped_readers(name: str) -> None:
    columns = ["age", 'it\'s "sex"', "ill"]
    table = pd.DataFrame(TABLES[name], columns=columns).astype({"age": int, "ill": "string", columns[1]: "string"})
    found = [
        f"{type(result).__name__}: …{text[max(0, match.start() - 50) : match.end() + 20]}…"
        for result in _results(table)
        for text in [_said(document_of(result))]
        for odd in ODD
        for match in re.finditer(odd, text)
    ]
    assert found == []
