"""The example notebook in a real Jupyter kernel, without ipywidgets, and the page that it shows."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from playwright.sync_api import Browser

from tests.places import REPOSITORY


def test_the_example_notebook_shows_its_report(browser: Browser, tmp_path: Path) -> None:
    assert importlib.util.find_spec("ipywidgets") is None
    notebook = nbformat.read(REPOSITORY / "examples" / "visits.ipynb", as_version=4)
    NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [one.data["text/html"] for cell in notebook.cells for one in cell.get("outputs", []) if "data" in one]
    frame = next(html for html in shown if html.startswith("<iframe"))
    path = tmp_path / "notebook.html"
    path.write_text(f'<!DOCTYPE html><html lang="en"><title>n</title><body>{frame}</body></html>', "utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.frame_locator("iframe").locator("h1").inner_text() == "FAIL: neither requirement is met"
    assert (tmp_path / "visits.html").exists()


def test_an_error_is_two_lines(tmp_path: Path) -> None:
    cell = nbformat.v4.new_code_cell(
        "import pandas, sqlaudit\nsqlaudit.audit(pandas.DataFrame({'age': [1]}), qi='agee')"
    )
    notebook = nbformat.v4.new_notebook(cells=[cell])
    NotebookClient(notebook, kernel_name="python3", allow_errors=True).execute()
    (error,) = [one for one in notebook.cells[0].outputs if one.output_type == "error"]
    assert len(error.traceback) == 2
    assert error.traceback[1].startswith("UnknownColumn: ")
