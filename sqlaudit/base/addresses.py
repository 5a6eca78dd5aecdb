"""Addresses of databases: the text for the driver, and the parts that may be shown. No message holds a secret.

There are two protections. The text for a driver is passed on as `Whereabouts`, which does not show it: messages use its
`label`, `subject` and `named`. And any other text that looks like a connection (a URL with a typing error that was
taken for a file, say) is left out of each error message when the message is made: see `connection_texts`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlaudit.base.connection_texts import PARAMETERS, looks_like_connection
from sqlaudit.base.files import exists
from sqlaudit.base.parameter_names import about

# As texts: compiling them takes longer than a command without a database.
_PLAIN_FILE = r":memory:|(?:[A-Za-z]:[\\/])?[\w./\\~+\-,() ]*"
_PLAIN_PART = r"[\w./+~$-]*"
_PLAIN_HOST = r"[\w./+~$,-]*|\[?[0-9A-Fa-f:.]+(?:%\w+)?\]?"
_DIGITS = r"[\d,]{0,60}"


@dataclass(frozen=True, repr=False)
class Whereabouts:
    """The address of a database.

    Args:
        text: the text for the driver, and for nothing else: it may hold a password.
        source: where the text comes from: `connection 'main' (sqlaudit.yml, line 3)`; by default the request.
        secret: True if the text, or a part of it, came from the environment, so that nothing of it is ever shown.

    Example:
        >>> print(Whereabouts("postgresql://u:hush@db/clinic"))
        the database of db
    """

    text: str
    source: str = field(default_factory=lambda: about("db"))
    secret: bool = False

    def __str__(self) -> str:
        return f"the database of {self.source}"

    __repr__ = __str__

    @property
    def file(self) -> str | None:
        """The text if it may be shown as the name of a file: it is not secret, and not like a connection."""
        if self.secret or looks_like_connection(self.text):
            return None
        return self.text if exists(self.text) or re.fullmatch(_PLAIN_FILE, self.text) else None

    @property
    def label(self) -> str:
        """The name of the database in reports and messages, without quotes."""
        return self.file or str(self)

    @property
    def subject(self) -> str:
        """The beginning of a sentence about the database."""
        return repr(self.file) if self.file else f"The database of {self.source}"

    @property
    def named(self) -> str:
        """The name after the noun in a sentence: `the database 'clinic.duckdb'`, `the database of --db`."""
        return repr(self.file) if self.file else f"of {self.source}"

    def public_parts(self, parts: Mapping[str, str]) -> Mapping[str, str]:
        """Return the parts of a connection that may be named: all of them, or none.

        A password with an unescaped sign shifts the text after it into other parts, so one odd part makes all of them
        doubtful.

        Args:
            parts: host, port, user … as the driver reads the text.
        """
        return {} if self.secret or self._is_doubtful(parts) else parts

    def _is_doubtful(self, parts: Mapping[str, str]) -> bool:
        """Return True if a part may be, or hide, a piece of a password."""
        if self.text.count("@") > 1 or re.search(r"(?i)password\s*=\s*[^\s']", self.text.partition("?")[0]):
            return True
        keys = re.findall(rf"(?i)(?<!\w)({PARAMETERS})\s*=", self.text)
        plain = {"host": _PLAIN_HOST, "hostaddr": _PLAIN_HOST, "port": _DIGITS}
        are_odd = (not re.fullmatch(plain.get(key, _PLAIN_PART), value) for key, value in parts.items())
        return len(keys) != len(set(keys)) or any(are_odd)


def whereabouts(db: str | Whereabouts) -> Whereabouts:
    """Return the address for a text that a user typed; an address stays as it is."""
    return db if isinstance(db, Whereabouts) else Whereabouts(db)
