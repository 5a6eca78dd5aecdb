"""What stands out in a result, and what to look at next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlaudit.audits.classes_report import unit_of
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.result import Status
from sqlaudit.base.words import about, spelled
from sqlaudit.models.phrases import statement_of
from sqlaudit.profiles.names import concept_of
from sqlaudit.reports.blocks import Toned
from sqlaudit.reports.figures import count, listing, part, plural


def standing_out(result: AuditResult) -> tuple[Toned, ...]:
    """The worst facts in words, worst first."""
    if not result.rows:
        return ()
    return (*_alone(result), *_same_value(result))


def next_steps(result: AuditResult) -> tuple[str, ...]:
    """What a reader can do about it, most useful first."""
    return tuple(_steps(result))


def _alone(result: AuditResult) -> Iterator[Toned]:
    unit, sizes = unit_of(result), result.classes
    known = listing(result.roles.get("quasi_identifiers", ())) or "quasi-identifiers"
    _, alone = sizes.below(2)
    if alone:
        verb = "is" if alone == 1 else "are"
        said = f"{plural(alone, unit)} ({part(alone, sizes.members)}) {verb} alone: nobody else has the same {known}."
        yield Toned(said, "bad")
    elif sizes.min_size is not None and sizes.per_row:
        yield Toned(f"Nobody is alone: every row matches at least {plural(sizes.min_size, unit)}, itself included.")
    elif sizes.min_size is not None:
        few = sizes.sizes[0][1]
        least = plural(sizes.min_size, unit)
        which = f"smallest class has {least}" if few == 1 else f"{count(few)} smallest classes have {least} each"
        yield Toned(f"Nobody is alone. The {which}.")


def _same_value(result: AuditResult) -> Iterator[Toned]:
    names = [
        check.sensitive
        for check in result.checks
        if check.model == "distinct_l_diversity" and check.level == 1 and check.sensitive is not None
    ]
    if names and result.classes.count > 1:
        yield Toned(
            f"At least one class holds a single value of {listing(names)}: who finds a person there learns it, however "
            "large the class is.",
            "bad",
        )


def _steps(result: AuditResult) -> Iterator[str]:
    if not result.rows:
        yield f"Check the target and the {spelled('where')} condition: no row was found, so nothing was measured."
        return
    # a missing role is mended by naming it, and shows in no class
    failed = [check for check in result.required if check.status is Status.FAIL and statement_of(check) is None]
    if failed and all(failing.key is None for failing in result.failing):
        yield (
            f"See which classes fall short with {spelled('show_values', True)}, or write all of them to a file with "
            f"{spelled('failing_classes_to', 'FILE.csv')} (keep that file as private as the table)."
        )
    if failed or (result.classes.min_size or 2) < 2:
        yield (
            f"Coarsen a quasi-identifier and audit again before you change the data: {spelled('qi')} takes "
            f"expressions{_instance(result.roles.get('quasi_identifiers') or ())}."
        )
    if any(check.sensitive is not None for check in failed):
        yield "Classes whose sensitive values are too alike get better when they are merged, or when rows are left out."
    yield from _missing_roles(result)


def _instance(names: Sequence[str]) -> str:
    """An expression over a column that the table has, where a usual one fits its name."""
    usual = {"birth_date": "year({})", "age": "floor({} / 10)"}
    for name in names:
        concept = concept_of(name) if name.isidentifier() else None
        if concept is not None and concept.name in usual:
            return f", for instance {spelled('qi', usual[concept.name].format(name))}"
    return ""


def _missing_roles(result: AuditResult) -> Iterator[str]:
    if not result.sensitive:
        yield (
            f"Name the sensitive columns with {about('sensitive')}: class sizes do not say what is learned "
            "about a person."
        )
    if not result.required:
        yield (
            f"State what must hold, for instance {spelled('require', 'k=5')}; `sqlaudit models` lists every "
            f"model, and {spelled('preset')} takes "
            "published rules."
        )
