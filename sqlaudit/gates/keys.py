"""Keys of a policy, as the reader of each section lists them: what each takes, as JSON Schema, and what it says.

A section's keys are one mapping beside its reader: what the reader knows and the schema for editors both come from it.
Keys that say the same as options take all of it from the fields of the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlaudit.base.options import DELIMITER, FLAG, NAMES, ORDERED, SHARE, SWITCH, TEXTS, WHOLE, Option, options_of

Key = dict[str, Any]
"""What a key takes."""
Keys = Mapping[str, Key]
"""The keys of a section in the order in which they are told."""
TEXT: Key = {"type": "string", "minLength": 1}
TEXTS_OF_IT: Key = {"type": "array", "items": TEXT}
TEXT_OR_TEXTS: Key = {"$ref": "#/$defs/texts"}
YES_OR_NO: Key = {"type": "boolean"}
POSITIVE: Key = {"type": "integer", "minimum": 1}
LIMIT: Key = {"$ref": "#/$defs/number"}
READ: Key = {"$ref": "#/$defs/read"}
REQUIREMENTS: Key = {"$ref": "#/$defs/requirements", "description": "What must hold."}
SEVERITIES = ("error", "warn")
SEVERITY: Key = {"enum": list(SEVERITIES), "description": "error keeps the table back, warn only says so."}
TAGS: Key = TEXT_OR_TEXTS | {"description": "For --select tag:…"}
OWNER: Key = TEXT | {"description": "Who answers for it."}
DERIVED_FROM: Key = TEXT_OR_TEXTS | {"description": "Names of tables that this one is made of, for --select name+"}
_KINDS: Mapping[str, Key] = {
    DELIMITER.name: {"type": "string"},
    FLAG.name: YES_OR_NO,
    SWITCH.name: YES_OR_NO,
    NAMES.name: TEXT_OR_TEXTS,
    ORDERED.name: TEXT_OR_TEXTS,
    TEXTS.name: TEXT_OR_TEXTS,
    SHARE.name: {"type": ["number", "string"]},
    WHOLE.name: {"type": "integer"},
}


def described(description: str, takes: Key = TEXT) -> Key:
    """A key that says what it is; a text, unless it takes something else."""
    return takes | {"description": description}


def keys_of(request: type[Any], *names: str) -> dict[str, Key]:
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


def key_of(one: Option) -> Key:
    """The JSON Schema of a key that is an option; a policy has keys where the help page speaks of options."""
    takes = {"enum": list(one.kind.words)} if one.kind.words else _KINDS.get(one.kind.name, TEXT)
    least = {} if one.least is None else {"minimum": one.least}
    return takes | least | {"description": one.help.replace("--", "")}
