"""Results as people meet them in Python: a page in a notebook, a file, a frame, three lines where they are printed."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, ClassVar

from sqlaudit.base.errors import MissingDriver
from sqlaudit.base.result import plain
from sqlaudit.reports.document import Bullets, Document, Facts, Paragraph, shortened, text_of

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
        """Three lines: what it is about, what was found first, and how to read more."""
        document = document_of(self)
        lines = (f"{type(self).__name__}: {text_of(document.headline)}", _first_words(document))
        said = [shortened(" ".join(line.split()), _LONGEST) for line in lines if line]
        return "\n".join([*said, "More: .to_frame(), .to_dict(), .save('report.html')"])

    def _repr_html_(self) -> str:
        """The page of `--format html`, in a frame of its own that keeps its style and its names to itself."""
        return framed(self)

    def to_html(self) -> str:
        """The report as a whole page, for a file or a server."""
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
        """The main figures as a pandas DataFrame, under the names that they have in the JSON.

        Raises:
            MissingDriver: pandas is not installed.
        """
        return frame_of_rows(self.rows_of_frame())

    def rows_of_frame(self) -> list[dict[str, object]]:
        """The rows of `to_frame`, as the JSON has them."""
        found = plain(self)
        for name in self.frame_of.split("."):
            found = found[name]
        if isinstance(found, dict):
            return [{"name": name, **one} for name, one in found.items() if one is not None]
        return list(found)


def frame_of_rows(rows: list[dict[str, object]]) -> object:
    """Rows as a pandas DataFrame.

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

    Raises:
        TypeError: it is none of them.
    """
    if not isinstance(result, Shown):
        raise TypeError(f"{type(result).__name__} has no report")
    module, _, name = result.shown_by.partition(":")
    document: Document = getattr(importlib.import_module(module), name)().document(result)
    return document


def framed(result: object) -> str:
    """The report as an element for a page of somebody else's.

    Returns:
        An `iframe` that holds the whole page; it can be made taller with the mouse, and scrolls by itself.
    """
    import html

    from sqlaudit.reports.page import render_html

    page = html.escape(render_html(document_of(result)))
    style = "width:100%;height:36rem;border:1px solid #888;resize:vertical"
    return f'<iframe title="sqlaudit report" sandbox="" style="{style}" srcdoc="{page}"></iframe>'


def _first_words(document: Document) -> str:
    """The first sentence under the headline."""
    for block in document.lead:
        if isinstance(block, Paragraph):
            return text_of(block.words)
        if isinstance(block, Bullets) and block.items:
            return text_of(block.items[0])
        if isinstance(block, Facts) and block.pairs:
            name, words = block.pairs[0]
            return f"{name}: {text_of(words)}"
    return ""
