"""A certificate as a file: what was asked, as data that nobody has to trust, and its signature."""

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
from sqlaudit.base.errors import InputError, MissingDriver, UsageError
from sqlaudit.base.files import check_destination, exists, write_text
from sqlaudit.base.guard import guard_expression
from sqlaudit.base.options import options_of, request_from
from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.relation import Relation
from sqlaudit.base.result import Timing, plain
from sqlaudit.base.spec import Coverage, ReadOptions, Roles, Sampling, Target
from sqlaudit.models.presets import of_rows
from sqlaudit.models.registry import requirements
from sqlaudit.profiles.result import option_value

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


# What an audit was asked, as plain data, and the request that such data make again.

HIDDEN = "…"
"""In a command, what its certificate does not hold."""
UNREADABLE = "This is not a certificate, or it was edited by hand: its {} cannot be read."


def asked_of(request: AuditRequest, db: bool) -> dict[str, Any]:
    """A request as plain data, without what is as usual.

    Args:
        request: the request; the statements follow from the numbers of classes that it reads, too.
        db: whether a database was named.
    """
    rules = list(dict.fromkeys(one.preset for one in request.requirements if one.preset))
    return ({"presets": rules} if rules else {}) | {
        "target": request.target.label or request.target.relation,
        "database": db,
        "read": _given(request.target.read),
        "where": _digest(request.target.where),
        "query": _digest(request.target.query),
        "inputs": _digest(json.dumps(plain(request.inputs), sort_keys=True)) if request.inputs else None,
        "roles": _given(request.roles) | _given(request.roles.sampling),
        "coverage": _given(request.coverage),
        "require": [one.text for one in request.requirements],
        "shown": {
            "failing_classes": request.failing_classes,
            "worst_classes": request.worst_classes_read,
            "values": request.show_values,
        },
    }


def request_from_certificate(
    asked: Mapping[str, Any], target: str, where: str, query: str, inputs: Mapping[str, Any]
) -> AuditRequest:
    """The request again. Nothing of it is SQL, except expressions in the place of columns (`refuse_untrusted`).

    Args:
        asked: what `asked_of` gave. target, where, query, inputs: as the user gives them; empty = as in `asked`.

    Raises:
        InputError: something in it is not what `asked_of` writes. UsageError: what only the user can say is missing.
    """
    missing = [name for name, given in (("where", where), ("query", query)) if asked[name] and not given]
    if missing:
        raise UsageError(
            "The audit selected rows with SQL that the certificate does not contain. Give the same text with "
            f"{spelled(missing[0])}."
        )
    if asked["inputs"] and not inputs:
        raise UsageError(
            f"The audit had further inputs, which the certificate does not contain. Give them with {spelled('inputs')}."
        )
    name = target or (asked["target"] if not query else "")
    try:
        read = request_from(ReadOptions, asked["read"])
        roles = request_from(Roles, asked["roles"], sampling=request_from(Sampling, asked["roles"]))
        coverage = request_from(Coverage, asked["coverage"])
        of_rules = of_rows(asked.get("presets", ()))  # first, and as they are published
        required = (*of_rules, *requirements(list(asked["require"])[len(of_rules) :]))
    except UsageError as error:
        raise InputError(f"{UNREADABLE.format('request')} {error}") from None
    except (TypeError, ValueError, AttributeError):
        raise InputError(UNREADABLE.format("request")) from None
    shown = asked["shown"]
    request = AuditRequest(
        Target(name, query, where=where, read=read),
        roles,
        required,
        inputs,
        coverage,
        failing_classes=shown["failing_classes"],
        worst_classes=shown["worst_classes"],
        show_values=shown["values"],
    )
    again = asked_of(request, False)
    parts = ("read", "roles", "coverage", "require", "presets")
    if wrong := [part for part in parts if again.get(part) != asked.get(part)]:
        raise InputError(UNREADABLE.format(wrong[0]))
    return request


def changed_texts(asked: Mapping[str, Any], request: AuditRequest) -> Iterator[str]:
    """The names of those texts that are not what they were: `where`, `query`, `inputs`."""
    now = asked_of(request, False)
    return (name for name in ("where", "query", "inputs") if now[name] != asked[name])


def command_of(asked: Mapping[str, Any]) -> str:
    """The command line of a request; `…` stands for what the certificate does not hold."""
    words = ["sqlaudit", "audit", *(["--db", HIDDEN] if asked["database"] else [])]
    words += [shlex.quote(asked["target"])] if not asked["query"] else ["--query", HIDDEN]
    for name, value in {**asked["read"], **asked["roles"], **asked["coverage"]}.items():
        flag = f"--{name.replace('_', '-')}"
        if name == "values":
            words.append(f"--{value}-values")
        elif isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        else:
            words += [flag, option_value(value) if isinstance(value, list) else shlex.quote(str(value))]
    for name in ("where", "inputs"):
        words += [f"--{name}", HIDDEN] if asked[name] else []
    rules = asked.get("presets", ())
    words += [word for name in rules for word in ("--preset", name)]
    for text in asked["require"][len(of_rows(rules)) :]:
        words += ["--require", shlex.quote(text)]
    return " ".join(words)


def _given(request: Any) -> dict[str, Any]:
    """The options of a request that are not as usual, by the parameter's name."""
    found = {one.name: (getattr(request, name), one.default) for name, one in options_of(type(request))}
    told = {name: (value, plain(value)) for name, (value, usual) in found.items() if value != usual}
    return {name: str(value) if isinstance(one, float) else one for name, (value, one) in told.items()}


def _digest(text: str) -> str | None:
    return hashlib.sha256(text.encode()).hexdigest() if text else None


# A certificate as a file: made from a finished audit, written, and read by someone who does not trust it.

SCHEMA = "sqlaudit-certificate/1"
LARGEST = 50_000_000
"""Bytes; a file beyond that is none that this program wrote."""
MOST_REQUIRED = 100
"""So many requirements a certificate has at most: each takes its time when it is run again."""
DEEPEST = 12
"""So deep a certificate is nested at most."""
_FIGURES = ("status", "complete", "classes", "sensitive", "checks")
_SHAPE: Mapping[str, type | tuple[type, ...]] = {
    "time": str,
    "versions": dict,
    "command": str,
    "asked": dict,
    "snapshot": dict,
    "figures": dict,
    "sql": list,
    "asked.target": str,
    "asked.database": bool,
    "asked.read": dict,
    "asked.where": (str, type(None)),
    "asked.query": (str, type(None)),
    "asked.inputs": (str, type(None)),
    "asked.roles": dict,
    "asked.coverage": dict,
    "asked.require": list,
    "asked.shown": dict,
}


def certificate_of(
    result: AuditResult, asked: Mapping[str, Any], snapshot: Mapping[str, Any], relation: Relation, private: str
) -> dict[str, Any]:
    """The certificate of an audit, not signed yet. It holds no value of the table.

    Args:
        result: what the audit found. asked: the request as `asked_of` tells it. snapshot: the table as `snapshot_of`.
        relation: what was audited. private: as of `statements_of`.
    """
    return {
        "schema": SCHEMA,
        "time": result.time,
        "versions": dict(result.versions),
        "command": command_of(asked),
        "asked": dict(asked),
        "snapshot": dict(snapshot),
        "figures": figures_of(result),
        "sql": statements_of(result.statements, relation, private),
    }


def figures_of(result: AuditResult) -> dict[str, Any]:
    """The figures of an audit as its JSON has them, without classes and their keys."""
    told = result.to_dict()
    return {"rows": result.rows, **{name: told[name] for name in _FIGURES}}


def statements_of(statements: Sequence[Timing], relation: Relation, private: str) -> list[dict[str, str]]:
    """Return the SQL that ran, as the same audit of the same table would run it again.

    Args:
        statements: what ran. relation: the table; `target` stands in its place, as it may be a query, or say where a
            file lies. private: what names begin with in this session alone (`Engine.private_prefix`); it is left out.
    """
    texts = (one.sql.replace(relation.sql, "target") for one in statements)
    return [
        {"step": one.name, "sql": sql.replace(private, "") if private else sql}
        for one, sql in zip(statements, texts, strict=True)
    ]


def write_certificate(path: Path, certificate: Mapping[str, Any]) -> None:
    """Write a certificate, whole or not at all.

    Raises:
        UsageError: the file cannot be written.
    """
    write_text(path, json.dumps(certificate, indent=2, allow_nan=False) + "\n")


def read_certificate(path: Path) -> dict[str, Any]:
    """The certificate in a file, its parts of the kinds that they should be. What they say is not trusted.

    Raises:
        InputError: the file cannot be read, or is no certificate.
    """
    text = _bytes_of(path, LARGEST + 1)
    if len(text) > LARGEST:
        raise InputError(f"{path} is too large to be a certificate.")
    try:
        found = json.loads(text.decode(), object_pairs_hook=_once, parse_constant=_refused)
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not JSON. An audit with {spelled('certificate')} writes one.") from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise InputError(f"{path} is not a certificate ({SCHEMA}). An audit with {spelled('certificate')} writes one.")
    _check_shape(path, found)
    if '"as_written"' in json.dumps(found["figures"]):
        raise InputError(
            f"{path} is of an older version, in which values with several spellings were judged twice. Make it again "
            f"with {spelled('values', 'fold')} or {spelled('values', 'exact')}."
        )
    return found


def _check_shape(path: Path, found: Mapping[str, Any]) -> None:
    """Refuse what this program would not have written.

    Raises:
        InputError: a part is missing or of another kind.
    """
    if _depth(found) > DEEPEST:
        raise InputError(f"{path}: {UNREADABLE.format('text')}")
    asked = found["asked"] if isinstance(found.get("asked"), dict) else {}
    required, steps = (one if isinstance(one, list) else [] for one in (asked.get("require"), found.get("sql")))
    if len(required) > MOST_REQUIRED:
        raise InputError(f"{path} has more than {MOST_REQUIRED} requirements and is not run.")
    parts = {**found, **{f"asked.{name}": value for name, value in asked.items()}}
    fits = {name: name in parts and isinstance(parts[name], kind) for name, kind in _SHAPE.items()}
    inside = {
        "asked.require": all(isinstance(text, str) for text in required),
        "asked.presets": _holds({"presets": asked.get("presets", [])}, list),
        "asked.read": _is_read(asked.get("read")),
        "asked.roles": _holds(asked.get("roles"), str | bool | int),
        "asked.coverage": _holds(asked.get("coverage"), str | bool),
        "asked.shown": _is_shown(asked.get("shown")),
        "sql": all(isinstance(one, dict) and {"step", "sql"} == set(one) for one in steps),
        "signature": isinstance(found.get("signature", {}), dict),
    }
    wrong = [name for checked in (fits, inside) for name, fine in checked.items() if not fine]
    if wrong:
        raise InputError(f"{path}: {UNREADABLE.format(wrong[0])}")


def _depth(value: Any) -> int:
    """How deep objects and lists are nested, counted without recursion."""
    depth, level = 0, [value]
    while level:
        depth += 1
        inside = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
        level = list(chain.from_iterable(inside))
    return depth


def _holds(options: Any, kind: Any) -> bool:
    """Whether each option is of such a kind, or a list of texts."""
    values = options.values() if isinstance(options, dict) else ()
    lists = [one for one in values if isinstance(one, list)]
    texts = all(isinstance(text, str) for one in lists for text in one)
    return texts and all(isinstance(one, kind) for one in values if not isinstance(one, list))


def _is_read(read: Any) -> bool:
    """Whether it says how a file is read: texts and flags, and a number of lines to skip."""
    if not isinstance(read, dict) or type(read.get("skip", 0)) is not int:
        return False
    return _holds({name: value for name, value in read.items() if name != "skip"}, str | bool)


def _is_shown(shown: Any) -> bool:
    """Whether it says of how many classes a report told, as numbers."""
    if not isinstance(shown, dict) or set(shown) != {"failing_classes", "worst_classes", "values"}:
        return False
    failing, worst = shown["failing_classes"], shown["worst_classes"]
    numbers = (failing is None or (type(failing) is int and failing >= 0)) and type(worst) is int and 0 <= worst <= 10
    return numbers and type(shown["values"]) is bool


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys occur once, so that everybody reads the same in it."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _refused(_: str) -> None:
    raise ValueError


# Expressions in the place of columns, where somebody else wrote them: only those that can do nothing but compute.

_FUNCTIONS = frozenset(
    {
        *("abs", "ceil", "ceiling", "floor", "round", "greatest", "least"),
        *("left", "right", "length", "lower", "upper", "trim", "ltrim", "rtrim", "substr", "substring"),
        *("date_part", "date_trunc", "day", "dayofmonth", "extract", "month", "quarter", "year"),
        *("coalesce", "nullif"),
    }
)
"""Functions of one row's values, cheap and without side effects, on every engine."""
_PLAIN = frozenset(
    {
        *("Column", "Identifier", "Var", "Literal", "Null", "Boolean", "Interval", "Paren", "Tuple"),
        *("Cast", "TryCast", "DataType", "DataTypeParam", "TsOrDsToDate"),
        *("Add", "Sub", "Mul", "Div", "IntDiv", "Mod", "Neg"),
        *("EQ", "NEQ", "GT", "GTE", "LT", "LTE", "In", "Between", "Is"),
        *("And", "Or", "Not", "Case", "If"),
    }
)
"""What an expression of arithmetic, comparisons and CASE is made of."""


def refuse_untrusted(names: Iterable[str], relation: Relation, dialect: str) -> None:
    """Nothing when each is the name of a column, or an expression of arithmetic, CASE and common functions.

    Raises:
        UsageError: one is more than that.
    """
    for name in names:
        if find_column(name, relation) is not None:
            continue
        if not all(map(_is_plain, guard_expression(name, dialect, "certificate").walk())):
            raise UsageError(
                "The certificate has SQL in the place of a column that is more than arithmetic, CASE and common "
                "functions. It was not run. Read it in the certificate, under asked.roles. If you trust it, add "
                f"{spelled('trust_expressions', True)}."
            )


def _is_plain(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return node.name.lower() in _FUNCTIONS
    if type(node).__name__ in _PLAIN:
        return True
    return isinstance(node, exp.Func) and node.sql_name().lower() in _FUNCTIONS


# Signatures of certificates by a user's own Ed25519 key, with the package `cryptography` (the extra `sign`).

PASSPHRASE = "SQLAUDIT_KEY_PASSPHRASE"
"""The environment variable with the passphrase of an encrypted key."""
_MAKE = "make one with {}, or with: openssl genpkey -algorithm ed25519 -out key.pem"
_WHAT = b"sqlaudit certificate 1\n"
"""In front of what is signed: a signature of something else is none of a certificate."""
_LARGEST = 100_000


def signed(certificate: Mapping[str, Any], key: Ed25519PrivateKey) -> dict[str, Any]:
    """The certificate with its signature."""
    return {
        **certificate,
        "signature": {
            "algorithm": "Ed25519",
            "public_key": _base64(key.public_key().public_bytes_raw()),
            "value": _base64(key.sign(_message(certificate))),
        },
    }


def signed_by(certificate: Mapping[str, Any], trusted: Ed25519PublicKey | None = None) -> str:
    """The fingerprint of the key that signed a certificate, empty when no such signature fits.

    Args:
        certificate: one with a signature. trusted: whose signature it has to be, None = that of the key that it names.

    Raises:
        MissingDriver: the package for signatures is not installed.
    """
    _installed()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    said = certificate["signature"]
    try:
        key = trusted or Ed25519PublicKey.from_public_bytes(base64.b64decode(str(said["public_key"]), validate=True))
        key.verify(base64.b64decode(str(said["value"]), validate=True), _message(certificate))
    except (InvalidSignature, ValueError, KeyError):
        return ""
    return fingerprint(key)


def fingerprint(key: Ed25519PublicKey) -> str:
    """What people compare: `SHA256:` and the digest of the key, as OpenSSH writes it but over the bare 32 bytes."""
    return "SHA256:" + _base64(hashlib.sha256(key.public_bytes_raw()).digest()).rstrip("=")


def private_key(path: Path) -> Ed25519PrivateKey:
    """The key in a PEM file; that of an encrypted one needs the passphrase in the environment.

    Raises:
        InputError: the file is no such key. MissingDriver: the package for signatures is not installed.
    """
    _installed()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    text, secret = _bytes_of(path, _LARGEST), os.environ.get(PASSPHRASE, "").encode() or None
    how = _MAKE.format(spelled("new_key", True))
    try:
        found = serialization.load_pem_private_key(text, secret if b"ENCRYPTED" in text else None)
    except TypeError:
        raise InputError(f"{path} is an encrypted key. Put its passphrase into {PASSPHRASE}.") from None
    except ValueError:
        raise InputError(f"{path} is not a private key in PEM, or the passphrase is wrong; {how}") from None
    except UnsupportedAlgorithm:
        raise InputError(f"{path} is a key of an unsupported kind; {how}") from None
    if not isinstance(found, Ed25519PrivateKey):
        raise InputError(f"{path} is not an Ed25519 key; {how}")
    return found


def new_key(path: Path) -> Path:
    """Make a key: the private half at `path`, for its owner alone to read, and the public one beside it.

    It is encrypted when the environment has a passphrase.

    Returns:
        Where the public half is.

    Raises:
        UsageError: one of the files is there already, or cannot be written. MissingDriver: as `private_key`.
    """
    _installed()
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


def public_key(path: Path) -> Ed25519PublicKey:
    """The public key in a PEM file.

    Raises:
        InputError: the file is no such key. MissingDriver: the package for signatures is not installed.
    """
    _installed()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    said = f"{path} is not a public Ed25519 key in PEM. Make it from the private key: openssl pkey -in key.pem -pubout"
    try:
        found = serialization.load_pem_public_key(_bytes_of(path, _LARGEST))
    except (ValueError, UnsupportedAlgorithm):
        raise InputError(said) from None
    if not isinstance(found, Ed25519PublicKey):
        raise InputError(said)
    return found


def can_sign() -> bool:
    """Whether the package for signatures is installed."""
    try:
        _installed()
    except MissingDriver:
        return False
    return True


def _message(certificate: Mapping[str, Any]) -> bytes:
    """What is signed: all of a certificate but the signature, in one spelling."""
    rest = {name: value for name, value in certificate.items() if name != "signature"}
    return _WHAT + json.dumps(rest, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _bytes_of(path: Path, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _installed() -> None:
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise MissingDriver("Signatures need the package cryptography: pip install 'sqlaudit[sign]'.") from None
