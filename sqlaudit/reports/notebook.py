"""Results as people meet them in Python: a page in a notebook, a file, a frame, three lines where they are printed."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from sqlaudit.base.errors import MissingDriver
from sqlaudit.base.result import PythonCall, plain
from sqlaudit.reports.document import Bullets, Document, Facts, Paragraph, shortened, text_of, with_commands

_LONGEST = 160
"""Letters of a line of a repr."""


class Shown:
    """A result that a notebook shows as its report, pictures included."""

    __slots__ = ()

    shown_by: ClassVar[str]
    """The class of its report, `module:name`: imported when asked for, since reports know their results."""
    frame_of: ClassVar[str]
    """What of its JSON becomes the rows of `to_frame`: `checks`, or `aggregates.unsafe` for a key inside a key."""

    def __repr__(self) -> str:
        """Return three lines: the headline, the first finding, and how to read more."""
        document = document_of(self)
        lines = (f"{type(self).__name__}: {text_of(document.headline)}", _first_words(document))
        summary = [shortened(" ".join(line.split()), _LONGEST) for line in lines if line]
        return "\n".join([*summary, "More: .to_frame(), .to_dict(), .save('report.html')"])

    def _repr_html_(self) -> str:
        """Return the page of `--format html` in a frame, so that its style and names do not meet the notebook's."""
        return framed(self)

    def to_html(self) -> str:
        """Return the report as a complete HTML page, for a file or a server."""
        from sqlaudit.reports.formats import laid_out

        return laid_out(document_of(self), "html")

    def save(self, path: str | Path) -> None:
        """Write the report to a file, whole or not at all.

        Args:
            path: its ending says what is written: a page (.html), Markdown (.md), text (.txt), or JSON (.json).

        Raises:
            UsageError: another ending, or the file cannot be written.
        """
        from sqlaudit.base.files import write_text
        from sqlaudit.reports.formats import BY_ENDING, format_by_ending, laid_out, render_json
        from sqlaudit.reports.stored import to_json

        chosen = format_by_ending(Path(path), BY_ENDING)
        document = document_of(self)
        found: Any = self
        stored = chosen == "json"
        text = render_json({**found.to_dict(), "report": to_json(document)}) if stored else laid_out(document, chosen)
        write_text(Path(path), text)

    def to_frame(self) -> object:
        """Return the main figures as a pandas DataFrame, under their names in the JSON.

        Raises:
            MissingDriver: pandas is not installed.
        """
        return frame_of_rows(self.rows_of_frame())

    def rows_of_frame(self) -> list[dict[str, object]]:
        """Return the rows of `to_frame` as the JSON has them. The keys of an object become a column `name`."""
        part = plain(self)
        for name in self.frame_of.split("."):
            part = part[name]
        if isinstance(part, dict):
            return [{"name": name, **figures} for name, figures in part.items() if figures is not None]
        return list(part)


def frame_of_rows(rows: list[dict[str, object]]) -> object:
    """Return rows as a pandas DataFrame.

    Raises:
        MissingDriver: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingDriver("to_frame needs pandas: pip install 'sqlaudit[frames]'.") from None
    return pd.DataFrame(rows)


def document_of(result: object) -> Document:
    """Return the report on any result that a public function returns.

    Of a call in Python it has the call, and what it proposes reads the same table.

    Raises:
        TypeError: the object is not such a result.
    """
    if not isinstance(result, Shown):
        raise TypeError(f"{type(result).__name__} has no report")
    module, _, name = result.shown_by.partition(":")
    document: Document = getattr(importlib.import_module(module), name)().document(result)
    call: PythonCall | None = getattr(result, "call", None)
    if call is None:
        return document
    document = replace(document, about=replace(document.about, command=str(call)))
    return with_commands(document, lambda command: replace(command, words=tuple(map(call.on_the_same, command.words))))


def framed(result: object) -> str:
    """Return the report as an HTML element to embed in another page, such as a notebook.

    Returns:
        An `iframe` that contains the complete page. It scrolls by itself, and the reader can resize it.
    """
    import html

    from sqlaudit.reports.page import render_html

    page = html.escape(render_html(document_of(result), framed=True))
    style = "width:100%;height:36rem;border:1px solid #888;resize:vertical"
    return f'<iframe title="sqlaudit report" sandbox="" style="{style}" srcdoc="{page}"></iframe>'


def _first_words(document: Document) -> str:
    """Return the first sentence under the headline; empty if there is none."""
    for block in document.lead:
        if isinstance(block, Paragraph):
            return text_of(block.words)
        if isinstance(block, Bullets) and block.items:
            return text_of(block.items[0])
        if isinstance(block, Facts) and block.pairs:
            name, words = block.pairs[0]
            return f"{name}: {text_of(words)}"
    return ""
