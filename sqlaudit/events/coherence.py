"""What known events tell of a sensitive value.

(h,k,p)-coherence: Xu, Wang, Fu and Yu, *Anonymizing transaction databases for publication*, KDD 2008.
Whoever knows a set of events of a person looks at everybody who has it: how many are they, and how many of them hold
one and the same value? A set that one person alone has tells for certain; no larger one tells more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sqlaudit.base.sql import Raw
from sqlaudit.events.occurrences import Occurrences, occurrences_from
from sqlaudit.events.result import Coherence, Known, Learnt


@dataclass
class Learning:
    """What the sets of one search tell of one sensitive column; `look` is shown every set, sizes in rising order.

    Args:
        occurrences: who has which event. held: (person, value), each pair once.
        sensitive, place: the column's name and place. persons: all of them. h: the share that no value may exceed.
        mixed: whether the sets hold sensitive values beside events, and values are numbered as these.
    """

    occurrences: Occurrences
    held: Raw
    sensitive: str
    place: int
    persons: int
    h: Fraction
    mixed: bool = False
    _share: Fraction = Fraction(0)
    _curve: list[Learnt] = field(default_factory=list)
    _told: Raw = field(default_factory=lambda: Raw(""))

    def __post_init__(self) -> None:
        self._told = self._keep("told", "events_told_nobody")

    def look(self, size: int, sets: Raw) -> None:
        """Take some sets of this size into account: each with its persons, and one of them by number."""
        asked = {"size": size, "sets": sets, "held": self.held, "mixed": self.mixed}
        learnt = self._keep("learnt", "events_learnt", **asked)
        alone = self._keep("alone", "events_learnt_alone", **asked)
        for most, persons in self.occurrences.ask("events_learnt_shares", learnt=learnt):
            self._share = max(self._share, Fraction(int(most), int(persons)))
        if self.occurrences.ask("events_some", relation=alone):
            self._share = Fraction(1)
        allowed, whole, least = limit_in_integers(self.h, self.persons)
        self._told = self._keep(
            "told",
            "events_told",
            size=size,
            told=self._told,
            alone=alone,
            learnt=learnt,
            allowed=allowed,
            whole=whole,
            least=least,
        )

    def take(self, known: Known, state: Raw) -> None:
        """Note the figures for at most so many known events, when all their sets were shown.

        Args:
            known: what they expose. state: persons with how many known ones expose them.
        """
        told, exposed = self.occurrences.ask("events_told_curve", size=known.known, state=state, told=self._told)[0]
        found = Learnt(known.known, known.smallest, self._share, int(exposed), int(told), known.exact)
        self._curve.append(found)

    def found(self) -> Coherence:
        """What was noted, beside what nothing known tells."""
        most = self.occurrences.ask("events_prior", held=self.held)[0][0]
        return Coherence(self.sensitive, Fraction(int(most or 0), max(self.persons, 1)), self.curve)

    @property
    def curve(self) -> tuple[Learnt, ...]:
        """What was noted."""
        return tuple(self._curve)

    def close(self) -> None:
        """Release what was kept."""
        for name in ("told", "learnt", "alone"):
            self.occurrences.drop(f"{name}_{self.place}")

    def _keep(self, name: str, template: str, **parameters: object) -> Raw:
        return self.occurrences.keep(f"{name}_{self.place}", template, **parameters)


Held = Sequence[tuple[int, Raw]]
"""The places of sensitive columns, and who holds which value of each."""


def mixed_occurrences(asked: Occurrences, helds: Held, k: int) -> Occurrences:
    """Events and sensitive values alike, for what somebody learns who knows some of both.

    ρ-uncertainty: Cao, Karras, Raïssi and Tan, *ρ-uncertainty: inference-proof transaction anonymization*, VLDB 2010.
    """
    dictionary = asked.keep("mixed_dictionary", "events_mixed_dictionary", helds=helds)
    own = asked.keep("mixed_own", "events_mixed_own", helds=helds, mixed=dictionary)
    return occurrences_from(asked.bench, own, dictionary, k, repeats=asked.repeats)


def mixed_held(mixed: Occurrences, place: int, held: Raw) -> Raw:
    """Who holds which value of one of these columns, as the mixed events number it."""
    return mixed.keep(f"mixed_held_{place}", "events_mixed_held", mixed=mixed.dictionary, place=place, held=held)


def limit_in_integers(h: Fraction, persons: int) -> tuple[int, int, int]:
    """(a, b, least), so that `b * holders - a * all >= least` says holders / all > h, for up to so many persons.

    The digits of h have no end; a fraction of numbers of persons has. Between h and the nearest of these lies none, so
    that this one stands for h, itself allowed where it is below, and too much where it is above.

    Example:
        >>> limit_in_integers(Fraction(4, 5), 10), limit_in_integers(Fraction("0.33333"), 10)
        ((4, 5, 1), (1, 3, 0))
    """
    nearest = h.limit_denominator(max(persons, 1))
    return nearest.numerator, nearest.denominator, 1 if nearest <= h else 0
