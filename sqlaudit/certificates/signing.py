"""Signatures of certificates by a user's own Ed25519 key, with the package `cryptography` (the extra `sign`)."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlaudit.base.errors import InputError, MissingDriver, UsageError
from sqlaudit.base.files import check_destination
from sqlaudit.base.paths import exists
from sqlaudit.base.words import spelled

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

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
            "public_key": _base64(_raw(key.public_key())),
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
    return "SHA256:" + _base64(hashlib.sha256(_raw(key)).digest()).rstrip("=")


def private_key(path: Path) -> Ed25519PrivateKey:
    """The key in a PEM file; that of an encrypted one needs the passphrase in the environment.

    Raises:
        InputError: the file is no such key. MissingDriver: the package for signatures is not installed.
    """
    _installed()
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    text, secret = _bytes_of(path), os.environ.get(PASSPHRASE, "").encode() or None
    try:
        found = serialization.load_pem_private_key(text, secret if b"ENCRYPTED" in text else None)
    except TypeError:
        raise InputError(f"{path}: is an encrypted key; put its passphrase into {PASSPHRASE}.") from None
    except ValueError:
        raise InputError(f"{path}: is no private key in PEM, or its passphrase is another; {_how_to_make()}") from None
    except _unsupported():
        raise InputError(f"{path}: is a key of a kind that is not read; {_how_to_make()}") from None
    if not isinstance(found, Ed25519PrivateKey):
        raise InputError(f"{path}: is no Ed25519 key; {_how_to_make()}")
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
            raise UsageError(f"{str(file)!r} is there already, and a key is never replaced.")
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
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    said = f"{path}: is no public Ed25519 key in PEM; take it from the private one: openssl pkey -in key.pem -pubout"
    try:
        found = serialization.load_pem_public_key(_bytes_of(path))
    except (ValueError, _unsupported()):
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


def _bytes_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_LARGEST)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None


def _raw(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes_raw()


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _how_to_make() -> str:
    return _MAKE.format(spelled("new_key", True))


def _installed() -> None:
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise MissingDriver("Signatures need the package cryptography: pip install 'sqlaudit[sign]'.") from None


def _unsupported() -> type[Exception]:
    from cryptography.exceptions import UnsupportedAlgorithm

    return UnsupportedAlgorithm
