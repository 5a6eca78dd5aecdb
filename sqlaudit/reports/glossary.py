"""The words of reports, each explained once: for the end of every page, and for docs/glossary.md."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlaudit.reports.document import Document, said_in, text_of

PAGE = "docs/glossary.md"


@dataclass(frozen=True)
class Term:
    """A word, what it means in one or two plain sentences, and how else it is written in reports."""

    name: str
    meaning: str
    spellings: tuple[str, ...] = ()


TERMS = (
    Term(
        "Quasi-identifier",
        "A column that others may know about a person, such as age, sex or postcode. It names nobody alone, but "
        "several together may single somebody out.",
        ("quasi-identifiers",),
    ),
    Term(
        "Direct identifier",
        "A column that names a person by itself: a name, an e-mail address, an insurance number.",
        ("direct identifiers",),
    ),
    Term(
        "Sensitive column",
        "What others should not learn about a person, such as a diagnosis or an income.",
        ("sensitive columns", "sensitive value", "sensitive values"),
    ),
    Term(
        "Equivalence class",
        "All rows with the same values of the quasi-identifiers. Who knows only these cannot tell the people of a "
        "class apart. Reports often say class for short.",
        ("equivalence classes", "class", "classes"),
    ),
    Term(
        "Falls short",
        "A class falls short of a requirement when the requirement does not hold for the people in it; so do its rows.",
        ("fall short", "fell short"),
    ),
    Term("Alone", "A person or row is alone when nobody else has the same quasi-identifiers: a class of one."),
    Term(
        "k-anonymity",
        "The size of the smallest class. “k-anonymity is 1” says that somebody is alone and can be picked out; with 5 "
        "everybody shares the quasi-identifiers with at least four others.",
    ),
    Term(
        "l-diversity",
        "How many different sensitive values the class with fewest has, for distinct l-diversity; entropy and "
        "recursive l-diversity also ask how evenly they are spread. With 1, who finds a person in that class "
        "learns the value.",
    ),
    Term(
        "t-closeness",
        "How far the sensitive values of a class are spread otherwise than those of the whole table, in the worst "
        "class: 0 is the same, 1 is as different as can be.",
    ),
    Term(
        "δ-disclosure",
        "How many times more or less frequent a sensitive value is in a class than in the whole table, as a logarithm. "
        "It is ∞ as soon as a class lacks a value that the table has, which most small classes do.",
        ("δ-disclosure privacy", "delta-disclosure"),
    ),
    Term(
        "β-likeness",
        "How much more frequent a sensitive value may be in a class than in the whole table, relative to the table.",
    ),
    Term(
        "Maximum disclosure",
        "The highest probability with which somebody who knows the quasi-identifiers and k further facts about people "
        "in the table can tell a person's sensitive value. At 1 somebody's value is certain.",
        ("disclosure", "pieces of knowledge", "piece of knowledge"),
    ),
    Term(
        "(c,k)-safety",
        "It holds when the maximum disclosure with k pieces of knowledge is below c for everybody.",
        ("(c,k)-safety (k",),
    ),
    Term(
        "Negated",
        "The same for weaker knowledge: only facts of the form “this person does not have that value”. The other "
        "figure allows any facts of the form “if this person has that value, then somebody has another”.",
        ("negated atoms only", "negated atoms"),
    ),
    Term(
        "Risk",
        "The probability of picking out the right person: 1 divided by the size of the class, for somebody who knows "
        "that the person is in the table.",
        ("highest risk", "average risk", "picked out"),
    ),
    Term(
        "Level",
        "What the table reaches, to be compared with the limit that was required. In a lattice: how coarse a column "
        "is, 0 being the values as they are.",
        ("levels",),
    ),
    Term("Suppressed", "Left out of what is published, or replaced by a star.", ("suppress", "suppression")),
    Term(
        "Generalization",
        "Values made coarser without becoming false: an age becomes an age group, a postcode its first digits.",
        ("generalized", "generalizes", "coarser", "coarsen"),
    ),
    Term(
        "Lattice",
        "All ways to choose one level for every column, ordered from the table as it is to everything replaced by "
        "a star.",
    ),
    Term(
        "Node", "One point of the lattice: one level for every column, and so one way to publish the table.", ("nodes",)
    ),
    Term(
        "Minimal safe node",
        "A node that satisfies the requirements, while no finer node below it does.",
        ("minimal safe nodes",),
    ),
    Term(
        "Loss",
        "How much a release tells less than the table: 0 is nothing lost, 1 is everything lost, if not said otherwise.",
        ("loss of precision", "losses"),
    ),
    Term(
        "Non-corrected",
        "The answer to a query on a release where every row counts that may satisfy it, and so the largest one. "
        "Corrected answers count of every row the share that its class, or each of its cells, makes likely.",
        ("conditional probability", "independently corrected"),
    ),
    Term(
        "Special record",
        "A row that is unique on few columns: the fewer, the more special (SUDA).",
        ("special records", "dis-suda"),
    ),
    Term(
        "Cell",
        "One value: of one row in one column. In a published table of counts or sums, one of its numbers, for instance "
        "all patients of a region with one illness.",
        ("cells",),
    ),
    Term(
        "Contributor",
        "A person, household or firm that is counted or added up in a cell of a published table.",
        ("contributors",),
    ),
    Term(
        "Interval",
        "Numbers or dates from one to another. [20, 30) has all from 20, which is in it, to 30, which is not.",
        ("such as [0",),
    ),
    Term("Column set", "Some columns taken together, as somebody might know them together.", ("column sets",)),
    Term("Undetermined", "The question cannot be decided from what is there. It counts as not fulfilled."),
)


def terms_of(document: Document) -> tuple[Term, ...]:
    """The terms that a report uses."""
    return tuple(explained((text_of(document.headline), *said_in(document))))


def sentence_of(document: Document) -> str:
    """Where the words of a report are explained; empty where it uses none that are."""
    return f"The words of this report are explained in {PAGE}." if terms_of(document) else ""


def explained(texts: Iterable[str]) -> Iterator[Term]:
    """The terms that occur in any of the texts, in the order of the glossary."""
    whole = "\n".join(texts).lower()
    for term in TERMS:
        names = "|".join(re.escape(name.lower()) for name in (term.name, *term.spellings))
        if re.search(rf"(?<![\w-])(?:{names})(?!\w)", whole):
            yield term


def in_markdown() -> str:
    """The whole glossary, as docs/glossary.md has it."""
    return "".join(f"\n**{term.name}.** {term.meaning}\n" for term in sorted(TERMS, key=lambda one: _order(one.name)))


def _order(name: str) -> str:
    return name.lower().lstrip("(").replace("δ", "delta").replace("β", "beta")
