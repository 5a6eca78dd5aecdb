"""A report before it is laid out: first screen, sections of sentences, tables and pictures; how figures are written."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from decimal import Context, Decimal
from fractions import Fraction
from itertools import chain, takewhile
from operator import attrgetter
from typing import Literal, NamedTuple, TypeVar

from sqlaudit.base.errors import InputError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.result import Number, Warned, is_note

# What a report is made of: sentences with their tone, lists, facts, tables, pictures. Layouts read nothing else.
#
# Texts are data until a layout escapes them: nothing here is markup.

Tone = Literal["plain", "good", "bad", "warn", "quiet"]


@dataclass(frozen=True)
class Toned:
    """A text with its tone: colour in a terminal, but never information that only colour carries.

    `hint` is for people who run commands: it follows the text, but a page has it under "How to repeat this".
    """

    text: str
    tone: Tone = "plain"
    hint: str = ""


Words = str | Toned


def good(text: str, hint: str = "") -> Toned:
    """Return the text in the tone of good news."""
    return Toned(text, "good", hint)


def bad(text: str, hint: str = "") -> Toned:
    """Return the text in the tone of something to fix."""
    return Toned(text, "bad", hint)


def bad_if(is_bad: object) -> Tone:
    """Return the tone of something to fix if it is bad, else the plain tone."""
    return "bad" if is_bad else "plain"


def warning(text: str, hint: str = "") -> Toned:
    """Return the text in the tone of a warning."""
    return Toned(text, "warn", hint)


def text_of(words: Words) -> str:
    """Return the text without its tone, and with its hint."""
    if isinstance(words, str):
        return words
    return f"{words.text} {words.hint}" if words.hint else words.text


def without_hint(words: Words) -> str:
    """Return the text without its tone and hint, for readers who run no commands."""
    return words.text if isinstance(words, Toned) else words


def tone_of(words: Words) -> Tone:
    """Return the tone, plain for text without one."""
    return words.tone if isinstance(words, Toned) else "plain"


@dataclass(frozen=True)
class Paragraph:
    """One paragraph."""

    words: Words


@dataclass(frozen=True)
class Bullets:
    """A list of sentences."""

    items: tuple[Words, ...]


@dataclass(frozen=True)
class Facts:
    """Names with what they stand for, one a line."""

    pairs: tuple[tuple[str, Words], ...]


Cell = Words | Number | None
"""What stands in a table or beside a name: words, a number that `figure` writes, or nothing."""


def in_cell(value: Cell) -> Words:
    """Return the words of a cell: a number as `figure` writes it, None as an empty text."""
    return value if isinstance(value, str | Toned) else "" if value is None else figure(value)


def label(name: str) -> str:
    """Return a label in sentence case; a letter of mathematics stays as it is.

    Example:
        >>> label("quasi-identifiers"), label("k-anonymity"), label("k")
        ('Quasi-identifiers', 'k-anonymity', 'k')
    """
    return name if re.match(r".ᵐ?(\W|$)", name) else name[:1].upper() + name[1:]


def facts(*pairs: tuple[str, Cell]) -> Facts:
    """Return labels with their values, without those that have no value."""
    labelled = ((label(name), in_cell(value)) for name, value in pairs)
    return Facts(tuple((name, words) for name, words in labelled if text_of(words)))


@dataclass(frozen=True)
class Column:
    """A table's column: its heading, and whether it holds numbers (aligned right)."""

    title: str
    numeric: bool = False


@dataclass(frozen=True)
class Table:
    """A table; `caption` stands above it."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Words, ...], ...]
    caption: str = ""


Heading = str | Column | None
"""The heading of a column: a label, a `Column` with its own text, or None to leave the column out."""


def table(headings: Iterable[Heading], rows: Iterable[Iterable[Cell]], caption: str = "") -> Table:
    """Return a table of these rows.

    Args:
        headings: labels of the columns, put into sentence case. `#` begins those of numbers. `?` begins those of
            columns that are left out when all of their cells are empty or 0. A `Column` has its own text, for instance
            a name from the data. None leaves a column out.
        rows: a cell for each heading, whether its column is left out or not.
        caption: the text above the table.

    Example:
        >>> table(("file", "?#rows", "?notes"), [("a.csv", 9, ""), ("b.csv", 12, None)]).rows
        (('a.csv', '9'), ('b.csv', '12'))
    """
    cells = [tuple(row) for row in rows]
    columns = [_column(heading, any(row[place] for row in cells)) for place, heading in enumerate(headings)]
    lines = (zip(columns, row, strict=True) for row in cells)
    shown = (tuple(in_cell(cell) for column, cell in line if column is not None) for line in lines)
    return Table(tuple(column for column in columns if column is not None), tuple(shown), caption)


def _column(heading: Heading, has_cells: bool) -> Column | None:
    if not isinstance(heading, str):
        return heading
    text = heading.removeprefix("?")
    return Column(label(text.removeprefix("#")), text[:1] == "#") if has_cells or text == heading else None


Item = TypeVar("Item")
FieldColumns = str | tuple[Heading, str | Callable[[Item], Cell]]


def table_of(items: Iterable[Item], *columns: FieldColumns[Item], caption: str = "") -> Table:
    """Return a table with a row for each item.

    Args:
        items: what the rows are about, for instance the instances of a dataclass.
        columns: the names of fields, which are the headings too, with `#` and `?` as in `table`: `#boxes
            #fewest_users`. Or a heading, and the field or the function that gives the cell of an item.
        caption: the text above the table.

    Example:
        >>> rows = [KeyFigure("3", "Unique rows", "bad"), KeyFigure("1", "Smallest group")]
        >>> table_of(rows, "name tone", ("#Rows", "value"), ("#Letters", lambda row: len(row.name))).rows
        (('Unique rows', 'bad', '3', '11'), ('Smallest group', 'plain', '1', '14'))
    """
    pairs = list(chain.from_iterable(map(_pairs, columns)))
    cells = [attrgetter(cell) if isinstance(cell, str) else cell for _, cell in pairs]
    return table((heading for heading, _ in pairs), ((cell(item) for cell in cells) for item in items), caption)


def _pairs(columns: FieldColumns[Item]) -> Iterator[tuple[Heading, str | Callable[[Item], Cell]]]:
    if isinstance(columns, str):
        yield from ((name.replace("_", " "), name.lstrip("?#")) for name in columns.split())
    else:
        yield columns


@dataclass(frozen=True)
class KeyFigure:
    """A figure that a report shows large under its verdict: `0 of 3` and `Requirements met`."""

    value: str
    name: str
    tone: Tone = "plain"


class Line(NamedTuple):
    """A requirement on the first screen: verdict, name, figure and limit, and what fails. Build many by `lines`."""

    verdict: Words
    name: str
    figure: Cell
    limit: Cell = None
    failing: Cell = None


def lines(requirements: Iterable[Line]) -> Table:
    """Return the requirements of a report for its lead, one a line with its figure and its limit.

    Together with the key figures this is the first screen of a report: the verdict, at most three large figures, one
    line a requirement. The details follow as sections.

    Example:
        >>> screen = compose(
        ...     bad("FAIL: the requirement is not met"),
        ...     ["a.csv: 9 rows", lines([Line(bad("FAILS"), "k-anonymity", 1, "at least 5", "9 rows (100%)")])],
        ...     figures=[KeyFigure("1 row", "Smallest group", "bad"), KeyFigure("0 of 1", "Requirements met", "bad")],
        ... )
        >>> [figure.name for figure in screen.figures]
        ['Smallest group', 'Requirements met']
    """
    return table(("verdict", "requirement", "#result", "required", "?what fails"), requirements)


@dataclass(frozen=True)
class Picture:
    """What a page draws beside the table with the same figures; layouts without pictures leave it out.

    Args:
        kind: which drawing (`sqlaudit.reports.charts` has them).
        title: what it shows, in one sentence. data: plain numbers and texts, as JSON has them.
    """

    kind: str
    title: str
    data: Mapping[str, object] = field(default_factory=dict)


def bars(
    title: str, names: Iterable[str], series: Mapping[str, Sequence[Number]], x: str, *, share: bool = False
) -> Picture:
    """Return a bar chart.

    Args:
        title: what is shown. names: one for each bar. series: numbers of the bars by the name of their series.
        x: label of the axis of numbers. share: True for shares, whose axis ends at 1.
    """
    return Picture("bars", title, {"names": [*names], "series": series, **({"share": True} if share else {}), "x": x})


def curves(title: str, points: Mapping[str, Sequence[Sequence[Number]]], x: str, y: str, legend: str = "") -> Picture:
    """Return a chart of curves.

    Args:
        title: what is shown. points: points (x, y) by the name of their curve. x, y: labels of the axes.
        legend: corner of the legend in files; empty = the usual one.
    """
    return Picture("curves", title, {"curves": points, "x": x, "y": y, **({"legend": legend} if legend else {})})


class Strip(NamedTuple):
    """A strip of a picture: its label, the lengths of its parts, and their names if they have any."""

    label: str
    parts: Sequence[Number]
    names: Sequence[str] = ()


def strips(
    title: str, rows: Mapping[str, Sequence[Strip]], legend: Sequence[str] = (), *, rest: bool = False
) -> Picture:
    """Return strips of one length, each cut into its parts.

    Args:
        title: what is shown. rows: the strips of each name, one below the other; the first ones have the first colour.
        legend: what the first strips are, what the second ones; or, where parts have names, nothing.
        rest: True if the last part of a strip stands for many, and is drawn pale.
    """
    drawn = [
        {"name": name, "strips": [{**strip._asdict(), "names": [*strip.names]} for strip in several]}
        for name, several in rows.items()
    ]
    return Picture("strips", title, {"rows": drawn, "legend": [*legend], "rest": rest} if drawn else {})


class Portion(NamedTuple):
    """A part of a whole, and its label; empty = the numbers of both."""

    part: int | float
    whole: int | float
    label: str = ""


def portions(title: str, rows: Mapping[str, Sequence[Portion]]) -> Picture:
    """Return strips that are solid as far as a part of the whole goes, and faint for the rest.

    Args:
        title: what is shown, and what is solid and faint. rows: the portions of each name, one below the other.

    Example:
        >>> portions("Cells: unsafe (solid) and safe (faint)", {"k=5": [Portion(1, 4)]}).data["rows"]
        [{'name': 'k=5', 'strips': [{'label': '1 of 4', 'parts': (1, 3), 'names': []}]}]
    """
    return strips(
        title,
        {
            name: [Strip(label or f"{part:,} of {whole:,}", (part, whole - part)) for part, whole, label in several]
            for name, several in rows.items()
        },
        rest=True,
    )


class Panel(NamedTuple):
    """A small chart: its name, a note, and two lists of shares, which are compared bin by bin."""

    name: str
    note: str
    before: Sequence[Number]
    after: Sequence[Number]


def panels(title: str, charts: Iterable[Panel], legend: tuple[str, str]) -> Picture:
    """Return small charts side by side, each with filled bars and the outline of others over them.

    Args:
        title: what is shown. charts: the panels. legend: what bars are, and what the outline is.
    """
    drawn = [panel._asdict() for panel in charts if panel.before]
    return Picture("panels", title, {"panels": drawn, "legend": [*legend]} if drawn else {})


@dataclass(frozen=True)
class Code:
    """Text to be read letter by letter, folded away under its summary; only pages show it."""

    summary: str
    text: str


@dataclass(frozen=True)
class ProposedCommand:
    """A command to be copied whole: what it is for, and its words. A page has it under "How to repeat this"."""

    what: str
    words: tuple[str, ...]


Block = Paragraph | Bullets | Facts | Table | Picture | Code | ProposedCommand
InWords = Paragraph | Bullets | Facts | Table | ProposedCommand


Content = Block | Words | Iterable[Words] | None
"""What sections are made of: a block, words for a paragraph, several for a list, or nothing."""


def as_block(content: Block | Words | Iterable[Words]) -> Block:
    """Return words as a paragraph, several as a list, and a block as it is."""
    if isinstance(content, str | Toned):
        return Paragraph(content)
    return content if isinstance(content, Block) else Bullets(tuple(content))


def has_content(block: Block) -> bool:
    """Return True if a block has any content."""
    if isinstance(block, Paragraph):
        return bool(text_of(block.words))
    fields = {Bullets: "items", Facts: "pairs", Table: "rows", Picture: "data", Code: "text", ProposedCommand: "words"}
    return bool(getattr(block, fields[type(block)]))


def words_of(block: Block) -> tuple[Words, ...]:
    """Return all words of a block; of pictures, code and commands their titles."""
    if isinstance(block, Paragraph):
        return (block.words,)
    if isinstance(block, Bullets):
        return block.items
    if isinstance(block, Facts):
        return tuple(words for pair in block.pairs for words in pair)
    if isinstance(block, Picture | Code):
        return (block.title if isinstance(block, Picture) else block.summary,)
    if isinstance(block, ProposedCommand):
        return (block.what,)
    heads = (block.caption, *(column.title for column in block.columns))
    return (*heads, *(cell for row in block.rows for cell in row))


def in_words(blocks: tuple[Block, ...]) -> tuple[InWords, ...]:
    """Return the blocks without pictures and code, which terminals and Markdown do not show."""
    return tuple(block for block in blocks if not isinstance(block, Picture | Code))


# A report before it is laid out: sections of blocks under a headline. All layouts read this, so they agree.


@dataclass(frozen=True)
class Section:
    """A heading with its blocks.

    Args:
        title: the heading. blocks: what is below it.
        repeating: True if it is for people who run commands; a page has it near its end.
        folded: True if a page has it at its end, folded: how the result was computed.
    """

    title: str
    blocks: tuple[Block, ...]
    repeating: bool = False
    folded: bool = False


@dataclass(frozen=True)
class About:
    """What a report is about, and for whom it was made; what is not known is empty.

    Args:
        kind: of report. subject: the table or file. time: when it was finished, ISO 8601.
        command: how to run it again, without values that may name people. checksum: of the figures.
        title, owner, purpose: as the user named them. sign_off: who signs it, one line each.
    """

    subject: str = ""
    time: str = ""
    command: str = ""
    checksum: str = ""
    title: str = ""
    owner: str = ""
    purpose: str = ""
    sign_off: tuple[str, ...] = ()
    kind: str = ""


@dataclass(frozen=True)
class Document:
    """A whole report.

    Args:
        headline: the verdict, or what the page is about, in a few words.
        lead: what a reader must know who reads nothing else: what was audited, then a line for each requirement.
        sections: the rest, most important first; empty ones are left out by `section`.
        figures: up to three figures that are shown large between the first paragraphs of the lead and its other blocks.
        about: what it is about, when and for whom it was made.
    """

    headline: Words
    lead: tuple[Block, ...] = ()
    sections: tuple[Section, ...] = ()
    figures: tuple[KeyFigure, ...] = ()
    about: About = About()

    @property
    def opening(self) -> tuple[Block, ...]:
        """The paragraphs that begin the lead, above the figures; none that introduces what is below it."""

        def is_sentence(block: Block) -> bool:
            return isinstance(block, Paragraph) and not without_hint(block.words).endswith(":")

        return tuple(takewhile(is_sentence, self.lead))

    @property
    def first_screen(self) -> tuple[Block, ...]:
        """Return the blocks under the verdict, with the key figures as words."""
        figures = Facts(tuple((figure.name, Toned(figure.value, figure.tone)) for figure in self.figures))
        return (*self.opening, *([figures] if self.figures else []), *self.lead[len(self.opening) :])

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the lead, then of all sections."""
        return (*self.lead, *(block for section in self.sections for block in section.blocks))


def compose(
    headline: Words,
    lead: Iterable[Content],
    *sections: Iterable[Section],
    figures: Iterable[KeyFigure] = (),
    about: About | None = None,
) -> Document:
    """Return a document of these parts; contents of the lead that are empty are left out."""
    blocks = (as_block(content) for content in lead if content is not None)
    return Document(
        headline, tuple(filter(has_content, blocks)), tuple(chain(*sections)), tuple(figures), about or About()
    )


def section(title: str, *contents: Content, repeating: bool = False, folded: bool = False) -> tuple[Section, ...]:
    """Return a section of the contents that are not empty, in a tuple to be unpacked; empty if all contents are."""
    blocks = (as_block(content) for content in contents if content is not None)
    filled = tuple(block for block in blocks if has_content(block))
    return (Section(title, filled, repeating, folded),) if filled else ()


def blocks_of(document: Document, titles: Container[str]) -> Iterator[Block]:
    """Return the blocks of the sections with these titles."""
    return (block for section in document.sections if section.title in titles for block in section.blocks)


def with_commands(document: Document, change: Callable[[ProposedCommand], ProposedCommand]) -> Document:
    """Return the document with each command that it proposes changed."""
    sections = (
        replace(
            section,
            blocks=tuple(change(block) if isinstance(block, ProposedCommand) else block for block in section.blocks),
        )
        for section in document.sections
    )
    return replace(document, sections=tuple(sections))


def asked_by(about: About) -> tuple[Facts, ...]:
    """Return the owner and the purpose of the report; empty without either."""
    owner_and_purpose = facts(("owner", about.owner), ("purpose", about.purpose))
    return (owner_and_purpose,) if owner_and_purpose.pairs else ()


def signed_by(about: About) -> tuple[Section, ...]:
    """Return a section with a line for the signature of each signatory; empty without signatories."""
    rows = ((who, "_" * 12, "_" * 24) for who in about.sign_off)
    return section("Sign-off", table(("name", "date", "signature"), rows))


def said_in(document: Document) -> Iterator[str]:
    """Yield every text of a report as it is for readers who run no commands."""
    yield from (figure.name for figure in document.figures)
    blocks = (block for block in document.blocks if not isinstance(block, Code))  # code is folded away
    yield from (without_hint(words) for block in blocks for words in words_of(block))


# Names and values are data: what could steer a terminal, a page or a table is shown, never obeyed.

_JOINERS = ("\u200c", "\u200d")  # ordinary spelling in Persian, Indic scripts and emoji
_STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_NONCHARACTERS = ("\ufffe", "\uffff")  # no XML may hold them
_COMMAND = re.compile(r"(?<=#)#(?=[a-z]*\[)|(?:^|(?<=\s)):(?=:[a-z])", re.IGNORECASE)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MARKDOWN = {"<": "&lt;", ">": "&gt;", "&": "&amp;"} | {sign: "\\" + sign for sign in "\\`*_[]|~$"}
_OPENS_A_BLOCK = frozenset("#+-=")
_PLAIN_SPELLING = str.maketrans(
    {"≥": ">=", "≤": "<=", "∞": "infinite", "–": "-", "—": "-", "…": "...", "•": "*", "×": "x", "−": "-"}
    | dict.fromkeys("─━", "-")
    | dict.fromkeys("█▉▊▋▌", "#")
    | dict.fromkeys("▍▎▏", "|")
)


def visible(text: object) -> str:
    r"""Return the text with control, bidirectional and other steering characters written as escapes.

    The marks `##vso[` and `::error` are escaped as well: Azure Pipelines and GitHub execute them in a job's output.

    Example:
        >>> visible("red \x1b[31m alert")
        'red \\x1b[31m alert'
    """
    escaped = "".join(map(_visible, str(text)))
    if "##" not in escaped and "::" not in escaped:  # much faster than the search in texts without a mark
        return escaped
    return _COMMAND.sub(lambda match: f"\\x{ord(match[0]):02x}", escaped)


def shortened(text: object, most: int) -> str:
    """Return the text cut to at most `most` characters, the last of which is then an ellipsis."""
    full_text = str(text)
    return full_text if len(full_text) <= most else full_text[: most - 1] + "…"


def markdown(text: object) -> str:
    r"""Return the text as Markdown that renders it literally, also inside a table cell.

    Example:
        >>> markdown("a|b <i>")
        'a\\|b &lt;i&gt;'
    """
    escaped = "".join(_MARKDOWN.get(character, character) for character in visible(text))
    if escaped[:1] in _OPENS_A_BLOCK:
        return "\\" + escaped
    digits, dot, rest = escaped.partition(".")  # "1. " begins a numbered list
    return f"{digits}\\.{rest}" if dot and digits.isdigit() and rest[:1] in ("", " ") else escaped


def in_encoding(text: str, encoding: str | None) -> str:
    """Return the text with other spellings of what the encoding lacks, so that printing never fails."""
    codec = encoding or "utf-8"
    if text == text.encode(codec, "replace").decode(codec, "replace"):
        return text
    return text.translate(_PLAIN_SPELLING).encode(codec, "backslashreplace").decode(codec)


def _visible(character: str) -> str:
    """Return the character, or its escape if it steers a terminal or a page."""
    steers = unicodedata.category(character) in _STEERING and character not in _JOINERS
    if not steers and character not in _NONCHARACTERS:
        return character
    code = ord(character)
    escaped = f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return _SHORT.get(character, escaped)


def damaged(what: str) -> InputError:
    """Return the error for a stored result that was changed by hand."""
    return InputError(f"{what} in this file is damaged. Make the file again with {spelled('format', 'json')}.")


# Numbers for people: grouped, short, and never rounded into a different verdict.

UNDEFINED = "undefined"
INFINITE = "∞"
_DIGITS = 4
_MOST_DIGITS = 17
_SMALLEST = -7
_DECIMAL = Context(prec=40)
_TIE = 1e-12
"""Floats of the auditor agree to this relative error, so nearer than this is a tie that only the verdict decides."""


def count(number: int) -> str:
    """Return a count with thousands separators: `1,234`."""
    return f"{number:,}"


def plural(number: int, one: str, many: str = "") -> str:
    """Return a count with its noun: `1 row`, `1,234 rows`, `2 classes`."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def listing(names: Iterable[str], most: int | None = 6, last: str = "and") -> str:
    """Return the names as a list in a sentence, with `last` before the last name.

    Args:
        names: the names. most: largest length of the list, the count of further names included; None = no limit.
        last: the word before the last name.

    Example:
        >>> listing(["age"]), listing(["age", "sex", "zip"]), listing("abcd", 3)
        ('age', 'age, sex and zip', 'a, b and 2 more')
    """
    items = list(names)
    if most is not None and len(items) > most:
        return ", ".join(items[: most - 1]) + f" and {count(len(items) - most + 1)} more"
    return f" {last} ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)


def listed(names: Iterable[str], most: int | None = 6, last: str = "and") -> str:
    """Return columns and expressions as a list in a sentence, each as an option takes it.

    Args:
        names, most, last: as `listing` has them.

    Example:
        >>> listed(["age", "last, first", " zip"])
        'age, "last, first" and " zip"'
    """
    return listing(_written(names), most, last)


def joined(names: Iterable[str]) -> str:
    """Return columns and expressions as a list that an option takes."""
    return ", ".join(_written(names))


def _written(names: Iterable[str]) -> Iterator[str]:
    from sqlaudit.base.options import written  # which --help does not need

    return map(written, names)


def percent(share: Number | None) -> str:
    """Return a share as a percentage; only 0 prints as 0% and only 1 as 100%.

    Some losses are below 0, or above 1, the loss of complete suppression.

    Example:
        >>> percent(0.0419), percent(0.00001), percent(1), percent(-2), percent(2.5)
        ('4.2%', 'under 0.1%', '100%', '−200%', '250%')
    """
    if share is None:
        return UNDEFINED
    if share in (0, 1):
        return "100%" if share else "0%"
    if share < 0:
        return f"−{percent(-share)}" if share <= -0.001 else "just below 0%"
    if share > 1:
        return f"{figure(float(share) * 100)}%" if share >= 1.001 else "just over 100%"
    if share < 0.001:
        return "under 0.1%"
    return "over 99.9%" if share > 0.999 else f"{float(share) * 100:.1f}%"


def part(rows: int, whole: int) -> str:
    """Return a part of a whole as a percentage; empty if the whole is 0."""
    return percent(Fraction(rows, whole)) if whole else ""


def out_of(number: int, whole: int, one: str, many: str = "") -> str:
    """Return a part of a whole with its share: `2 of 8 rows (25.0%)`, `0 of 0 rows`."""
    share = part(number, whole)
    return f"{count(number)} of {plural(whole, one, many)}{f' ({share})' if share else ''}"


def with_share(number: int, whole: int) -> str:
    """Return a part with its share of the whole, as in a key figure: `2 (25.0%)`."""
    return f"{count(number)} ({part(number, whole)})" if whole else count(number)


def figure(value: Number | None, digits: int = _DIGITS) -> str:
    """Return a figure with `digits` significant digits, more if it would look like an integer that it is not.

    Example:
        >>> figure(2.82842712), figure(12345), figure(0.0031), figure(1.99996), figure(-3.5031)
        ('2.828', '12,345', '0.0031', '1.99996', '−3.503')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return UNDEFINED
    if isinstance(value, float) and math.isinf(value):
        return INFINITE if value > 0 else "−" + INFINITE
    exact = _exact(value)
    if exact == exact.to_integral_value():
        return with_minus(f"{int(exact):,}")
    for precision in range(digits, _MOST_DIGITS + 1):
        text = _rounded(exact, precision)
        if "." in text or "e" in text:
            break
    return with_minus(text)


def with_minus(number: object) -> str:
    """Return a number with a minus sign (−) instead of a hyphen."""
    return str(number).replace("-", "−")


def limit(value: Number | None) -> str:
    """Return a limit exactly as required: decimals in full, other fractions as a/b.

    Example:
        >>> limit(Fraction(1, 5)), limit(Fraction(1, 3)), limit(5)
        ('0.2', '1/3', '5')
    """
    if not isinstance(value, Fraction) or value.denominator == 1:
        return figure(value)
    # A fraction 1/d with finitely many decimals has fewer than d has bits
    decimals = next((n for n in range(value.denominator.bit_length()) if 10**n % value.denominator == 0), None)
    if decimals is None:
        return with_minus(f"{value.numerator}/{value.denominator}")
    shifted = Decimal(value.numerator) * Decimal(10**decimals // value.denominator)
    return with_minus(f"{shifted.scaleb(-decimals).normalize():f}")


def level_against(level: Number | None, required: Number | None, operator: str = "", holds: bool | None = None) -> str:
    """Return a level with as many digits as show on which side of the limit it lies.

    Args:
        level: the level achieved. required: its limit; None without one.
        operator: `>=`, `<=`, `<` or `>`. holds: the exact verdict, which decides when level and limit are closer
            than floats can tell.

    Example:
        >>> level_against(0.2004, Fraction(1, 5)), level_against(0.200000004, Fraction(1, 5))
        ('0.2004', '0.200000004')
    """
    if level is None or required is None or (isinstance(level, float) and not math.isfinite(level)):
        return figure(level)
    side = _side(level, required, operator, holds)
    for digits in range(_DIGITS, _MOST_DIGITS + 1):
        text = figure(level, digits)
        if _sign(Fraction(text.replace(",", "").replace("−", "-")) - Fraction(required)) == side:
            return text
    return {-1: "just under ", 0: "", 1: "just over "}[side] + limit(required)


def _side(level: Number, required: Number, operator: str, holds: bool | None) -> int:
    """Return -1, 0 or 1 for a level below, at, or above the limit; near ties of floats follow the exact verdict."""
    exact, bound = Fraction(level), Fraction(required)
    if not isinstance(level, float) or abs(exact - bound) > _TIE * max(abs(bound), Fraction(1, 10**6)):
        return _sign(exact - bound)
    holding = {">=": 0, "<=": 0, ">": 1, "<": -1}.get(operator, 0)
    failing = {">=": -1, "<=": 1}.get(operator, 0)
    return holding if holds is None or holds else failing


def _exact(value: Number) -> Decimal:
    """Return the value as a decimal: a float as Python prints it, or the integer that it differs from by error only."""
    if isinstance(value, Fraction):
        return _DECIMAL.divide(Decimal(value.numerator), Decimal(value.denominator))
    if isinstance(value, float) and abs(value - round(value)) <= _TIE * abs(value):
        return Decimal(round(value))
    return Decimal(repr(float(value))) if isinstance(value, float) else Decimal(int(value))


def _rounded(value: Decimal, digits: int) -> str:
    """Return the text of a value with this number of significant digits; very small values in scientific notation."""
    exponent = value.adjusted()
    if exponent < _SMALLEST:
        return f"{value:.{digits - 1}e}"
    text = f"{round(value, max(1, digits - 1 - exponent)):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _sign(number: Number) -> int:
    return (number > 0) - (number < 0)


# The notices directly under a verdict, which are the same in every layout.


def notices_block(notices: Iterable[Warned]) -> tuple[Bullets, ...]:
    """Return the notices as a list, empty without notices. Notes on the attacker of a verdict have no tone."""
    items = tuple(notice(warned, "plain" if is_note(warned) else "warn") for warned in notices)
    return (Bullets(items),) if items else ()


def notice(warned: Warned, tone: Tone) -> Toned:
    """Return a warning in a tone, with its advice on commands as a hint."""
    return Toned(warned.fact, tone, warned.hint)


def unnamed_notice(names: Iterable[str]) -> Iterator[Toned]:
    """Yield the notice that columns without a role are published unchanged, if there are any."""
    columns = list(names)
    if columns:
        yield Toned(
            f"Published unchanged, without a role: {listed(columns)}.",
            "warn",
            f"Give those that describe a person a role with {spelled('qi')}, or leave them out with "
            f"{spelled('identifier')}.",
        )


def written_to(file: str, buckets: str) -> str:
    """Return where a release was written, and where the values of its buckets."""
    return f"Written to {file}{f', the values of its buckets to {buckets}' if buckets else ''}."
