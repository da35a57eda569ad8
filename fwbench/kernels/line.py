"""Step lengths along a line of a quadratic, by the rules of `fwbench.steps`."""

from fwbench.kernels import jit_view_sums, jit_views

GIVEN, EXACT, SHORT, BACKTRACKING = 0, 1, 2, 3

# A curvature this small beside the terms that it sums is rounding: the line counts as straight.
STRAIGHT = 1e-15
# A step this close to the longest one is the longest one, exactly, and drops its atom: a point must
# not move by another step than its weights.
DROP = 1e-12


@jit_view_sums
def energy(signs, y):
    """Return Σ signs y², for y (r,): ⟨x, Qx⟩ in the coordinates of Q."""
    whole = 0 * signs[:1].sum()
    for i in range(len(y)):
        whole += signs[i] * y[i] * y[i]
    return whole


@jit_view_sums
def bend(signs, start, end):
    """Return Σ signs (end − start)² and the same sum of absolute values.

    The difference is taken first: near-duplicates lose no digit.
    """
    curvature = size = 0 * signs[:1].sum()
    for i in range(len(start)):
        step = end[i] - start[i]
        square = step * step
        curvature += signs[i] * square
        size += square
    return curvature, size


@jit_view_sums
def squared_distance(start, end):
    """Return ‖end − start‖²."""
    whole = 0 * start[:1].sum()
    for i in range(len(start)):
        whole += (end[i] - start[i]) * (end[i] - start[i])
    return whole


@jit_views
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
