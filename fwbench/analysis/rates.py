"""How fast one trace decays: its rate class, the window it was read from, or a refusal.

A trace zig-zags, runs in stairs and ends in rounding noise: so that noise is cut off, a burn-in
may be dropped, laws compete, and what the rows do not carry is ``undetermined``, for a refusal
costs less than a wrong exponent.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]

ROWS = 8  # fewer rows carry no law
STARTS = (0.0, 0.2, 0.4, 0.6)  # shares of the rows given up as burn-in
LATE = (0.1, 0.2, 0.3, 0.4, 0.5)  # and of the steps, where rows enough are left
LEAD, EXPLAINED = 2.0, 0.7  # least lead in AICc over the next law, least r squared
AGREEMENT = 0.2  # relative difference allowed between least squares and Theil-Sen
SHARE, SHARE_MOST = 0.12, 0.25  # part of the whole decline by which a part may miss its own
TAIL, TAIL_MOST = 0.1, 0.3  # relative miss of the tail's slope: a clean power, all else
SPAN, STEEPEST = 4.0, -6.0  # a power law needs k to grow so far, and is not believed beyond
FLAT, CLEAR = 0.4, 0.05  # declines (in nats, over a window): below is none; surely above is one
ORDERS = np.geomspace(1.2, 4.0, 50)  # nearer to 1 superlinear can't be told from linear
TEN = float(np.log(10.0))


class RateClass(StrEnum):
    """How the signal decays with the steps k."""

    SUBLINEAR = "sublinear"
    LINEAR = "linear"
    SUPERLINEAR = "superlinear"
    FINITE = "finite"
    NONE = "none"
    UNDETERMINED = "undetermined"


DECADES = {RateClass.SUBLINEAR: 1.0, RateClass.LINEAR: 3.0, RateClass.SUPERLINEAR: 3.0}


@dataclass(frozen=True, slots=True)
class Rate:
    """The rate class of a trace, with what it rests on.

    Attributes
    ----------
    rate_class : RateClass
        The class; ``undetermined`` where the rows do not carry one.
    signal : str
        What was fitted: ``"suboptimality"`` or ``"gap"``.
    rate : float or None
        Sublinear: the exponent, negative. Linear: the factor per step, in (0, 1). Superlinear: the
        order q > 1. Finite: the steps K after which signal and gap were first seen at the floor.
    rate_low, rate_high : float or None
        None for one trace: its residuals are correlated, so an honest interval needs seeds.
    rate_from, rate_to : int or None
        The window in steps, both ends included; `reason` is a sentence for people.
    r_squared : float or None
        Share of the variance of log signal that the law explains in the window.
    """

    rate_class: RateClass
    signal: str
    rate: float | None = None
    rate_low: float | None = None
    rate_high: float | None = None
    rate_from: int | None = None
    rate_to: int | None = None
    r_squared: float | None = None
    reason: str = ""


class _Fit(NamedTuple):
    """The law ``log h = a + slope * t(k)`` on one window."""

    law: RateClass
    t: Vector
    slope: float
    variance: float
    r_squared: float
    aicc: float
    order: float
    decades: float


def rate_of(
    k: ArrayLike,
    suboptimality: ArrayLike | None,
    gap: ArrayLike | None,
    *,
    scale: float,
    exact_end: bool = False,
    floor: float = 0.0,
) -> Rate:
    r"""Return the rate class of one trace.

    The signal is the suboptimality or, where that is known nowhere, the gap; it is cut at its first
    value under the floor. Three laws, :math:`\log h = a - p \log k`, :math:`a - c k` and
    :math:`a - b q^k`, are fitted to a few windows that end there, and compared by AICc.

    Parameters
    ----------
    k : array_like of int, shape (r,)
        Checkpoints, increasing.
    suboptimality, gap : array_like, shape (r,), or None
        Value minus the reference's lower end, and the Frank-Wolfe gap; NaN where unknown.
    scale : float
        The instance's scale; what lies under ``1e3 * eps * scale`` counts as rounding.
    exact_end : bool
        Whether the method declared an exact end: then a smaller jump counts as finite.
    floor : float
        Width of the reference interval: under ten times of it the suboptimality is cut.

    Examples
    --------
    >>> k = np.unique(np.geomspace(1, 1000, 60).astype(int))
    >>> rate = rate_of(k, 3.0 / k**2, None, scale=1.0)
    >>> rate.rate_class.value, round(rate.rate, 3), rate.signal
    ('sublinear', -2.0, 'suboptimality')
    >>> rate_of(k, None, 0.997**k, scale=1.0).reason
    'undetermined: linear decays by 1.3 decades only, 3 needed'
    """
    known = suboptimality is not None and bool(np.isfinite(np.asarray(suboptimality)).any())
    name, signal = ("suboptimality", suboptimality) if known else ("gap", gap)
    columns = [np.asarray(np.nan if c is None else c, float) for c in (k, signal, gap)]
    steps, h, gaps = np.broadcast_arrays(*columns)
    steps, h, gaps = (column[np.isfinite(h)] for column in (steps, h, gaps))
    rounding = 1e3 * float(np.finfo(float).eps) * scale
    cut = max(rounding, 10.0 * floor if known else 0.0)
    end = int(np.append(h <= cut, True).argmax()) if scale > 0.0 else 0
    if end == 0:
        return _refusal(name, "the signal is unknown, or lies at the floor from the start")
    # Next to an optimum inside the hull the suboptimality is the square of the distance: it rounds
    # away before the method is exact, which only the gap can tell.
    both = max(end, int(np.flatnonzero(gaps > rounding).max(initial=-1)) + 1)
    if both < len(h) and (h[end:] <= cut).all():
        fallen, to = (h, cut) if both == end else (np.maximum(gaps, rounding), rounding)
        if _jumps(steps[: both + 1], fallen[:both], to, exact_end):
            last = int(steps[both])
            reason = (
                f"finite: falls at once from {fallen[both - 1]:.1e} to the floor by step {last}"
            )
            return Rate(
                RateClass.FINITE, name, float(last), rate_from=0, rate_to=last, reason=reason
            )
    use = np.flatnonzero(steps[:end] > 0)  # the start is one step from anywhere
    if len(use) < ROWS:
        return _refusal(name, f"{len(use)} rows lie above the floor, {ROWS} needed")
    return _law_of(steps[use], np.log(h[use]), name, at_floor=end < len(h))


def _refusal(name: str, why: str, window: tuple[int | None, int | None] = (None, None)) -> Rate:
    why = f"undetermined: {why}"
    return Rate(RateClass.UNDETERMINED, name, rate_from=window[0], rate_to=window[1], reason=why)


def _jumps(k: Vector, h: Vector, cut: float, exact_end: bool) -> bool:
    """Return whether the fall to the floor is far off the trend of the steps before it."""
    falls = -np.diff(np.log10(np.append(h, cut)))
    speeds = falls / np.diff(k)
    # A superlinear method of order q falls q times as far as in the step before; four is beyond q.
    times, least = (2.0, 0.0) if exact_end else (4.0, 1.0)
    least = max(least, times * float(speeds[-3:-1].max(initial=0.0)))
    return bool(falls[-1] >= times and speeds[-1] >= least)


def _law_of(k: Vector, y: Vector, name: str, *, at_floor: bool) -> Rate:
    """Return the class of ``y = log h`` at the steps ``k > 0`` above the floor."""
    # Checkpoints are geometric: a share of the rows is early still, a share of the steps is not.
    rows = [int(share * len(k)) for share in STARTS]
    rows += [int(np.searchsorted(k, share * k[-1])) for share in LATE]
    starts = sorted({s for s in rows if len(k) - s >= ROWS})
    if not at_floor and (rest := _rests_from(k, y, starts)) is not None:
        window, fallen = (int(k[rest]), int(k[-1])), float(y[0] - np.median(y[rest:])) / TEN
        if fallen >= DECADES[RateClass.LINEAR]:  # perhaps converged, as far as its arithmetic goes
            return _refusal(name, f"falls by {fallen:.1f} decades, then rests", window)
        return Rate(RateClass.NONE, name, None, None, None, *window, None, "none: does not decay")
    judged = {s: _best_law(k[s:], y[s:]) for s in starts}
    sound = {s: fit for s, (fit, doubt) in judged.items() if not doubt}
    if not sound:
        return _refusal(name, judged[0][1], (int(k[0]), int(k[-1])))
    least = min(fit.variance for fit in sound.values())
    start, fit = next((s, fit) for s, fit in sound.items() if fit.variance <= 1.5 * least)
    window = (int(k[start]), int(k[-1]))
    if len(seen := sorted({other.law for other in sound.values()})) > 1:
        return _refusal(name, f"windows differ, {' or '.join(seen)}", window)
    rate = fit.slope if fit.law is RateClass.SUBLINEAR else fit.order
    if fit.law is RateClass.LINEAR:  # the checkpoints are geometric: weigh them to even steps
        rate = float(np.exp(_line(k[start:], y[start:], np.gradient(k[start:]))[0]))
    reason = f"{fit.law}: falls by {fit.decades:.1f} decades over {len(fit.t)} rows"
    return Rate(fit.law, name, rate, None, None, *window, fit.r_squared, reason)


def _rests_from(k: Vector, y: Vector, starts: list[int]) -> int | None:
    """Return the first row from which on nothing decays, along k or along log k."""
    least, most = [], []
    for s in starts:
        lines = [(np.ptp(t), *_line(t, y[s:])) for t in (k[s:], np.log(k[s:]))]
        least.append(max(width * (-slope - 3.0 * error) for width, slope, error, _ in lines))
        most.append(max(width * (-slope + 2.0 * error) for width, slope, error, _ in lines))
    flat = (i for i, high in enumerate(most) if high < FLAT and max(least[i:]) < CLEAR)
    return next((starts[i] for i in flat if k[-1] >= SPAN * k[starts[i]]), None)


def _best_law(k: Vector, y: Vector) -> tuple[_Fit, str]:
    """Return the law of least AICc and why not to trust it; checkpoints suit a power law as is."""
    # An order so high that only the last rows move would fit a single dip, not a law.
    orders = ORDERS[np.log(ORDERS) * max(k[-1] - k[-ROWS], (k[-1] - k[0]) / 10.0) < 10.0]
    laws = [_fit(RateClass.SUBLINEAR, np.log(k), y), _fit(RateClass.LINEAR, k, y)]
    # Two laws of no class: what goes like them is neither a power, nor a factor, nor an order.
    laws += [_fit(RateClass.UNDETERMINED, k**p, y) for p in (0.5, 2.0)]
    if len(orders):
        q = _best_order(orders, k, y)
        laws.append(_fit(RateClass.SUPERLINEAR, q ** (k - k[-1]), y, q))
    best, second = sorted(laws, key=lambda fit: fit.aicc)[:2]
    return best, _doubt(best, second.aicc, k, y)


def _best_order(orders: Vector, k: Vector, y: Vector) -> float:
    """Return the order q for which log h falls most nearly like -q^k: all lines at once."""
    t = orders[:, None] ** (k - k[-1])
    t -= t.mean(axis=1, keepdims=True)
    along, spread = t @ (y - y.mean()), (t**2).sum(axis=1)
    return float(orders[(np.minimum(along, 0.0) ** 2 / spread).argmax()])


def _fit(law: RateClass, t: Vector, y: Vector, order: float = 1.0) -> _Fit:
    n, p = len(t), 4 if law is RateClass.SUPERLINEAR else 3
    slope, _, rss = _line(t, y)
    # Right to a thousandth is right enough: no hairs are split over traces without noise.
    aicc = n * float(np.log(rss / n + 1e-6)) + 2 * p + 2 * p * (p + 1) / (n - p - 1)
    aicc = aicc if slope < 0.0 else np.inf
    r_squared = 1.0 - rss / max(n * float(np.var(y)), 1e-300)
    decades = -slope * float(np.ptp(t)) / TEN
    return _Fit(law, t, slope, rss / (n - p), r_squared, aicc, order, decades)


def _doubt(fit: _Fit, next_aicc: float, k: Vector, y: Vector) -> str:
    """Return why the best law of a window is not to be trusted, or nothing."""
    if fit.slope >= 0.0:
        return "the signal does not decay steadily"
    if next_aicc - fit.aicc < LEAD:
        return f"the best law leads in AICc by {next_aicc - fit.aicc:.1f} only, {LEAD:.0f} needed"
    if fit.law is RateClass.UNDETERMINED or fit.order == ORDERS[0]:
        return "the decay lies between two classes"
    if fit.decades < DECADES[fit.law]:
        return f"{fit.law} decays by {fit.decades:.1f} decades only, {DECADES[fit.law]:.0f} needed"
    if fit.law is RateClass.SUBLINEAR and (fit.slope < STEEPEST or k[-1] < SPAN * k[0]):
        return f"a power {fit.slope:.1f} from step {k[0]:.0f} to {k[-1]:.0f} is not believed"
    if fit.r_squared < EXPLAINED:
        return f"{fit.law} explains only {fit.r_squared:.0%} of the variance"
    i, j = np.triu_indices(len(k), 1)
    robust = float(np.median((y[j] - y[i]) / (fit.t[j] - fit.t[i])))  # Theil-Sen: deaf to spikes
    if abs(robust - fit.slope) > AGREEMENT * -fit.slope:
        return f"{fit.law}: least squares and Theil-Sen disagree, {fit.slope:.3g} and {robust:.3g}"
    for part in (slice(len(k) // 2), slice(len(k) // 2, None), slice(-max(len(k) // 3, 4), None)):
        slope, error, _ = _line(fit.t[part], y[part])
        share = float(np.ptp(fit.t[part]) / np.ptp(fit.t)) / -fit.slope
        if abs(slope - fit.slope) * share > min(SHARE_MOST, max(SHARE, 2.0 * error * share)):
            return f"{fit.law}: slope {slope:.3g} in a part of the window, {fit.slope:.3g} in all"
    return _bend(fit, k, y)


def _bend(fit: _Fit, k: Vector, y: Vector) -> str:
    """Return how the tail contradicts a power (half a decade, or a third) or a factor (half)."""
    if fit.law is RateClass.SUPERLINEAR:
        return ""
    power = fit.law is RateClass.SUBLINEAR
    third = min(k[-1] / 10.0**0.5, k[-1] * (k[0] / k[-1]) ** (1.0 / 3.0))
    tail = k >= min(k[-4], third if power else (k[0] + k[-1]) / 2.0)
    slope, error, _ = _line(fit.t[tail], y[tail])
    # No share of the window excuses a tail: a class is a claim about what comes next.
    limit = max(TAIL, min(TAIL_MOST, 2.0 * error / -fit.slope)) if power else TAIL_MOST
    if abs(slope / fit.slope - 1.0) > limit:
        return f"{fit.law}: slope {slope:.3g} in the tail of the window, {fit.slope:.3g} in all"
    return ""


def _line(t: Vector, y: Vector, weight: Vector | None = None) -> tuple[float, float, float]:
    """Return slope, its standard error and the residual sum of squares of a straight line."""
    w = np.ones_like(t) if weight is None else weight
    total = w.sum()
    t, y = t - w @ t / total, y - w @ y / total
    weighted = w * t
    spread = float(weighted @ t)
    slope = float(weighted @ y) / spread
    rss = float(w @ (y - slope * t) ** 2)
    return slope, float(np.sqrt(rss / (len(t) - 2) / spread)), rss
