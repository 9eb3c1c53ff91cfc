"""The geometries in NumPy, slow and obvious (S13.6, S16, S17, S18): what their learners are compared with.

Mahalanobis and diagonal: the Euclidean twins with S x for x in the move, and x'Sx for |x|^2. The inverse of the
covariance S is kept as an explicit matrix. An update adds c x x' to it (mahalanobis), or the diagonal of that
(precision), or what takes c S_ii^2 x_i^2/(1 + c x'Sx) from the variances (drop):

    c = weight/r          pa, pa1, pa2 (PAM; with C = 1/(2r) pa2 is AROW), perceptron (the second-order one)
    c = 2 alpha phi       cw, which wants y w.x >= phi x'Sx; its loss is what that lacks

Entropy: w = scale (p+ - p-), or scale p, with p on the simplex, kept explicitly; p_i <- p_i exp(tau z_i)/Z with z the
direction in the coordinates of p, and the size q = (max z - min z)^2/4, which makes S16's step l/q. For many labels p
has a block for each.

What the selections do, what a round suffers and how it is counted is inherited from the Euclidean twins.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

import reference_labels
from reference import TINY, Reference
from reference_labels import STEPS_OF, Decision, Labels, Ordinal

GEOMETRIES = (
    {"geometry": "mahalanobis"},
    {"geometry": "diagonal", "covariance_update": "precision"},
    {"geometry": "diagonal", "covariance_update": "drop"},
)


def make(task, geometry, k=None, **options):
    """The twin of hinge.Learner(task, geometry=geometry, ...); with k the labels are 0..k-1 and have a lane each."""
    if geometry == "entropy":
        if k is None:
            return EntropyReference(task, **options)
        return EntropyOrdinal(k, **options) if task == "ordinal" else EntropyLabels(k, **options)
    if task == "ordinal":
        return SecondOrderOrdinal(k, geometry=geometry, **options)
    if k is not None:
        return SecondOrderLabels(k, geometry=geometry, **options)
    return SecondOrderReference(task, geometry=geometry, **options)


# --- mahalanobis and diagonal ------------------------------------------------------------------------------


class Covariance:
    """S, by its inverse."""

    def __init__(self, n, geometry, covariance_update, initial_variance):
        self.geometry, self.covariance_update = geometry, covariance_update
        self.inverse = np.eye(n) / initial_variance

    @property
    def matrix(self):
        return np.linalg.inv(self.inverse)

    @property
    def variances(self):
        return np.diag(self.matrix)

    def of(self, z):
        """z'Sz."""
        return z @ self.matrix @ z

    def add(self, z, c):
        if self.geometry == "mahalanobis":
            self.inverse = self.inverse + c * np.outer(z, z)
        elif self.covariance_update == "precision":
            self.inverse = self.inverse + c * np.diag(z**2)
        else:
            g = self.matrix @ z
            self.inverse = np.diag(1 / (self.variances - c * g**2 / (1 + c * (z @ g))))


def confident_step(M, V, phi, n=2.0):
    """S18, CW's variance form: alpha of the worst margin M = y w.x and its variance V = x'Sx.

    It solves (M + alpha V)(1 + n alpha phi V) = phi V. k labels that share S: V = 2x'Sx and n = 2/k.
    """
    if phi * V <= M or V <= TINY:
        return 0.0
    if phi == 0:
        return -M / V
    b = 1 + n * phi * M
    return max(0.0, (-b + np.sqrt(b**2 - 4 * n * phi * (M - phi * V))) / (2 * n * phi * V))


class SecondOrder:
    """What the second-order twins add to a Euclidean one."""

    every_q = False  # S17: vmax is of the updates

    def __init__(
        self,
        *arguments,
        geometry="mahalanobis",
        covariance_update="drop",
        covariance_regularizer=1.0,
        initial_variance=1.0,
        eta=0.9,
        **options,
    ):
        super().__init__(*arguments, **options)
        self.geometry, self.covariance_update = geometry, covariance_update
        self.r, self.initial_variance = covariance_regularizer, initial_variance
        self.phi = norm.ppf(eta)
        self.S = None
        self.alpha = 0.0  # of CW's last step
        self.share = 1.0  # CW: what x x' gets of 2 alpha phi; k labels that share S: 2/k

    def start(self, x):
        consumed = super().start(x)
        self.S = Covariance(len(self.extend(x)), self.geometry, self.covariance_update, self.initial_variance)
        return consumed

    def pa_length(self, length, loss, q, weight, mistake):
        """tau, but for the second-order perceptron: PA-II's with C = weight/(2r), on mistakes only."""
        if self.step != "perceptron":
            return length
        return loss / (q + self.r / weight) if mistake and q > TINY else 0.0

    def update(self, z, weight):
        self.S.add(z, self.share * 2 * self.alpha * self.phi if self.step == "cw" else weight / self.r)

    def uncertainty(self, x):
        return self.S.of(self.extend(x))

    @property
    def covariance(self):
        """As hinge shows it: without the intercept, and of a diagonal one the diagonal."""
        n = len(self.S.inverse) - getattr(self, "fit_intercept", False)
        return self.S.matrix[:n, :n] if self.geometry == "mahalanobis" else self.S.variances[:n]


class SecondOrderReference(SecondOrder, Reference):
    """Binary and regression."""

    def discrepancy(self, x, y):
        delta, v, _ = super().discrepancy(x, y)
        return delta, v, self.uncertainty(x)

    def insensitivity(self, q):
        return -self.phi * q if self.step == "cw" else self.eps

    def length(self, delta, loss, q, weight, mistake):
        if self.step == "cw":
            self.alpha = confident_step(-delta, q, self.phi)
            return self.alpha
        return self.pa_length(super().length(delta, loss, q, weight, mistake), loss, q, weight, mistake)

    def move(self, tau, v, weight):
        self.state = self.state + tau * self.S.matrix @ v
        self.update(v, weight)


class SecondOrderLearner(SecondOrder):
    def length(self, loss, q, weight, mistake):
        return self.pa_length(super().length(loss, q, weight, mistake), loss, q, weight, mistake)

    def coefficients(self, x, directions, margins, q, C, nu, weight):
        """The uniform perceptron: the mean of the second-order steps of the rows with margin <= 0."""
        if self.selection != "uniform":
            return super().coefficients(x, directions, margins, q, C, nu, weight)
        steps = [self.length(self.margin - M, V, weight, M <= 0) for M, V in zip(margins, q, strict=True)]
        return np.array(steps) / max(1, np.sum(margins <= 0))

    def move(self, move, x, weight):
        super().move(move, x, weight)
        self.update(self.extend(x), weight)


class SecondOrderLabels(SecondOrderLearner, Labels):
    """All labels share S: a pair has the squared size 2 x'Sx, and S^-1 grows once a round."""

    steps_of = {**STEPS_OF, "max": (*STEPS_OF["max"], "cw")}

    def norms(self, x):
        return 2 * self.uncertainty(x) * (1 - np.eye(self.k))

    def largest_q(self, x, Y):
        return 2 * self.uncertainty(x)

    def direction(self, x, amounts):
        return np.outer(amounts, self.S.matrix @ self.extend(x))

    def square(self, move):
        return np.sum(move * (move @ self.S.inverse)) if np.ndim(move) else 0.0

    def decide(self, x, Y, weight):
        """CW: the worst pair, M the difference of its scores and V = 2 x'Sx."""
        if self.step != "cw":
            return super().decide(x, Y, weight)
        relevant, scores = reference_labels.mask(Y, self.k), self.scores(x)
        if relevant.all() or not relevant.any():
            return Decision(0.0, False, 0.0)
        low = np.flatnonzero(relevant)[np.argmin(scores[relevant])]
        high = np.flatnonzero(~relevant)[np.argmax(scores[~relevant])]
        M = scores[low] - scores[high]
        self.share = 2 / self.k
        self.alpha = confident_step(M, self.largest_q(x, Y), self.phi, 2 / self.k)
        loss = max(0.0, self.phi * self.largest_q(x, Y) - M)
        amounts = self.alpha * (np.eye(self.k)[low] - np.eye(self.k)[high])
        return Decision(loss, M <= 0, float(M <= 0), self.alpha * loss, self.alpha, amounts)


class SecondOrderOrdinal(SecondOrderLearner, Ordinal):
    """w in the geometry of S, the thresholds Euclidean: a row has the size x'Sx + 1."""

    def extend(self, x):
        return np.asarray(x, dtype=float)

    def largest_q(self, x, y):
        return self.uncertainty(x) + 1.0

    def direction(self, x, amounts):
        return np.append(amounts.sum() * (self.S.matrix @ x), -amounts)

    def square(self, move):
        if not np.ndim(move):
            return 0.0
        n = len(self.S.inverse)
        return move[:n] @ self.S.inverse @ move[:n] + np.sum(move[n:] ** 2)


# --- entropy -----------------------------------------------------------------------------------------------


def multiplied(p, exponents):
    """p_i exp(e_i)/Z, shifted by the largest exponent."""
    grown = p * np.exp(exponents - np.max(exponents))
    return grown / grown.sum()


def nearest_to_uniform(d):
    """p+ and p- with p+ - p- = d and the sum 1: those with the same product p+_i p-_i = c^2 for all i."""
    c = brentq(lambda c: np.sum(np.hypot(d, 2 * c)) - 1, 0.0, 1.0, xtol=1e-300, rtol=1e-15)
    return (np.hypot(d, 2 * c) + d) / 2, (np.hypot(d, 2 * c) - d) / 2


class EntropyReference(Reference):
    """S16. p has the coordinates of w (with the intercept's) and, if signed, once more with the opposite sign.

    It begins uniform, or (w1) at the distribution nearest to the uniform one that has these weights.
    """

    auto_constant = staticmethod(lambda x: 1.0)

    def __init__(self, task, *, scale=1.0, signed=True, entropy_step="range", **options):
        super().__init__(task, **options)
        if entropy_step == "paper" and (signed or options.get("step", "pa1") != "pa"):
            raise ValueError("the paper's step is that of pa on the plain simplex")
        self.scale, self.signed, self.rule, self.p = scale, signed, entropy_step, None

    def start(self, x):
        self.settle(x)
        n = len(self.extend(x)) * (2 if self.signed else 1)
        self.p = np.full(n, 1 / n)
        if not isinstance(self.w1, str):
            w1 = np.append(self.w1, 0.0) if self.fit_intercept else np.asarray(self.w1)
            self.p = np.concatenate(nearest_to_uniform(w1 / self.scale)) if self.signed else w1 / self.scale
        self.state = self.weights()
        return False

    def weights(self):
        n = len(self.p) // 2
        return self.scale * (self.p[:n] - self.p[n:] if self.signed else self.p)

    def in_simplex(self, v):
        """The direction v of w in the coordinates of p: w.v = p.(this)."""
        return self.scale * (np.concatenate([v, -v]) if self.signed else v)

    def discrepancy(self, x, y):
        delta, v, _ = super().discrepancy(x, y)
        z = self.in_simplex(v if self.task == "uniclass" else self.extend(x))  # but for the sign
        if self.rule == "range":
            return delta, v, np.ptp(z) ** 2 / 4
        if np.min(x) < 0:
            raise ValueError("the paper's step needs instances >= 0")
        largest = np.max(np.abs(z))
        return delta, v, 8 * largest**2 if self.task == "uniclass" else largest**2 / 4

    def move(self, tau, v, weight):
        self.p = multiplied(self.p, tau * self.in_simplex(v))
        self.state = self.weights()


def entropy_alpha(p, z, margin, C):
    """S13.6: the alpha in [0, C] at which margin alpha - log sum_i p_i exp(alpha z_i) is largest, by bisection."""

    def slope(alpha):
        return margin - multiplied(p, alpha * z) @ z

    if slope(0.0) <= 0:
        return 0.0
    if slope(C) >= 0:
        return C
    low, high = 0.0, C
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return (low + high) / 2


class Entropy:
    """What many labels and ranks add to a Euclidean twin: the state, scale (p[0] - p[1]), is on one simplex."""

    def __init__(self, k, *, scale=1.0, **options):
        super().__init__(k, **options)
        if self.step == "perceptron" or self.selection in ("mira", "uniform"):
            raise ValueError("the entropy has no perceptron and no MIRA")
        if self.selection in ("simperc", "conproj", "simproj") and self.step != "pa1":
            raise ValueError("S13.6 has the cap C")
        self.scale, self.p = scale, None

    def start(self, x):
        super().start(x)
        self.p = np.stack(nearest_to_uniform(self.state / self.scale))
        self.state = self.scale * (self.p[0] - self.p[1])

    def square(self, move):
        return (self.scale * np.max(np.abs(move))) ** 2

    def coefficients(self, x, directions, margins, q, C, nu, weight):
        active = np.flatnonzero(margins < self.margin if self.selection == "simproj" else margins <= 0)
        found = np.zeros(len(margins))
        for j in active:
            row = self.direction(x, directions[j])
            z, cap = self.scale * np.stack([row, -row]).ravel(), C / nu[j] if nu[j] > 0 else np.inf
            if q[j] <= TINY:
                continue
            alpha = cap if self.selection == "simperc" else entropy_alpha(self.p.ravel(), z, self.margin, cap)
            found[j] = alpha / len(active)
        return found

    def move(self, move, x, weight):
        self.p = multiplied(self.p, self.scale * np.stack([move, -move]))
        self.state = self.scale * (self.p[0] - self.p[1])


class EntropyLabels(Entropy, Labels):
    """A pair moves two lanes by x and -x: the range is 2 scale |x|_inf."""

    auto_constant = staticmethod(lambda x: 1.0)

    def norms(self, x):
        return self.largest_q(x, None) * (1 - np.eye(self.k))

    def largest_q(self, x, Y):
        return (self.scale * np.max(np.abs(self.extend(x)))) ** 2


class EntropyOrdinal(Entropy, Ordinal):
    """w and the thresholds are on one simplex."""

    def largest_q(self, x, y):
        return (self.scale * max(1.0, np.max(np.abs(x)))) ** 2

    def tidy(self):
        if self.sort_thresholds:
            n = len(self.state) - self.k + 1
            order = np.append(np.arange(n), n + np.argsort(self.thresholds, kind="stable"))
            self.p, self.state = self.p[:, order], self.state[order]
