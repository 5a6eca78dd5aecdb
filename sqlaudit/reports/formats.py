"""The formats of reports: a layout is imported when it is used, as most runs use one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlaudit.reports.document import Document

FORMATS = ("text", "json", "markdown", "html")


def render_json(data: Mapping[str, Any]) -> str:
    """The documented JSON: pure ASCII, so that it survives every pipe and cannot steer a terminal."""
    return json.dumps(data, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def laid_out(document: Document, chosen: str, width: int = 80, colour: bool = False, plots: bool = False) -> str:
    """The document as text, Markdown or a page; the width, colour and plots are those of `render_text`."""
    if chosen == "html":
        from sqlaudit.reports.page.layout import render_html

        return render_html(document)
    if chosen == "markdown":
        from sqlaudit.reports.markdown import render_markdown

        return render_markdown(document)
    from sqlaudit.reports.text import render_text

    return render_text(document, width, colour, plots)
