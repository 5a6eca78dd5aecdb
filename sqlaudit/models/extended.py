"""k-anonymity for an attacker who knows the sensitive value, too."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from sqlaudit.classes.facts import Fact, Level
from sqlaudit.models.base import Model, Parameter, expression
from sqlaudit.models.recursive import SMALLEST, THESIS


class ExtendedKAnonymity(Model):
    """k-anonymity with the sensitive attribute added to the quasi-identifiers."""

    name: ClassVar[str] = "extended_k_anonymity"
    title: ClassVar[str] = "extended k-anonymity"
    definition: ClassVar[str] = (
        "Every sensitive value that occurs in a class occurs there at least k times: k-anonymity with the sensitive "
        "attribute added to the quasi-identifiers."
    )
    reference: ClassVar[str] = THESIS
    note: ClassVar[str] = "A class falls short when some sensitive value occurs in it, but fewer than k times."
    parameters: ClassVar = (Parameter("k", "integer", "fewest rows allowed with one value", Fraction(1)),)
    short_forms: ClassVar = ("extended_k",)
    main: ClassVar[str] = "k"

    def facts(self) -> tuple[Fact, ...]:
        """The count of the rarest value that occurs."""
        return (SMALLEST,)

    def levels(self) -> dict[str, Level]:
        """The rarest value of any class."""
        return {"k": Level("MIN", SMALLEST.name)}

    def failing(self) -> str:
        """Some value fewer than k times."""
        return expression("below", fact=SMALLEST.name, limit=self.values["k"])
