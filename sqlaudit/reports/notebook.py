"""Results as notebooks show them: the page that the command line would write, inside a frame that may do nothing."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from typing import Any

from sqlaudit.reports.attack import attack_document
from sqlaudit.reports.audit import audit_document
from sqlaudit.reports.cloak import box_audit_document, cloak_document
from sqlaudit.reports.columns import columns_document
from sqlaudit.reports.compare import compare_document
from sqlaudit.reports.disclosure import disclosure_document
from sqlaudit.reports.document import Document
from sqlaudit.reports.gate import gate_document
from sqlaudit.reports.hierarchy import hierarchy_document
from sqlaudit.reports.lattice import lattice_document
from sqlaudit.reports.page import render_html
from sqlaudit.reports.profile import profile_document
from sqlaudit.reports.recode import recode_document
from sqlaudit.reports.records import records_document
from sqlaudit.reports.suppress import suppress_document
from sqlaudit.reports.what_if import what_if_document

_DOCUMENTS: Mapping[str, Callable[[Any], Document]] = {
    "AttackResult": attack_document,
    "AuditResult": audit_document,
    "BoxAudit": box_audit_document,
    "CloakResult": cloak_document,
    "ColumnSets": columns_document,
    "CompareResult": compare_document,
    "DisclosureResult": disclosure_document,
    "GateResult": gate_document,
    "HierarchyResult": hierarchy_document,
    "LatticeResult": lattice_document,
    "ProfileResult": profile_document,
    "RecodeResult": recode_document,
    "RecordRisk": records_document,
    "SuppressResult": suppress_document,
    "WhatIfResult": what_if_document,
}
"""By the result's class, named: some results are defined beside what makes them, which reports may not import."""


def document_of(result: object) -> Document:
    """The report of any result that a public function returns.

    Raises:
        TypeError: it is none of them.
    """
    name = type(result).__name__
    if name not in _DOCUMENTS:
        raise TypeError(f"{name} has no report")
    return _DOCUMENTS[name](result)


def framed(result: object) -> str:
    """The report as an element for a page of somebody else's.

    Returns:
        An `iframe` that holds the whole page; it can be made taller with the mouse, and scrolls by itself.
    """
    page = html.escape(render_html(document_of(result)))
    style = "width:100%;height:36rem;border:1px solid #888;resize:vertical"
    return f'<iframe title="sqlaudit report" sandbox="" style="{style}" srcdoc="{page}"></iframe>'
