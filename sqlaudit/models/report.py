"""The list of privacy models, and the page of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlaudit.models.phrases import parameter
from sqlaudit.reports.blocks import Facts, Paragraph
from sqlaudit.reports.document import Document, section
from sqlaudit.reports.figures import listing

Entry = Mapping[str, Any]
_SIGNS = {">=": "at least", "<=": "at most", "<": "below", ">": "above"}


def catalogue_document(
    models: Sequence[Entry], presets: Sequence[Entry], rules: Sequence[Entry] = (), series: Sequence[Entry] = ()
) -> Document:
    """All models in a table, the rules for cells of published tables, those for several releases, and the presets.

    Args:
        models: entries as `sqlaudit models --format json` has them. presets: name, requirements and source of each.
    """
    return Document(
        "Privacy models",
        (Paragraph("Require one by its name or short form: --require k=5. `sqlaudit models NAME` explains one."),),
        (
            *section("Models", Facts(tuple(_line(entry) for entry in models))),
            *section("Rules for cells, for sqlaudit aggregates", Facts(tuple(_line(entry) for entry in rules))),
            *section("For several releases, for sqlaudit releases", Facts(tuple(_line(entry) for entry in series))),
            *section("Published rules, for --preset", Facts(tuple(_preset(preset) for preset in presets))),
        ),
    )


def model_document(entry: Entry) -> Document:
    """What one model means, where it comes from, how to require it and what it needs."""
    names = ", ".join([entry["name"], *entry["short_forms"]])
    facts = (
        ("name", names),
        ("require it", example(entry)),
        ("holds when level is", f"{_SIGNS.get(entry['operator'], entry['operator'])} the limit"),
        *_about(entry),
        ("source", entry["reference"]),
    )
    parameters = tuple(
        (item["name"], f"{item['help']} ({item['kind']}{_default(item)})") for item in entry["parameters"]
    )
    note = (Paragraph(entry["note"]),) if entry["note"] else ()
    return Document(
        entry["title"], (Paragraph(entry["definition"]), *note, Facts(facts)), section("Parameters", Facts(parameters))
    )


def _about(entry: Entry) -> tuple[tuple[str, str], ...]:
    if entry["of_cells"]:
        return (("judged by", "sqlaudit aggregates, cell by cell"),)
    if entry["of_releases"]:
        return (("judged by", "sqlaudit releases, several releases together"), ("needs", _needs(entry)))
    needs = ("needs", _needs(entry) or "nothing but quasi-identifiers")
    return needs, ("when classes merge", _merging(entry))


def example(entry: Entry) -> str:
    """A requirement as one would write it, with letters for numbers."""
    name = entry["short_forms"][0] if entry["short_forms"] else entry["name"]
    parameters = [item["name"] for item in entry["parameters"]]
    if len(parameters) > 1:
        return f"--require {name}={','.join(f'{parameter}:…' for parameter in parameters)}"
    return f"--require {name}=…"


def _line(entry: Entry) -> tuple[str, str]:
    short = f" ({entry['short_forms'][0]})" if entry["short_forms"] else ""
    needs = _needs(entry)
    return entry["name"] + short, entry["definition"] + (f" Needs {needs}." if needs else "")


def _preset(preset: Entry) -> tuple[str, str]:
    return preset["name"], f"{', '.join(preset['requirements'])}. {preset['source']}."


def _needs(entry: Entry) -> str:
    needed = ["a sensitive column"] if entry["needs_sensitive"] else []
    needed += ["a person column (--entity)"] if entry["needs_entity"] else []
    needed += ["ordered values"] if entry["needs_order"] else []
    return listing([*needed, *(f"{need} (--inputs)" for need in entry["needs"])])


def _merging(entry: Entry) -> str:
    if not entry["stays_when_classes_merge"]:
        return "may be lost when quasi-identifiers are coarsened"
    if entry["stays_with_suppression_limit"]:
        return "stays true when quasi-identifiers are coarsened, also with a suppression limit"
    return "stays true when quasi-identifiers are coarsened"


def _default(item: Entry) -> str:
    return "" if item["default"] is None else f", {parameter(item['default'])} when not given"
