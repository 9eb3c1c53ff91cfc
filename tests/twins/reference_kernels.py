"""Kernels on a budget in NumPy, slow and obvious (S8, S14, S15): what a learner with a kernel is compared with.

The predictor is a list of supports, each with the amounts that its round (or rounds) added to the lanes,

    f_r(x) = sum_i c_ir K'(x_i, x),    K' = K + 1 with an intercept,

and everything is computed anew from that list whenever it is asked for: scores, the scores of a cached example
without its own contribution, averages as sums over the rounds. Nothing is kept but the list, the thresholds of ranks
and the extra coordinate of a learned radius.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import reference
from reference_kernel_rules import RULES
from reference_labels import mask

NEARLY_ALL = 1e-9  # a centre that is one support but for so little cannot be rescaled without it


def kernel_function(kernel, degree, gamma, coef0):
    """K(x_i, z_j) of the rows of two matrices."""
    return {
        "linear": lambda X, Z: X @ Z.T,
        "poly": lambda X, Z: (gamma * (X @ Z.T) + coef0) ** degree,
        "rbf": lambda X, Z: np.exp(-gamma * np.sum((X[:, None] - Z[None]) ** 2, axis=2)),
    }[kernel]


@dataclass
class Statistics(reference.Statistics):
    insertions: int = 0
    removals: int = 0


@dataclass
class Support:
    x: np.ndarray
    y: object
    amounts: np.ndarray  # one a lane
    number: int  # of the example in the stream, or its row
    age: int  # how many came in before


@dataclass
class Copy:
    """A predictor as it was when it predicted."""

    amounts: dict  # of each support, by its age
    thresholds: np.ndarray
    height: float


class KernelReference:
    """`k` is the number of labels or ranks; None: two classes, -1 and +1, with one w."""

    def __init__(
        self,
        task,
        *,
        kernel="linear",
        degree=3,
        gamma=1.0,
        coef0=0.0,
        budget=None,
        removal="largest",
        beta=None,
        step="pa1",
        C=1.0,
        margin=1.0,
        selection="max",
        cost=None,
        nu=None,
        epsilon=0.1,
        radius=1.0,
        max_radius=None,
        w1=None,
        fit_intercept=False,
        intercept_value="auto",
        average=False,
        sort_thresholds=None,
        threshold=0.0,
        k=None,
    ):
        if average and budget is not None:
            raise ValueError("a removed support would leave the averaged vectors, too")
        self.task, self.k, self.budget, self.removal = task, k, budget, removal
        self.step, self.margin, self.selection, self.cost = step, margin, selection, cost
        self.epsilon, self.max_radius = epsilon, max_radius
        self.fixed_radius, self.average_from = radius, int(average)
        self.fit_intercept = fit_intercept and task in ("classification", "regression", "multilabel")
        self.constant = 1.0 if intercept_value == "auto" else intercept_value
        self.waits = intercept_value == "auto" and kernel == "linear"
        self.learned_threshold = task == "multilabel" and threshold == "learned"
        self.sort_thresholds = selection != "simproj" if sort_thresholds is None else sort_thresholds
        self.awaits_first = task == "uniclass" and w1 in (None, "first")
        if beta is None:
            beta = 0.01 if selection == "mira" or budget is not None else 0.0
        self.beta = beta
        self.kernel = kernel_function(kernel, degree, gamma, coef0)
        many = task == "multilabel" or (task == "classification" and k is not None)
        family = "labels" if many else task
        self.family = "learned threshold" if self.learned_threshold else family
        self.lanes = {"labels": k, "learned threshold": 1 + (k or 0), "ordinal": (k or 0) - 1}.get(
            self.family, 1
        )
        self.decide_with = RULES[self.family](
            k=k, step=step, C=C, margin=margin, selection=selection, beta=beta, cost=cost, nu=nu, epsilon=epsilon,
            radius=radius if max_radius is None else max_radius,
        )  # fmt: skip

        self.cache: list[Support] = []
        self.thresholds = np.zeros(self.lanes if task == "ordinal" else 0)
        self.height = 0.0 if max_radius is None else float(max_radius)  # c of S7
        self.origin = 1.0  # a centre is a mean of its supports and of 0, with this weight
        self.statistics = Statistics()
        self.seen = 0
        self.copies: list[Copy] = []
        self.log: list[tuple[str, int]] = []  # ("insertion" or "removal", the example's number)

    # --- the predictor ---

    def K(self, X, Z):
        return self.kernel(np.atleast_2d(X), np.atleast_2d(Z)) + self.fit_intercept * self.constant**2

    def size(self, x):
        return self.K(x, x)[0, 0]

    def sums(self, x, coefficients):
        """sum_i c_i K'(x_i, x), a number a lane; `coefficients` has the amounts of each in the cache."""
        if not self.cache:
            return np.zeros(self.lanes)
        products = np.array(coefficients) * self.K([s.x for s in self.cache], x)
        return products.sum(axis=0)  # lanes that tie are added up in the same order

    def distance(self, x, coefficients, height):
        """|x - w| in feature space and, for a learned radius, one more coordinate."""
        square = self.size(x)
        if self.cache:
            c, X = np.array(coefficients)[:, 0], [s.x for s in self.cache]
            square = c @ self.K(X, X) @ c - 2 * self.sums(x, coefficients)[0] + square
        return np.sqrt(max(0.0, square) + height**2)

    def read(self, x, coefficients=None, thresholds=None):
        """What the rule sees of x: a score a lane (ranks: f - b_j), or the distance."""
        coefficients = [s.amounts for s in self.cache] if coefficients is None else coefficients
        if self.task == "uniclass":
            return np.array([self.distance(x, coefficients, self.height)])
        if self.task == "ordinal":
            f = self.sums(x, coefficients).sum()
            return f - (self.thresholds if thresholds is None else thresholds)
        return self.sums(x, coefficients)

    # --- one round ---

    def learn(self, x, y=None, weight=1.0, row=None):
        """`row`: where the example stands in a set that is passed several times."""
        number = self.seen if row is None else row
        self.seen += 1
        if weight == 0:
            return
        x = np.array(x, dtype=float)
        if self.waits:
            self.constant, self.waits = reference.constant_near(x), False
        if self.awaits_first:
            self.awaits_first, self.origin = False, 0.0
            self.insert(x, y, np.ones(1), number)
            return
        first = second = self.decide_with(self.read(x), self.size(x), y, weight)
        self.remember()
        known = [s for s in self.cache if s.number == number] if row is not None else []
        if first.moves and not known and isinstance(self.budget, int) and len(self.cache) >= self.budget:
            self.remove(self.victim())
            if self.step != "perceptron":
                second = self.decide_with(self.read(x), self.size(x), y, weight)

        s = self.statistics
        s.rounds += 1
        s.mistakes += bool(first.mistake)
        s.cost += first.cost
        s.loss += first.loss
        s.squared_loss += first.loss**2
        s.largest_q = max(s.largest_q, first.q)
        s.updates += bool(second.length > 0)
        s.progress += second.progress

        if not second.moves:
            return
        for support in self.cache:
            support.amounts = second.decay * support.amounts
        self.height *= second.decay
        self.origin *= second.decay
        if known:
            known[0].amounts = known[0].amounts + second.amounts
        else:
            self.insert(x, y, second.amounts, number)
        if self.task == "ordinal":
            self.shift_thresholds(-second.amounts)
        if self.budget == "adaptive":
            self.distil()

    def remember(self):
        if self.average_from and self.statistics.rounds + 1 >= self.average_from:
            amounts = {s.age: s.amounts.copy() for s in self.cache}
            self.copies.append(Copy(amounts, self.thresholds.copy(), self.height))

    def insert(self, x, y, amounts, number):
        self.cache.append(Support(x, y, np.array(amounts, dtype=float), number, self.statistics.insertions))
        self.statistics.insertions += 1
        self.log.append(("insertion", number))

    def shift_thresholds(self, by):
        self.thresholds = self.thresholds + by
        if self.sort_thresholds:
            self.thresholds = np.sort(self.thresholds)

    # --- the budget ---

    def without(self, i):
        """The amounts of all in the cache, with example i as if it had never come; its own are 0."""
        scale = 1 / self.rest(i) if self.task == "uniclass" and self.rest(i) >= NEARLY_ALL else 1.0
        return [0 * s.amounts if j == i else scale * s.amounts for j, s in enumerate(self.cache)]

    def rest(self, i):
        """1 - c_i of a centre; as a sum, because the errors of a difference would grow from removal to removal."""
        return self.origin + sum(float(s.amounts[0]) for j, s in enumerate(self.cache) if j != i)

    def slack(self, i):
        """How much better than the rule asks example i is without itself."""
        support = self.cache[i]
        thresholds = self.thresholds + support.amounts if self.task == "ordinal" else None
        if self.task == "ordinal" and self.sort_thresholds:
            thresholds = np.sort(thresholds)
        scores, y = self.read(support.x, self.without(i), thresholds), support.y
        wanted = self.beta if self.selection == "mira" or self.step == "perceptron" else self.margin
        if self.task == "regression":
            return self.epsilon - abs(y - scores[0])
        if self.task == "uniclass":
            return (self.fixed_radius if self.max_radius is None else self.max_radius) - scores[0]
        if self.task == "ordinal":
            sides = np.where(np.arange(self.lanes) < y, 1, -1)
            return np.min(sides * scores) - self.margin
        if self.k is None:
            return y * scores[0] - wanted
        if self.cost is not None:
            costs = np.asarray(self.cost, dtype=float)[y]
            counts = (costs > 0) & (np.arange(self.k) != y)
            return np.min((scores[y] - scores - self.margin * np.sqrt(costs))[counts], initial=np.inf)
        labels = scores[1:] if self.learned_threshold else scores
        relevant = mask(y, self.k)
        ranks = relevant.any() and not relevant.all()
        slack = labels[relevant].min() - labels[~relevant].max() - wanted if ranks else np.inf
        if self.learned_threshold:
            middle, width = self.decide_with.between(labels, relevant)
            slack = min(slack, width - abs(middle - scores[0]))
        return slack

    def victim(self):
        """For a cache that is full."""
        return self.choice([(i, self.slack(i)) for i in range(len(self.cache))])

    def distil(self):
        while len(self.cache) > (self.task == "uniclass"):
            slacks = [(i, self.slack(i)) for i in range(len(self.cache))]
            qualified = [(i, slack) for i, slack in slacks if slack >= 0]
            if not qualified:
                return
            self.remove(self.choice(qualified))

    def choice(self, candidates):
        """The place of the one with the largest slack, of several the oldest; or of the oldest."""
        if self.removal == "oldest":
            return min(candidates, key=lambda each: self.cache[each[0]].age)[0]
        return min(candidates, key=lambda each: (-each[1], self.cache[each[0]].age))[0]

    def remove(self, i):
        gone, own, rest = self.cache[i], self.cache[i].amounts, self.rest(i)
        for support, its in zip(self.cache, self.without(i), strict=True):
            support.amounts = its
        self.origin = self.origin / rest if rest >= NEARLY_ALL else self.origin + float(own[0])
        self.cache[i] = self.cache[-1]
        self.cache.pop()
        if self.task == "ordinal":
            self.shift_thresholds(own)
        self.statistics.removals += 1
        self.log.append(("removal", gone.number))

    # --- more labels ---

    def grow(self, k):
        """New labels, with amounts of zero. (Not from two classes with one w.)"""
        new, self.k = k - self.k, k
        self.lanes += new
        self.decide_with.k = k
        for support in self.cache:
            support.amounts = np.pad(support.amounts, (0, new))
        for copy in self.copies:
            copy.amounts = {age: np.pad(amounts, (0, new)) for age, amounts in copy.amounts.items()}

    # --- what was learned ---

    @property
    def support(self):
        return [s.number for s in self.cache]

    @property
    def coefficients(self):
        """The amounts of each in the cache."""
        return [s.amounts for s in self.cache]

    @property
    def average_coefficients(self):
        """S15: the mean of what each had when the rounds predicted."""
        if not self.copies:
            return self.coefficients
        return [self.mean_amounts(s.age) for s in self.cache]

    def mean_amounts(self, age):
        return sum(copy.amounts.get(age, np.zeros(self.lanes)) for copy in self.copies) / len(self.copies)

    @property
    def average_thresholds(self):
        copies = self.copies
        return sum(copy.thresholds for copy in copies) / len(copies) if copies else self.thresholds

    @property
    def average_height(self):
        return sum(c.height for c in self.copies) / len(self.copies) if self.copies else self.height

    def dual_coef(self, averaged=False):
        """One number a support (ranks: the total of its amounts), or a row a label."""
        coefficients = self.average_coefficients if averaged else self.coefficients
        if self.family in ("labels", "learned threshold"):
            first = int(self.learned_threshold)
            return np.reshape(coefficients, (-1, self.lanes)).T[first:]
        return np.array([amounts.sum() for amounts in coefficients])

    def radius(self, averaged=False):
        if self.max_radius is None:
            return self.fixed_radius
        c = self.average_height if averaged else self.height
        return np.sqrt((self.max_radius - c) * (self.max_radius + c))

    def scores(self, x, averaged=False):
        """As `hinge.Learner` gives them: a number, or one a label; uniclass: radius - distance; ranks: f."""
        x = np.asarray(x, dtype=float)
        coefficients = self.average_coefficients if averaged else self.coefficients
        if self.task == "uniclass":
            return self.radius(averaged) - self.distance(x, coefficients, 0.0)
        sums = self.sums(x, coefficients)
        if self.task == "ordinal":
            return sums.sum()
        return sums[int(self.learned_threshold) :] if self.k is not None else sums[0]

    def threshold_score(self, x, averaged=False):
        """Of a learned threshold."""
        return self.sums(x, self.average_coefficients if averaged else self.coefficients)[0]
