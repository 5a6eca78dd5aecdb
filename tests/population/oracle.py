"""Sizes of classes of the 30,162 rows of Adult, and the same estimates again, slowly and in long arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, exp, sqrt

Sizes = tuple[tuple[int, int], ...]


def sizes(text: str) -> Sizes:
    """(size, classes) of a text with pairs."""
    pairs = (pair.split(":") for pair in text.split())
    return tuple((int(size), int(classes)) for size, classes in pairs)


ALL_NINE = sizes("""
    1:15512 2:2098 3:754 4:375 5:189 6:155 7:97 8:73 9:39 10:37 11:29 12:18 13:23 14:14 15:15 16:9 17:11 18:10
    19:10 20:5 21:3 22:4 23:3 24:2 25:1 26:3 27:5 29:1 30:2 32:1 34:1 35:1 36:1 45:1
""")
FOUR = sizes("""
    1:543 2:251 3:137 4:92 5:84 6:47 7:42 8:32 9:29 10:21 11:30 12:23 13:16 14:18 15:20 16:11 17:15 18:11 19:9
    20:8 21:7 22:6 23:6 24:8 25:5 26:8 27:6 28:8 29:8 30:2 31:6 32:3 33:4 34:4 35:5 36:3 37:2 38:3 39:2 40:2 41:4
    42:4 43:3 44:2 45:5 46:1 47:2 48:4 49:5 50:1 51:2 52:2 53:2 54:3 55:1 56:3 57:2 58:3 60:3 61:3 63:1 64:3 65:1
    67:1 69:1 72:2 73:1 74:3 77:2 78:2 80:2 81:1 83:1 88:1 91:4 94:1 99:1 101:1 104:1 105:1 114:1 115:2 127:1
    133:1 143:1 144:1 147:1 148:1 149:1 152:1 155:1 159:1 163:1 165:1 172:1 173:2 177:1 178:1 180:1 188:1 192:1
    198:1 200:2 205:1 218:1 221:1 227:1 228:2 233:1 236:1 241:1 242:1 246:1 250:1 258:1 260:1 264:1 265:1 268:1
    274:1 281:1 287:1 290:1 306:1 308:1 317:1 320:1 328:1 330:2 333:3 343:1 348:2 352:1 360:1 361:1 364:1 368:1
    390:1 403:1
""")
"""By (sex, age, race, marital-status)."""


def zayatz_share(sizes: Sizes, population: int) -> Fraction:
    """Zayatz's share of population uniques, as a fraction, by hypergeometric probabilities of binomial coefficients."""
    members, classes = sum(s * c for s, c in sizes), sum(c for _, c in sizes)

    def one_of(size: int) -> Fraction:
        return Fraction(comb(size, 1) * comb(population - size, members - 1), comb(population, members))

    uniques = dict(sizes)[1]
    total = sum(Fraction(c, classes) * one_of(s) for s, c in sizes)
    stay = Fraction(uniques, classes) * one_of(1) / total
    return uniques * stay / Fraction(members, population) / population


def pitman_scores(sizes: Sizes, theta: Decimal, alpha: Decimal) -> tuple[Decimal, Decimal]:
    """The two sums that the maximum of the likelihood makes 0, term by term in 40 digits."""
    members, classes = sum(s * c for s, c in sizes), sum(c for _, c in sizes)
    with localcontext(prec=40):
        plain = sum((1 / (theta + i * alpha) for i in range(1, classes)), Decimal(0))
        whole = sum((1 / (theta + i) for i in range(1, members)), Decimal(0))
        weighted = sum((i / (theta + i * alpha) for i in range(1, classes)), Decimal(0))
        inner = sum((c * sum((1 / (j - alpha) for j in range(1, s)), Decimal(0)) for s, c in sizes), Decimal(0))
        return plain - whole, weighted - inner


def pitman_fit(sizes: Sizes) -> tuple[Decimal, Decimal]:
    """θ and α > 0 by bisection within bisection over the sums above."""

    def theta_of(alpha: Decimal) -> Decimal:
        low, high = Decimal(0), Decimal(10) ** 6
        for _ in range(90):
            middle = (low + high) / 2
            low, high = (middle, high) if pitman_scores(sizes, middle, alpha)[0] > 0 else (low, middle)
        return low

    low, high = Decimal("0.0001"), Decimal("0.9999")
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if pitman_scores(sizes, theta_of(middle), middle)[1] > 0 else (low, middle)
    return theta_of(low), low


def gamma_ratio(upper: Decimal, lower: Decimal) -> Decimal:
    """Γ(upper)/Γ(lower) by shifting both up to where Stirling's series has 30 digits."""
    with localcontext(prec=45):
        factor = Decimal(1)
        for i in range(2000):
            factor *= (lower + i) / (upper + i)
        return factor * (_stirling(upper + 2000) - _stirling(lower + 2000)).exp()


def _stirling(at: Decimal) -> Decimal:
    terms = (Decimal(1) / 12, Decimal(-1) / 360, Decimal(1) / 1260, Decimal(-1) / 1680)
    return (at - Decimal("0.5")) * at.ln() - at + sum((t / at ** (2 * i + 1) for i, t in enumerate(terms)), Decimal(0))


def snb_chance(size: int, alpha: float, beta: float, fraction: float) -> float:
    """P(so many of a class in the sample), summed over the sizes 1 + NB(α, β) of a class and binomial draws."""
    total, chance = 0.0, beta**alpha
    for others in range(4000):
        people = 1 + others
        if people >= size:
            total += chance * comb(people, size) * fraction**size * (1 - fraction) ** (people - size)
        chance *= (alpha + others) / (others + 1) * (1 - beta)
    return total


def shlosser(sizes: Sizes, fraction: Fraction) -> Fraction:
    """The modified Shlosser estimate as it is printed, in fractions."""
    q, out = fraction, 1 - fraction
    seen = sum(i * q**2 * (1 - q**2) ** (i - 1) * c for i, c in sizes)
    unseen = sum(out**i * ((1 + q) ** i - 1) * c for i, c in sizes)
    none = sum(out**i * c for i, c in sizes)
    one = sum(i * q * out ** (i - 1) * c for i, c in sizes)
    return sum(c for _, c in sizes) + dict(sizes)[1] * Fraction(seen, unseen) * Fraction(none, one) ** 2


@cache
def individual_risk(members: int, share: Fraction) -> Decimal:
    """E[1/F] by the series over F = f, f+1, …: Σ C(F-1, f-1) p^f q^(F-f) / F, in 50 digits and to its 40th.

    Below p = 1/50 the series is long, and the integral's recurrence is taken instead, whose digits are plenty.
    """
    with localcontext(prec=80):
        p = Decimal(share.numerator) / Decimal(share.denominator)
        q = 1 - p
        if p < Decimal("0.02"):
            risk = p / q * -p.ln()
            for size in range(1, members):
                risk = p / q * (Decimal(1) / size - risk)
            return risk
        chance, total, people = p**members, Decimal(0), members
        while chance > Decimal(10) ** -45 or people < 2 * members / float(p):
            total += chance / people
            chance *= q * people / (people + 1 - members)
            people += 1
        return total


def plain_ipf(
    shape: tuple[int, ...], cells: dict[tuple[int, ...], int], margins: list[tuple[int, ...]], rounds: int = 400
) -> dict[tuple[int, ...], float]:
    """Means with the given marginals of the cells, each cell and each marginal in a loop of its own."""
    places = list(product(*(range(size) for size in shape)))
    means = {place: sum(cells.values()) / len(places) for place in places}
    for _ in range(rounds):
        for kept in margins:
            wanted: dict[tuple[int, ...], float] = {}
            now: dict[tuple[int, ...], float] = {}
            for place in places:
                on = tuple(place[axis] for axis in kept)
                wanted[on] = wanted.get(on, 0) + cells.get(place, 0)
                now[on] = now.get(on, 0) + means[place]
            for place in places:
                on = tuple(place[axis] for axis in kept)
                means[place] *= wanted[on] / now[on] if now[on] else 0
    return means


def cell_measures(
    cells: dict[tuple[int, ...], int], means: dict[tuple[int, ...], float], fraction: float
) -> tuple[float, float, float]:
    """τ1, τ2 and the test, cell by cell."""
    tau1 = tau2 = excess = spread = 0.0
    for place, mean in means.items():
        count, rate = cells.get(place, 0), mean / fraction
        if count == 1:
            x = rate * (1 - fraction)
            tau1 += exp(-x)
            tau2 += (1 - exp(-x)) / x
        weight = rate * exp(-rate) * (1 - fraction)
        excess += weight * ((1 - fraction) * ((count - mean) ** 2 - count) / (2 * fraction) - (count - mean))
        spread += weight**2 * (mean + (1 - fraction) ** 2 * mean**2 / (2 * fraction**2))
    return tau1, tau2, excess / sqrt(spread)


def threshold(risks: list[Fraction], most: Fraction) -> tuple[Fraction, Fraction] | None:
    """μ-Argus' threshold by trying every risk that occurs, and the mean risk then; each risk above counts with it."""
    means = {risk: sum((min(one, risk) for one in risks), Fraction(0)) / len(risks) for risk in set(risks)}
    return max(((risk, mean) for risk, mean in means.items() if mean <= most), default=None)
