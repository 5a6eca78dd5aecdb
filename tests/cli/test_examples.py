"""The examples in docstrings run as they stand."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = ("base.options", "base.files", "reports.document")


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"sqlaudit.{name}"), verbose=False)
    assert found.attempted > 0
    assert found.failed == 0
