"""Every solver of the catalogue, in every variant, on small problems of every kind."""

from collections.abc import Iterable
from functools import cache

from fwbench import catalog
from fwbench.catalog import Choice
from fwbench.contract.cases import GAUSS, LINEAR, PROBLEMS, SQUARE, Case, bits, loose
from fwbench.problem import QuadraticOverHull

__all__ = [
    "ALL", "CASES", "FEW", "GAUSS", "GRIDS", "LINEAR", "LOOSE", "PROBLEMS", "SQUARE", "Case",
    "bits", "choices", "problem",
]  # fmt: skip

# What the grids of the solver files leave out; a new solver needs no line here.
VARIANTS = (
    "frank_wolfe[step=open_loop(4),log_adaptive,constant(1/3),constant(1),short,backtracking]",
    "frank_wolfe[step=harmonic(2,3),geometric(1/2,1/2),rising(2,3),saturating(1)]",
    "frank_wolfe[cache_mebibytes=0]",
    "frank_wolfe[arithmetic=exact]",
    "away_steps[step=short,backtracking]",
    "away_steps[cache_mebibytes=0]",
    "pairwise[step=short,backtracking]",
    "pairwise[cache_mebibytes=0]",
    "blended_pairwise[step=short,backtracking]",
    "blended_pairwise[lazy=yes,cache_mebibytes=0,64]",
    "pair_descent[cache_mebibytes=0]",
    "decomposition_invariant[lengths=exact]",
    "hardmax_attention[step=log_adaptive,constant(1/3),exact,short,backtracking]",
    "hardmax_attention[ties=points,indices]",
    "hardmax_attention[arithmetic=exact,ties=lowest,points]",
    "hardmax_attention[keys=moving,ties=lowest,points,indices]",
    "hardmax_attention[keys=moving,step=constant(1/3),exact,short,backtracking]",
    "hardmax_attention[keys=moving,arithmetic=exact,ties=indices]",
    "hardmax_attention[keys=moving,step=harmonic,geometric,rising,saturating]",
    'hardmax_attention[values="3/2 7/3 1",keys=fixed,moving]',
    'hardmax_attention[values="0 1 0; -1 0 0; 0 0 1",keys=fixed,moving,arithmetic=exact]',
    'hardmax_attention[scores="geometric(1,1/2) 1 2",keys=fixed,moving]',
    "hardmax_attention[values=1/2,keys=moving]",
    "softmax_attention[keys=moving]",
    "softmax_attention[beta=geometric(10,999/1000),power(1,1/3),linear(1,1/100)]",
    'softmax_attention[values="3/2 7/3 1",keys=fixed,moving]',
    "softmax_attention[values=1/10,normalised=false,keys=fixed,moving]",
    'softmax_attention[scores="geometric(1,1/2) 1 2",keys=fixed,moving]',
    "softmax_attention[step=open_loop,exact,short,backtracking,beta=1]",
    "softmax_attention[keys=moving,step=exact,backtracking,beta=1]",
    "localmax_attention[keys=moving,slack=0,1/10]",
    "localmax_attention[slack=geometric(1,1/2),step=exact]",
    "markov_attention[keys=moving,beta=1]",
    "markov_attention[keys=fixed,moving,replicas=3,seed=5,beta=linear(1,1/10)]",
    "attention_flow[keys=fixed,moving,h=0.5]",
    "attention_flow[method=closed_form,h=2]",
    "projected_gradient[momentum=restart,none,gram=yes]",
    "projected_newton[gram=yes]",
    "mirror_descent[mixing=1]",
)

# On these the variants are tried too; the grids are tried on all.
FEW = (
    "convex", "convex, 3 queries", "repeated atoms", "concave, 3 queries", "indefinite", "general",
    "float32",
)  # fmt: skip


LOOSE = loose()


@cache
def problem(name: str) -> QuadraticOverHull:
    """Return one of the problems; all tests share it, none may write into it."""
    return PROBLEMS[name]()


def choices(texts: Iterable[str]) -> list[Choice]:
    """Return every solver that some texts name, each once."""
    found = {c.text: c for text in texts for c in catalog.choices("solvers", text)}
    return list(found.values())


GRIDS = choices(catalog.names("solvers"))
ALL = choices([*catalog.names("solvers"), *VARIANTS])
CASES = [(choice, name) for choice in GRIDS for name in PROBLEMS]
CASES += [(choice, name) for choice in ALL[len(GRIDS) :] for name in FEW]
