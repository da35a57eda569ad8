"""Claims of the sections on hulls and on negative definite B: verdicts, witnesses, numbers."""

from fractions import Fraction as F
from importlib import import_module

import numpy as np
import pytest

from fwbench.geometry import exact_hulls
from fwbench.problem import QuadraticOverHull
from fwbench.theory import bounds
from fwbench.theory.claim import Case, Effort, Verdict
from fwbench.theory.trials import verified
from fwbench.verify import claims

NAMES = (
    "theorem_3_1", "theorem_3_1_smaller_first_step", "one_dimension", "origin_lost_generically",
    "bound_while_origin_inside", "bound_on_last_hull", "consensus", "symmetric_clouds_keep_origin",
    "frozen_hull_bound", "small_steps_on_the_line", "small_steps_in_the_plane", "hulls_nested",
    "hulls_nested_matrix_steps", "single_leader", "single_leader_by_index", "contraction_to_origin",
)  # fmt: skip
NOT_REFUSED = {"origin_lost_generically"}


@pytest.fixture
def outcomes(verified_claim):
    """Return what became of each case and control of a claim, by name."""

    def of(name):
        found = verified_claim(name)
        assert not found.error
        return {t.case: t.outcome for t in (*found.tried, *found.controls)}

    return of


@pytest.mark.parametrize("name", NAMES)
def test_verdict_and_controls_are_as_expected(name, verified_claim):
    found = verified_claim(name)
    assert found.surprises == ()
    assert any(t.refused for t in found.tried) or name in NOT_REFUSED
    opposite = Verdict.HOLDS if found.claim.expects is Verdict.BROKEN else Verdict.BROKEN
    assert any(t.outcome.verdict is opposite for t in found.controls)


@pytest.mark.parametrize(
    ("name", "t", "energy", "bound"),
    [
        ("triangle-16", 16, "1250", "20800/17"),
        ("triangle-20", 20, "5384", "111904/21"),
        ("thousand-one", 35, None, "1002001/18"),
        ("five-one", 143, None, "1/2"),
        ("four-one", 224, "11498881/51714450", "2/9"),
        ("three-two", 400, "1/8", "50/401"),
        ("three-one", 575, "191794801/3451807872", "1/18"),
    ],
)
def test_theorem_3_1_breaks_there_and_not_before(outcomes, name, t, energy, bound):
    numbers = outcomes("theorem_3_1")[f"token_cloud[name={name}]"].numbers
    assert (numbers["t"], numbers["bound"]) == (str(t), bound)
    assert numbers["J"] == energy or energy is None


def test_theorem_3_1_holds_on_mirrored_clouds_and_where_b_vanishes(outcomes):
    found = outcomes("theorem_3_1")
    mirrored = [outcome for case, outcome in found.items() if "mirrored" in case]
    assert len(mirrored) >= 3
    for outcome in (*mirrored, found["token_cloud[name=symmetric]"]):
        assert outcome.verdict is Verdict.HOLDS
        assert outcome.numbers["ratio at t = 0"] == "1/16"
        assert outcome.numbers["largest ratio"] == "0.0625"
    vanishing = found["token_cloud[name=four-one], scores=power(1,-1)"]
    assert vanishing.verdict is Verdict.HOLDS


def test_theorem_3_1_shows_both_modes(verified_claim):
    curves = verified_claim("theorem_3_1").curves
    together, fixed, bound = curves.lines
    assert together.y[-1] > 1 > fixed.y[-1]
    assert bound.bound
    assert curves.marks == ((225.0, "t = 224"),)


def test_theorem_3_1_refuses_what_it_does_not_speak_of(verified_claim):
    refused = {t.case: t.refused for t in verified_claim("theorem_3_1").tried if t.refused}
    assert refused == {
        "token_cloud[n=3,d=2,integers=9,seed=0]": "the origin lies outside the first hull",
        "token_cloud[name=four-one], scores=linear(1,1)": "B_*(t) increases",
        "token_cloud[name=four-one], step=constant(0.5)": "the steps are not 2/(t + 2)",
        "token_cloud[name=own-cells]": "B_* is no diagonal without negative entries",
    }


def test_a_smaller_first_step_breaks_at_the_same_time(outcomes):
    found = outcomes("theorem_3_1_smaller_first_step")
    three = found["token_cloud[name=three-one], keys=moving, step=harmonic(2,3)"]
    assert three.numbers["t"] == "575"
    four = found["token_cloud[name=four-one], keys=moving, step=harmonic(2,3)"]
    assert four.numbers["t"] == "224"


@pytest.mark.parametrize(
    ("name", "limit", "lost", "breaks"),
    [
        ("three-one", "1/3", 2, 575),
        ("four-one", "2/3", 2, 224),
        ("three-two", "1/2", 3, 400),
        ("five-one", "1", 2, 143),
        ("thousand-one", "998/3", 2, 35),
        ("five-two", "1/3", 2, 1763),
        ("seven-three", "1/3", 2, 3599),
        ("nine-four", "1/3", 2, 6083),
        ("thirteen-six", "1/3", 2, 12995),
        ("two-one", "1/4", 3, 575),
    ],
)
def test_the_line_is_described_completely(outcomes, name, limit, lost, breaks):
    assert outcomes("one_dimension")[f"token_cloud[name={name}]"].numbers == {
        "limit": limit, "origin lost at": str(lost), "Theorem 3.1 breaks at": str(breaks),
    }  # fmt: skip


def test_the_description_of_the_line_is_mirrored():
    ends = import_module("fwbench.claims.one_dimension")._ends
    for M, m in ((F(3), F(1)), (F(3), F(2)), (F(2), F(1))):
        low, high = ends(M, m, 7)
        assert ends(m, M, 7) == (-high, -low)
    assert ends(F(3), F(1), 5) == (F(1, 3), F(1, 3) + F(8, 30))


def test_random_starts_lose_the_origin_always(verified_claim):
    found = verified_claim("origin_lost_generically")
    for tried in found.tried:
        assert tried.outcome.numbers["lost"] == "400 of 400"
        assert 1 <= float(tried.outcome.numbers["median t"]) <= 14
        assert tried.outcome.curves.lines[0].y[-1] == 0


def test_the_bound_while_the_origin_is_inside_is_attained(outcomes):
    found, largest = outcomes("bound_while_origin_inside"), "largest J (t + 2)/(2 λ d²)"
    checked = [o for case, o in found.items() if o and "to the end" not in case]
    assert max(F(outcome.numbers[largest]) for outcome in checked) == F(1, 2)
    attained = found["tokens 3, 0, ties=lowest, scores=1"]
    assert attained.numbers[largest] == "1/2"
    beyond = found["token_cloud[name=four-one], ties=points, scores=1, to the end"]
    assert beyond.numbers["t"] == "111"  # (t + 2) 2/9 > 25 from there on


def test_a_token_at_the_origin_that_keeps_still_keeps_the_bound(outcomes):
    found = outcomes("bound_while_origin_inside")
    still = found["token_cloud[name=three-one-origin], ties=lowest, scores=1"]
    assert still.horizon == "30 steps"  # never lost
    moved = found["token_cloud[name=three-one-origin], ties=points, scores=1"]
    assert moved.horizon == "4 steps"


@pytest.mark.parametrize(
    ("name", "z", "ratio", "least"),
    [
        ("three-one", "1/3", 0.278, "1/18"),
        ("four-one", "2/3", 0.311, "2/9"),
        ("three-two", "1/2", 0.175, "1/8"),
    ],
)
def test_energies_come_down_to_the_last_hull(outcomes, name, z, ratio, least):
    outcome = outcomes("bound_on_last_hull")[f"token_cloud[name={name}], ties=points, z = {z}"]
    assert outcome.horizon == "3000 steps"
    assert float(outcome.numbers["largest ratio"]) == pytest.approx(ratio, abs=6e-4)
    assert outcome.numbers["largest at t"] == "0"
    assert outcome.numbers["min J over K^∞"] == least
    assert float(outcome.numbers["energies at the end differ by"]) < 1e-6


def test_a_hull_that_is_not_known_makes_nothing_broken_by_mistake(monkeypatch):
    module = import_module("fwbench.claims.bound_on_last_hull")
    case = module._case("name=triangle-16", 30)
    # the hull at the end is a point, so nothing is left open: a smaller bound is really broken
    monkeypatch.setattr(module, "size", lambda problem: F(104))
    assert module._check(case, Effort()).verdict is Verdict.BROKEN
    # while min J over K^T is below min J over K^∞, what fails against it alone stays open
    monkeypatch.setattr(module, "size", lambda problem: F(20_000))
    monkeypatch.setattr(module, "least_energy", lambda points, Q: F(0))
    found = module._check(module._case("name=triangle-16", 60), Effort())
    assert (found.verdict, found.witness) == (Verdict.INCONCLUSIVE, "")


def test_tokens_meet_in_a_point_that_need_not_be_the_origin(outcomes):
    found = outcomes("consensus")
    three = found["token_cloud[name=three-one], B_* = 1, step=open_loop(2), float"]
    assert three.numbers["z"] == "0.33333433"  # the mean of 0.33333533 and 0.33333333
    assert float(three.numbers["diameter at the end"]) == pytest.approx(8 / (2000 * 2001), rel=1e-3)
    mirrored = found["token_cloud[name=symmetric], B_* = 1, step=open_loop(2), exact"]
    assert mirrored.numbers["the origin"] == "never lost"
    assert mirrored.numbers["z"] == "0.00000000, 0.00000000"


def test_two_tokens_that_swap_are_a_cycle(outcomes):
    found = outcomes("consensus")
    swap = found["token_cloud[name=three-one], B_* = 1, step=constant(1), exact"]
    assert swap.witness == "t = 2: a cycle with period 2, tokens apart by 4"
    alone = "token_cloud[n=2,d=2,integers=9], B_* = [0, 0], step=open_loop(2), float"
    rest = found[f"{alone}, each its own leader"]
    assert rest.witness == "at rest, apart, each token its own leader"


@pytest.mark.parametrize(
    ("Q", "definite"),
    [
        ([2, 1], True),
        ([1, 0], False),
        ([[2, 1], [1, 3]], True),
        ([[1, 1], [1, 1]], False),
        ([[1, 2], [2, 1]], False),
        ([[2, 1], [0, 2]], False),
        ([[2, 1, 0], [1, 2, 1], [0, 1, F(2, 3)]], False),  # the last pivot is 0
        ([[2, 1, 0], [1, 2, 1], [0, 1, F(3, 4)]], True),
    ],
)
def test_definite_is_decided_exactly(Q, definite):
    module = import_module("fwbench.claims.consensus")
    assert module._definite(np.array(Q, dtype=object)) is definite


def test_a_token_at_the_origin_is_not_enough(outcomes):
    found = outcomes("symmetric_clouds_keep_origin")
    alone = found["token_cloud[name=three-one-origin], B_* = 1, step=constant(2/3), ties=points"]
    assert alone.witness == "t = 1: the origin is lost; tokens 4/9; 1/3; 5/3"
    counted = found["tokens 0, 1, -1, -1, B_* = 1, step=constant(1/3), ties=indices"]
    assert counted.witness == "t = 1: (-1/12) has no mirror image"
    kept = found["tokens 0, 1, -1, -1, B_* = 1, step=constant(1/3), ties=points"]
    assert kept.verdict is Verdict.HOLDS


def test_frozen_keys_keep_the_bound_of_theorem_3_1(outcomes):
    found = outcomes("frozen_hull_bound")
    three = found["token_cloud[name=three-one]"]
    assert float(three.numbers["largest ratio"]) == pytest.approx(0.141, abs=6e-4)
    for cloud in ("name=three-one", "n=20,d=2,seed=0", "n=40,d=5,seed=0"):
        numbers = found[f"token_cloud[{cloud}]"].numbers
        assert found[f"token_cloud[{cloud}]"].horizon == "4000 steps"
        assert float(numbers["largest ratio"]) < 0.2
        assert float(numbers["J / d² at the end"]) < 1e-7
        assert float(numbers["with moving keys, after 400 steps"]) > 1e-4
    assert float(three.numbers["with moving keys, after 400 steps"]) == pytest.approx(
        1 / 18 / 16, rel=1e-3
    )


def test_small_steps_end_near_the_origin_on_the_line(outcomes):
    found = outcomes("small_steps_on_the_line")
    ends = {"0.5": 1.0, "0.3": 0.2, "0.1": 0.1808, "0.03": 0.0482, "0.01": 0.0139, "0.003": 0.0049}
    for gamma, end in ends.items():
        outcome = found[f"token_cloud[name=three-one], step=constant({gamma})"]
        assert float(outcome.numbers["cluster at"]) == pytest.approx(end, abs=6e-5)


def test_small_steps_may_end_away_from_it_in_the_plane(outcomes):
    found = outcomes("small_steps_in_the_plane")
    for gamma, end in {"0.1": 0.457, "0.03": 0.291, "0.01": 0.261, "0.003": 0.261}.items():
        outcome = found[f"token_cloud[name=receding], step=constant({gamma})"]
        assert float(outcome.numbers["cluster at"]) == pytest.approx(end, abs=6e-4)
        broken = Verdict.HOLDS if gamma == "0.1" else Verdict.BROKEN
        assert outcome.verdict is broken  # 0.457 is less than 0.1 of the diameter


@pytest.mark.slow  # 140 000 steps
def test_smaller_steps_do_not_help_in_the_plane():
    [claim] = claims(("small_steps_in_the_plane",))
    found = verified(claim, Effort(long=True))
    assert found.surprises == ()
    ends = {t.case: t.outcome.numbers["cluster at"] for t in found.tried if t.outcome}
    for gamma in ("0.001", "0.0003"):
        end = float(ends[f"token_cloud[name=receding], step=constant({gamma})"])
        assert end == pytest.approx(0.258, abs=6e-4)


def test_matrix_steps_leave_the_hull(outcomes):
    found = outcomes("hulls_nested_matrix_steps")
    first = found["tokens 0, e1, e2, B = −[[0, -1], [-1, 0]], V = diag(3/2 7/3)"]
    assert first.witness == "t = 0: (2/5, 7/10) outside"
    assert first.numbers == {"coordinates add up to": "11/10"}


def test_a_cluster_at_one_third_is_none_at_the_origin(outcomes):
    found = outcomes("contraction_to_origin")
    three = found["token_cloud[name=three-one], step=open_loop(2), keys=moving"]
    assert three.numbers == {"lost at": "2", "squared distance of the hull": "1/9"}


# -- what lies outside is refused, and what shows nothing holds nothing --------------------------


def test_the_line_is_described_for_negative_b_alone(verified_claim):
    refused = {t.case: t.refused for t in verified_claim("one_dimension").tried}
    assert refused["token_cloud[n=2,d=1,integers=30,q=-1,seed=22]"] == "B is not negative"


@pytest.mark.parametrize(
    ("values", "reason"),
    [("3/2 3/2", "V = hI"), ("-1/2 1", "not positive"), ("0 1", "not positive"), ("1 2", None)],
)
def test_matrix_steps_are_of_matrices_with_positive_eigenvalues(values, reason):
    module = import_module("fwbench.claims.hulls_nested_matrix_steps")
    found = module._refuses(module._case(values))
    assert found is None if reason is None else reason in found


@pytest.mark.parametrize("name", ["bound_while_origin_inside", "bound_on_last_hull"])
@pytest.mark.parametrize(
    ("tokens", "Q"), [([[2], [-1]], 0), ([[0], [0]], 1), ([[0, 0], [0, 0]], [1, 0])]
)
def test_a_bound_of_zero_is_kept_by_energies_of_zero(name, tokens, Q):
    module = import_module(f"fwbench.claims.{name}")
    given = {"problem": QuadraticOverHull(tokens, Q, start=range(2)), "steps": 4, "limit": None,
             "step": "open_loop(2)", "ties": "points", "scores": "1", "beyond": False}  # fmt: skip
    case = Case("nothing", given)
    assert module._refuses(case) is None
    found = module._check(case, Effort())
    assert (found.verdict, found.numbers["largest ratio"]) == (Verdict.HOLDS, "0")


def test_contraction_is_seen_before_it_holds():
    module = import_module("fwbench.claims.contraction_to_origin")
    lazy = module._case("name=symmetric", "geometric(1/100,1/2)")  # the origin stays inside
    assert module._refuses(lazy) is None
    assert module._check(lazy, Effort()).verdict is Verdict.INCONCLUSIVE
    assert "d > 2" in module._refuses(module._case("n=9,d=3,integers=9,seed=1", "constant(0.5)"))
    assert "without negative" in module._refuses(module._case("name=own-cells", "constant(0.5)"))


def test_an_origin_that_is_back_in_doubles_leaves_it_open(monkeypatch):
    module = import_module("fwbench.claims.consensus")
    answers = iter([False] + [True] * 99)
    monkeypatch.setattr(module, "holds", lambda x: next(answers))
    found = module._check(module._case("name=triangle-20", 64), Effort())
    assert (found.verdict, found.witness) == (Verdict.INCONCLUSIVE, "")
    answers = iter([False] + [True] * 99)
    exact = module._check(module._case("name=symmetric", 8, arithmetic="exact"), Effort())
    assert (exact.verdict, exact.witness) == (Verdict.BROKEN, "t = 1: the origin is back")


def test_ties_are_looked_for_around_a_start(outcomes):
    found = outcomes("single_leader_by_index")
    assert found["token_cloud[name=two-one], step=constant(1/3)"].verdict is Verdict.HOLDS
    module = import_module("fwbench.claims.single_leader_by_index")
    case = module._case("name=two-one", "constant(1/3)")
    assert module._refuses(case) is None
    assert module._first_tie(case["problem"], np.array([F(1)]), "constant(1/3)") == (1, 2)


def test_equally_many_tied_keys_are_no_case_of_three_rules(verified_claim):
    refused = {t.case: t.refused for t in verified_claim("ties_differ").tried}
    even = refused["tokens (1, 1) twice, (1, -1) twice, (1/2, 0), ties=indices"]
    assert even == "as many keys at one point as at the other"
    three = refused["tokens (1, 1), (1, 0) twice, (1, -1), (1/2, 0), ties=indices"]
    assert three == "the keys that tie are not at two points"


# -- checks must be able to fail ---------------------------------------------------------------


def outcome_of(name):
    [claim] = claims((name,))
    return verified(claim, Effort())


def test_a_smaller_constant_breaks_the_bound_while_inside(monkeypatch):
    module = import_module("fwbench.claims.bound_while_origin_inside")
    true = bounds.size
    monkeypatch.setattr(module, "size", lambda *given: true(*given) * F(99, 100))
    found = outcome_of("bound_while_origin_inside")
    assert found.verdict is Verdict.BROKEN
    assert found.witness.startswith("tokens 3, 0, ties=lowest, scores=1: t = 0:")


def test_a_wrong_limit_breaks_the_description_of_the_line(monkeypatch):
    module = import_module("fwbench.claims.one_dimension")
    true = module._ends
    monkeypatch.setattr(module, "_ends", lambda M, m, t: true(M, m + F(1, 10**9), t))
    monkeypatch.setattr(module, "_numbers", lambda M, m, lost: {})
    assert outcome_of("one_dimension").verdict is Verdict.BROKEN


def test_membership_that_is_always_false_is_noticed(monkeypatch):
    monkeypatch.setattr(exact_hulls, "_plane", lambda points: False)
    for name in ("hulls_nested", "symmetric_clouds_keep_origin"):
        assert outcome_of(name).verdict is Verdict.BROKEN


def test_a_check_that_finds_nothing_is_noticed_by_its_controls(monkeypatch):
    for name in ("hulls_nested", "hulls_nested_matrix_steps"):
        module = import_module(f"fwbench.claims.{name}")
        monkeypatch.setattr(module, "first_exit", lambda layers: None)
        assert outcome_of(name).surprises
    for name in ("single_leader", "single_leader_by_index"):
        module = import_module(f"fwbench.claims.{name}")
        monkeypatch.setattr(module, "leaders", lambda x, Q, *, distinct: [1])
        assert outcome_of(name).surprises
