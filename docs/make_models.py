"""Write docs/models.md from the registry of privacy models: python docs/make_models.py [--print]"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlaudit.cli.models import describe
from sqlaudit.models.phrases import example
from sqlaudit.models.presets import Preset, presets
from sqlaudit.models.registry import CELL_RULES, OF_RELEASES, OF_SYNTHETIC, REGISTRY

PAGE = Path(__file__).with_name("models.md")
HEAD = """# Privacy models

Generated from the registry by `docs/make_models.py`. `sqlaudit models` lists all models, and `sqlaudit models NAME`
explains one.

An *equivalence class* is all rows with the same quasi-identifiers (a *group* in reports). n is its number of rows (of
people, with an entity column), r1 ≥ r2 ≥ … are the counts of its sensitive values, p their shares in it, P their shares
in the whole table.

Without `--require`, every model that needs no further input is reported. Limits are read as exact decimals, and
verdicts at a limit are exact.

*Merging*: a release that meets the model still meets it when quasi-identifiers are generalized further, so that classes
merge. *Limit*: the same when a share of the rows may be left out.

Each model names its source. Most come from five papers: Yuan, *Finding Quasi-identifiers Against
k-anonymity*; Wiegnand and Schallner, *Barriers to the implementation of k-anonymity*; Chakaravarthy, Pandit and
Sabharwal, *On the Complexity of the k-Anonymization Problem*; Hsu, *Database Anonymization and Protections of Sensitive
Attributes*; Martin, Kifer, Machanavajjhala, Gehrke and Halpern, *Worst-Case Background Knowledge for Privacy-Preserving
Data Publishing*. [The errata](errata.md) explain where a definition differs from the printed one.
"""
CELLS = """## Rules for cells

For the cells of [published tables](aggregates.md), checked by `sqlaudit aggregates` only.
"""


SERIES = """## Models of several releases

For [several releases of one table](releases.md), checked by `sqlaudit releases` only.
"""

SYNTHETIC = """## Synthetic data

For a [synthetic table](synthetic.md) beside its original, checked by `sqlaudit compare --synthetic` only.
"""

RULES = """## Published rules

For `--preset`; [published rules](presets.md) explains them, with their clauses and words.
"""


def page() -> str:
    """The whole page."""
    entries = [describe(model) for model in REGISTRY.values()]
    rows = "\n".join(row(entry) for entry in entries)
    overview = f"| model | short | needs | merging | limit |\n| --- | --- | --- | --- | --- |\n{rows}\n"
    listed = "\n".join(preset(one) for one in presets().values())
    rules = f"{RULES}\n| name | for rows | for cells | source | date |\n| --- | --- | --- | --- | --- |\n{listed}\n"
    cells = (section(describe(rule)).replace("## ", "### ", 1) for rule in CELL_RULES.values())
    series = (section(describe(model)).replace("## ", "### ", 1) for model in OF_RELEASES.values())
    made = (section(describe(model)).replace("## ", "### ", 1) for model in OF_SYNTHETIC.values())
    parts = [*(section(entry) for entry in entries), SERIES, *series, SYNTHETIC, *made, CELLS, *cells, rules]
    return "\n".join([HEAD, overview, *parts])


def preset(one: Preset) -> str:
    """A published rule's line."""
    rows, cells = (", ".join(f"`{text}`" for text in some) for some in (one.audit, one.aggregates))
    return f"| `{one.name}` | {rows} | {cells} | {' '.join(filter(None, (f'{one.source}.', one.note)))} | {one.date} |"


def row(entry: dict[str, Any]) -> str:
    """A model's line in the overview."""
    merging, limit = entry["stays_when_classes_merge"], entry["stays_with_suppression_limit"]
    anchor = entry["name"].replace("`", "")
    return (
        f"| [{entry['name']}](#{anchor}) | {', '.join(entry['short_forms'])} | {needs(entry)} | {yes(merging)} | "
        f"{yes(limit)} |"
    )


def section(entry: dict[str, Any]) -> str:
    """A model's own part of the page."""
    signs = {">=": "at least", "<=": "at most", "<": "below", ">": "above"}
    lines = [f"## {entry['name']}\n", f"**{entry['title']}.** {entry['definition']}\n"]
    lines += [f"{entry['note']}\n"] if entry["note"] else []
    lines += [f"Met when the level is {signs[entry['operator']]} the limit: `{example(entry)}`\n"]
    lines += list(parameters(entry))
    lines += [f"Source: {entry['reference']}.\n"]
    return "\n".join(lines)


def parameters(entry: dict[str, Any]) -> Iterator[str]:
    """The parameters as a list."""
    for item in entry["parameters"]:
        default = "" if item["default"] is None else f", default {item['default']}"
        yield f"- `{item['name']}`: {item['help']} ({item['kind']}{default})"
    if entry["parameters"]:
        yield ""


def needs(entry: dict[str, Any]) -> str:
    """What a model needs besides quasi-identifiers."""
    needed = ["sensitive column"] if entry["needs_sensitive"] else []
    needed += ["entity"] if entry["needs_entity"] else []
    needed += ["order"] if entry["needs_order"] else []
    return ", ".join([*needed, *entry["needs"]])


def yes(value: bool) -> str:
    """yes or no."""
    return "yes" if value else "no"


if __name__ == "__main__":
    if "--print" in sys.argv:
        sys.stdout.write(page())
    else:
        PAGE.write_text(page(), encoding="utf-8")
