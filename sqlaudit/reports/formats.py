"""The formats of reports: a layout is imported when it is used, as most runs use one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from sqlaudit.base.errors import UsageError
from sqlaudit.base.names import any_of
from sqlaudit.reports.document import Document

FORMATS = ("text", "json", "markdown", "html")
BY_ENDING = {
    ".txt": "text",
    ".json": "json",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
}


_AS_CSV = (
    " For CSV: `sqlaudit audit --failing-classes-to FILE.csv` writes failing groups, "
    "`sqlaudit test --report FILE.csv` checks."
)


def format_by_ending(file: Path, formats: Mapping[str, str], otherwise: str = "") -> str:
    """The format that the ending of a file names; text without an ending.

    Args:
        file: the file. formats: by ending. otherwise: what else says the format, for the sentence.

    Raises:
        UsageError: it names none.
    """
    ending = file.suffix.lower()
    if ending and ending not in formats:
        known = any_of([*formats])
        tables = _AS_CSV if ending == ".csv" else ""
        raise UsageError(f"{str(file)!r}: {ending!r} is not a report format. Use {known}{otherwise}.{tables}")
    return formats.get(ending, "text")


def render_json(data: Mapping[str, object]) -> str:
    """The documented JSON."""
    return json_text(data, indent=2) + "\n"


def json_text(value: object, indent: int | None = None) -> str:
    """JSON in pure ASCII, so that it survives every pipe and steers no terminal, nor Azure Pipelines by a `##vso[`."""
    return json.dumps(value, indent=indent, ensure_ascii=True, allow_nan=False).replace("##", "#\\u0023")


def laid_out(document: Document, chosen: str, width: int = 80, colour: bool = False, plots: bool = False) -> str:
    """The document as text, Markdown or a page; the width, colour and plots are those of `render_text`."""
    if chosen == "html":
        from sqlaudit.reports.page import render_html

        return render_html(document)
    if chosen == "markdown":
        from sqlaudit.reports.markdown import render_markdown

        return render_markdown(document)
    from sqlaudit.reports.text import render_text

    return render_text(document, width, colour, plots)
