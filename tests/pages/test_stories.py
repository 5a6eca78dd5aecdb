"""The stories of docs/stories, from the first line to the last."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages.test_docs import STORIES, blocks, run_page


@pytest.mark.parametrize("page", STORIES, ids=lambda page: page.stem)
def test_a_story_runs_to_its_end(page: Path, tmp_path: Path, warm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert blocks(page)
    monkeypatch.chdir(tmp_path)
    run_page(page, tmp_path, warm)


def test_there_is_a_story_for_each_of_three() -> None:
    assert [page.stem for page in STORIES] == ["engineer", "officer", "scientist"]
