"""Keys of a policy that say the same as options: what they take and how they are explained comes from the fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlaudit.base.options import DELIMITER, FLAG, NAMES, ORDERED, SHARE, SWITCH, TEXTS, WHOLE, Option, options_of

TEXT = {"type": "string", "minLength": 1}
TEXT_OR_TEXTS = {"$ref": "#/$defs/texts"}
_KINDS: Mapping[str, dict[str, Any]] = {
    DELIMITER.name: {"type": "string"},
    FLAG.name: {"type": "boolean"},
    SWITCH.name: {"type": "boolean"},
    NAMES.name: TEXT_OR_TEXTS,
    ORDERED.name: TEXT_OR_TEXTS,
    TEXTS.name: TEXT_OR_TEXTS,
    SHARE.name: {"type": ["number", "string"]},
    WHOLE.name: {"type": "integer"},
}


def keys_of(request: type[Any], *names: str) -> dict[str, dict[str, Any]]:
    """The JSON Schema of keys that are fields of a request.

    Args:
        request: the dataclass. names: of its fields, as the policy has them; empty = every option.

    Example:
        >>> from sqlaudit.base.spec import Coverage
        >>> keys_of(Coverage, "all_columns_named")
        {'all_columns_named': {'type': 'boolean', 'description': 'A column without a role fails.'}}
    """
    options = dict(options_of(request))
    return {name: key_of(options[name]) for name in names or options}


def key_of(one: Option) -> dict[str, Any]:
    """The JSON Schema of a key that is an option; a policy has keys where the help page speaks of options."""
    takes = {"enum": list(one.kind.words)} if one.kind.words else _KINDS.get(one.kind.name, TEXT)
    least = {} if one.least is None else {"minimum": one.least}
    return takes | least | {"description": one.help.replace("--", "")}
