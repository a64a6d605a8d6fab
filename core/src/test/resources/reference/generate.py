#!/usr/bin/env python3
"""Reference solutions of the weighted group prox, slow and in 80 digits.

For one group, minimise globally over z in R^n

    J(z) = 1/2 sum_i d_i (z_i - x_i)^2 + alpha h(||z||)

    group-lasso   h(r) = lambda r
    group-mcp     h(r) = lambda r - r^2 / (2 beta)   for r <= beta lambda,
                         beta lambda^2 / 2           beyond

for any d_i > 0; alpha < beta min(d) is not assumed.

Method. With u = D x, a stationary point of norm theta in (0, beta lambda] is
z_i = theta u_i / (d_i theta + alpha h'(theta)), and its norm is theta exactly where

    t(theta) = sum_i u_i^2 / ((d_i - alpha/beta) theta + alpha lambda)^2 = 1.

The denominators are linear and positive, so t is convex and there are at most two roots, one on each side of its
minimum. Bisection finds the minimum and then the roots. The other candidates are 0 (stationary if ||u|| <= alpha lambda)
and x (if ||x|| >= beta lambda). The lowest J wins. Group lasso is the same thing with beta = infinity.

    generate.py                  write prox.jsonl next to this file
    generate.py --check RESULTS  compare results, one JSON object a line, with prox.jsonl
"""
import argparse
import collections
import json
import math
import pathlib
import random
import sys

from mpmath import mp, mpf

mp.dps = 80
SEED = 20240229
HERE = pathlib.Path(__file__).resolve().parent
SIZES = [1, 2, 3, 5, 9, 17, 64]
CASES = {(True, True): 1, (True, False): 2, (False, True): 3, (False, False): 4}

Problem = collections.namedtuple("Problem", "x d alpha lam beta")  # beta is infinite for group lasso
Candidate = collections.namedtuple("Candidate", "kind z value")    # kind: zero, root or x


# ---------------------------------------------------------------- the solution

def exact(x, d, alpha, lam, beta):
    """The float64 inputs as exact 80-digit numbers."""
    return Problem([mpf(v) for v in x], [mpf(v) for v in d], mpf(alpha), mpf(lam), mp.inf if beta is None else mpf(beta))


def norm(v):
    return mp.sqrt(mp.fsum(e * e for e in v))


def distance(v, w):
    return norm([a - b for a, b in zip(v, w)])


def penalty(p, r):
    if p.lam == 0 or r >= p.beta * p.lam:
        return mpf(0) if p.lam == 0 else p.beta * p.lam ** 2 / 2
    return p.lam * r - r * r / (2 * p.beta)


def penalty_slope(p, r):
    return mpf(0) if p.lam == 0 else max(mpf(0), p.lam - r / p.beta)


def objective(p, z):
    return mp.fsum(d * (a - b) ** 2 for d, a, b in zip(p.d, z, p.x)) / 2 + p.alpha * penalty(p, norm(z))


def bisect(f, lo, hi):
    """The sign change of f in (lo, hi], where f(lo) > 0 >= f(hi)."""
    while hi - lo > hi * mpf(10) ** -78:
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if f(mid) > 0 else (lo, mid)
    return hi


def roots(p):
    """All theta in (0, min(beta lambda, ||x||)) with t(theta) = 1; every stationary point has norm at most ||x||."""
    u = [d * x for d, x in zip(p.d, p.x)]
    squares, slopes, l = [e * e for e in u], [d - p.alpha / p.beta for d in p.d], p.alpha * p.lam
    t = lambda theta: mp.fsum(q / (s * theta + l) ** 2 for q, s in zip(squares, slopes))
    minus_dt = lambda theta: mp.fsum(q * s / (s * theta + l) ** 3 for q, s in zip(squares, slopes))
    end = min(p.beta * p.lam, norm(p.x))
    lowest = mpf(0) if minus_dt(mpf(0)) <= 0 else end if minus_dt(end) >= 0 else bisect(minus_dt, mpf(0), end)
    found = []
    if norm(u) > l and t(lowest) <= 1:               # t falls through 1 before its minimum
        found.append(bisect(lambda theta: t(theta) - 1, mpf(0), lowest))
    if norm(p.x) > p.beta * p.lam and t(lowest) < 1:  # t rises through 1 after it
        found.append(bisect(lambda theta: 1 - t(theta), lowest, end))
    return found


def candidates(p):
    """Every stationary point, lowest objective first (x before the others where equal)."""
    zero, l = [mpf(0)] * len(p.x), p.alpha * p.lam
    u_norm, x_norm = norm([d * x for d, x in zip(p.d, p.x)]), norm(p.x)
    points = []
    if x_norm == 0:
        return [Candidate("zero", zero, mpf(0))]
    if l == 0 or x_norm >= p.beta * p.lam:
        points.append(("x", p.x))
    if l > 0:
        for theta in roots(p):
            z = [theta * d * x / (d * theta + p.alpha * penalty_slope(p, theta)) for d, x in zip(p.d, p.x)]
            if not (points and distance(z, p.x) < mpf(10) ** -60 * x_norm):  # at the knee the root is x itself
                points.append(("root", z))
    if u_norm <= l:
        points.append(("zero", zero))
    return sorted((Candidate(kind, z, objective(p, z)) for kind, z in points), key=lambda c: c.value)


# ---------------------------------------------------------------- doubts about it

def residual(p, z):
    """Distance of 0 from the subdifferential of J at z, relative to ||u||."""
    u, theta = [d * x for d, x in zip(p.d, p.x)], norm(z)
    if norm(u) == 0:
        return norm(z)
    if theta == 0:
        return max(mpf(0), norm(u) - p.alpha * p.lam) / norm(u)
    slope = p.alpha * penalty_slope(p, theta) / theta
    return norm([d * a - e + slope * a for d, a, e in zip(p.d, z, u)]) / norm(u)


def rivals(p, z, rng):
    """Points that must not be better than z."""
    n, size = len(z), norm(p.x) or mpf(1)
    yield [mpf(0)] * n
    yield p.x
    # min J over a sphere of radius <= ||x|| is at (D + mu)^-1 u with some mu >= 0: the global minimiser is on this curve.
    low, high = mp.log10(min(p.d)) - 3, mp.log10(max(p.d)) + 3
    for k in range(100):
        mu = mpf(10) ** (low + (high - low) * k / 99)
        yield [d * x / (d + mu) for d, x in zip(p.d, p.x)]
    for k in range(30):
        step = size * mpf(10) ** -rng.randrange(0, 25)
        scaled = rng.random() < 0.5    # along the metric: long where d is small
        move = [step * mpf(rng.gauss(0, 1)) * (mp.sqrt(min(p.d) / d) if scaled else 1) for d in p.d]
        yield [a + m for a, m in zip(z, move)]
    for k in range(10):
        yield [a * (1 + rng.choice((-1, 1)) * mpf(10) ** -rng.randrange(0, 25)) for a in z]
        yield [mpf(rng.random()) * a for a in p.x]
        yield [a if rng.random() < 0.5 else b for a, b in zip(z, p.x)]
        yield [a if rng.random() < 0.5 else mpf(0) for a in z]


def verify(p, best, rng):
    assert residual(p, best.z) < mpf(10) ** -60, "not stationary"
    floor = best.value * (1 - mpf(10) ** -65)
    assert all(objective(p, z) >= floor for z in rivals(p, best.z, rng)), "not the global minimum"


def tied(points):
    return len(points) > 1 and points[1].value - points[0].value < mpf("1e-9") * points[1].value


def ill_conditioned(p, best, rng):
    """Whether a relative change of 1e-16 in u moves the minimiser by more than 1e-12 ||x||."""
    for k in range(4):
        signs = [rng.choice((-1, 1)) if k > 1 else 2 * k - 1 for _ in p.x]
        moved = p._replace(x=[a * (1 + s * mpf("1e-16")) for a, s in zip(p.x, signs)])
        if distance(candidates(moved)[0].z, best.z) > mpf("1e-12") * norm(p.x):
            return True
    return False


# ---------------------------------------------------------------- the cases

def log_uniform(rng, low, high):
    return 10 ** rng.uniform(math.log10(low), math.log10(high))


def metric(rng, n, orders):
    """d over exactly that many orders of magnitude, at a random level."""
    exponents = [rng.uniform(0, orders) for _ in range(n)]
    if n > 1:
        exponents[:2] = [0, orders]
    rng.shuffle(exponents)
    level = rng.uniform(-2, 2) - orders / 2
    return [10 ** (level + e) for e in exponents]


def gauss(rng, n, scale=1.0):
    return [scale * rng.gauss(0, 1) for _ in range(n)]


def norms(x, d):
    """||x|| and ||u||, rounded from 80 digits."""
    p = exact(x, d, 0, 0, None)
    return float(norm(p.x)), float(norm([a * b for a, b in zip(p.x, p.d)]))


def lasso(rng, n, orders, ratio, x=None, d=None):
    """Group lasso with ||u|| = alpha lambda ratio, to one rounding."""
    x, d = x or gauss(rng, n), d or metric(rng, n, orders)
    alpha = log_uniform(rng, 1e-4, 1e1)
    lam = float(mpf(norms(x, d)[1]) / mpf(alpha) / mpf(ratio)) if any(x) else 1.0
    return x, d, alpha, lam, None


def mcp_convex(rng, n, orders, relative=None):
    """alpha < beta min(d), and either ||u|| = alpha lambda relative or ||x|| anywhere about the knee."""
    x, d = gauss(rng, n), metric(rng, n, orders)
    beta = log_uniform(rng, 0.1, 100)
    alpha = beta * min(d) * rng.uniform(0.05, 0.95)
    x_norm, u_norm = norms(x, d)
    if relative:
        return x, d, alpha, float(mpf(u_norm) / mpf(alpha) / mpf(relative)), beta
    return x, d, alpha, log_uniform(rng, 0.7 * x_norm / beta, 1.5 * u_norm / alpha), beta


def mcp_nonconvex(rng, n, case, orders=None):
    """alpha >= beta min(d), and lambda chosen such that one of the four cases (if possible) arises."""
    d = metric(rng, n, rng.choice((1, 2, 3, 5, 7)) if orders is None else orders)
    x = gauss(rng, n)
    if rng.random() < 0.5:             # large x where d is small, so that the curvatures compete
        x = [a / math.sqrt(e) for a, e in zip(x, d)]
    beta = log_uniform(rng, 0.1, 10)
    alpha = beta * log_uniform(rng, 1.2 * min(d), 10 * max(d))
    x_norm, u_norm = norms(x, d)
    knee, threshold = x_norm / beta, u_norm / alpha   # lambda at which x is at the knee, u at the threshold
    low, high = {1: (max(knee, threshold), 3 * max(knee, threshold)), 2: (knee, threshold), 3: (threshold, knee),
                 4: (0.1 * min(knee, threshold), min(knee, threshold))}[case]
    return (x, d, alpha, log_uniform(rng, low, high), beta) if low < high else None


def mcp_knee(rng, n, relative, convex):
    """||x|| = beta lambda relative."""
    x, d, alpha, _, beta = mcp_convex(rng, n, 2) if convex else mcp_nonconvex(rng, n, 4)
    return x, d, alpha, float(mpf(norms(x, d)[0]) / mpf(beta) / mpf(relative)), beta


def mcp_near_tie(rng, n, relative):
    """0 against x: sum d x^2 = alpha beta lambda^2 relative."""
    made = mcp_nonconvex(rng, n, 3)
    if made:
        x, d, alpha, _, beta = made
        energy = mp.fsum(mpf(b) * mpf(a) ** 2 for a, b in zip(x, d))
        made = x, d, alpha, float(mp.sqrt(energy / mpf(alpha) / mpf(beta) / mpf(relative))), beta
    return made


def adam(rng, n, mcp):
    """d = sqrt(v) + 1e-8 with log-normal v, some of it never touched by a gradient."""
    level = rng.uniform(-32, -10)
    d = [(0.0 if rng.random() < 0.1 else math.exp(rng.gauss(level, 4) / 2)) + 1e-8 for _ in range(n)]
    return gauss(rng, n, 0.05), d, 1e-3, log_uniform(rng, 1e-5, 1e-3), log_uniform(rng, 10, 1e6) if mcp else None


def scaled(rng, n, scale, k):
    """x and lambda of this scale: squares leave float64, u and alpha lambda do not."""
    while True:
        made = lasso(rng, n, 2, log_uniform(rng, 0.5, 50)) if k % 2 == 0 else \
            mcp_convex(rng, n, 1) if k % 4 == 1 else mcp_nonconvex(rng, n, rng.choice((1, 3, 4)), 2)
        if made and 1e-3 < made[3] < 1e3 and 1e-3 < made[2] * made[3] < 1e3:
            x, d, alpha, lam, beta = made
            return [a * scale for a in x], d, alpha, lam * scale, beta


def with_zeros(rng, made):
    """About half of x replaced by 0, never all of it."""
    if made is None:
        return None
    kept = rng.randrange(len(made[0]))
    return ([a if i == kept or rng.random() < 0.5 else 0.0 for i, a in enumerate(made[0])],) + made[1:]


def signs(k):
    """1 +- 1e-3, 1e-6, 1e-9, 1e-12 in turn, exact in 80 digits."""
    return 1 + (-1) ** k * mpf(10) ** -(3 * (k // 2 % 4 + 1))


ones = lambda n: [1.0] * n
AT_THRESHOLD = [   # ||u|| = alpha lambda in exact float64
    ([3.0, 4.0], ones(2), 1.0, 5.0, None), ([-5.0, 12.0], ones(2), 1.0, 13.0, None), ([7.0], [1.0], 1.0, 7.0, None),
    ([1.0, -2.0, 2.0], ones(3), 0.5, 6.0, None), ([3.0, 2.0], [1.0, 2.0], 1.0, 5.0, None),
    ([2.0, 12.0, 1.5], [1.0, 0.25, 4.0], 2.0, 3.5, None), ([1.0] * 4 + [0.0], ones(5), 1.0, 2.0, None),
    (ones(9), ones(9), 0.25, 12.0, None), (ones(64), ones(64), 1.0, 8.0, None),
    ([3.0, 4.0], ones(2), 1.0, 5.0, 2.0), ([7.0], [2.0], 1.0, 14.0, 4.0), ([1.0, -2.0, 2.0], ones(3), 0.5, 6.0, 1.0),
    ([3.0, 2.0], [1.0, 2.0], 1.0, 5.0, 0.875), ([2.0, 12.0, 1.5], [1.0, 0.25, 4.0], 2.0, 3.5, 4.0),
    (ones(64), ones(64), 1.0, 8.0, 16.0)]
AT_KNEE = [        # ||x|| = beta lambda in exact float64; in the last four the minimiser is not x all the same
    ([3.0, 4.0], ones(2), 1.0, 2.5, 2.0), ([-5.0, 12.0], [1.0, 2.0], 0.5, 13.0, 1.0), ([7.0], [4.0], 1.0, 3.5, 2.0),
    (ones(64), [2.0] * 64, 1.0, 8.0, 1.0),
    ([3.0, 4.0], [10.0, 0.015625], 1.0, 5.0, 1.0), ([1.0, 2.0, 2.0], [8.0, 0.125, 0.0625], 2.0, 1.5, 2.0),
    ([3.0, 4.0], [0.5, 0.25], 4.0, 5.0, 1.0), ([7.0], [0.25], 1.0, 3.5, 2.0)]
TIES = [           # sum d x^2 = alpha beta lambda^2: 0 and x are equally good
    ([2.0], [1.0], 4.0, 1.0, 1.0), ([3.0, 4.0], ones(2), 25.0, 1.0, 1.0), (ones(9), ones(9), 4.5, 1.0, 2.0)]

any_outcome = lambda points: True
won_by = lambda kind, others=None: lambda points: points[0].kind == kind and (
    others is None or sum(c.kind == "root" for c in points) == others)


def families():
    """(family, count, maker of the k-th problem, the outcome wanted). A maker may be called many times."""
    size = lambda k: SIZES[k % 7]
    several = lambda k: SIZES[1 + k % 6]
    yield "lasso-constant-d", 14, lambda r, k: lasso(r, size(k), 0, log_uniform(r, 0.5, 30)), any_outcome
    for orders in (1, 3, 7, 12):
        yield (f"lasso-spread-{orders}", 12,
               lambda r, k, o=orders: lasso(r, several(k), o, log_uniform(r, 0.8, 10 ** (o * 0.7 + 0.5))), any_outcome)
    yield "lasso-near-threshold", 24, lambda r, k: lasso(r, SIZES[(k + k // 8) % 7], (0, 3, 7)[k // 8], signs(k)), any_outcome
    yield "lasso-far-above", 14, lambda r, k: lasso(r, size(k), r.choice((0, 3)), log_uniform(r, 1e2, 1e8)), any_outcome
    yield "at-threshold", len(AT_THRESHOLD), lambda r, k: AT_THRESHOLD[k], any_outcome
    yield "zeros-inside", 14, lambda r, k: with_zeros(
        r, lasso(r, several(k), 3, log_uniform(r, 1.5, 30)) if k % 2 else mcp_nonconvex(r, several(k), 1 + k // 2 % 4)), \
        any_outcome
    yield "x-zero", 8, lambda r, k: ([0.0] * several(k), metric(r, several(k), 3), 0.1, 0.0 if k == 7 else 0.5,
                                     2.0 if k % 2 else None), any_outcome
    yield "lambda-zero", 6, lambda r, k: (gauss(r, several(k)), metric(r, several(k), 3), 0.1, 0.0, 2.0 if k % 2 else None), \
        any_outcome
    yield "alpha-zero", 6, lambda r, k: (gauss(r, several(k)), metric(r, several(k), 3), 0.0, 0.5, 2.0 if k % 2 else None), \
        any_outcome
    yield "scale-tiny", 8, lambda r, k: scaled(r, SIZES[k % 6], 1e-300, k), any_outcome
    yield "scale-subnormal", 6, lambda r, k: scaled(r, SIZES[k % 6], 1e-313, k), any_outcome
    yield "scale-huge", 8, lambda r, k: scaled(r, SIZES[k % 6], 1e300, k), any_outcome
    yield "adam-lasso", 14, lambda r, k: adam(r, size(k), False), any_outcome
    yield "adam-mcp", 21, lambda r, k: adam(r, size(k), True), any_outcome
    for kind in ("zero", "root", "x"):
        yield f"mcp-convex-{kind}", 8, lambda r, k: mcp_convex(r, size(k), r.choice((0, 1, 3))), won_by(kind)
    yield "mcp-near-threshold", 16, lambda r, k: mcp_convex(r, size(k), k // 8, signs(k)), any_outcome
    yield "mcp-case1", 30, lambda r, k: mcp_nonconvex(r, size(k), 1), won_by("zero")
    yield "mcp-case2", 30, lambda r, k: mcp_nonconvex(r, several(k), 2), won_by("root")
    yield "mcp-case3-zero", 16, lambda r, k: mcp_nonconvex(r, size(k), 3), won_by("zero")
    yield "mcp-case3-x", 16, lambda r, k: mcp_nonconvex(r, several(k), 3), won_by("x")
    yield "mcp-case4-root", 14, lambda r, k: mcp_nonconvex(r, several(k), 4), won_by("root", 2)
    yield "mcp-case4-x-two-roots", 10, lambda r, k: mcp_nonconvex(r, several(k), 4), won_by("x", 2)
    yield "mcp-case4-x-no-root", 8, lambda r, k: mcp_nonconvex(r, size(k), 4), won_by("x", 0)
    yield "mcp-near-knee", 16, lambda r, k: mcp_knee(r, several(k), signs(k), k < 8), any_outcome
    yield "mcp-at-knee", len(AT_KNEE), lambda r, k: AT_KNEE[k], any_outcome
    yield "mcp-near-tie", 8, lambda r, k: mcp_near_tie(
        r, several(k), 1 + (-1) ** k * mpf(10) ** -(2 * (k // 2 % 4 + 1))), any_outcome
    yield "mcp-tie", len(TIES), lambda r, k: TIES[k], any_outcome
    yield "mcp-huge-beta", 12, lambda r, k: lasso(r, size(k), 3, log_uniform(r, 0.8, 100))[:4] + (
        (1e8, 1e12, 1e100, 1e300)[k % 4],), any_outcome
    yield "group-of-one", 12, lambda r, k: lasso(r, 1, 0, log_uniform(r, 0.5, 5)) if k % 3 == 0 else \
        mcp_convex(r, 1, 0) if k % 3 == 1 else mcp_nonconvex(r, 1, r.choice((1, 3, 4))), any_outcome
    yield "large-300", 6, lambda r, k: lasso(r, 300, 3, log_uniform(r, 1.5, 30)) if k < 2 else \
        adam(r, 300, True) if k == 2 else mcp_nonconvex(r, 300, k - 1), any_outcome


def generate(path):
    counts, cases, rejected = collections.defaultdict(collections.Counter), collections.Counter(), collections.Counter()
    with open(path, "w", encoding="ascii") as out:
        for family, count, make, wanted in families():
            rng = random.Random(f"{SEED} {family}")
            for k in range(count):
                for _ in range(10_000):
                    made = make(rng, k)
                    if made is None:
                        continue
                    p, flagged = exact(*made), family == "mcp-tie"
                    points = candidates(p)
                    if not wanted(points):
                        continue
                    if not flagged and tied(points):
                        rejected["tie"] += 1
                    elif not flagged and ill_conditioned(p, points[0], rng):
                        rejected["ill-conditioned"] += 1
                    else:
                        break
                    assert family not in ("at-threshold", "mcp-at-knee"), f"{family} {k} is rejected"
                else:
                    raise RuntimeError(f"no {family} {k} found")
                x, d, alpha, lam, beta = made
                best = points[0]
                verify(p, best, rng)
                branch = {"zero": "zeroed", "root": "shrunk", "x": "untouched"}[best.kind]
                case = {"name": f"{family}/{k}", "penalty": "group-lasso" if beta is None else "group-mcp",
                        "x": x, "d": d, "alpha": alpha, "lambda": lam, "beta": beta, "branch": branch,
                        "theta": mp.nstr(norm(best.z), 50), "z": [mp.nstr(e, 50) for e in best.z]}
                if flagged:
                    case["tie"] = True
                out.write(json.dumps(case) + "\n")
                counts[family][branch] += 1
                if beta is not None and p.alpha >= p.beta * min(p.d):
                    u = [a * b for a, b in zip(p.d, p.x)]
                    cases[CASES[norm(p.x) <= p.beta * p.lam, norm(u) <= p.alpha * p.lam], branch] += 1
    branches = ("zeroed", "shrunk", "untouched")
    row = "{:24}" + "{:>11}" * 4
    print(row.format("family", *branches, "all"))
    for family, c in list(counts.items()) + [("total", sum(counts.values(), collections.Counter()))]:
        print(row.format(family, *(c[b] for b in branches), sum(c.values())))
    print("\nnon-convex group-mcp (alpha >= beta min d), over all families")
    for case, text in enumerate(("||x|| <= knee, ||u|| <= l", "||x|| <= knee, ||u|| > l", "||x|| > knee, ||u|| <= l",
                                 "||x|| > knee, ||u|| > l"), 1):
        c = [cases[case, b] for b in branches]
        print(row.format(f"case {case}", *c, sum(c)), "", text)
    print("\nrejected:", dict(rejected))


# ---------------------------------------------------------------- judging results

def check(reference, results, tolerance):
    """Print the worst ||z - z*|| / ||x|| of each family and every wrong branch; True when all is well."""
    with open(reference, encoding="ascii") as a, open(results, encoding="utf-8") as b:
        expected, actual = [[json.loads(line) for line in f if line.strip()] for f in (a, b)]
    if len(expected) != len(actual):
        print(f"{len(expected)} cases but {len(actual)} results")
        return False
    number = lambda v: mpf(v if isinstance(v, float) else str(v))
    smallest = mpf(2) ** -1074         # float64 cannot do better than this in each entry
    worst, wrong, branches = {}, [], 0
    for case, result in zip(expected, actual):
        x, z = [mpf(v) for v in case["x"]], [mpf(v) for v in case["z"]]
        theta, branch = mpf(case["theta"]), case["branch"]
        try:
            got, got_branch, got_theta = [number(v) for v in result["z"]], result["branch"].lower(), number(result["theta"])
            assert len(got) == len(z)
        except (KeyError, TypeError, ValueError, AttributeError, AssertionError):
            wrong.append(f"{case['name']}: not a result of {len(z)} entries: {json.dumps(result)[:120]}")
            continue
        if case.get("tie") and got_branch == "zeroed":    # 0 is as good as x
            z, theta, branch = [mpf(0)] * len(z), mpf(0), "zeroed"
        size = norm(x) or smallest
        error = norm([max(mpf(0), abs(a - b) - smallest) if mp.isfinite(a) else mp.inf for a, b in zip(got, z)]) / size
        theta_error = max(mpf(0), abs(got_theta - theta) - smallest) / size if mp.isfinite(got_theta) else mp.inf
        family = case["name"].split("/")[0]
        count, *top = worst.get(family, (0, (mpf(-1), ""), mpf(0), 0))
        mismatch = got_branch != branch
        worst[family] = count + 1, max(top[0], (error, case["name"])), max(top[1], theta_error), top[2] + mismatch
        if mismatch:
            branches += 1
            wrong.append(f"{case['name']}: branch {got_branch}, expected {branch}; error {mp.nstr(error, 3)}")
        elif max(error, theta_error) > tolerance:
            wrong.append(f"{case['name']}: error {mp.nstr(error, 3)} in z, {mp.nstr(theta_error, 3)} in theta")
    row = "{:24}{:>6}{:>14}{:>14}{:>10}  {}"
    print(row.format("family", "cases", "z error", "theta error", "branches", "worst case"))
    for family, (count, (error, name), theta_error, mismatches) in worst.items():
        print(row.format(family, count, mp.nstr(error, 3), mp.nstr(theta_error, 3), mismatches, name))
    print(*wrong, sep="\n")
    overall = max((w[1] for w in worst.values()), default=(mp.inf, "none"))
    print(f"{len(expected)} cases, worst z error {mp.nstr(overall[0], 3)} ({overall[1]}), {branches} wrong branches, "
          f"{len(wrong)} failures at tolerance {tolerance:g}")
    return not wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", metavar="RESULTS", help='JSON lines {"z": [..], "theta": .., "branch": ".."}, in order')
    parser.add_argument("--tolerance", type=float, default=1e-12, help="of ||z - z*|| / ||x|| (default 1e-12)")
    parser.add_argument("--cases", default=HERE / "prox.jsonl", help="the reference file")
    options = parser.parse_args()
    if options.check:
        sys.exit(0 if check(options.cases, options.check, options.tolerance) else 1)
    generate(options.cases)
