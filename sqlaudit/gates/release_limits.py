"""Limits on what a table and others say together, as a policy writes them: losses, older releases, synthetic data."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from sqlaudit.base.errors import OutOfRange, UnknownColumn, UsageError
from sqlaudit.base.options import all_options_of
from sqlaudit.base.spec import Roles, Target
from sqlaudit.gates.keys import LIMIT, POSITIVE, SOME_TEXTS, YES_OR_NO, Keys, described, key_of, keys_of
from sqlaudit.gates.nodes import PolicySection, choice, flag, number, text, texts, whole
from sqlaudit.gates.result import LossLimit, SeriesLimit, SyntheticLimit
from sqlaudit.gates.tables import OTHER_TABLE, OTHER_TABLES, other_table, other_tables
from sqlaudit.models.measures import OF_RELEASES
from sqlaudit.models.registry import OF_SYNTHETIC, parse_requirements
from sqlaudit.models.releases import MInvariance
from sqlaudit.release.compare.request import CompareRequest
from sqlaudit.reports.document import limit as exact

# Limits on what a release may lose against its original, as a policy writes them.

UNKNOWN = Target(relation="?")
"""A table that could not be read from the policy."""
LOSS = "loss"
FIGURES = ("value", "mean", "share")
LOSS_KEYS: Keys = {
    "original": described("The original table: of the same connection, or a file.", OTHER_TABLE),
    "measure": {"enum": list(OF_RELEASES), "description": "As for sqlaudit compare."},
    "of": {
        "enum": list(FIGURES),
        "description": "The value, its mean, or its share of the loss of complete suppression.",
    },
    "at_most": LIMIT,
    "at_least": LIMIT,
    "column": described("One quasi-identifier. Default: all together."),
    **keys_of(CompareRequest, "key", "by_position"),
    "hierarchies": described("A file or folder. Default: those of the inputs."),
    **keys_of(CompareRequest, "distance"),
}


def read_loss(section: PolicySection, connection: str, folder: Path) -> tuple[LossLimit, ...]:
    """The limit in a section, none where it lacks a key.

    Args:
        section: the section. connection: of the table, empty for files. folder: what relative paths start from.
    """
    missing = [key for key in ("original", "measure") if key not in section]
    if missing or ("at_most" in section) == ("at_least" in section):
        lacking = " and ".join(missing) or "one of at_most and at_least"
        section.mistakes.add(section.node, f"loss needs {lacking}.")
        return ()
    at_least = "at_least" in section
    bound = "at_least" if at_least else "at_most"
    where = (section.mistakes, connection, folder)
    hierarchies = section.take("hierarchies", text, "")
    loss = LossLimit(
        original=section.take("original", other_table, UNKNOWN, *where),
        measure=section.take("measure", choice, "", OF_RELEASES),
        limit=section.take(bound, number, Fraction(0)),
        at_least=at_least,
        figure=section.take("of", choice, FIGURES[0], FIGURES),
        column=section.take("column", text, None),
        hierarchies=str(folder / hierarchies) if hierarchies else "",
        **section.take_options(CompareRequest, "key", "by_position", "distance"),
    )
    return (loss,)


def loss_text(loss: LossLimit) -> str:
    """A limit on a loss, the same text however it was written.

    Example:
        >>> from sqlaudit.base.spec import Target
        >>> loss_text(LossLimit(Target("raw", label="raw"), "entropy", Fraction(1, 2), figure="share"))
        'loss=measure:entropy,of:share,at_most:0.5,original:raw'
    """
    parts = [f"measure:{loss.measure}"] + ([f"of:{loss.figure}"] if loss.figure != FIGURES[0] else [])
    parts += [f"column:{loss.column}"] if loss.column else []
    limit = str(loss.limit) if loss.limit.denominator == 1 else exact(loss.limit)
    parts.append(f"{'at_least' if loss.at_least else 'at_most'}:{limit}")
    return f"{LOSS}={','.join(parts)},original:{loss.original.name}"


def check_loss(loss: LossLimit, roles: Roles) -> None:
    """Refuse a limit on a loss that does not fit the table's roles.

    Raises:
        UsageError: it does not; said before anything is connected.
    """
    measure = OF_RELEASES[loss.measure]
    if not roles.quasi_identifiers:
        raise UsageError("a loss needs quasi-identifiers: name them under 'quasi_identifiers'.")
    if measure.sensitive and not roles.sensitive:
        raise UsageError(f"the loss {loss.measure!r} needs a sensitive column: name one under 'sensitive'.")
    if loss.key and loss.by_position:
        raise UsageError("'key' and 'by_position' exclude each other. Keep one.")
    if loss.column is not None and loss.column not in roles.quasi_identifiers:
        raise UnknownColumn(f"{loss.column!r} is not a quasi-identifier of this table.")
    if measure.complement is not loss.at_least:
        better, bound = ("better", "at_least") if measure.complement else ("worse", "at_most")
        raise UsageError(f"the measure {loss.measure!r} is {better} when it is higher; write {bound}.")


# What a table and its older releases must say together, as a policy writes it.

M_INVARIANCE = MInvariance.name
SERIES_KEYS: Keys = {
    "m": described("Minimum rows of a class, all with different sensitive values.", POSITIVE),
    "before": described("All older releases of this table: of the same connection, or files.", OTHER_TABLES),
    "entity": described("The column that identifies the person, if the table has no 'entity'."),
    "counterfeits": described("Rows without an entity are counterfeits.", YES_OR_NO),
}


def read_series(section: PolicySection, connection: str, folder: Path) -> tuple[SeriesLimit, ...]:
    """The limit in a section, none where it lacks a key.

    Args:
        section: the section. connection: of the table, empty for files. folder: what relative paths start from.
    """
    missing = [key for key in ("m", "before") if key not in section]
    if missing:
        sentence = f"{M_INVARIANCE} needs {' and '.join(missing)}: the limit, and all older releases of this table."
        section.mistakes.add(section.node, sentence)
        return ()
    limit = SeriesLimit(
        section.take("m", whole, 1),
        section.take("before", other_tables, (), section.mistakes, connection, folder),
        section.take("entity", text, ""),
        section.take("counterfeits", flag, False),
    )
    return (limit,)


def series_text(limit: SeriesLimit) -> str:
    """A limit on several releases, the same text however it was written.

    Example:
        >>> from sqlaudit.base.spec import Target
        >>> series_text(SeriesLimit(3, (Target("may", label="may"), Target("june", label="june"))))
        'm_invariance=m:3,before:may+june'
    """
    more = (f",entity:{limit.entity}" if limit.entity else "") + (",counterfeits:yes" if limit.counterfeits else "")
    return f"{M_INVARIANCE}=m:{limit.m},before:{'+'.join(release.name for release in limit.before)}{more}"


def check_series(limit: SeriesLimit, roles: Roles) -> None:
    """Refuse a limit on a series of releases that does not fit the table's roles.

    Raises:
        UsageError: it does not; said before anything is connected.
    """
    if not limit.before:
        raise UsageError(f"{M_INVARIANCE} needs at least one older release under 'before'.")
    if not roles.quasi_identifiers or not roles.sensitive:
        lacking = "quasi_identifiers" if not roles.quasi_identifiers else "sensitive"
        raise UsageError(f"{M_INVARIANCE} needs quasi-identifiers and a sensitive column; name them under {lacking!r}.")
    if not limit.entity and not roles.entity:
        raise UsageError(f"{M_INVARIANCE} needs the column of persons; name it under 'entity'.")


# What a synthetic table may disclose of its original, as a policy writes it.

SYNTHETIC = "synthetic"
KNOWN = next(option for option in all_options_of(CompareRequest) if option.name == "known")
"""The option with the number of known columns."""
SYNTHETIC_KEYS: Keys = {
    "original": described("The table that it was made from: of the same connection, or a file.", OTHER_TABLE),
    "holdout": described("People who were not used for it: of the same connection, or a file.", OTHER_TABLE),
    "require": described(f"Requirements: {', '.join(OF_SYNTHETIC)}.", SOME_TEXTS),
    KNOWN.name: key_of(KNOWN),
    "hierarchies": described("A file or folder: numbers are compared at its first level. Default: as they are."),
}


def read_synthetic(section: PolicySection, connection: str, folder: Path) -> tuple[SyntheticLimit, ...]:
    """The limits in a section, none where it lacks a key.

    Args:
        section: the section. connection: of the table, empty for files. folder: what relative paths start from.
    """
    if missing := [key for key in ("original", "require") if key not in section]:
        section.mistakes.add(section.node, f"{SYNTHETIC} needs {' and '.join(missing)}.")
        return ()
    hierarchies, where = section.take("hierarchies", text, ""), (section.mistakes, connection, folder)
    base = SyntheticLimit(
        original=section.take("original", other_table, UNKNOWN, *where),
        requirement=None,
        holdout=section.take("holdout", other_table, None, *where),
        hierarchies=str(folder / hierarchies) if hierarchies else "",
        known=section.take("known", whole, 0),
    )
    try:
        texts_of = ("".join(written.split()) for written in section.take("require", texts, ()))
        required = [
            requirement for written in texts_of for requirement in parse_requirements(written, among=OF_SYNTHETIC)
        ]
    except UsageError as error:
        section.mistakes.keep(error, section.node)
        return ()
    return tuple(replace(base, requirement=requirement) for requirement in required)


def synthetic_text(limit: SyntheticLimit) -> str:
    """A limit on a synthetic table, the same text however it was written.

    Example:
        >>> from sqlaudit.base.spec import Target
        >>> (wanted,) = parse_requirements("disco=5%", among=OF_SYNTHETIC)
        >>> synthetic_text(SyntheticLimit(Target("raw", label="raw"), wanted, known=2))
        'synthetic=disco=5%,original:raw,known:2'
    """
    assert limit.requirement is not None
    holdout = f",holdout:{limit.holdout.name}" if limit.holdout else ""
    known = f",known:{limit.known}" if limit.known else ""
    hierarchies = f",hierarchies:{Path(limit.hierarchies).name}" if limit.hierarchies else ""
    return f"{SYNTHETIC}={limit.requirement.text},original:{limit.original.name}{holdout}{known}{hierarchies}"


def check_synthetic(limit: SyntheticLimit, roles: Roles) -> None:
    """Refuse a limit on a synthetic table that does not fit the table's roles.

    Raises:
        UsageError: it does not; said before anything is connected.
    """
    assert limit.requirement is not None
    if not roles.quasi_identifiers:
        raise UsageError("a synthetic table needs quasi-identifiers: name them under 'quasi_identifiers'.")
    model = OF_SYNTHETIC[limit.requirement.model]
    if model.needs_sensitive and not roles.sensitive:
        raise UsageError(f"{limit.requirement.text!r} needs a sensitive column: name one under 'sensitive'.")
    if KNOWN.most is not None and limit.known > KNOWN.most:
        raise OutOfRange(f"'known' is at most {KNOWN.most}, not {limit.known}.")
    if model.needs_holdout and limit.holdout is None:
        raise UsageError(f"{model.name!r} needs people who were not used: name their table under 'holdout'.")
