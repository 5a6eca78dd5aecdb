"""Where a database is: what a driver connects with, and what people are told of it. No sentence holds a secret.

Two walls. What a driver connects with travels as `Whereabouts`, which shows nothing of itself: who speaks of a database
asks it for words. And whatever still looks like the text of a connection (a URL with a typing error that was taken for
a file, say) is left out of every sentence when the sentence is made: see `connection_texts`.
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
    """Where a database is.

    Args:
        text: what a driver connects with, for drivers alone: it may hold a password.
        source: who says so: `connection 'main' (sqlaudit.yml, line 3)`; by default the request.
        secret: whether the text, or a piece of it, came from the environment, so that nothing of it is ever told.

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
        """The text where it may be told as the name of a file: nothing secret, and nothing like a connection."""
        if self.secret or looks_like_connection(self.text):
            return None
        return self.text if exists(self.text) or re.fullmatch(_PLAIN_FILE, self.text) else None

    @property
    def label(self) -> str:
        """What the database is called in reports and sentences, without quotes."""
        return self.file or str(self)

    @property
    def subject(self) -> str:
        """What a sentence about the database begins with."""
        return repr(self.file) if self.file else f"The database of {self.source}"

    @property
    def named(self) -> str:
        """What stands behind the noun: `the database 'clinic.duckdb'`, `the database of --db`."""
        return repr(self.file) if self.file else f"of {self.source}"

    def told(self, parts: Mapping[str, str]) -> Mapping[str, str]:
        """Return the parts of a connection that may be named: all of them, or none.

        A password with an unescaped sign shifts what comes behind it into other parts, so that one odd part makes all
        of them doubtful.

        Args:
            parts: host, port, user … as the driver understood the text.
        """
        return {} if self.secret or self._doubtful(parts) else parts

    def _doubtful(self, parts: Mapping[str, str]) -> bool:
        if self.text.count("@") > 1 or re.search(r"(?i)password\s*=\s*[^\s']", self.text.partition("?")[0]):
            return True
        keys = re.findall(rf"(?i)(?<!\w)({PARAMETERS})\s*=", self.text)
        plain = {"host": _PLAIN_HOST, "hostaddr": _PLAIN_HOST, "port": _DIGITS}
        odd = (not re.fullmatch(plain.get(key, _PLAIN_PART), value) for key, value in parts.items())
        return len(keys) != len(set(keys)) or any(odd)


def whereabouts(db: str | Whereabouts) -> Whereabouts:
    """Where a database is that somebody typed, or that was found already."""
    return db if isinstance(db, Whereabouts) else Whereabouts(db)
