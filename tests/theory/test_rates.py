"""A made trace of known law gives its law back; a real trace gives the rate of theory."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from fwbench.analysis.rates import DECADES, RateClass, rate_of

EPS = np.finfo(float).eps
LAWS = ("sublinear", "linear", "superlinear", "finite", "none")


def checkpoints(steps):
    k = list(range(17))
    while k[-1] < steps:
        k.append(min(steps, int(np.ceil(1.1 * k[-1]))))
    return np.array(k)


@dataclass
class Made:
    law: str
    parameter: float
    carries: bool  # whether the rows above the floor can carry the law at all
    k: np.ndarray
    h: np.ndarray
    scale: float
    width: float


def law_of(law, t, rng):
    """Return the clean log h after burn-in at times t, and the law's parameter."""
    if law == "sublinear":
        p, shift = rng.choice([0.5, 1.0, 2.0]), rng.choice([1.0, 2.0, 10.0])
        return -p * np.log1p(t / shift), -p
    if law == "linear":
        factor = rng.choice([0.5, 0.7, 0.9, 0.95, 0.98, 0.99, 0.995])
        return t * np.log(factor), factor
    if law == "superlinear":
        return -np.exp(rng.uniform(-4.0, -0.7)) * (1.5 ** np.minimum(t, 60.0) - 1.0), 1.5
    if law == "finite":
        before = [-np.log1p(t), -0.1 * t, 0.0 * t][rng.integers(3)]
        last = int(rng.integers(1, 41))
        return np.where(t >= last, -np.inf, before), last
    kinds = [
        0.0 * t,
        np.log(rng.uniform(0.3, 1.0, 5))[t.astype(int) % int(rng.integers(2, 6))],
        np.log(np.exp(-t * rng.uniform(0.05, 0.7)) + 10.0 ** rng.uniform(-5.0, -1.0)),
    ]
    return kinds[rng.integers(3)], np.nan


def made(law, rng):
    """Return a trace of a law under noise, zig-zag, spikes, burn-in, rounding and a reference."""
    k = checkpoints(int(np.exp(rng.uniform(np.log(60.0), np.log(10_000.0)))))
    burn = 0 if law == "finite" else int(rng.choice([0, 0, 3, 10]))
    clean, parameter = law_of(law, np.maximum(k - burn, 0).astype(float), rng)
    scale = 10.0 ** rng.uniform(-3.0, 3.0)
    clean = clean + np.log(scale) - rng.uniform(0.0, 3.0)
    width = scale * rng.choice([0.0, 0.0, 1e-9, 1e-6]) if law in DECADES else 0.0
    noise = rng.choice([0.0, 0.1, 0.3]) * rng.standard_normal(len(k))
    zigzag = rng.choice([0.0, 0.0, 0.3, 0.5]) * (k % rng.choice([2, 3, 5]) == 0)
    spikes = (rng.random(len(k)) < rng.choice([0.0, 0.0, 0.03])) * rng.uniform(1.0, 2.3, len(k))
    rounding = 5 * EPS * scale * rng.standard_normal(len(k))
    h = np.maximum(np.exp(clean + noise + zigzag + spikes) + rounding, 0.0) + width
    above = np.exp(clean) + width > max(1e3 * EPS * scale, 10.0 * width)
    live = above & (k >= max(burn, 1))
    carries = law not in DECADES or (
        live.sum() >= 8 and np.ptp(clean[live]) / np.log(10.0) >= DECADES[RateClass(law)]
    )
    return Made(law, parameter, bool(carries), k, h, scale, width)


@pytest.fixture(scope="module")
def judged():
    """Eight hundred made traces with what was read from each."""
    rng = np.random.default_rng(2028)
    traces = [made(LAWS[i % 5], rng) for i in range(800)]
    return [(m, rate_of(m.k, m.h, None, scale=m.scale, floor=m.width)) for m in traces]


def test_made_laws_come_back(judged):
    table = Counter((m.law, m.carries, rate.rate_class) for m, rate in judged)
    print(f"\n{'law, carried by its rows':26}" + "".join(f"{c:>13}" for c in RateClass))
    for law, carries in sorted({key[:2] for key in table}):
        counts = "".join(f"{table[law, carries, c]:13}" for c in RateClass)
        print(f"{law + ('' if carries else ', too short'):26}" + counts)
    carried = [(m, rate) for m, rate in judged if m.carries]
    right = sum(rate.rate_class == m.law for m, rate in carried)
    wrong = sum(rate.rate_class not in (m.law, RateClass.UNDETERMINED) for m, rate in judged)
    assert right >= 0.8 * len(carried)
    assert wrong <= 0.02 * len(judged)
    for law in DECADES:  # no class lives on the others' account
        own = [rate.rate_class == law for m, rate in carried if m.law == law]
        assert np.mean(own) >= 0.8, law


def test_made_parameters_come_back(judged):
    own = {law: [(m, r.rate) for m, r in judged if r.rate_class == m.law == law] for law in LAWS}
    exponent = [rate / m.parameter for m, rate in own["sublinear"]]
    speed = [np.log(rate) / np.log(m.parameter) for m, rate in own["linear"] if m.carries]
    order = [rate / m.parameter for m, rate in own["superlinear"]]
    for ratio, off in ((exponent, 0.15), (speed, 0.15), (order, 0.1)):
        assert np.mean(np.abs(np.array(ratio) - 1.0) <= off) >= 0.85
    for m, rate in own["finite"]:  # seen at the first checkpoint that is not before K
        assert rate == m.k[m.k >= m.parameter][0]


def path(atoms, steps, step):
    """Return k, ½‖x‖² and the Frank-Wolfe gap along one run from the first atom."""
    x, rows, wanted = atoms[0], [], set(checkpoints(steps).tolist())
    for t in range(steps + 1):
        scores = atoms @ x
        direction = atoms[scores.argmin()] - x
        if t in wanted:
            rows.append((t, 0.5 * x @ x, -x @ direction))
        x = x + step(t, x, direction) * direction
    return np.array(rows).T


def open_loop(t, x, direction):
    return 2.0 / (t + 2.0)


def line_search(t, x, direction):
    return np.clip(-x @ direction / (direction @ direction), 0.0, 1.0)


def inside(seed):
    """Return atoms whose hull holds the origin well inside."""
    atoms = np.random.default_rng(seed).standard_normal((40, 4))
    return atoms - atoms.mean(axis=0)


def on_face(seed):
    """Return atoms whose hull has its least point inside the face of the first coordinate 1/2."""
    rng = np.random.default_rng(seed)
    face = np.column_stack([np.full(6, 0.5), inside(seed)[:6, 1:]])
    face[:, 1:] -= rng.dirichlet(np.full(6, 5.0)) @ face[:, 1:]
    beyond = rng.standard_normal((12, 4))
    beyond[:, 0] = 0.6 + np.abs(beyond[:, 0])
    return np.vstack([beyond, face])


def rates(places, steps, step, *, least=0.0, signal="suboptimality"):
    found = []
    for atoms in places:
        k, value, gap = path(atoms, steps, step)
        h = value - least if signal == "suboptimality" else None
        found.append(rate_of(k, h, gap, scale=float((atoms**2).sum(axis=1).max())))
        assert found[-1].signal == signal
    return found


def test_open_loop_inside_is_quadratic():
    found = rates(map(inside, range(30)), 3000, open_loop)
    exponents = [rate.rate for rate in found if rate.rate_class == "sublinear"]
    assert len(exponents) >= 27
    assert {rate.rate_class for rate in found} <= {"sublinear", "undetermined"}
    assert np.mean(exponents) == pytest.approx(-2.0, abs=0.1)
    assert np.std(exponents) <= 0.1


def test_open_loop_gap_is_the_root_of_it():
    found = rates(map(inside, range(30)), 3000, open_loop, signal="gap")
    exponents = [rate.rate for rate in found if rate.rate_class == "sublinear"]
    assert len(exponents) >= 27
    assert np.mean(exponents) == pytest.approx(-1.0, abs=0.1)


def test_line_search_inside_is_linear():
    found = Counter(rate.rate_class for rate in rates(map(inside, range(40)), 300, line_search))
    assert found["linear"] >= 32
    assert set(found) <= {"linear", "undetermined"}


def test_line_search_on_a_face_is_sublinear():
    found = rates(map(on_face, range(20)), 3000, line_search, least=0.125)
    assert {rate.rate_class for rate in found} <= {"sublinear", "undetermined"}
    exponents = [rate.rate for rate in found if rate.rate is not None]
    assert len(exponents) >= 15
    assert min(exponents) > -1.1


@pytest.mark.parametrize(
    ("h", "reason"),
    [
        (0.5 ** np.arange(7.0), "rows lie above"),
        (0.9 ** np.arange(20.0), "decades only"),
        (np.zeros(20), "at the floor from the start"),
        (np.exp(0.5 * np.random.default_rng(0).standard_normal(30)), "leads in AICc"),
        (np.full(20, np.nan), "unknown"),
        (np.exp(-np.arange(200.0)) + 1e-7, "then rests"),
        (np.exp(-0.05 * np.arange(25.0) ** 2), "between two classes"),
        (np.exp(-0.3 * np.sqrt(np.arange(3000.0))), "between two classes"),
    ],
)
def test_what_the_rows_do_not_carry_is_refused(h, reason):
    k = checkpoints(len(h) - 1) if len(h) > 30 else np.arange(len(h))
    rate = rate_of(k, None, h[k], scale=1.0)
    assert rate.rate_class == "undetermined"
    assert rate.rate is None
    assert reason in rate.reason


def test_the_floor_moves_with_the_scale(judged):
    for m, rate in judged[:40]:
        again = rate_of(m.k, 2.0**40 * m.h, None, scale=2.0**40 * m.scale, floor=2.0**40 * m.width)
        assert again.rate_class == rate.rate_class
        assert rate.rate is None or again.rate == pytest.approx(rate.rate, rel=1e-9)


def test_no_row_under_the_floor_is_read():
    k = checkpoints(400)
    h = 0.9**k + 1e-8
    rate = rate_of(k, h, None, scale=1.0, floor=1e-8)
    assert rate.rate_class == "linear"
    assert rate.rate == pytest.approx(0.9, abs=2e-3)
    assert rate.rate_to == k[h > 1e-7][-1]
    assert rate_of(k, h, None, scale=1.0).rate_class == "undetermined"


def test_a_declared_end_needs_a_smaller_jump():
    h = np.where(np.arange(20) < 6, 1e-9 / (1.0 + np.arange(20)), 0.0)
    assert rate_of(np.arange(20), None, h, scale=1.0).rate_class == "undetermined"
    ended = rate_of(np.arange(20), None, h, scale=1.0, exact_end=True)
    assert (ended.rate_class, ended.rate) == ("finite", 6.0)


@pytest.mark.parametrize("growth", [1.1, 2.0])  # of the steps between two checkpoints
@pytest.mark.parametrize("last", [1000, 3000, 10_000])
@pytest.mark.parametrize(
    "bent", [lambda k, last: np.exp(-k / last) / k, lambda k, last: 1.0 / k + 1.0 / last]
)
def test_a_bent_tail_is_no_power_of_the_whole(bent, last, growth):
    k = np.unique(np.geomspace(1, last, 1 + round(np.log(last) / np.log(growth))).round())
    rate = rate_of(k, bent(k, last), None, scale=1.0)
    assert rate.rate_class == "undetermined"
    assert rate.rate is None


def test_a_knee_leaves_the_exponent_after_it():
    k = checkpoints(10_000)
    h = (1.0 + k / 20.0) ** -2.3 * np.exp(0.1 * np.random.default_rng(5).standard_normal(len(k)))
    rate = rate_of(k, h, None, scale=1.0)
    assert rate.rate_class == "sublinear"
    assert rate.rate == pytest.approx(-2.3, abs=0.1)
    assert rate.rate_from > 20


@pytest.mark.parametrize(("slower", "law"), [(1.0, "linear"), (0.3, "undetermined")])
def test_a_factor_agrees_with_the_later_steps(slower, law):
    k = checkpoints(1000)
    h = np.exp(-0.02 * (np.minimum(k, 700) + slower * np.maximum(k - 700, 0)))
    assert rate_of(k, h, None, scale=1.0).rate_class == law


def test_finite_waits_for_the_gap():
    h = np.array([0.5, 9e-3, 1.6e-4, 1e-16, 0.0, 0.0])
    found = {}
    for name, gap in {
        "exact": [4.0, 0.4, 5e-2, 1e-15, 0.0, 0.0],
        "unknown": [np.nan] * 6,
        "later": [4.0, 0.4, 5e-2, 6e-3, 1e-15, 0.0],
        "never": [4.0, 0.4, 5e-2, 1.5e-8, 1.5e-8, 1.5e-8],
        "slowly": [4.0, 0.4, 5e-2, 1e-8, 1e-11, 1e-15],
    }.items():
        rate = rate_of(np.arange(6), h, np.array(gap), scale=6.0)
        found[name] = rate.rate if rate.rate_class == "finite" else rate.rate_class.value
    refused = {"never": "undetermined", "slowly": "undetermined"}
    assert found == {"exact": 3.0, "unknown": 3.0, "later": 4.0} | refused


def test_growth_is_no_decay():
    assert rate_of(np.arange(60), None, 1.1 ** np.arange(60), scale=1.0).rate_class == "none"
