"""Results as notebooks show them: the page that the command line would write, inside a frame that may do nothing."""

from __future__ import annotations

import html
import importlib
from typing import Any, ClassVar

from sqlaudit.reports.document import Document


class Shown:
    """A result that a notebook shows as its report, pictures included."""

    __slots__ = ()

    shown_by: ClassVar[str]
    """The function that makes its report, `module:name`: imported when asked for, since reports know their results."""

    def _repr_html_(self) -> str:
        """The page of `--format html`, in a frame of its own that keeps its style and its names to itself."""
        return framed(self)


def document_of(result: Any) -> Document:
    """The report of any result that a public function returns.

    Raises:
        TypeError: it is none of them.
    """
    if not isinstance(result, Shown):
        raise TypeError(f"{type(result).__name__} has no report")
    module, _, name = result.shown_by.partition(":")
    document: Document = getattr(importlib.import_module(module), name)(result)
    return document


def framed(result: object) -> str:
    """The report as an element for a page of somebody else's.

    Returns:
        An `iframe` that holds the whole page; it can be made taller with the mouse, and scrolls by itself.
    """
    from sqlaudit.reports.page.layout import render_html

    page = html.escape(render_html(document_of(result)))
    style = "width:100%;height:36rem;border:1px solid #888;resize:vertical"
    return f'<iframe title="sqlaudit report" sandbox="" style="{style}" srcdoc="{page}"></iframe>'
