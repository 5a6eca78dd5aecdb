"""The certificate of a cube: its rules, dimensions and figures with the digest of its file; and its verification."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sqlaudit.base import result as base
from sqlaudit.base.errors import InputError, UnknownFile, UsageError
from sqlaudit.base.files import PrivateFolder, exists
from sqlaudit.base.names import quote
from sqlaudit.base.office_files import names_in_file
from sqlaudit.base.options import request_from
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.spec import ReadOptions, Target
from sqlaudit.base.sql import Raw, render
from sqlaudit.certificates.certificate import (
    CUBE_SCHEMA,
    MOST_REQUIRED,
    UNREADABLE,
    digest_of_text,
    has_options_of,
    is_read_options,
    non_default_options,
    read_schema,
    refuse_untrusted,
)
from sqlaudit.certificates.making import (
    check_signature,
    compare_certificate,
    digest_files,
    signature_differences,
    signature_note,
)
from sqlaudit.certificates.result import Difference, VerifyReport, VerifyResult
from sqlaudit.cubes.blocks import split_level
from sqlaudit.cubes.changes import readable
from sqlaudit.cubes.request import PEOPLE, ROWS, CubeRequest
from sqlaudit.cubes.result import CubeResult
from sqlaudit.engines import connect
from sqlaudit.engines.contract import Engine, provenance
from sqlaudit.gates.cube_tests import compare_cube
from sqlaudit.gates.release_tests import target_of_file
from sqlaudit.gates.result import CubeLimit
from sqlaudit.models.registry import CELL_RULES, parse_requirements
from sqlaudit.reports import document as doc
from sqlaudit.reports.report import moment

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_OPTIONS = (*("dimensions", "measures", "entity", "holdings", "values", "negative", "known_contributors", "suppress"),)
"""The options of a cube that its certificate has; it says of files that were read besides only how they are called."""
_OF_FILE = ("columns", "blocks", "people", "rows", "smallest_block")
"""The figures that follow from the file alone."""
_OF_TABLE = ("dimensions", "measures", "rules", "threshold", "known_contributors", "left_out_blocks", "left_out_people")
_SHAPE: Mapping[str, type | tuple[type, ...]] = {
    "target": str,
    "database": bool,
    "read": dict,
    "where": (str, type(None)),
    "query": (str, type(None)),
    "options": dict,
    "require": list,
    "hierarchies": bool,
    "before": list,
    "margins": list,
}
"""The parts of a certificate's request."""


def refuse_uncertified(request: CubeRequest) -> None:
    """Raise UsageError if a cube is not written to a file whose digest a certificate could have."""
    publication = request.publication
    if publication.file is None or publication.table or publication.only_sql:
        raise UsageError(f"A certificate covers the file of a cube. Name one with {spelled('to', 'cube.parquet')}.")


def certify_cube(request: CubeRequest, result: CubeResult, db: bool) -> dict[str, object]:
    """Return the unsigned certificate of a cube that was written to a file.

    Args:
        request: the cube, with its file. result: of making it. db: whether a database was named.
    """
    file = request.publication.file
    assert file is not None
    return {
        "schema": CUBE_SCHEMA,
        "time": result.time,
        "versions": dict(result.versions),
        "request": _parameters_of(request, db),
        "snapshot": {"version": digest_files([file]), "name": file.name},
        "figures": _figures_of(result, (*_OF_FILE, *_OF_TABLE)),
    }


def _parameters_of(request: CubeRequest, db: bool) -> dict[str, object]:
    """Return a request as plain data, without options at their defaults and without SQL that selects rows."""
    options = non_default_options(request)
    return {
        "target": request.target.label or request.target.relation,
        "database": db,
        "read": non_default_options(request.target.read),
        "where": digest_of_text(request.target.where),
        "query": digest_of_text(request.target.query),
        "options": {name: options[name] for name in _OPTIONS if name in options},
        "require": [requirement.text or requirement.model for requirement in request.requirements],
        "hierarchies": bool(request.hierarchies),
        "before": [target.name for target in request.before],
        "margins": [target.name for target in request.margins],
    }


def _figures_of(result: CubeResult, names: tuple[str, ...]) -> dict[str, object]:
    fields = result.to_dict()
    return {name: fields[name] for name in names}


def read_cube_certificate(path: Path) -> dict[str, Any]:
    """Return the certificate of a cube, with the types of its parts checked. Its contents are not trusted.

    Raises:
        InputError: the file cannot be read, or is not such a certificate.
    """
    certificate = read_schema(path, CUBE_SCHEMA)
    parts = {name: certificate.get(name) for name in ("request", "snapshot", "figures", "versions")}
    wrong = [name for name, part in parts.items() if not isinstance(part, dict)]
    wrong += ["time"] * (not isinstance(certificate.get("time"), str))
    wrong += ["signature"] * (not isinstance(certificate.get("signature", {}), dict))
    if not wrong:
        request, snapshot = certificate["request"], certificate["snapshot"]
        wrong = [name for name, kind in _SHAPE.items() if not isinstance(request.get(name), kind)]
        wrong = wrong or [
            name
            for name, fine in {
                "options": has_options_of(request["options"], str | int) and set(request["options"]) <= {*_OPTIONS},
                "read": is_read_options(request["read"]),
                "number of rules": len(request["require"]) <= MOST_REQUIRED,
                "name": isinstance(snapshot.get("name"), str) and Path(snapshot["name"]).name == snapshot["name"],
                **{
                    name: all(isinstance(text, str) for text in request[name])
                    for name in ("require", "before", "margins")
                },
            }.items()
            if not fine
        ]
    if wrong:
        raise InputError(f"{path}: {UNREADABLE.format(wrong[0])}")
    return certificate


def request_of_certificate(
    parameters: Mapping[str, Any], target: str, where: str, query: str, hierarchies: object
) -> CubeRequest:
    """Return the request of a cube's certificate, without the files that the cube was compared with.

    Args:
        parameters: the request as the certificate has it.
        target, where, query, hierarchies: what the user gives; empty or None = nothing.

    Raises:
        InputError: a parameter cannot be read. UsageError: the user must give something that the certificate lacks.
    """
    try:
        rules = ("".join(text.split()) for text in parameters["require"])
        read = request_from(ReadOptions, parameters["read"])
        name = target or ("" if query else parameters["target"])
        return request_from(
            CubeRequest,
            parameters["options"],
            target=Target(name, query, where=where, read=read, shared=read.given),
            requirements=tuple(one for text in rules for one in parse_requirements(text, among=CELL_RULES)),
            hierarchies=hierarchies,
            before=(),
            margins=(),
        )
    except UsageError as error:
        raise InputError(f"{UNREADABLE.format('request')} {error}") from None
    except (TypeError, ValueError, AttributeError):
        raise InputError(UNREADABLE.format("request")) from None


@dataclass(frozen=True)
class CubeVerification:
    """The verification of a cube's certificate, against its file and, if requested, its table.

    Args:
        path: of the certificate. certificate: its contents. file: of the cube.
        request: the request that the certificate contains.
        with_table: whether the cube is made again from its table.
        key: the key that must have signed the certificate; None = any.
        trust: whether any SQL in the place of columns is run.
    """

    path: Path
    certificate: Mapping[str, Any]
    file: Path
    request: CubeRequest
    with_table: bool = False
    key: Ed25519PublicKey | None = None
    trust: bool = False

    def run(self, engine: Engine) -> CubeVerifyResult:
        """Compare the certificate with the file, and with the same cube made again.

        Args:
            engine: has the table, if that is read.

        Raises:
            UsageError: a file or column that does not exist, or SQL that is not trusted.
        """
        already = len(engine.executed)
        if not exists(self.file):
            raise UnknownFile(f"There is no file {str(self.file)!r}. Name the cube with {spelled('cube')}.")
        certified, request = self.certificate, self.request
        snapshot = {**certified["snapshot"], "version": digest_files([self.file])}
        state, name = check_signature(certified, self.key)
        differences = [*signature_differences(state, self.key), *self._contradictions()]
        figures: dict[str, object] = {}
        if snapshot == certified["snapshot"]:  # of another file nothing else is known
            figures = self._figures_of_file(engine)
            if self.with_table:
                differing, made_again = self._make_again(engine)
                figures |= made_again
                differences += [Difference("blocks that differ", "0", str(differing))] if differing else []
        compared = {name: figure for name, figure in certified["figures"].items() if name in figures}
        differences += compare_certificate(
            {"snapshot": certified["snapshot"], "figures": compared},
            {"snapshot": snapshot, "figures": figures},
            same_versions=False,
        )
        return CubeVerifyResult(
            certificate=str(self.path),
            target=str(self.file),
            rows=int(str(figures.get("blocks", 0))),
            roles={
                "quasi_identifiers": request.dimensions,
                "sensitive": request.measures,
                "identifiers": (),
                "entity": request.entity or None,
                "joint": False,
                "nulls": "equal",
            },
            certified={
                "time": certified["time"],
                "versions": certified["versions"],
                "status": "pass",
                "required": len(request.requirements),
            },
            signature=state,
            key=name,
            trusted=bool(name) and self.key is not None,
            differences=tuple(differences),
            notes=tuple(self._notes(state)),
            rules=tuple(rule.text or rule.model for rule in request.requirements),
            threshold=request.threshold,
            with_table=self.with_table,
            **provenance(engine, already),
        )

    def _contradictions(self) -> Iterator[Difference]:
        """Yield where the certificate contradicts itself or what was given, or has blocks that its rules forbid."""
        figures, request = self.certificate["figures"], self.request
        rules = figures.get("rules")
        texts = [isinstance(rule, dict) and rule.get("text") for rule in rules] if isinstance(rules, list) else rules
        stated = {
            "threshold": (figures.get("threshold"), request.threshold),
            "known_contributors": (figures.get("known_contributors"), request.known_contributors),
            "rules": (texts, self.certificate["request"]["require"]),
            "measures": (figures.get("measures"), [*request.measures]),
        }
        for name, (figure, asked) in stated.items():
            if figure != asked:
                yield Difference(f"figures: {name}", str(figure), f"its request has {asked}")
        for name, text in (("where", request.target.where), ("query", request.target.query)):
            if self.with_table and self.certificate["request"][name] != digest_of_text(text):
                yield Difference(name, "another text", "the text given now")
        smallest = figures.get("smallest_block")
        if not isinstance(smallest, int) or smallest < request.threshold:
            yield Difference("figures: smallest_block", str(smallest), f"its rules need at least {request.threshold}")

    def _figures_of_file(self, engine: Engine) -> dict[str, object]:
        """Return the figures that the file shows."""
        columns = self.certificate["figures"].get("columns")
        with PrivateFolder("cube") as folder:
            target = readable(Target(relation=str(self.file)), folder.path)
            target = target_of_file(self.file) if target.relation == str(self.file) else target
            with connect(None, engine.limits_left(), target) as reader:
                relation = reader.open(target)
                names = [column.name for column in relation.columns]
                if not isinstance(columns, list) or names != names_in_file(self.file, [*map(str, columns)]):
                    return {"columns": names}
                people, rows = (Raw(quote(names[columns.index(name)], reader.dialect)) for name in (PEOPLE, ROWS))
                statement = render(
                    "gates/cube_file.sql", reader.dialect, step="cube", source=relation, people=people, rows=rows
                )
                blocks, *figures = reader.run(statement)[0]
        return {"columns": columns, **dict(zip(_OF_FILE[1:], (blocks, *figures), strict=True))}

    def _make_again(self, engine: Engine) -> tuple[int, dict[str, object]]:
        """Make the cube again. Return the number of blocks that differ from those of the file, and its figures."""
        request, relation = self.request, engine.open(self.request.target)
        if not self.trust:
            dimensions = (split_level(text, relation)[0] for text in request.dimensions)
            names = filter(None, (*dimensions, *request.measures, request.entity, request.holdings))
            refuse_untrusted(names, relation, engine.dialect)
        compared = compare_cube(engine, CubeLimit(request, self.file))
        return compared.differing, _figures_of(compared.again, _OF_TABLE)

    def _notes(self, state: str) -> Iterator[str]:
        """Yield the sentences on the signature, and on what was not checked."""
        yield signature_note(state, self.key)
        if not self.with_table:
            yield (
                "Only the file was read. Name the table to make the cube again and to check its rules: sqlaudit verify "
                f"{self.path} TABLE"
            )
        if self.certificate["request"]["before"] or self.certificate["request"]["margins"]:
            yield "The comparison with older cubes, or with totals published elsewhere, was not repeated."


@dataclass(frozen=True, kw_only=True, repr=False)
class CubeVerifyResult(VerifyResult):
    """The certificate of a cube beside its file, and its table.

    Args:
        rules: for blocks. threshold: the fewest people of a block. with_table: whether the cube was made again.
    """

    shown_by: ClassVar = "sqlaudit.gates.cube_certificate:CubeVerifyReport"

    rules: tuple[str, ...] = field(default=(), metadata=base.LEFT_OUT)
    threshold: int = field(default=0, metadata=base.LEFT_OUT)
    with_table: bool = field(default=False, metadata=base.LEFT_OUT)


class CubeVerifyReport(VerifyReport):
    """The report on the certificate of a cube: whether its file, and its table, still give it."""

    def headline(self, result: VerifyResult) -> doc.Toned:
        assert isinstance(result, CubeVerifyResult)
        if result.differences:
            return doc.bad(f"DIFFERS: {self.count_differences(result)} between the cube and the certificate")
        made_again = "the table gives the cube of the certificate"
        return doc.good(f"SAME: {made_again if result.with_table else 'the file is the cube of the certificate'}")

    def opening(self, result: VerifyResult) -> Iterator[doc.Content]:
        assert isinstance(result, CubeVerifyResult)
        dimensions = doc.listed(result.roles["quasi_identifiers"])
        blocks = f"{doc.plural(result.rows, 'block')} of people by {dimensions}" if result.rows else "another file"
        yield f"{result.target}: {blocks}."

    def method(self, result: VerifyResult) -> Iterator[tuple[str, doc.Cell]]:
        assert isinstance(result, CubeVerifyResult)
        certified = result.certified
        yield "certificate", result.certificate
        yield "made", moment(str(certified["time"]))
        yield "by", ", ".join(f"{name} {version}" for name, version in certified["versions"].items())
        yield "threshold", doc.plural(result.threshold, "person", "people")
        yield "rules", doc.joined(result.rules)
        yield "dimensions", doc.joined(result.roles["quasi_identifiers"])
        yield "measures", doc.joined(result.roles["sensitive"])
        yield "signed by", result.key

    def limits(self, result: VerifyResult) -> tuple[str, ...]:
        return ("The author of the certificate chose its rules and dimensions. Check them under Certificate.",)
