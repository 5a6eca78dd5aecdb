"""The layout for terminals and plain text files, with pictures as rows of bars."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from sqlaudit.base.frozen import dataclass
from sqlaudit.reports import document as doc
from sqlaudit.reports.glossary import sentence_of

Shown: TypeAlias = "doc.InWords | list[PlotLine]"

# Pictures as rows of bars, for terminals: the sizes of classes and the curve of disclosure. Other kinds have none.
#
# A bar is made of block characters, to an eighth of a column; where an output cannot carry these, `in_encoding`
# spells them in ASCII, one character for one.

KNOWLEDGE = "pieces of knowledge, k"
"""What the curve of disclosure is drawn over."""
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
_FULL = "█"
_LONGEST = 48
_MOST_LINES = 24


@dataclass(frozen=True)
class PlotLine:
    """One line of a plot: a heading when it has no bar, and the tone of its bar."""

    label: str
    bar: str = ""
    value: str = ""
    tone: doc.Tone = "plain"


def plotted(picture: doc.Picture, width: int) -> list[PlotLine]:
    """The lines of a plot in `width` columns; none for a picture of which no plot is made.

    Raises:
        InputError: the picture's data are not what its kind needs.

    Example:
        >>> data = {"labels": ["1", "2"], "from": [1, 2], "values": [9, 0], "safe": 2, "x": "class size", "y": "rows"}
        >>> for line in plotted(doc.Picture("sizes", "", data), 40):
        ...     print(line)
        PlotLine(label='class size: rows', bar='', value='', tone='plain')
        PlotLine(label='1', bar='████████████████████████', value='9 (below 2)', tone='bad')
        PlotLine(label='2', bar='', value='0', tone='plain')
    """
    try:
        if picture.kind == "sizes":
            return list(_sizes(picture.data, width))
        if picture.kind == "curves" and picture.data["x"] == KNOWLEDGE:
            return list(_curves(picture.data, width))
    except (LookupError, TypeError, ValueError, AttributeError):  # a stored result that somebody changed
        raise doc.damaged("A picture") from None
    return []


def bar(share: float, columns: int) -> str:
    """A bar of a share of so many columns, to an eighth; anything but nothing shows.

    Example:
        >>> bar(0.5, 5), bar(1, 3), bar(0.001, 10), bar(0, 10)
        ('██▌', '███', '▏', '')
    """
    eighths = round(min(1.0, max(0.0, share)) * columns * 8)
    whole, rest = divmod(max(eighths, 1) if share > 0 else 0, 8)
    return _FULL * whole + _EIGHTHS[rest]


def _sizes(data: Mapping[str, Any], width: int) -> Iterator[PlotLine]:
    """Rows by the size of their class; bars are as long as their numbers, and anything but nothing shows."""
    labels, safe = [doc.visible(label) for label in data["labels"]], data["safe"]
    below = [low < safe for low in data["from"]]
    split = [high is None or high >= safe for high in data.get("to", data["from"])]
    numbers = [
        doc.count(value) + (f" ({'some ' if some else ''}below {safe})" if short and value else "")
        for value, short, some in zip(data["values"], below, split, strict=True)
    ]
    columns = _columns(labels, numbers, width)
    most = max(data["values"])
    yield PlotLine(doc.visible(f"{data['x']}: {data['y']}"))
    for label, value, number, short in zip(labels, data["values"], numbers, below, strict=True):
        yield PlotLine(label, bar(value / most if most else 0, columns), number, "bad" if short else "plain")


def _curves(data: Mapping[str, Any], width: int) -> Iterator[PlotLine]:
    """Yield what each number of pieces reveals, from nothing to certainty, one attacker after the other."""
    limit = data.get("limit")
    curves = {name: _thinned(points) for name, points in data["curves"].items()}
    drawn = [point for points in curves.values() for point in points]
    columns = _columns([doc.figure(k) for k, _ in drawn], [doc.figure(level) for _, level in drawn], width)
    for name, points in curves.items():
        yield PlotLine(doc.visible(f"{data['y']} by k, {name}"))
        for k, level in points:
            reached = limit is not None and level >= limit
            yield PlotLine(doc.figure(k), bar(level, columns), doc.figure(level), "bad" if reached else "plain")


def _thinned(points: Sequence[object]) -> Sequence[Any]:
    """At most so many points as there may be lines, the last one among them."""
    if len(points) <= _MOST_LINES:
        return points
    step = -(-(len(points) - 1) // (_MOST_LINES - 1))
    return [*points[:-1:step], points[-1]]


def _columns(labels: Sequence[str], numbers: Sequence[str], width: int) -> int:
    """Return how long a bar may be beside its label and its number."""
    taken = max(map(len, labels), default=0) + max(map(len, numbers), default=0) + 4
    return max(4, min(_LONGEST, width - taken))


# The layout for terminals and plain text files: no line longer than the width, except words of commands, which have
# to be copied whole; colour only where it is wanted.

STYLES = {"plain": "", "good": "green", "bad": "bold red", "warn": "yellow", "quiet": "dim"}
_INDENT = 2
_BETWEEN = 3


def render_text(
    document: doc.Document, width: int = 80, colour: bool = False, plots: bool = False, glossary: bool = True
) -> str:
    """The document as text that ends with a line feed.

    Args:
        document: what to lay out. width: columns of the terminal, at least 40. colour: whether escape sequences for
            colour and weight may be used. plots: whether pictures that bars can draw are drawn.
        glossary: whether it says where its words are explained.

    Raises:
        InputError: with plots, a picture's data are not what its kind needs.
    """
    target = io.StringIO()
    console = Console(
        file=target,
        width=max(width, 40),
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        _environ={},
    )
    about = document.about
    if about.title:
        _print(console, Text(doc.visible(about.title), style="bold"))
    _print(console, _styled(document.headline, heading=True))
    _blocks(console, _shown((*doc.asked_by(about), *document.first_screen), console.width, plots))
    for section in (*document.sections, *doc.signed_by(about)):
        if blocks := _shown(section.blocks, console.width, plots):
            console.print()
            _print(console, Text(doc.visible(section.title), style="bold"))
            _blocks(console, blocks)
    if explained := sentence_of(document) if glossary else "":
        console.print()
        _print(console, Text(explained, style="dim"))
    return "".join(line.rstrip() + "\n" for line in target.getvalue().splitlines())


def _shown(blocks: tuple[doc.Block, ...], width: int, plots: bool) -> tuple[Shown, ...]:
    """Return what is laid out of the blocks: those in words, and plots where they are wanted."""
    shown: list[Shown] = []
    for block in blocks:
        if plots and isinstance(block, doc.Picture):
            shown += [lines] if (lines := plotted(block, width - _INDENT)) else []
        else:
            shown += doc.in_words((block,))
    return tuple(shown)


def _blocks(console: Console, blocks: tuple[Shown, ...]) -> None:
    for position, block in enumerate(blocks):
        if position and not (isinstance(block, doc.Bullets) and isinstance(blocks[position - 1], doc.Paragraph)):
            console.print()
        _print(console, Padding(_laid_out(block, console), (0, 0, 0, _INDENT)))
        if isinstance(block, doc.ProposedCommand):
            for line in _command_lines(block, console.width):
                console.print(Text(line), soft_wrap=True)


def _command_lines(command: doc.ProposedCommand, width: int) -> list[str]:
    """A command as a shell takes it from a screen: whole words, and a backslash where it goes on in the next line."""
    options: list[str] = []  # each in one piece with what it is given
    for word in map(doc.visible, command.words):
        if options and not word.startswith("--") and options[-1].startswith("--") and " " not in options[-1]:
            options[-1] += f" {word}"
        else:
            options.append(word)
    lines, indent = [""], " " * (2 * _INDENT)
    for option in options:
        if lines[-1] and len(indent) + cell_len(lines[-1]) + cell_len(option) + 3 > width:
            lines[-1] += " \\"
            lines.append(" " * _INDENT + option)
        else:
            lines[-1] += (" " if lines[-1] else "") + option
    return [indent + line for line in lines]


def _print(console: Console, renderable: RenderableType) -> None:
    console.print(renderable, overflow="fold", soft_wrap=False)


def _laid_out(block: Shown, console: Console) -> RenderableType:
    """Return a block as rich lays it out."""
    if isinstance(block, list):
        return _plot(block)
    if isinstance(block, doc.Paragraph | doc.ProposedCommand):
        return _styled(block.words if isinstance(block, doc.Paragraph) else block.what)
    if isinstance(block, doc.Bullets):
        return _pairs([("•", item) for item in block.items])
    if isinstance(block, doc.Facts):
        return _pairs([(doc.visible(name), words) for name, words in block.pairs])
    laid_out = _in_columns(block, console)
    return Group(Text(doc.visible(block.caption)), laid_out) if block.caption else laid_out


def _in_columns(block: doc.Table, console: Console) -> RenderableType:
    """Return a table as it is drawn: narrower, or row by row, where its own widths would break words."""
    grid = _table(block, [None] * len(block.columns))
    room = console.width - _INDENT
    # Not public in rich, which has no other way to ask for the widths; tried with rich 13.7 and 15.0
    widths_drawn = grid._calculate_column_widths(console, console.options.update_width(room - grid._extra_width))
    last = len(widths_drawn) - 1
    usable = [width - (2 if 0 < column < last else 1) for column, width in enumerate(widths_drawn)]
    if not last or all(width >= _longest_word(block, column) for column, width in enumerate(usable)):
        return grid
    widths = _widths(block, room)
    return _row_by_row(block) if widths is None else _table(block, widths)


def _widths(table: doc.Table, width: int) -> list[int | None] | None:
    """The width of each column, None where it takes what it wants; None for a table that breaks words in any way."""
    places = range(len(table.columns))
    needed = [_longest_word(table, place) for place in places]
    widths = [max(cell_len(text) for text in _texts(table, place)) for place in places]  # what each wants
    room = width - _BETWEEN * (len(widths) - 1)
    if sum(widths) <= room or len(widths) < 2:
        return [None] * len(widths)
    if sum(needed) > room:
        return None
    for place in sorted(places, key=lambda place: (table.columns[place].numeric, -widths[place])):
        widths[place] -= min(widths[place] - needed[place], max(0, sum(widths) - room))
    return list(widths)


def _texts(table: doc.Table, place: int) -> list[str]:
    """Return what stands in a column, its heading first."""
    cells = (doc.text_of(row[place]) for row in table.rows)
    return [doc.visible(text) for text in (table.columns[place].title, *cells)]


def _longest_word(table: doc.Table, place: int) -> int:
    """The room that a column needs so that no name in it is broken; a requirement (`l=3,c:2`) may be."""
    words = (word for text in _texts(table, place) for word in text.split())
    return max((cell_len(word) for word in words if "=" not in word and ":" not in word), default=1)


def _row_by_row(table: doc.Table) -> RenderableType:
    """A table that is too wide: what a row is about on its own line, and under it its figures with their names."""
    parts: list[RenderableType] = []
    for row in table.rows:
        figures = Text("; ", style="dim").join(
            Text.assemble((doc.visible(column.title).lower() + " ", "dim"), _styled(cell))
            for column, cell in zip(table.columns[1:], row[1:], strict=True)
            if doc.text_of(cell)
        )
        parts += [_styled(row[0]), Padding(figures, (0, 0, 0, 4))]
    return Group(*parts)


def _plot(lines: list[PlotLine]) -> RenderableType:
    """Headings, and under each a grid of labels, bars and numbers."""
    parts: list[RenderableType] = []
    for line in lines:
        if not line.value:
            grid = Grid.grid("", "", "", padding=(0, 2, 0, 0))
            grid.columns[0].justify = "right"
            parts += [*([Text("")] if parts else []), Text(line.label, style="dim"), grid]
        else:
            grid.add_row(Text(line.label), Text(line.bar, style=STYLES[line.tone]), Text(line.value))
    return Group(*parts)


def _pairs(pairs: list[tuple[str, doc.Words]]) -> Grid:
    grid = Grid.grid(padding=(0, 2 if any(len(name) > 1 for name, _ in pairs) else 1, 0, 0))
    longest = max((cell_len(word) for name, _ in pairs for word in name.split()), default=0)
    grid.add_column(overflow="fold", max_width=max(30, min(longest, 44)))  # no name is broken that fits at all
    grid.add_column(overflow="fold", ratio=1)
    for name, words in pairs:
        grid.add_row(Text(name), _styled(words))
    return grid


def _table(table: doc.Table, widths: list[int | None]) -> Grid:
    """Return a table as a grid with columns of these widths; None = as wide as needed."""
    grid = Grid(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1), header_style="")
    for column, room in zip(table.columns, widths, strict=True):
        grid.add_column(
            Text(doc.visible(column.title), style="dim"),
            justify="right" if column.numeric else "left",
            overflow="fold",
            no_wrap=False,
            width=room,
        )
    for row in table.rows:
        grid.add_row(*(_styled(cell) for cell in row))
    return grid


def _styled(words: doc.Words, heading: bool = False) -> Text:
    style = STYLES[doc.tone_of(words)]
    return Text(doc.visible(doc.text_of(words)), style=f"bold {style}".strip() if heading else style)
