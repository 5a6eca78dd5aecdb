"""What must hold, as SQL users write it: `k >= 5, t <= 0.2, recursive_l = c:3,l:2, disclosure@3 < 0.8`."""

from __future__ import annotations

from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Requirement
from sqlaudit.cli.console.words import Reader
from sqlaudit.models.registry import REGISTRY
from sqlaudit.models.requirements import Among, contradiction, parse_requirement

_SIGNS = ("=", ">=", "<=", "<", ">")


def read_requirements(reader: Reader, among: Among = REGISTRY) -> tuple[Requirement, ...]:
    """The requirements from here to the end; commas between them may be left out.

    Args:
        reader: at the first of them. among: the models that may be required.

    Raises:
        StatementError: something that is no requirement, or one in the wrong direction (`k <= 5`).

    Example:
        >>> [one.text for one in read_requirements(Reader("k >= 5, recursive_l=c:3,l:2 t<=.2", "duckdb", "x"))]
        ['k=5', 'recursive_l=c:3,l:2', 't=.2']
    """
    found = []
    while reader.token is not None:
        found.append(_one(reader, among))
        if reader.is_sign(","):
            reader.take()
            if reader.token is None:
                raise reader.fail("a requirement is missing after the comma")
    return tuple(found)


def _one(reader: Reader, among: Among) -> Requirement:
    start = reader.at
    example = "the name of a model, for instance k" if among is REGISTRY else "a rule, for instance threshold"
    name = _word(reader, example)
    if reader.is_sign("@"):
        reader.take()
        name += "@" + _number(reader)
    if not reader.is_sign(*_SIGNS):
        raise reader.fail(f"{name} needs a limit, for instance {name} = 5")
    at_sign = reader.at
    sign = reader.take().text
    value = _pairs(reader) if _is_pair(reader) else _number(reader)
    try:
        requirement = parse_requirement(f"{name}={value}", among=among)
    except UsageError as error:
        raise reader.error(str(error).rstrip("."), reader.tokens[start].start) from None
    _check_direction(reader, among[requirement.model].operator, name, sign, at_sign)
    return requirement


def _check_direction(reader: Reader, operator: str, name: str, sign: str, at: int) -> None:
    if sign not in ("=", operator):
        raise reader.error(contradiction(name, operator), reader.tokens[at].start)


def _word(reader: Reader, what: str) -> str:
    token = reader.token
    if token is None or not token.text.replace("_", "").isalnum() or token.text[0].isdigit():
        raise reader.fail(f"{what} is expected here")
    return reader.take().text


def _is_pair(reader: Reader) -> bool:
    following = reader.tokens[reader.at + 1 : reader.at + 2]
    return bool(following) and following[0].text == ":"


def _pairs(reader: Reader) -> str:
    pairs = []
    while True:
        name = _word(reader, "the name of a parameter")
        if not reader.is_sign(":"):
            raise reader.fail("a colon is expected here")
        reader.take()
        pairs.append(f"{name}:{_number(reader)}")
        after = reader.tokens[reader.at : reader.at + 3]
        if len(after) < 3 or after[0].text != "," or after[2].text != ":":
            return ",".join(pairs)
        reader.take()


def _number(reader: Reader) -> str:
    """A number, share or fraction as it was typed: `5`, `.2`, `80%`, `1/20`; or a word."""
    start = reader.at
    if reader.is_sign("."):
        reader.take()
    if reader.token is None or not (reader.token.text[0].isdigit() or reader.token.text.isidentifier()):
        raise reader.fail("a number is expected here")
    reader.take()
    if reader.is_sign("/"):
        reader.take()
        if reader.token is None or not reader.token.text.isdigit():
            raise reader.fail("a number is expected here")
        reader.take()
    elif reader.is_sign("%"):
        reader.take()
    return reader.source(reader.tokens[start : reader.at])
