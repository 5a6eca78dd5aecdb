"""Writes sqlaudit/schema/policy.json, the JSON Schema of policies, from the registry of models.

python docs/make_policy_schema.py           write the file
python docs/make_policy_schema.py --print   print it
"""

from __future__ import annotations

import sys
from pathlib import Path

from sqlaudit.policy.schema import policy_schema
from sqlaudit.reports import render_json

FILE = Path(__file__).parents[1] / "sqlaudit" / "schema" / "policy.json"


def main() -> None:
    """Write or print the schema."""
    text = render_json(policy_schema())
    if "--print" in sys.argv[1:]:
        sys.stdout.write(text)
    else:
        FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
