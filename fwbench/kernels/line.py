"""Step lengths along a line of a quadratic, by the rules of `fwbench.steps`."""

from fwbench.kernels import jit

GIVEN, EXACT, SHORT, BACKTRACKING = 0, 1, 2, 3

# A curvature this small beside the terms that it sums is rounding: the line counts as straight.
STRAIGHT = 1e-15


@jit
def line_step(rule, slope, curvature, size, squared, longest, lipschitz, estimate):
    """Return the step along a direction of descent, 0 where there is none.

    Parameters
    ----------
    rule : int
        EXACT minimises on the segment; SHORT minimises the bound with the Lipschitz constant;
        BACKTRACKING minimises it with an estimate that starts at .9 of the last and doubles until
        it holds (Pedregosa et al. 2020); for a quadratic the test has no rounding:
        curvature <= estimate * squared.
    slope, curvature : float
        First and second derivative of f along the direction.
    size : float
        The sum of the absolute terms that make the curvature.
    squared : float
        The direction's squared Euclidean length.
    longest : float
        The longest feasible step.
    lipschitz : float
        Largest eigenvalue of Q in absolute value.
    estimate : ndarray, shape (1,)
        The backtracking estimate, changed in place.
    """
    if slope >= 0 or squared <= 0:
        return 0.0
    if rule == EXACT:
        bend = curvature
        if curvature <= STRAIGHT * size:
            return longest
    elif rule == SHORT:
        bend = lipschitz * squared
    else:
        guess = 0.9 * estimate[0]
        while guess * squared < curvature:
            guess *= 2.0
        estimate[0] = guess
        bend = guess * squared
    if -slope >= longest * bend:
        return longest
    return -slope / bend
