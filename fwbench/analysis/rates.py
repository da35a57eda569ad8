"""How fast one trace decays: its rate class, the window it was read from, or a refusal.

A single trace zig-zags, runs in stairs and ends in rounding noise. So the noise is cut off, a
burn-in may be dropped, three laws compete, and whatever the rows do not carry is
``undetermined``: a refusal costs less than a wrong exponent.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwbench.errors import InvalidParameter

Vector = NDArray[np.float64]

ROWS = 8  # fewer rows carry no law
STARTS = (0.0, 0.2, 0.4, 0.6)  # shares of the rows given up as burn-in
MARGIN = 2.0  # lead in AICc that the best law needs
EXPLAINED = 0.7  # least r squared
AGREEMENT = 0.2  # relative difference allowed between least squares and Theil-Sen
SHARE, SHARE_MOST = 0.15, 0.25  # part of the whole decline by which a half may miss its own
SPAN = 4.0  # a power law needs a window over which k grows by this factor
FLAT = 0.3  # a decline below this (in nats, over a window) is none
CLEARLY = 0.05  # a decline certainly above this (in nats) is one, however small
ORDERS = np.geomspace(1.1, 4.0, 60)  # below 1.1 superlinear can't be told from linear
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
        order q > 1. Finite: the steps K after which the signal was first seen at the floor.
    rate_low, rate_high : float or None
        None for one trace: its residuals are correlated, so an honest interval needs seeds.
    rate_from, rate_to : int or None
        The window in steps, both ends included.
    r_squared : float or None
        Share of the variance of log signal that the law explains in the window.
    reason : str
        One sentence for people.
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


class Fit(NamedTuple):
    """A law ``y = a + slope * t(k)`` on one window; ``lead`` over the next best law, in AICc."""

    law: RateClass
    t: Vector
    slope: float
    variance: float
    r_squared: float
    aicc: float
    order: float = 1.0
    lead: float = 0.0

    @property
    def decades(self) -> float:
        """Decades by which the law decays over the window."""
        return -self.slope * float(np.ptp(self.t)) / TEN


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
    suboptimality : array_like, shape (r,), or None
        Value minus the lower end of the reference; NaN where unknown.
    gap : array_like, shape (r,), or None
        The Frank-Wolfe gap; NaN where unknown.
    scale : float
        The instance's scale; what lies under ``1e3 * eps * scale`` counts as rounding.
    exact_end : bool
        Whether the method itself declared an exact end; a smaller jump then counts as finite.
    floor : float
        What the suboptimality can't tell from zero: the width of the reference interval. Values
        within ten times of it are cut, so that it bends none by more than a tenth.

    Raises
    ------
    InvalidParameter
        If the signal has not one value a checkpoint.

    Examples
    --------
    >>> k = np.unique(np.geomspace(1, 1000, 60).astype(int))
    >>> rate = rate_of(k, 3.0 / k**2, None, scale=1.0)
    >>> rate.rate_class.value, round(rate.rate, 3), rate.signal
    ('sublinear', -2.0, 'suboptimality')
    >>> rate_of(k[:30], None, 0.97 ** k[:30], scale=1.0).reason
    'undetermined: linear decays by 0.5 decades only, 3 needed'
    """
    steps = np.asarray(k, dtype=float)
    known = suboptimality is not None and bool(np.isfinite(np.asarray(suboptimality)).any())
    name = "suboptimality" if known else "gap"
    signal = suboptimality if known else gap
    h = np.full(steps.shape, np.nan) if signal is None else np.asarray(signal, dtype=float)
    if h.shape != steps.shape:
        raise InvalidParameter(
            f"rate_of: {name} must hold one value a checkpoint, shape {steps.shape}; got {h.shape}"
        )
    steps, h = steps[np.isfinite(h)], h[np.isfinite(h)]
    if not len(h):
        return _refusal(name, "neither suboptimality nor gap is known")
    cut = 1e3 * float(np.finfo(float).eps) * scale
    if known:
        cut = max(cut, 10.0 * floor)
    under = h <= cut
    end = int(under.argmax()) if under.any() else len(h)
    if end == 0:
        return _refusal(name, "the start lies at the floor")
    if end < len(h) and under[end:].all() and _jumps(steps[: end + 1], h[:end], cut, exact_end):
        first = int(steps[end])
        reason = (
            f"finite: falls at once from {h[end - 1]:.1e} to the floor, seen after {first} steps"
        )
        return Rate(
            RateClass.FINITE, name, first, rate_from=int(steps[0]), rate_to=first, reason=reason
        )
    use = steps[:end] > 0  # the start is one step from anywhere
    return _law_of(steps[:end][use], np.log(h[:end][use]), name, at_floor=end < len(h))


def _refusal(name: str, reason: str, window: tuple[int | None, int | None] = (None, None)) -> Rate:
    """Return an undetermined rate."""
    text = f"undetermined: {reason}"
    return Rate(RateClass.UNDETERMINED, name, rate_from=window[0], rate_to=window[1], reason=text)


def _jumps(k: Vector, h: Vector, cut: float, exact_end: bool) -> bool:
    """Return whether the fall to the floor is far off the trend of the steps before it."""
    falls = -np.diff(np.log10(np.append(h, cut)))
    per_step = falls / np.diff(k)
    trend = float(per_step[-3:-1].max(initial=0.0))
    if exact_end:
        return bool(falls[-1] >= 2.0 and per_step[-1] >= 2.0 * trend)
    # A superlinear method of order q falls q times as far as in the step before; four is beyond q.
    return bool(falls[-1] >= 4.0 and per_step[-1] >= max(1.0, 4.0 * trend))


def _law_of(k: Vector, y: Vector, name: str, *, at_floor: bool) -> Rate:
    """Return the class of ``y = log h`` at the steps ``k > 0`` above the floor."""
    if len(k) < ROWS:
        return _refusal(name, f"{len(k)} rows lie above the floor, {ROWS} needed")
    last = int(k[-1])
    starts = [s for s in (int(p * len(k)) for p in STARTS) if len(k) - s >= ROWS]
    if not at_floor and (rest := _rests_from(k, y, starts)) is not None:
        fallen = float(y[0] - np.median(y[rest:])) / TEN
        window = (int(k[rest]), last)
        if fallen >= DECADES[RateClass.LINEAR]:  # perhaps only the arithmetic's end
            return _refusal(
                name, f"falls by {fallen:.1f} decades, then rests above the floor", window
            )
        reason = f"none: does not decay from step {window[0]} to {last}"
        return Rate(RateClass.NONE, name, rate_from=window[0], rate_to=last, reason=reason)
    best = {s: _best_law(k[s:], y[s:]) for s in starts}
    doubts = {s: _doubt(best[s], k[s:], y[s:]) for s in starts}
    sound = [s for s in starts if not doubts[s]]
    if not sound:
        return _refusal(name, doubts[0], (int(k[0]), last))
    least = min(best[s].variance for s in sound)
    start = next(s for s in sound if best[s].variance <= 1.5 * least)
    fit = best[start]
    for later in starts:
        if later > start and best[later].law is not fit.law and best[later].lead >= MARGIN:
            reason = (
                f"{fit.law} from step {k[start]:.0f}, but {best[later].law} from {k[later]:.0f}"
            )
            return _refusal(name, reason, (int(k[start]), last))
    if fit.law is RateClass.LINEAR:  # geometric checkpoints weighted to even points in k
        rate = float(np.exp(_line(k[start:], y[start:], np.gradient(k[start:]))[0]))
    else:
        rate = fit.slope if fit.law is RateClass.SUBLINEAR else fit.order
    return Rate(
        fit.law,
        name,
        rate,
        rate_from=int(k[start]),
        rate_to=last,
        r_squared=fit.r_squared,
        reason=f"{fit.law}: {fit.decades:.1f} decades over {len(fit.t)} rows, "
        f"AICc leads by {fit.lead:.0f}",
    )


def _rests_from(k: Vector, y: Vector, starts: list[int]) -> int | None:
    """Return the first row from which on nothing decays, if there is one."""
    least, most = np.transpose([_decline(k[s:], y[s:]) for s in starts])
    for i, start in enumerate(starts):
        if k[-1] >= SPAN * k[start] and most[i] < FLAT and (least[i:] < CLEARLY).all():
            return start
    return None


def _decline(k: Vector, y: Vector) -> tuple[float, float]:
    """Return bounds of the decline over a window, seen along k and along log k."""
    lines = [(np.ptp(t), *_line(t, y)[:2]) for t in (k, np.log(k))]
    least = max(float((-slope - 3.0 * error) * width) for width, slope, error in lines)
    return least, max(float((-slope + 2.0 * error) * width) for width, slope, error in lines)


def _best_law(k: Vector, y: Vector) -> Fit:
    """Return the law of least AICc; checkpoints are log-spaced already, as a power law wants."""
    laws = [_fit(RateClass.SUBLINEAR, np.log(k), y), _fit(RateClass.LINEAR, k, y)]
    # An order so high that only the last rows move would fit a single dip, not a law.
    orders = ORDERS[np.log(ORDERS) * (k[-1] - k[-ROWS]) < 10.0]
    tries = [_fit(RateClass.SUPERLINEAR, q ** (k - k[-1]), y, float(q)) for q in orders]
    if tries:
        laws.append(min(tries, key=lambda fit: fit.aicc))
    first, second = sorted(laws, key=lambda fit: fit.aicc)[:2]
    return first._replace(lead=second.aicc - first.aicc if first.slope < 0.0 else 0.0)


def _fit(law: RateClass, t: Vector, y: Vector, order: float = 1.0) -> Fit:
    """Fit one law by least squares; a law that does not decay never wins."""
    n, p = len(t), 3 + (law is RateClass.SUPERLINEAR)
    slope, _, rss = _line(t, y)
    # One part in a thousand is as right as a law needs to be: exact traces aren't split hairs over.
    aicc = n * float(np.log(rss / n + 1e-6)) + 2 * p + 2 * p * (p + 1) / (n - p - 1)
    total = max(float(((y - y.mean()) ** 2).sum()), 1e-300)
    return Fit(
        law, t, slope, rss / (n - p + 1), 1.0 - rss / total, aicc if slope < 0.0 else np.inf, order
    )


def _doubt(fit: Fit, k: Vector, y: Vector) -> str:
    """Return why the best law of a window is not to be trusted, or nothing."""
    if fit.slope >= 0.0:
        return "the signal does not decay steadily"
    if fit.lead < MARGIN:
        return f"{fit.law} leads in AICc by {fit.lead:.1f} only, {MARGIN:.0f} needed"
    if fit.decades < DECADES[fit.law]:
        return f"{fit.law} decays by {fit.decades:.1f} decades only, {DECADES[fit.law]:.0f} needed"
    if fit.law is RateClass.SUBLINEAR and k[-1] < SPAN * k[0]:
        return f"a power law was seen only from step {k[0]:.0f} to {k[-1]:.0f}"
    if fit.r_squared < EXPLAINED:
        return f"{fit.law} explains only {fit.r_squared:.0%} of the variance"
    robust = _theil_sen(fit.t, y)
    if abs(robust - fit.slope) > AGREEMENT * -fit.slope:
        return f"{fit.law}: least squares and Theil-Sen disagree, {fit.slope:.3g} and {robust:.3g}"
    for half in (slice(None, len(k) // 2), slice(len(k) // 2, None)):
        slope, error, _ = _line(fit.t[half], y[half])
        share = float(np.ptp(fit.t[half]) / np.ptp(fit.t)) / -fit.slope
        if abs(slope - fit.slope) * share > min(SHARE_MOST, max(SHARE, 2.0 * error * share)):
            return f"{fit.law}: one half of the window has slope {slope:.3g}, all {fit.slope:.3g}"
    return ""


def _line(t: Vector, y: Vector, weight: Vector | None = None) -> tuple[float, float, float]:
    """Return slope, its standard error and the residual sum of squares of a straight line."""
    w = np.ones_like(t) if weight is None else weight
    t, y = t - np.average(t, weights=w), y - np.average(y, weights=w)
    spread = float(w @ t**2)
    slope = float(w @ (t * y)) / spread
    rss = float(w @ (y - slope * t) ** 2)
    return slope, float(np.sqrt(rss / (len(t) - 2) / spread)), rss


def _theil_sen(t: Vector, y: Vector) -> float:
    """Return the median slope over all pairs of points, which spikes do not move."""
    i, j = np.triu_indices(len(t), 1)
    return float(np.median((y[j] - y[i]) / (t[j] - t[i])))
