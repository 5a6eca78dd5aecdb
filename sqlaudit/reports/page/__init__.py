"""One self-contained page from a document: no script, no request, light and dark, readable on a phone and on paper."""

from sqlaudit.reports.page.layout import render_html

__all__ = ["render_html"]
