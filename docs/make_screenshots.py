"""Photographs the page of an audit of the demo's table in Chromium, as docs/report-light.png and docs/report-dark.png.

Run from a checkout with the extra `demo`, playwright and Debian's Chromium: python docs/make_screenshots.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from sqlaudit.cli import demo

HERE = Path(__file__).parent
ASKED = (
    "--qi",
    "age,male,married",
    "--sensitive",
    "injtype",
    "--require",
    "k=5",
    "--require",
    "l=2",
    "--require",
    "disclosure@4=0.9",
)
WIDTH, HEIGHT = 1000, 2100


def page(folder: Path) -> Path:
    """The report, as `sqlaudit audit` writes it."""
    demo.write_table(folder / "injury.csv", demo.table())
    command = [sys.executable, "-c", "from sqlaudit.cli import main; main()", "audit", "injury.csv", *ASKED]
    subprocess.run([*command, "--output", "report.html"], cwd=folder, check=False)
    return folder / "report.html"


def main() -> None:
    """Both themes, the top of the page."""
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("Chromium is missing: apt-get install chromium")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        file = page(Path(name))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for theme in ("light", "dark"):
            shown = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=theme)
            shown.goto(file.as_uri())
            shown.screenshot(path=HERE / f"report-{theme}.png")
        browser.close()


if __name__ == "__main__":
    main()
