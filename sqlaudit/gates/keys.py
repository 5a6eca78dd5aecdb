"""Keys of a policy: what each takes, as JSON Schema, and what it says; of keys that are options, from their fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlaudit.base.options import (
    DELIMITER,
    FLAG,
    MOST,
    NAMES,
    ORDERED,
    RANGE,
    SHARE,
    SWITCH,
    TEXTS,
    WHOLE,
    Option,
    options_of,
)

# A section's keys are one mapping beside its reader: what the reader knows and the schema for editors both come from
# it. Keys that say the same as options take all of it from the fields of the request.

Key = dict[str, Any]
"""What a key takes."""
Keys = Mapping[str, Key]
"""The keys of a section in the order in which they are told."""
TEXT: Key = {"type": "string", "minLength": 1}
TEXTS_OF_IT: Key = {"type": "array", "items": TEXT}
TEXT_OR_TEXTS: Key = {"$ref": "#/$defs/texts"}
SOME_TEXTS: Key = {"oneOf": [TEXT, TEXTS_OF_IT | {"minItems": 1}]}
COLUMN_KEY: Key = {"$ref": "#/$defs/column"}
COLUMN_LIST: Key = {"$ref": "#/$defs/columns"}
YES_OR_NO: Key = {"type": "boolean"}
POSITIVE: Key = {"type": "integer", "minimum": 1}
LIMIT: Key = {"$ref": "#/$defs/number"}
READ: Key = {"$ref": "#/$defs/read"}
_KINDS: Mapping[str, Key] = {
    DELIMITER.name: {"type": "string"},
    **dict.fromkeys((FLAG.name, SWITCH.name), YES_OR_NO),
    **dict.fromkeys((NAMES.name, ORDERED.name, TEXTS.name), TEXT_OR_TEXTS),
    SHARE.name: {"type": ["number", "string"]},
    **{kind.name: {"type": "integer"} for kind in (WHOLE, RANGE, MOST)},
}


def described(description: str, takes: Key = TEXT) -> Key:
    """A key that says what it is; a text, unless it takes something else."""
    return takes | {"description": description}


def keys_of(request: type[object], *names: str) -> dict[str, Key]:
    """The JSON Schema of keys that are fields of a request.

    Args:
        request: the dataclass. names: of its fields, as the policy has them; empty = every option.

    Example:
        >>> from sqlaudit.base.spec import Coverage
        >>> keys_of(Coverage, "all_columns_named")
        {'all_columns_named': {'type': 'boolean', 'description': 'Fail if a column has no role.'}}
    """
    options = dict(options_of(request))
    return {name: key_of(options[name]) for name in names or options}


def key_of(option: Option) -> Key:
    """The JSON Schema of a key that is an option; a policy has keys where the help page speaks of options."""
    takes = {"enum": list(option.kind.words)} if option.kind.words else _KINDS.get(option.kind.name, TEXT)
    least = {} if option.least is None else {"minimum": option.least}
    return takes | least | {"description": option.help.replace("--", "")}
