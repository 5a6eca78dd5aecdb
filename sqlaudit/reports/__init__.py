"""Reports: from a result to text, Markdown, HTML or JSON. They see results only, never a table or a connection."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlaudit.reports.document import Document
from sqlaudit.reports.markdown import render_markdown
from sqlaudit.reports.page import render_html
from sqlaudit.reports.stored import to_json as stored_document
from sqlaudit.reports.text import render_text

__all__ = ["FORMATS", "Document", "render_html", "render_json", "render_markdown", "render_text", "stored_document"]

FORMATS = ("text", "json", "markdown", "html")


def render_json(data: Mapping[str, Any]) -> str:
    """The documented JSON: pure ASCII, so that it survives every pipe and cannot steer a terminal."""
    return json.dumps(data, indent=2, ensure_ascii=True, allow_nan=False) + "\n"
