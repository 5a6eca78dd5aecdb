"""(c,k)-safety: the worst that an attacker with k pieces of knowledge can learn about anybody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sqlaudit.base.words import command
from sqlaudit.classes.listing import Every, Listed
from sqlaudit.models.base import Judgement, Parameter, expression
from sqlaudit.models.kinds import SignatureModel

if TYPE_CHECKING:
    from sqlaudit.classes.signatures import IntArray, Signatures
    from sqlaudit.models.disclosure.by_class import ClassDisclosure

MAX_KNOWLEDGE = 200
"""The largest number of pieces of knowledge that anybody can ask for."""
MAX_ALONE = 3
"""Up to so many pieces of knowledge one SELECT writes maximum disclosure out."""
MAX_LISTED = 20_000
"""Up to this many signatures are listed to find the classes that fall short again."""


class WorstCaseSafety(SignatureModel):
    """The maximum disclosure against any k basic implications stays below c."""

    name: ClassVar[str] = "c_k_safety"
    title: ClassVar[str] = "(c,k)-safety"
    definition: ClassVar[str] = (
        "Maximum disclosure < c: no k basic implications (if these persons have these values, then one of those has "
        "one of those) make any statement 'this person has this value' as probable as c."
    )
    reference: ClassVar[str] = (
        "Martin, Kifer, Machanavajjhala, Gehrke, Halpern: Worst-Case Background Knowledge, ICDE 2007"
    )
    note: ClassVar[str] = "A class falls short when some person in it can be disclosed with probability c or more."
    operator: ClassVar[str] = "<"
    parameters: ClassVar = (
        Parameter("c", "decimal", "probability that must not be reached", Fraction(0), Fraction(1)),
        Parameter("k", "integer", "pieces of knowledge", Fraction(0), Fraction(MAX_KNOWLEDGE), default=3),
    )
    short_forms: ClassVar = ("disclosure", "maximum_disclosure")
    main: ClassVar[str] = "c"

    @classmethod
    def why_not_alone(cls, parameters: Mapping[str, Any], inputs: Mapping[str, Any]) -> str:
        """What is written out grows fast with k."""
        pieces = int(parameters.get("k", 3))
        if pieces <= MAX_ALONE:
            return ""
        return (
            "the statement writes out every way to spread k + 1 atoms over persons, which it does for k of at most "
            f"{MAX_ALONE}; {command('audit')} takes k = {pieces}."
        )

    def pieces(self) -> int:
        """k."""
        return int(self.values["k"])

    def judge_signatures(self, signatures: Signatures) -> Judgement:
        """The maximum disclosure at k, and the classes whose own disclosure reaches c."""
        from sqlaudit.models.disclosure.few import disclosure_points

        if not len(signatures):
            return Judgement({"disclosure": None, "negated": None})
        k = self.knowledge()
        point = disclosure_points(signatures, k)[k]
        levels = {"disclosure": point.maximum, "negated": point.negated}
        if not self.is_required:
            return Judgement(levels)
        from sqlaudit.models.disclosure.by_class import class_disclosure

        by_class = class_disclosure(signatures, k)
        limit = Fraction(self.values["c"])
        (short,) = by_class.failing(limit).nonzero()
        judgement = Judgement(levels, by_class.failing_classes(limit), by_class.failing_rows(limit))
        if len(short) <= MAX_LISTED:
            return replace(judgement, listing=self._listing(by_class, short))
        if len(short) == len(signatures):
            return replace(judgement, listing=Every())
        unnamed = f"has classes with more than {MAX_LISTED:,} different counts that fall short, too many to find again"
        return replace(judgement, unnamed=unnamed)

    def _listing(self, found: ClassDisclosure, short: IntArray) -> Listed:
        """The signatures at some positions, each with its disclosure."""
        depth = min(found.signatures.k + 1, self.table.distinct)

        def relation() -> str:
            rows = []
            for position, disclosure in zip(short.tolist(), found.approximate[short].tolist(), strict=True):
                n, counts = found.signatures.signature(position)
                rows.append((":".join(map(str, (n, *counts[:depth]))), disclosure))
            return expression("listed_signatures", rows=rows)

        return Listed(relation, depth, "disclosure")
