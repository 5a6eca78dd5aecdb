"""Class functions that are curves: by break points, by an expression, or Gompertz's (Hsu, 3.6).

A curve is a tree of operations, which Python computes (exactly, as long as no root, logarithm or exponential is in it)
and a template spells as SQL, so that no statement has to hold a number that was made from a value.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.nodes import Node, exact_number

Tree = tuple[Any, ...]
"""("x",), ("number", n), (operation, tree, …), or ("points", ((x, y), …))."""
X: Tree = ("x",)
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "exp": math.exp,
    "ln": math.log,
    "log10": math.log10,
    "sqrt": math.sqrt,
    "abs": abs,
    "least": min,
    "greatest": max,
}
_OF_TWO = ("least", "greatest")
_OPERATIONS: Mapping[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "power"}
MOST_PARTS = 200
LARGEST_POWER = 64
"""Whole powers up to this are exact."""
LARGEST_BASE = 512
"""Of numbers with so many bits."""


@dataclass(frozen=True)
class Curve:
    """A class function of a number. `ends`: the numbers between which it is known, None = everywhere."""

    tree: Tree
    place: str
    ends: tuple[Fraction, Fraction] | None = None

    def spelled(self) -> Tree:
        """The tree with the numbers that its SQL holds."""
        return _as_floats(self.tree)

    def at(self, value: Fraction) -> Fraction:
        """Its number for a value.

        Raises:
            UsageError: it has none there. The sentence does not quote the value.
        """
        if self.ends is not None and not self.ends[0] <= value <= self.ends[1]:
            raise UsageError(f"{self.place}: a value lies outside the break points; give the first and the last one.")
        try:
            return _exact(_value(self.tree, value))
        except (ArithmeticError, ValueError, TypeError):
            raise UsageError(f"{self.place}: the class function has no number for a value of the table.") from None


def by_points(node: Node) -> Curve:
    """Straight lines between break points: a mapping of values to numbers.

    Raises:
        UsageError: fewer than two points, or a number that falls.
    """
    what = "'points'"
    points = sorted((exact_number(key, "a break point"), exact_number(y, what)) for key, y in node.pairs(what))
    if len(points) < 2 or any(left[0] == right[0] for left, right in pairwise(points)):
        raise node.fail("'points' are two or more different values, each with a number, for instance {0: 0, 100: 1}.")
    if any(left[1] > right[1] for left, right in pairwise(points)):
        raise node.fail("a class function never falls, but a larger value has a smaller number here.")
    return Curve(("points", tuple(points)), node.place, (points[0][0], points[-1][0]))


def gompertz(node: Node) -> Curve:
    """The shifted Gompertz distribution, (1 − e^(−b·s)) · e^(−η·e^(−b·s)), with `b` and `eta`.

    Raises:
        UsageError: one of them is missing, or not above 0.
    """
    given = {
        key.text("a key"): exact_number(value, key.text("a key"), Fraction(0), above=True)
        for key, value in node.pairs("'gompertz'")
    }
    if set(given) != {"b", "eta"}:
        raise node.fail("'gompertz' has b and eta, for instance {b: 0.1, eta: 2}.")
    b, eta = (("number", given[name]) for name in ("b", "eta"))
    falling: Tree = ("exp", ("negative", ("*", b, X)))
    shape: Tree = ("exp", ("negative", ("*", eta, falling)))
    return Curve(("*", ("-", ("number", Fraction(1)), falling), shape), node.place)


def by_expression(node: Node) -> Curve:
    """An expression over x: + - * / ** and `FUNCTIONS`.

    Raises:
        UsageError: anything else stands in it.

    Example:
        >>> by_expression(Node("x ** 2 / 4", "here")).at(Fraction(3))
        Fraction(9, 4)
    """
    try:
        parsed = ast.parse(node.text("'expression'").strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise node.fail(_what_it_takes()) from None
    if sum(1 for _ in ast.walk(parsed)) > MOST_PARTS:
        raise node.fail("the expression is too long.")
    return Curve(_tree(parsed.body, node), node.place)


def _what_it_takes() -> str:
    named = ", ".join(FUNCTIONS)
    return f"the expression of a class function is about x, for instance ln(1 + x / 1000), with + - * / ** and {named}."


def _tree(part: ast.expr, node: Node) -> Tree:
    match part:
        case ast.Name(id="x"):
            return X
        case ast.Constant(value=int() | float()) if not isinstance(part.value, bool):
            return ("number", exact_number(Node(str(part.value), node.place), "a number of the expression"))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return ("negative", _tree(operand, node))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            return (_OPERATIONS[type(op)], _tree(left, node), _tree(right, node))
        case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if name in FUNCTIONS:
            if len(given) == (2 if name in _OF_TWO else 1):
                return (name, *(_tree(one, node) for one in given))
    raise node.fail(_what_it_takes())


def _value(tree: Tree, x: Fraction) -> Any:
    kind, *parts = tree
    if kind == "x":
        return x
    if kind == "number":
        return parts[0]
    if kind == "points":
        return _between(parts[0], x)
    found = [_value(part, x) for part in parts]
    return FUNCTIONS[kind](*found) if kind in FUNCTIONS else _computed(kind, found)


def _computed(kind: str, found: Sequence[Any]) -> Any:
    if kind == "negative":
        return -found[0]
    one, other = found
    if kind == "power":
        whole = isinstance(one, Fraction) and isinstance(other, Fraction) and other.denominator == 1
        small = whole and abs(other) <= LARGEST_POWER and one.numerator.bit_length() <= LARGEST_BASE
        return one ** int(other) if small else math.pow(one, other)
    return {"+": lambda: one + other, "-": lambda: one - other, "*": lambda: one * other, "/": lambda: one / other}[
        kind
    ]()


def _between(points: Sequence[tuple[Fraction, Fraction]], x: Fraction) -> Fraction:
    for (left, low), (right, high) in pairwise(points):
        if x <= right:
            return low + (high - low) * (x - left) / (right - left)
    return points[-1][1]


def _exact(value: Any) -> Fraction:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError
    return Fraction(value)


def _as_floats(tree: Tree) -> Tree:
    """The tree with the numbers that its SQL holds."""
    kind, *parts = tree
    if kind == "number":
        return (kind, float(parts[0]))
    if kind == "points":
        return (kind, tuple((float(x), float(y)) for x, y in parts[0]))
    return (kind, *(_as_floats(part) for part in parts))
