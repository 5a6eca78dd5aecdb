"""Certificates: the parameters of an audit as data that need not be trusted, the file, and its signature."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlaudit.audits.request import AuditRequest
from sqlaudit.audits.result import AuditResult
from sqlaudit.base.columns_of import find_column
from sqlaudit.base.errors import InputError, MissingDriver, UsageError, unreadable_file
from sqlaudit.base.files import check_destination, exists, write_text
from sqlaudit.base.guard import guard_expression
from sqlaudit.base.names import option_value
from sqlaudit.base.options import options_of, request_from
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Timing, plain
from sqlaudit.base.spec import Coverage, ReadOptions, Roles, Sampling, Target
from sqlaudit.models.presets import of_rows
from sqlaudit.models.registry import requirements

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


# The parameters of an audit as plain data, and the request that they give again.

HIDDEN = "…"
"""Placeholder in a command for what its certificate does not contain."""
UNREADABLE = "This is not a certificate, or it was edited by hand: its {} cannot be read."


def parameters_of(request: AuditRequest, db: bool) -> dict[str, object]:
    """Return the parameters of a request as plain data, without options at their defaults.

    Args:
        request: the request; its numbers of classes are included, because the statements depend on them.
        db: whether a database was named.
    """
    presets = list(dict.fromkeys(requirement.preset for requirement in request.requirements if requirement.preset))
    return ({"presets": presets} if presets else {}) | {
        "target": request.target.label or request.target.relation,
        "database": db,
        "read": non_default_options(request.target.read),
        "where": digest_of_text(request.target.where),
        "query": digest_of_text(request.target.query),
        "inputs": digest_of_text(json.dumps(plain(request.inputs), sort_keys=True)) if request.inputs else None,
        "roles": non_default_options(request.roles) | non_default_options(request.roles.sampling),
        "coverage": non_default_options(request.coverage),
        "require": [requirement.text for requirement in request.requirements],
        "shown": {
            "failing_classes": request.failing_classes,
            "worst_classes": request.worst_classes_read,
            "values": request.show_values,
        },
    }


def request_from_certificate(
    parameters: Mapping[str, Any], target: str, where: str, query: str, inputs: Mapping[str, object]
) -> AuditRequest:
    """Return the request of a certificate. It has no SQL except expressions in place of columns (`refuse_untrusted`).

    Args:
        parameters: the request as `parameters_of` returned it.
        target, where, query, inputs: the texts and inputs that the user gives; empty = as in `parameters`.

    Raises:
        InputError: a parameter is not as `parameters_of` writes it.
        UsageError: the user must give a text or inputs that the certificate does not contain.
    """
    missing = [name for name, text in (("where", where), ("query", query)) if parameters[name] and not text]
    if missing:
        raise UsageError(
            "The audit selected rows with SQL that the certificate does not contain. Give the same text with "
            f"{spelled(missing[0])}."
        )
    if parameters["inputs"] and not inputs:
        raise UsageError(
            f"The audit had further inputs, which the certificate does not contain. Give them with {spelled('inputs')}."
        )
    name = target or (parameters["target"] if not query else "")
    try:
        read = request_from(ReadOptions, parameters["read"])
        roles = request_from(Roles, parameters["roles"], sampling=request_from(Sampling, parameters["roles"]))
        coverage = request_from(Coverage, parameters["coverage"])
        preset_requirements = of_rows(
            parameters.get("presets", ())
        )  # the requirements of presets come first, as published
        all_requirements = (
            *preset_requirements,
            *requirements(list(parameters["require"])[len(preset_requirements) :]),
        )
    except UsageError as error:
        raise InputError(f"{UNREADABLE.format('request')} {error}") from None
    except (TypeError, ValueError, AttributeError):
        raise InputError(UNREADABLE.format("request")) from None
    shown = parameters["shown"]
    request = AuditRequest(
        Target(name, query, where=where, read=read, shared=read.given),  # with a population of another format
        roles,
        all_requirements,
        inputs=inputs,
        coverage=coverage,
        failing_classes=shown["failing_classes"],
        worst_classes=shown["worst_classes"],
        show_values=shown["values"],
    )
    rewritten = parameters_of(request, False)
    parts = ("read", "roles", "coverage", "require", "presets")
    if differing := [part for part in parts if rewritten.get(part) != parameters.get(part)]:
        raise InputError(UNREADABLE.format(differing[0]))
    return request


def find_changed_texts(parameters: Mapping[str, object], request: AuditRequest) -> Iterator[str]:
    """Return which of `where`, `query` and `inputs` differ from those of the certificate."""
    now = parameters_of(request, False)
    return (name for name in ("where", "query", "inputs") if now[name] != parameters[name])


def build_command(parameters: Mapping[str, Any]) -> str:
    """Return the command line of a request; `…` stands for what the certificate does not contain."""
    words = ["sqlaudit", "audit", *(["--db", HIDDEN] if parameters["database"] else [])]
    words += [shlex.quote(parameters["target"])] if not parameters["query"] else ["--query", HIDDEN]
    for name, value in {**parameters["read"], **parameters["roles"], **parameters["coverage"]}.items():
        flag = f"--{name.replace('_', '-')}"
        if name == "values":
            words.append(f"--{value}-values")
        elif name == "null_values":
            words += [flag, shlex.quote(",".join(text or '""' for text in value))]
        elif isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        else:
            words += [flag, option_value(value) if isinstance(value, list) else shlex.quote(str(value))]
    for name in ("where", "inputs"):
        words += [f"--{name}", HIDDEN] if parameters[name] else []
    presets = parameters.get("presets", ())
    words += [word for name in presets for word in ("--preset", name)]
    for text in parameters["require"][len(of_rows(presets)) :]:
        words += ["--require", shlex.quote(text)]
    return " ".join(words)


def non_default_options(request: object) -> dict[str, object]:
    """Return the options of a request that differ from their defaults, by the parameter's name."""
    values = {option.name: (getattr(request, name), option.default) for name, option in options_of(type(request))}
    changed = {name: (value, plain(value)) for name, (value, default) in values.items() if value != default}
    # fractions stay exact as text
    return {
        name: str(value) if isinstance(json_value, float) else json_value
        for name, (value, json_value) in changed.items()
    }


def digest_of_text(text: str) -> str | None:
    """Return the SHA-256 of a text; None for an empty one."""
    return hashlib.sha256(text.encode()).hexdigest() if text else None


# The file: built from a finished audit, written, and read by someone who does not trust it.

SCHEMA = "sqlaudit-certificate/1"
CUBE_SCHEMA = "sqlaudit-cube-certificate/1"
LARGEST = 50_000_000
"""Most bytes of a certificate; a larger file was not written by this program."""
MOST_REQUIRED = 100
"""Most requirements of a certificate that is run: each takes time."""
DEEPEST = 12
"""Most levels of nesting in a certificate."""
_FIGURES = ("status", "complete", "classes", "sensitive", "checks")
_SHAPE: Mapping[str, type | tuple[type, ...]] = {
    "time": str,
    "versions": dict,
    "command": str,
    "request": dict,
    "snapshot": dict,
    "figures": dict,
    "sql": list,
    "request.target": str,
    "request.database": bool,
    "request.read": dict,
    "request.where": (str, type(None)),
    "request.query": (str, type(None)),
    "request.inputs": (str, type(None)),
    "request.roles": dict,
    "request.coverage": dict,
    "request.require": list,
    "request.shown": dict,
}


def build_certificate(
    result: AuditResult,
    parameters: Mapping[str, object],
    snapshot: Mapping[str, object],
    relation: Relation,
    private: str,
) -> dict[str, object]:
    """Return the unsigned certificate of an audit. It contains no value of the table.

    Args:
        result: the result of the audit.
        parameters: the request as `parameters_of` returns it.
        snapshot: the table as `snapshot_of` returns it.
        relation: the audited table.
        private: the prefix of `normalize_statements`.
    """
    return {
        "schema": SCHEMA,
        "time": result.time,
        "versions": dict(result.versions),
        "command": build_command(parameters),
        "request": dict(parameters),
        "snapshot": dict(snapshot),
        "figures": select_figures(result),
        "sql": normalize_statements(result.statements, relation, private),
    }


def select_figures(result: AuditResult) -> dict[str, object]:
    """Return the figures of an audit as in its JSON, without classes and their keys."""
    fields = result.to_dict()
    return {"rows": result.rows, **{name: fields[name] for name in _FIGURES}}


def normalize_statements(statements: Sequence[Timing], relation: Relation, private: str) -> list[dict[str, str]]:
    """Return the SQL that ran, as the same audit of the same table would run it again.

    Args:
        statements: the statements that ran.
        relation: the table. It is replaced by `target`, because it may be a query or contain the path of a file.
        private: the prefix of names in this session only (`Engine.private_prefix`); it is left out.
    """
    texts = (statement.sql.replace(relation.sql, "target") for statement in statements)
    return [
        {"step": statement.name, "sql": sql.replace(private, "") if private else sql}
        for statement, sql in zip(statements, texts, strict=True)
    ]


def write_certificate(path: Path, certificate: Mapping[str, object]) -> None:
    """Write a certificate, whole or not at all.

    Raises:
        UsageError: the file cannot be written.
    """
    write_text(path, json.dumps(certificate, indent=2, allow_nan=False) + "\n")


def read_certificate(path: Path) -> dict[str, Any]:
    """Return the certificate in a file, with the types of its parts checked. Its contents are not trusted.

    Raises:
        InputError: the file cannot be read, or is not a certificate.
    """
    certificate = read_schema(path, SCHEMA)
    _check_shape(path, certificate)
    if '"as_written"' in json.dumps(certificate["figures"]):
        raise InputError(
            f"{path} is of an older version, in which values with several spellings were judged twice. Make it again "
            f"with {spelled('values', 'fold')} or {spelled('values', 'exact')}."
        )
    return certificate


def read_schema(path: Path, *schemas: str) -> dict[str, Any]:
    """Return the JSON in a file with one of these schemas. Only the schema and the depth are checked.

    Raises:
        InputError: the file cannot be read, or is not a certificate.
    """
    text = _read_bytes(path, LARGEST + 1)
    if len(text) > LARGEST:
        raise InputError(f"{path} is too large to be a certificate.")
    try:
        certificate = json.loads(
            text.decode(), object_pairs_hook=_refuse_repeated_keys, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not JSON. An audit with {spelled('certificate')} writes one.") from None
    if not isinstance(certificate, dict) or certificate.get("schema") not in schemas:
        raise InputError(
            f"{path} is not a certificate ({schemas[0]}). An audit with {spelled('certificate')} writes one."
        )
    if _measure_depth(certificate) > DEEPEST:
        raise InputError(f"{path}: {UNREADABLE.format('text')}")
    return certificate


def _check_shape(path: Path, certificate: Mapping[str, Any]) -> None:
    """Refuse a file that this program would not have written.

    Raises:
        InputError: a part is missing or of another type.
    """
    parameters = certificate["request"] if isinstance(certificate.get("request"), dict) else {}
    requirement_texts, steps = (
        part if isinstance(part, list) else [] for part in (parameters.get("require"), certificate.get("sql"))
    )
    if len(requirement_texts) > MOST_REQUIRED:
        raise InputError(f"{path} has more than {MOST_REQUIRED} requirements and is not run.")
    parts = {**certificate, **{f"request.{name}": value for name, value in parameters.items()}}
    outer = {name: name in parts and isinstance(parts[name], kind) for name, kind in _SHAPE.items()}
    inner = {
        "request.require": all(isinstance(text, str) for text in requirement_texts),
        "request.presets": has_options_of({"presets": parameters.get("presets", [])}, list),
        "request.read": is_read_options(parameters.get("read")),
        "request.roles": has_options_of(parameters.get("roles"), str | bool | int),
        "request.coverage": has_options_of(parameters.get("coverage"), str | bool),
        "request.shown": _is_shown_options(parameters.get("shown")),
        "sql": all(isinstance(part, dict) and {"step", "sql"} == set(part) for part in steps),
        "signature": isinstance(certificate.get("signature", {}), dict),
    }
    wrong = [name for checked in (outer, inner) for name, fine in checked.items() if not fine]
    if wrong:
        raise InputError(f"{path}: {UNREADABLE.format(wrong[0])}")


def _measure_depth(value: object) -> int:
    """Return the depth of nested objects and lists, without recursion, which a hostile file could exhaust."""
    depth, level = 0, [value]
    while level:
        depth += 1
        inside = (
            child.values() if isinstance(child, dict) else child for child in level if isinstance(child, dict | list)
        )
        level = list(chain.from_iterable(inside))
    return depth


def has_options_of(options: object, kind: Any) -> bool:
    """True if each option is of this type, or a list of texts."""
    values = options.values() if isinstance(options, dict) else ()
    lists = [option for option in values if isinstance(option, list)]
    texts = all(isinstance(text, str) for option in lists for text in option)
    return texts and all(isinstance(option, kind) for option in values if not isinstance(option, list))


def is_read_options(read: Any) -> bool:
    """True if these are options on reading a file: texts and flags, and a number of lines to skip."""
    if not isinstance(read, dict) or type(read.get("skip", 0)) is not int:
        return False
    return has_options_of({name: value for name, value in read.items() if name != "skip"}, str | bool)


def _is_shown_options(shown: object) -> bool:
    """True if these are the numbers of classes in a report, and whether it shows values."""
    if not isinstance(shown, dict) or set(shown) != {"failing_classes", "worst_classes", "values"}:
        return False
    failing, worst = shown["failing_classes"], shown["worst_classes"]
    numbers = (failing is None or (type(failing) is int and failing >= 0)) and type(worst) is int and 0 <= worst <= 10
    return numbers and type(shown["values"]) is bool


def _refuse_repeated_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of JSON; refuse repeated keys, which parsers read differently."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError
    return fields


def _refuse_constant(_: str) -> None:
    raise ValueError


# Expressions in place of columns, written by someone else: only those that can do nothing but compute.

_SAFE_FUNCTIONS = frozenset(
    {
        *("abs", "ceil", "ceiling", "floor", "round", "greatest", "least"),
        *("left", "right", "length", "lower", "upper", "trim", "ltrim", "rtrim", "substr", "substring"),
        *("date_part", "date_trunc", "day", "dayofmonth", "extract", "month", "quarter", "year"),
        *("coalesce", "nullif"),
    }
)
"""Functions of one row's values, cheap and without side effects, on every engine."""
_SAFE_NODES = frozenset(
    {
        *("Column", "Identifier", "Var", "Literal", "Null", "Boolean", "Interval", "Paren", "Tuple"),
        *("Cast", "TryCast", "DataType", "DataTypeParam", "TsOrDsToDate"),
        *("Add", "Sub", "Mul", "Div", "IntDiv", "Mod", "Neg"),
        *("EQ", "NEQ", "GT", "GTE", "LT", "LTE", "In", "Between", "Is"),
        *("And", "Or", "Not", "Case", "If"),
    }
)
"""Nodes of expressions of arithmetic, comparisons and CASE."""


def refuse_untrusted(names: Iterable[str], relation: Relation, dialect: str) -> None:
    """Refuse expressions that are more than arithmetic, CASE and common functions of columns.

    Raises:
        UsageError: a name is such an expression.
    """
    for name in names:
        if find_column(name, relation) is not None:
            continue
        if not all(map(_is_safe_node, guard_expression(name, dialect, "certificate").walk())):
            raise UsageError(
                "The certificate has SQL in the place of a column that is more than arithmetic, CASE and common "
                "functions. It was not run. Read it in the certificate, under request. If you trust it, add "
                f"{spelled('trust_expressions', True)}."
            )


def _is_safe_node(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return node.name.lower() in _SAFE_FUNCTIONS
    if type(node).__name__ in _SAFE_NODES:
        return True
    return isinstance(node, exp.Func) and node.sql_name().lower() in _SAFE_FUNCTIONS


# Signatures of certificates by the user's Ed25519 key, with the package `cryptography` (the extra `sign`).

PASSPHRASE = "SQLAUDIT_KEY_PASSPHRASE"
"""The environment variable with the passphrase of an encrypted key."""
_MAKE_ADVICE = "make one with {}, or with: openssl genpkey -algorithm ed25519 -out key.pem"
_MESSAGE_PREFIX = b"sqlaudit certificate 1\n"
"""Prefix of the signed bytes, so that no signature of another text is one of a certificate."""
_LARGEST = 100_000


def sign_certificate(certificate: Mapping[str, object], key: Ed25519PrivateKey) -> dict[str, object]:
    """Return the certificate with its signature."""
    return {
        **certificate,
        "signature": {
            "algorithm": "Ed25519",
            "public_key": _base64(key.public_key().public_bytes_raw()),
            "value": _base64(key.sign(_signed_bytes(certificate))),
        },
    }


def verify_signature(certificate: Mapping[str, Any], trusted: Ed25519PublicKey | None = None) -> str:
    """Return the fingerprint of the key that signed a certificate; empty if the signature is not valid.

    Args:
        certificate: a certificate with a signature.
        trusted: the key that must have signed it; None = the key that the certificate names.

    Raises:
        MissingDriver: the package for signatures is not installed.
    """
    _require_cryptography()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    signature = certificate["signature"]
    try:
        key = trusted or Ed25519PublicKey.from_public_bytes(
            base64.b64decode(str(signature["public_key"]), validate=True)
        )
        key.verify(base64.b64decode(str(signature["value"]), validate=True), _signed_bytes(certificate))
    except (InvalidSignature, ValueError, KeyError):
        return ""
    return fingerprint(key)


def fingerprint(key: Ed25519PublicKey) -> str:
    """Return the fingerprint of a key for people to compare: `SHA256:` and its digest, over the 32 bytes alone.

    OpenSSH writes fingerprints in the same way, but over its own encoding of the key.
    """
    return "SHA256:" + _base64(hashlib.sha256(key.public_bytes_raw()).digest()).rstrip("=")


def read_private_key(path: Path) -> Ed25519PrivateKey:
    """Return the private key in a PEM file. An encrypted key needs the passphrase in the environment.

    Raises:
        InputError: the file is not an Ed25519 private key.
        MissingDriver: the package for signatures is not installed.
    """
    _require_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    text, passphrase = _read_bytes(path, _LARGEST), os.environ.get(PASSPHRASE, "").encode() or None
    advice = _MAKE_ADVICE.format(spelled("new_key", True))
    try:
        key = serialization.load_pem_private_key(text, passphrase if b"ENCRYPTED" in text else None)
    except TypeError:
        raise InputError(f"{path} is an encrypted key. Put its passphrase into {PASSPHRASE}.") from None
    except ValueError:
        raise InputError(f"{path} is not a private key in PEM, or the passphrase is wrong; {advice}") from None
    except UnsupportedAlgorithm:
        raise InputError(f"{path} is a key of an unsupported kind; {advice}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"{path} is not an Ed25519 key; {advice}")
    return key


def make_key(path: Path) -> Path:
    """Make a key pair: the private half in `path`, readable only by its owner, and the public half next to it.

    The private half is encrypted if the environment has a passphrase.

    Returns:
        The path of the public half.

    Raises:
        UsageError: a file exists, or cannot be written.
        MissingDriver: the package for signatures is not installed.
    """
    _require_cryptography()
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    public, key = path.with_suffix(".pub.pem"), Ed25519PrivateKey.generate()
    secret = os.environ.get(PASSPHRASE, "").encode()
    locked = serialization.BestAvailableEncryption(secret) if secret else serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    half = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    for file in (path, public):
        check_destination(file)
        if exists(file):
            raise UsageError(f"{str(file)!r} exists, and keys are never overwritten.")
    _write_new(path, key.private_bytes(pem, serialization.PrivateFormat.PKCS8, locked), 0o600)
    _write_new(public, half, 0o644)
    return public


def _write_new(path: Path, data: bytes, mode: int) -> None:
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(data)
    except OSError as error:
        raise UsageError(f"{str(path)!r} could not be written: {error.strerror}.") from None


def read_public_key(path: Path) -> Ed25519PublicKey:
    """Return the public key in a PEM file.

    Raises:
        InputError: the file is not an Ed25519 public key.
        MissingDriver: the package for signatures is not installed.
    """
    _require_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    message = (
        f"{path} is not a public Ed25519 key in PEM. Make it from the private key: openssl pkey -in key.pem -pubout"
    )
    try:
        key = serialization.load_pem_public_key(_read_bytes(path, _LARGEST))
    except (ValueError, UnsupportedAlgorithm):
        raise InputError(message) from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(message)
    return key


def can_sign() -> bool:
    """True if the package for signatures is installed."""
    try:
        _require_cryptography()
    except MissingDriver:
        return False
    return True


def _signed_bytes(certificate: Mapping[str, Any]) -> bytes:
    """Return the bytes that are signed: all of a certificate but the signature, in a canonical spelling."""
    rest = {name: value for name, value in certificate.items() if name != "signature"}
    return _MESSAGE_PREFIX + json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _read_bytes(path: Path, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise unreadable_file(path, error) from None


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _require_cryptography() -> None:
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise MissingDriver("Signatures need the package cryptography: pip install 'sqlaudit[sign]'.") from None
