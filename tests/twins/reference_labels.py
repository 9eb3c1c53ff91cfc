"""Many labels in NumPy, slow and obvious (S9, S10, S12, S13): what the learners of labels and ranks are compared with.

A round asks that w.a_j >= b_j for one or more rows a_j. Its loss comes from the rows, its move is a combination
w <- w + sum_j c_j a_j with c_j >= 0, and the selection says which c_j are not 0:

    max          the row with the largest loss                     step pa, pa1, pa2, perceptron
    prediction   the row of the label that was predicted           step pa, pa1, pa2, perceptron
    simperc      the mean of C a_j over the rows with margin <= 0  step pa1
    conproj      the mean of the projections of these rows         step pa, pa1, pa2
    simproj      the same of all rows with a loss                  step pa, pa1, pa2
    mira         all rows, solved jointly with one slack           step pa, pa1
    uniform      the mean of a_j over the rows with margin <= 0    step perceptron

Labels have the rows phi(x, r) - phi(x, s), r relevant and s not; ranks have y_j (x, -e_j), one a threshold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import reference
from reference import TINY, Constant, step_length

STEPS_OF = {
    "max": ("pa", "pa1", "pa2", "perceptron"),
    "prediction": ("pa", "pa1", "pa2", "perceptron"),
    "simperc": ("pa1",),
    "conproj": ("pa", "pa1", "pa2"),
    "simproj": ("pa", "pa1", "pa2"),
    "mira": ("pa", "pa1"),
    "uniform": ("perceptron",),
}
SIMULTANEOUS = ("simperc", "conproj", "simproj", "uniform")


def make(family, k, **options):
    """A learner of that family: "labels" (multi-prototype), "prototype" (single-prototype) or "ordinal"."""
    return {"labels": Labels, "prototype": Prototype, "ordinal": Ordinal}[family](k, **options)


# --- the rows of a round, written down literally: one row a constraint, in the flattened coordinates --------


def mask(Y, k):
    """Y is a label, a collection of labels, or an array of k booleans."""
    Y = np.asarray(sorted(Y) if isinstance(Y, (set, frozenset)) else Y)
    if Y.dtype == bool:
        return Y
    relevant = np.zeros(k, dtype=bool)
    relevant[Y.astype(int)] = True
    return relevant


def pairs(relevant):
    """All (r, s) with r relevant and s not."""
    return [(r, s) for r in np.flatnonzero(relevant) for s in np.flatnonzero(~relevant)]


def prototype_rows(Phi, Y):
    """phi_r - phi_s for each pair; Phi holds the features of label r in its column r."""
    Phi = np.asarray(Phi, dtype=float)
    return np.array([Phi[:, r] - Phi[:, s] for r, s in pairs(mask(Y, Phi.shape[1]))]).reshape(-1, len(Phi))


def label_rows(x, Y, k, fit_intercept=False):
    """The same with phi(x, r) = x in the block r; the coordinates are those of W, row by row."""
    z = np.append(x, 1.0) if fit_intercept else np.asarray(x, dtype=float)
    return prototype_rows(np.kron(np.eye(k), z[:, None]), Y)


def ordinal_rows(x, y, k):
    """y_j (x, -e_j) for each threshold j; +1 for the thresholds below rank y, -1 for the others."""
    return np.array([(1 if j < y else -1) * np.append(x, -np.eye(k - 1)[j]) for j in range(k - 1)])


# --- the solutions -----------------------------------------------------------------------------------------


def simultaneous(scheme, step, margins, q, margin, C, nu):
    """S13: the coefficients mu_j alpha_j of the rows. Each alpha_j solves the problem of row j alone,

        min 1/2|v-w|^2 + C xi   s.t. v.a_j >= margin - nu_j xi, xi >= 0     (or with C xi^2, or without xi)

    or is as large as it may be (simperc); a row without size counts, with alpha_j = 0.
    """
    active = np.flatnonzero(margins < margin if scheme == "simproj" else margins <= 0)
    coefficients = np.zeros(len(margins))
    for j in active:
        cap = C / nu[j] if nu[j] > 0 else np.inf
        if scheme in ("simperc", "uniform"):
            alpha = cap if q[j] > TINY else 0.0
        else:
            alpha = step_length(step, margin - margins[j], q[j], cap, 1.0, True)
        coefficients[j] = alpha / len(active)
    return coefficients


def mira_one(scores, y, A, C, beta):
    """S12.2, the sort method: the amounts tau that solve

    min A/2 |tau|^2 + sum_r tau_r (s_r - beta [r=y])   s.t. tau_y <= C, tau_r <= 0 (r != y), sum tau = 0
    """
    k = len(scores)
    if 2 * A <= TINY:
        return np.zeros(k)
    D = (scores - beta * (np.arange(k) == y)) / A
    c = np.where(np.arange(k) == y, C, 0.0)
    b = D + c
    order = np.argsort(-b, kind="stable")
    for size in range(1, k + 1):
        active, others = order[:size], order[size:]
        theta = (D[active].sum() - c[others].sum()) / size
        if size == k or theta >= b[others].max():
            break
    return np.minimum(theta - D, c)


def mira_set(scores, relevant, A, C, beta):
    """The same for a set Y of labels: the amounts of the V that solves

    min 1/2|V-W|^2 + C xi   s.t. (V_r - V_s).x >= beta - xi for r in Y, s outside, xi >= 0

    The dual has a_r >= 0 on Y and b_s >= 0 outside, both with the sum t <= C: a_r = [theta - s_r]_+/A and
    b_s = [s_s + beta - theta]_+/A, with one theta if the two sums agree at some t <= C, else two of them.
    """
    amounts = np.zeros(len(scores))
    if 2 * A <= TINY or relevant.all() or not relevant.any():
        return amounts
    low, high = scores[relevant], scores[~relevant] + beta
    if high.max() <= low.min():
        return amounts
    theta = balance(low, high)
    below, above = np.maximum(0, theta - low), np.maximum(0, high - theta)
    if below.sum() / A > C:
        low, high = (
            low - low.min(),
            high - high.max(),
        )  # else a small volume has few digits next to the scores
        below = np.maximum(0, water_level(low, C * A) - low)
        above = np.maximum(0, water_level(-high, C * A) + high)
    amounts[relevant], amounts[~relevant] = below / A, -above / A
    return amounts


def balance(low, high):
    """theta with sum [theta - low]_+ = sum [high - theta]_+, which has a kink at each of the numbers."""
    kinks = np.sort(np.concatenate([low, high]))
    excess = [np.maximum(0, p - low).sum() - np.maximum(0, high - p).sum() for p in kinks]
    p = kinks[np.flatnonzero(np.array(excess) <= 0)[-1]]  # theta is between p and the next kink
    active = np.concatenate([low[low <= p], high[high > p]])
    return active.mean()


def water_level(ground, volume):
    """theta with sum [theta - ground]_+ = volume."""
    ground = np.sort(ground)
    for m in range(1, len(ground) + 1):
        theta = (volume + ground[:m].sum()) / m
        if m == len(ground) or theta <= ground[m]:
            break
    return theta


# --- the learners ------------------------------------------------------------------------------------------


@dataclass
class Statistics(reference.Statistics):
    """progress is the sum of 2 sum_j c_j l_j - |d|^2 with d = sum_j c_j a_j, the move."""

    cost: float = 0.0
    total: float = 0.0  # the sum of all c_j


@dataclass
class Decision:
    """What a round came to."""

    loss: float
    mistake: bool
    cost: float
    gain: float = 0.0  # sum c_j l_j
    total: float = 0.0  # sum c_j
    amounts: np.ndarray | None = None  # how much of each phi_r (or of each threshold's row) is added


class Learner:
    """What the three families share: options, statistics, the average."""

    steps_of = STEPS_OF
    every_q = True  # whether largest_q is of all rounds, or of those with an update only

    def __init__(self, k, *, step="pa1", C=1.0, margin=1.0, selection="max", nu=None, average=False):
        if step not in self.steps_of[selection]:
            raise ValueError(f"{selection} has no step {step!r}")
        if nu is not None and (step != "pa1" or selection not in SIMULTANEOUS):
            raise ValueError("nu divides the cap C of simperc, conproj and simproj")
        if selection == "simperc" and nu is not None and not np.all(off_diagonal(nu) > 0):
            raise ValueError("simperc needs nu > 0")
        self.k, self.step, self.C, self.margin, self.selection = k, step, C, margin, selection
        self.nu, self.average = nu, average
        self.state = None  # known with the first instance
        self.statistics = Statistics()
        self.copies = []  # the states that predicted

    def learn(self, x, Y, weight=1.0):
        if weight == 0:
            return
        if self.state is None:
            self.start(x)
        decision = self.decide(x, Y, weight)
        move = self.direction(x, decision.amounts) if decision.total > 0 else 0.0

        s = self.statistics
        s.rounds += 1
        s.mistakes += bool(decision.mistake)
        s.updates += bool(decision.total > 0)
        s.loss += decision.loss
        s.squared_loss += decision.loss**2
        s.cost += decision.cost
        if self.every_q or decision.total > 0:
            s.largest_q = max(s.largest_q, self.largest_q(x, Y))
        s.progress += 2 * decision.gain - self.square(move)
        s.total += decision.total
        if self.average:
            self.copies.append(self.state.copy())
        if decision.total > 0:
            self.move(move, x, weight)
            self.tidy()

    def tidy(self):
        pass

    # --- what another geometry does in another way (reference_geometries.py) ---

    def length(self, loss, q, weight, mistake):
        return step_length(self.step, loss, q, self.C, weight, mistake)

    def coefficients(self, x, directions, margins, q, C, nu, weight):
        """Of the rows, whose directions are given as amounts: one a label, or one a threshold."""
        return simultaneous(self.selection, self.step, margins, q, self.margin, C, nu)

    def square(self, move):
        """The squared size of a move."""
        return np.sum(move**2)

    def move(self, move, x, weight):
        self.state = self.state + move

    @property
    def average_state(self):
        return np.sum(self.copies, axis=0) / len(self.copies) if self.copies else self.state


def off_diagonal(nu):
    nu = np.asarray(nu, dtype=float)
    return nu if nu.ndim == 1 else nu[~np.eye(len(nu), dtype=bool)]


class Ranking(Learner):
    """Scores for k labels, of which a set Y is relevant: these should score higher than the others.

    r = the relevant label with the lowest score and s = the other with the highest; the margin is their difference.
    """

    def __init__(self, k, *, cost=None, beta=0.01, **options):
        super().__init__(k, **options)
        if cost is not None and (
            self.selection not in ("max", "prediction") or self.step == "perceptron" or self.margin != 1
        ):
            raise ValueError("a cost is for the selections max and prediction; it is the squared margin")
        self.cost = None if cost is None else np.asarray(cost, dtype=float)
        self.beta = beta

    def decide(self, x, Y, weight):
        scores, norms, relevant = self.scores(x), self.norms(x), mask(Y, self.k)
        if relevant.all() or not relevant.any():
            return Decision(0.0, False, 0.0)
        low = np.flatnonzero(relevant)[np.argmin(scores[relevant])]
        high = np.flatnonzero(~relevant)[np.argmax(scores[~relevant])]
        margin = scores[low] - scores[high]
        mistake = margin <= 0
        if self.cost is not None:
            return self.decide_costs(scores, norms, relevant, mistake, weight)
        if self.selection == "mira":
            return self.decide_mira(scores, x, relevant, margin, weight)
        if self.selection in SIMULTANEOUS:
            return self.decide_simultaneously(x, scores, norms, relevant, margin, weight)
        if self.selection == "prediction" and relevant[np.argmax(scores)]:
            return Decision(0.0, mistake, float(mistake))
        return self.one_pair(
            low, high, max(0.0, self.margin - margin), norms, mistake, float(mistake), weight
        )

    def one_pair(self, r, s, loss, norms, mistake, cost, weight):
        """The step of S2 with a = phi_r - phi_s."""
        tau = self.length(loss, norms[r, s], weight, mistake)
        amounts = np.zeros(self.k)
        amounts[r], amounts[s] = tau, -tau
        return Decision(loss, mistake, cost, tau * loss, tau, amounts)

    def decide_costs(self, scores, norms, relevant, mistake, weight):
        """S10: the score of y should exceed that of r by the root of rho(y, r)."""
        [y] = np.flatnonzero(relevant)
        predicted = int(np.argmax(scores))
        losses = scores - scores[y] + np.sqrt(self.cost[y])
        losses[y] = 0.0
        q = predicted if self.selection == "prediction" else int(np.argmax(losses))
        cost = self.cost[y, predicted]
        if q == y:
            return Decision(0.0, mistake, cost)
        return self.one_pair(y, q, losses[q], norms, mistake, cost, weight)

    def decide_simultaneously(self, x, scores, norms, relevant, margin, weight):
        rows = pairs(relevant)
        margins = np.array([scores[r] - scores[s] for r, s in rows])
        q = np.array([norms[r, s] for r, s in rows])
        nu = np.array([1.0 if self.nu is None else self.nu[r][s] for r, s in rows])
        C = weight if self.selection == "uniform" else self.C * weight
        directions = np.array([np.eye(self.k)[r] - np.eye(self.k)[s] for r, s in rows])
        coefficients = self.coefficients(x, directions, margins, q, C, nu, weight)
        amounts = np.zeros(self.k)
        for (r, s), c in zip(rows, coefficients, strict=True):
            amounts[r] += c
            amounts[s] -= c
        loss, gain = max(0.0, self.margin - margin), coefficients @ (self.margin - margins)
        return Decision(loss, margin <= 0, float(margin <= 0), gain, coefficients.sum(), amounts)

    def decide_mira(self, scores, x, relevant, margin, weight):
        A = self.norms(x)[0, 1] / 2
        C = np.inf if self.step == "pa" else self.C * weight
        loss = max(0.0, self.beta - margin)
        if loss == 0:
            return Decision(0.0, margin <= 0, float(margin <= 0))
        if relevant.sum() == 1:
            amounts = mira_one(scores, np.flatnonzero(relevant)[0], A, C, self.beta)
        else:
            amounts = mira_set(scores, relevant, A, C, self.beta)
        total = amounts[relevant].sum()
        gain = total * self.beta - amounts @ scores
        return Decision(loss, margin <= 0, float(margin <= 0), gain, total, amounts)

    def predict(self, x):
        return int(np.argmax(self.scores(x)))


class Labels(Constant, Ranking):
    """S9.2, multi-prototype: score_r = W_r.x, the state is W (k x n), with the weights of the constant feature as
    its last column."""

    def __init__(self, k, *, fit_intercept=False, intercept_value="auto", W1=None, **options):
        super().__init__(k, **options)
        self.fit_intercept, self.intercept_value, self.W1 = fit_intercept, intercept_value, W1

    def start(self, x):
        self.settle(x)
        W = np.zeros((self.k, len(x))) if self.W1 is None else np.array(self.W1, dtype=float)
        self.state = np.hstack([W, np.zeros((self.k, 1))]) if self.fit_intercept else W

    def grow(self, k):
        """New labels, with weights of zero; for the average they were always there."""
        new = k - self.k
        self.k = k
        if self.state is not None:
            self.state = np.pad(self.state, ((0, new), (0, 0)))
        self.copies = [np.pad(copy, ((0, new), (0, 0))) for copy in self.copies]

    def extend(self, x):
        return self.with_constant(x) if self.fit_intercept else np.asarray(x, dtype=float)

    def scores(self, x):
        return self.state @ self.extend(x)

    def norms(self, x):
        """|phi_r - phi_s|^2 = 2|x|^2."""
        z = self.extend(x)
        return 2 * (z @ z) * (1 - np.eye(self.k))

    def largest_q(self, x, Y):
        return 2 * (self.extend(x) @ self.extend(x))

    def direction(self, x, amounts):
        return np.outer(amounts, self.extend(x))

    @property
    def W(self):
        return self.state[:, :-1] if self.fit_intercept else self.state

    @property
    def intercepts(self):
        return self.constant * self.state[:, -1] if self.fit_intercept else np.zeros(self.k)

    @property
    def average_W(self):
        return self.average_state[:, :-1] if self.fit_intercept else self.average_state

    @property
    def average_intercepts(self):
        return self.constant * self.average_state[:, -1] if self.fit_intercept else np.zeros(self.k)


class Prototype(Ranking):
    """S9.1, single-prototype: score_r = w.phi_r. An instance is a matrix whose column r holds phi_r."""

    def __init__(self, k, *, w1=None, **options):
        super().__init__(k, **options)
        if self.selection == "mira":
            raise ValueError("mira is multi-prototype")
        self.w1 = w1

    def start(self, Phi):
        self.state = np.zeros(len(Phi)) if self.w1 is None else np.array(self.w1, dtype=float)

    def scores(self, Phi):
        return self.state @ Phi

    def norms(self, Phi):
        return ((Phi[:, :, None] - Phi[:, None, :]) ** 2).sum(axis=0)

    def largest_q(self, Phi, Y):
        """Of all the pairs of the round."""
        relevant = mask(Y, self.k)
        return self.norms(Phi)[np.ix_(relevant, ~relevant)].max(initial=0.0)

    def direction(self, Phi, amounts):
        return Phi @ amounts

    @property
    def w(self):
        return self.state

    @property
    def average_w(self):
        return self.average_state


class Ordinal(Learner):
    """S13.2: ranks 0..k-1, the state is w and the thresholds b_0..b_(k-2); the rank is min{ i : w.x < b_i } or k-1."""

    def __init__(self, k, *, selection="simproj", sort_thresholds=None, **options):
        super().__init__(k, selection=selection, **options)
        if selection in ("prediction", "mira"):
            raise ValueError(f"ranks have no selection {selection!r}")
        self.sort_thresholds = selection != "simproj" if sort_thresholds is None else sort_thresholds

    def start(self, x):
        self.state = np.zeros(len(x) + self.k - 1)

    def tidy(self):
        if self.sort_thresholds:
            self.state = np.append(self.w, np.sort(self.thresholds))

    def decide(self, x, y, weight):
        signs = np.where(np.arange(self.k - 1) < y, 1, -1)
        margins = signs * (self.w @ x - self.thresholds)
        q = np.full(self.k - 1, self.largest_q(x, y))
        loss = max(0.0, self.margin - margins.min())
        mistake = margins.min() <= 0
        if self.selection == "max":
            coefficients = np.zeros(self.k - 1)
            j = np.argmin(margins)
            coefficients[j] = self.length(loss, q[j], weight, mistake)
        else:
            nu = np.ones(self.k - 1) if self.nu is None else np.asarray(self.nu, dtype=float)
            C = weight if self.selection == "uniform" else self.C * weight
            coefficients = self.coefficients(x, np.diag(signs), margins, q, C, nu, weight)
        gain = coefficients @ (self.margin - margins)
        return Decision(
            loss, mistake, float((margins <= 0).sum()), gain, coefficients.sum(), coefficients * signs
        )

    def largest_q(self, x, y):
        return x @ x + 1.0

    def direction(self, x, amounts):
        return np.append(amounts.sum() * x, -amounts)

    def score(self, x):
        return self.w @ x

    def predict(self, x):
        return int(np.flatnonzero(np.append(self.score(x) < self.thresholds, True))[0])

    @property
    def w(self):
        return self.state[: len(self.state) - self.k + 1]

    @property
    def thresholds(self):
        return self.state[len(self.state) - self.k + 1 :]

    @property
    def average_w(self):
        return self.average_state[: len(self.state) - self.k + 1]

    @property
    def average_thresholds(self):
        return self.average_state[len(self.state) - self.k + 1 :]
