"""The report of attacks on a release: what each achieves, in words and figures, and what was not tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlaudit.column_sets.report import READS
from sqlaudit.release.attacks.pictures import exposed_picture, ruled_out_picture
from sqlaudit.release.attacks.result import SINGULAR, AttackResult, Example, Exposure, Figure, exposed_most
from sqlaudit.reports.blocks import Block, Bullets, Column, Facts, Paragraph, Table, Toned, Words
from sqlaudit.reports.document import About, Document, Section, section
from sqlaudit.reports.figures import count, figure, listing, part, percent, plural
from sqlaudit.reports.ran import made, sql_section

_SHARES = (
    "highest",
    "highest_of_the_rest",
    "chance",
    "rows_fitting_beside",
    "chance_of_agreeing",
    "chance_of_alike",
    "chance_unsafe",
    "prior",
    "posterior",
    "right_guesses",
    "right_guesses_without_release",
)
_NAMES = {
    "exposed": "People",
    "of": "Of",
    "certain_if_ruled_out_for_all": "Certain, ruled out for all",
    "highest_of_the_rest": "Best chance of the rest",
    "highest": "Best chance",
    "largest_posterior_over_prior": "Times as likely, at most",
    "times": "More than … times",
    "chance": "As good by chance in",
    "agree_by_chance": "By chance",
    "alike_pairs": "Alike pairs",
    "alike_pairs_by_chance": "By chance",
    "chance_of_agreeing": "So many agree in",
    "chance_of_alike": "So many alike in",
    "finer_in_other": "Finer in other",
    "chance_unsafe": "Unsafe in",
    "matched": "People who fit some row",
    "unique": "People who fit a single row",
    "below_k": "People who fit fewer than k rows",
    "one_to_one": "One person and one row, fitting nobody else",
    "expected_right": "Right guesses to expect",
    "rows_matched": "Rows that fit somebody",
    "rows_of_one_person": "Rows that fit a single person",
    "rows_below_k": "Rows that fit fewer than k people",
    "in_release": "People in the release, by the key",
    "confirmed": "Their row is among those that fit",
    "confirmed_unique": "The single row is theirs",
    "confirmed_below_k": "Theirs is among fewer than k",
    "wrong_unique": "The single row is somebody else's",
    "without_identity": "Learned without being identified",
}
_MOST_WORST = 3


def attack_document(result: AttackResult) -> Document:
    """Attacks as a document for any layout."""
    hit = [one for one in result.exposures if one.exposed]
    return Document(
        Toned(_headline(result, len(hit)), "bad" if hit else "good"),
        (Bullets(tuple(_lead(result))),),
        (
            *section("What each attack achieves", _overview(result), exposed_picture(result)),
            *(detail for one in result.exposures for detail in _details(one)),
            *section("Not tried", Bullets(tuple(Toned(f"{one.title}.", hint=one.reason) for one in result.not_tried))),
            *section("How it was attacked", _how(result)),
            *sql_section(result),
        ),
        tuple(Toned(one.sentence, "bad") for one in exposed_most(hit)[:_MOST_WORST]),
        about=About(result.target, result.time),
    )


def _headline(result: AttackResult, hit: int) -> str:
    tried = plural(len(result.exposures), "attack")
    if hit:
        return f"{result.target}: {count(hit)} of {tried} {'exposes' if hit == 1 else 'expose'} somebody"
    if not result.exposures:
        return f"{result.target}: no attack could be tried"
    may = sum(1 for one in result.exposures if one.at_most)
    surely = f" for sure, {count(may)} may" if may else ""
    return f"{result.target}: none of {tried} exposes anybody{surely}"


def _lead(result: AttackResult) -> Iterator[Words]:
    """Those that expose somebody, worst first; those that may; the names of the others."""
    for one in exposed_most(result.exposures):
        if one.exposed or one.at_most:
            yield Toned(one.sentence, "bad" if one.exposed else "warn")
    harmless = [_about(one) for one in result.exposures if not one.exposed and not one.at_most]
    if harmless:
        yield Toned(f"Nobody is exposed by {listing(harmless)}.", "good")


def _about(one: Exposure) -> str:
    title = one.title[:1].lower() + one.title[1:]
    return title if one.about is None else f"{title} ({one.about})"


def _overview(result: AttackResult) -> Table:
    columns = (
        Column("Attack"),
        Column("Exposed", True),
        Column("Of", True),
        Column("Share", True),
        Column("Sure at least", True),
        Column("Best chance", True),
    )
    return Table(columns, tuple(_row(one) for one in result.exposures))


def _row(one: Exposure) -> tuple[str, ...]:
    sure = percent(one.probability) if one.exposed and one.probability is not None else ""
    best = "" if one.highest is None else percent(one.highest)
    of = f"{count(one.of)} {SINGULAR.get(one.unit, one.unit) if one.of == 1 else one.unit}"
    open_ = one.at_most is not None and one.at_most > one.exposed
    exposed = f"{count(one.exposed)} to {count(one.at_most or 0)}" if open_ else count(one.exposed)
    return (one.heading, exposed, of, part(one.exposed, one.of), sure, best)


def _details(one: Exposure) -> tuple[Section, ...]:
    blocks: list[Block | None] = [] if one.exposed or one.at_most else [Paragraph(one.sentence)]
    if one.figures:
        blocks.append(Facts(tuple((_name(name), _shown(name, value)) for name, value in one.figures.items())))
    if one.steps:
        names = list(one.steps[0])
        rows = tuple(tuple(_shown(name, step[name]) for name in names) for step in one.steps)
        blocks.append(Table(tuple(Column(_name(name), _is_number(one.steps, name)) for name in names), rows))
    if one.attack == "background_knowledge":
        blocks.append(ruled_out_picture(one))
    if one.examples:
        blocks.append(_examples(one.examples))
    if one.note:
        blocks.append(Paragraph(one.note))
    return section(one.heading, *blocks)


def _examples(examples: tuple[Example, ...]) -> Table:
    keys = list(next((one.key for one in examples if one.key is not None), {}))
    widest = max(len(one.value) for one in examples)
    values = ["Value"] if widest == 1 else [f"Value {number}" for number in range(1, widest + 1)]
    rows = tuple(
        (
            *(_text((one.key or {}).get(name)) for name in keys),
            count(one.size),
            *(_text(one.value[place]) if place < len(one.value) else "" for place in range(widest)),
        )
        for one in examples
    )
    return Table((*(Column(name) for name in keys), Column("Size", True), *(Column(name) for name in values)), rows)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _name(name: str) -> str:
    return _NAMES.get(name) or name.replace("_", " ").capitalize()


def _is_number(steps: tuple[Mapping[str, Figure], ...], name: str) -> bool:
    return not any(isinstance(step[name], str) for step in steps)


def _shown(name: str, value: Figure) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if name in _SHARES:
        return percent(value)
    return figure(value)


def _how(result: AttackResult) -> Facts:
    classes = "overlapping classes" if result.classes is None else plural(result.classes, "class", "classes")
    pairs = [
        ("rows", count(result.rows)),
        ("classes", classes if result.smallest is None else f"{classes}, the smallest has {count(result.smallest)}"),
        ("quasi-identifiers", ", ".join(result.quasi_identifiers)),
        ("sensitive", ", ".join(result.sensitive) or "none"),
        ("missing values", READS[result.nulls]),
        ("counted as found", f"who hides among fewer than {count(result.k)}"),
    ]
    if result.entity is not None:
        pairs.append(("persons", result.entity))
    return Facts((*pairs, *made(result)))
