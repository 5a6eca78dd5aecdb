"""docs/gate_dbt.md does what it says: its ```console dbt blocks run beside a checkout and print what it shows."""

from __future__ import annotations

import doctest
import re
import shutil
from pathlib import Path

import pytest

from tests.dbt.conftest import ROOT
from tests.pages.test_docs import CHECKER, run, steps

BLOCK = re.compile(r"^```console dbt\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIME = re.compile(r"^\d\d:\d\d:\d\d ? ?", re.MULTILINE)
"""What dbt begins its lines with, and the page leaves out."""


def test_from_nothing_to_red_to_green(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "sql_templates" / "dbt", tmp_path / "sqlaudit" / "sql_templates" / "dbt")
    (tmp_path / "gate").mkdir()
    monkeypatch.setenv("DBT_USE_COLORS", "false")
    monkeypatch.setenv("DBT_SEND_ANONYMOUS_USAGE_STATS", "false")
    blocks = BLOCK.findall((ROOT / "docs" / "gate_dbt.md").read_text(encoding="utf-8"))
    assert len(blocks) >= 4
    for command, shown in (step for block in blocks for step in steps(block)):
        printed = TIME.sub("", run(command, tmp_path / "gate"))
        same = CHECKER.check_output(shown, printed, doctest.ELLIPSIS)
        assert same, f"$ {command}\nis shown with\n{shown}\nbut prints\n{printed}"
