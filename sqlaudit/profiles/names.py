"""What a column's name says about what it holds, in several languages. Words only; values are not looked at here."""

from __future__ import annotations

import functools
import re
import unicodedata

from sqlaudit.base.frozen import dataclass
from sqlaudit.profiles.result import Role
from sqlaudit.profiles.words import WORDS

_BOUNDARY = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
)
_SPECIAL = str.maketrans({"ß": "ss", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "æ": "ae", "œ": "oe", "ı": "i", "đ": "d"})
_ABOUT = {"has", "is", "num", "count", "cnt", "n", "nb", "flag", "opt", "verified", "valid", "length", "anzahl"}
"""Beside one of these a word speaks of a fact about an identifier, not of the identifier: has_email, n_phone."""

_NUMBER = {"id", "nr", "no", "number", "nummer", "key"}
"""Beside one of these a word speaks of a number: admission_id is no day; date_key may be one."""
_DAY = {"date", "datum", "fecha", "dt"}


@dataclass(frozen=True)
class Concept:
    """Something that columns hold.

    Args:
        name: a stable word. role: what it makes of a column. said: how a reason speaks of it.
        doubt: what a reader should know before following the proposal.
    """

    name: str
    role: Role
    said: str
    doubt: str = ""


def concept_of(column: str) -> Concept | None:
    """What a column's name says it holds, None when it says nothing.

    Example:
        >>> concept_of("DateOfBirth").name, concept_of("Geschlecht").name, concept_of("page")
        ('birth_date', 'sex', None)
    """
    tokens = words_of(column)
    about = bool(set(tokens) & _ABOUT)
    number = bool(set(tokens) & _NUMBER) and not set(tokens) & _DAY
    for concept in CONCEPTS:
        other = (about and concept.role is Role.DIRECT_IDENTIFIER) or (number and concept.name == "event_date")
        if not other and _means(concept.name, tokens):
            return concept
    return None


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in small letters without accents: at case changes, digits and everything that is neither.

    Example:
        >>> words_of("Prénom_du patientID2")
        ('prenom', 'du', 'patient', 'id', '2')
    """
    plain = unicodedata.normalize("NFKD", name.translate(_SPECIAL))
    bare = "".join(character for character in plain if not unicodedata.combining(character))
    return tuple(word.lower() for word in _BOUNDARY.split(bare) if word)


@functools.cache
def _patterns(concept: str) -> tuple[tuple[str, list[str]], ...]:
    """The words of a concept, each with the pieces that a name must have before it is worth a regular expression."""
    listed = [" ".join(words.split()) for words in WORDS[concept].split(",")]
    return tuple((words, words.removeprefix("=").replace("…", " ").split()) for words in listed)


@functools.cache
def _pattern(words: str) -> re.Pattern[str]:
    """Two words may be joined; … stands for the rest of a word."""
    spelled = re.escape(words.removeprefix("=")).replace("…", "[a-z]*").replace(r"\ ", " ?")
    return re.compile(f"^{spelled}$" if words.startswith("=") else f"(?:^| ){spelled}(?: |$)")


def _means(concept: str, tokens: tuple[str, ...]) -> bool:
    name = " ".join(tokens)
    return any(_pattern(words).search(name) for words, pieces in _patterns(concept) if all(p in name for p in pieces))


_D, _Q, _S = Role.DIRECT_IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE
_CATEGORY = "it is a special category of data (GDPR, article 9), so it may be sensitive as well"

CONCEPTS = (
    Concept("email", _D, "an e-mail address"),
    Concept("phone", _D, "a phone number"),
    Concept("national_id", _D, "a national identity number"),
    Concept("account", _D, "an account or card number"),
    Concept("record_id", _D, "a number of a person's record"),
    Concept("person_name", _D, "a person's name"),
    Concept("address", _D, "a street address", "a town or region would do"),
    Concept("network_address", _D, "an address of a device"),
    Concept("likeness", _D, "a likeness or trace of a person"),
    Concept("vehicle", _D, "a number of a vehicle"),
    Concept("sampling_weight", Role.OTHER, "a sampling weight: how many people a row stands for"),
    Concept("nationality", _Q, "nationality or origin"),
    Concept("sex", _Q, "sex or gender"),
    Concept("birth_date", _Q, "a date or year of birth"),
    Concept("age", _Q, "age"),
    Concept("postal_code", _Q, "a postal code"),
    Concept("place", _Q, "a place"),
    Concept("coordinates", _Q, "coordinates"),
    Concept("ethnicity", _Q, "race or ethnic origin", _CATEGORY),
    Concept("language", _Q, "a language"),
    Concept("marital_status", _Q, "marital status"),
    Concept("household", _Q, "household or family"),
    Concept("occupation", _Q, "occupation or work"),
    Concept("education", _Q, "education"),
    Concept("body", _Q, "a visible feature of a person"),
    Concept("event_date", _Q, "a date that others may know"),
    Concept("health", _S, "health"),
    Concept("income", _S, "income or wealth"),
    Concept("religion", _S, "religion or belief"),
    Concept("politics", _S, "political opinion"),
    Concept("union", _S, "trade union membership"),
    Concept("orientation", _S, "sexual life or orientation"),
    Concept("offence", _S, "offences"),
    Concept("assessment", _S, "an assessment of a person"),
)
"""In the order of `WORDS`."""
