"""What `--store-failures` says of requirements whose classes nothing tells."""

from __future__ import annotations

from pathlib import Path

from sqlaudit.classes.failing import AllFailing
from sqlaudit.gates.api import _stored
from sqlaudit.gates.stored import FailureStore


def test_a_figure_of_the_whole_table_is_said_to_have_no_classes(tmp_path: Path) -> None:
    store = FailureStore(tmp_path / "f.duckdb")
    store.add("claims", AllFailing((), ("'average_risk=0.1' is a figure of the whole table, not of single groups.",)))
    assert _stored(store, show_values=False).endswith(
        "values. Not there: claims: 'average_risk=0.1' is a figure of the whole table, not of single groups."
    )
