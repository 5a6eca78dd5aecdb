"""The kinds of models that the figures of the common statement do not answer, or not alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from sqlaudit.base.result import Number
from sqlaudit.classes.found import ClassSizes
from sqlaudit.models.base import Answers, Judgement, Model, Question

if TYPE_CHECKING:
    from sqlaudit.classes.signatures import Signatures

MAX_COMBINATIONS = 200_000
"""At most so many combinations of facts are judged in Python; beyond, the check stays undetermined."""


class SizeModel(Model):
    """A model that only the sizes of classes decide; judged in Python from the class-size histogram."""

    needs_sensitive: ClassVar[bool] = False
    recipe: ClassVar[str] = "sizes"
    figure: ClassVar[str] = "share_where"
    """Its figure of the whole table in one SELECT; with `_above`, the predicate against a limit."""

    def judge(self, answers: Answers) -> Judgement:
        """From the sizes; which classes fall short says the statement that all models share."""
        return answers.counted(self, self.judge_sizes(answers.sizes))

    def level_by_sizes(self, sizes: ClassSizes) -> Number | None:
        """The main number."""
        return next(iter(self.judge_sizes(sizes).levels.values()))

    def judge_sizes(self, sizes: ClassSizes) -> Judgement:
        """The judgement from the sizes of all classes."""
        raise NotImplementedError(self.name)

    def failing_sizes(self) -> str:
        """SQL over `size`: true for a class that falls short; empty = no class is to blame."""
        return ""

    def failing(self) -> str:
        """As `failing_sizes`."""
        return self.failing_sizes()


class SignatureModel(Model):
    """A model that the distinct signatures of the classes decide: their rows and their largest counts."""

    one_value_per_person: ClassVar[bool] = True
    by_figures: ClassVar[bool] = False
    by_signatures: ClassVar[bool] = True
    recipe: ClassVar[str] = "disclosure"

    def judge(self, answers: Answers) -> Judgement:
        """From the signatures."""
        assert answers.signatures is not None
        return self.judge_signatures(answers.signatures)

    def knowledge(self) -> int:
        """With as many as there are values all is certain. One more count is needed."""
        return min(self.pieces(), self.table.distinct)

    def judge_signatures(self, signatures: Signatures) -> Judgement:
        """The judgement from all signatures, which answer for `knowledge` or more."""
        raise NotImplementedError(self.name)


class HistogramModel(Model):
    """A model that is judged in Python from how many classes have each combination of its facts.

    Only for facts with few combinations (presence of values, first and last rank): what returns must not grow with
    the rows. A judgement's `at_limit` names the classes that fall short, where that is a short piece of SQL.
    """

    by_figures: ClassVar[bool] = False
    by_combinations: ClassVar[bool] = True

    @classmethod
    def why_not_alone(cls, parameters: Mapping[str, Any], inputs: Mapping[str, Any]) -> str:
        """Python decides."""
        return "a cover is searched for in Python, once the database has told which values meet."

    def judge(self, answers: Answers) -> Judgement:
        """From the combinations, unless there are too many."""
        rows = answers.combinations(self)
        if len(rows) > MAX_COMBINATIONS:
            many = f"more than {MAX_COMBINATIONS:,} different combinations of values"
            return Judgement({self.main: None}, None, None, note=f"the classes have {many}, too many to decide")
        return self.judge_histogram(rows)

    def falls_short(self, combination: Sequence[Any]) -> bool:
        """As one class of it is judged."""
        return bool(self.judge_histogram([(*combination, 1, 1)]).failing_classes)

    def judge_histogram(self, rows: Sequence[tuple[Any, ...]]) -> Judgement:
        """The judgement from (facts…, classes, rows) tuples."""
        raise NotImplementedError(self.name)


class QueryModel(Model):
    """A model that no class fact can carry: it brings statements of its own."""

    by_figures: ClassVar[bool] = False
    own_statements: ClassVar[bool] = True

    @classmethod
    def why_not_alone(cls, parameters: Mapping[str, Any], inputs: Mapping[str, Any]) -> str:
        """There are further statements."""
        return "figures at its limit are decided exactly in Python, from further statements; one SELECT cannot."

    def judge(self, answers: Answers) -> Judgement:
        """From its own statements."""
        return self.judge_query(answers.question)

    def judge_query(self, question: Question) -> Judgement:
        """The judgement from what statements of its own return."""
        raise NotImplementedError(self.name)
