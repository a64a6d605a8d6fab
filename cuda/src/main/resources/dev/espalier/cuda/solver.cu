// One norm for a group (GroupSolver).

__device__ __forceinline__ double newtonStep(double t, double s) {
    return (sqrt(t) - 1) * (t / s);
}

__device__ __forceinline__ double halleyStep(double t, double s, double r) {
    double n = newtonStep(t, s);
    return n / (1 + 1.5 * n * (s / t - r / s));
}

// SecularEquation.lowerBound
__device__ double lowerBound(double n, double l, double normOfU, double sumOfU, double largestP, double sumOfP, double sumOfSquares) {
    if (largestP <= 0) return normOfU > l ? INFINITE : 0;
    double first = (normOfU - l) / largestP;
    double b = l * sumOfP;
    double root = l * sqrt(n);
    double c = (root - sumOfU) * (root + sumOfU);
    double second = c < 0 ? -c / (b + sqrt(b * b - sumOfSquares * c)) : 0;
    return fmax(0., isfinite(second) ? fmax(first, second) : first);
}

// PenaltyTerms.pull
__device__ __forceinline__ double pullAt(double norm) {
    return norm >= set.knee ? 0 : fmax(0., set.threshold - set.kappa * norm);
}

// GroupSolver, for one group.
struct Solver {
    double theta, low, high, normOfU, candidate, error;
    int evaluations;
    unsigned char need, branch;
    bool belowKnee;

    __device__ void evaluateAt(double at) {
        need = EVALUATION;
        theta = set.kneed && (float) at > 0 ? at : (double) (float) at;
    }

    __device__ void finish(int how, double norm) {
        need = NOTHING;
        branch = how;
        theta = norm;
    }

    __device__ void start(float previous) {
        low = 0;
        high = INFINITE;
        candidate = UNKNOWN;
        normOfU = 0;
        belowKnee = !set.kneed;
        evaluations = 0;
        error = 0;
        branch = UNTOUCHED;
        theta = previous;
        if (set.stepSize == 0) {
            need = EVALUATION; // of the norm
        } else if (set.idle) {
            finish(UNTOUCHED, previous);
        } else if (set.fast) {
            evaluateAt(fmin((double) previous, set.knee));
        } else {
            need = EXACT;
        }
    }

    __device__ __noinline__ void advance(const double *sums) {
        if (set.stepSize == 0) {
            finish(UNTOUCHED, sqrt(sums[0]));
            return;
        }
        if (need == SURVEY) {
            double kappa = set.kappa, size = set.size, sumOfD = sums[1];
            double bound = lowerBound(size, set.threshold, normOfU, sums[0], sums[LEAST] - kappa, sumOfD - size * kappa,
                                      fmax(0., sums[2] - kappa * (2 * sumOfD - size * kappa)));
            evaluateAt(fmin(fmax(bound, LEAST_NORMAL), set.knee));
            return;
        }
        double t = sums[0], s = sums[1], r = sums[2], least = sums[LEAST];
        if (theta > 0) evaluations++;
        if (!isfinite(t + s + r) || isnan(theta) || evaluations > PATIENCE) {
            need = EXACT;
        } else if (theta == 0) {
            atZero(t, least);
        } else if (theta == set.knee) {
            atKnee(t, s, r, least);
        } else {
            atPoint(t, s, r, least);
        }
    }

    __device__ void atZero(double t, double least) {
        normOfU = set.threshold * sqrt(t);
        double most = set.threshold * sqrt(t + set.size * 1.401298464324817e-45); // squares below float's least may have vanished
        if (t > 1) {
            need = SURVEY;
        } else if (belowKnee || most <= least * set.knee) {
            finish(ZEROED, 0);
        } else {
            candidate = 0;
            evaluateAt(set.knee);
        }
    }

    __device__ void atKnee(double t, double s, double r, double least) {
        if (t > 1 && s > 0) {
            finish(UNTOUCHED, set.knee * sqrt(t));
        } else if (t > 1) {
            need = EXACT;
        } else if (!isnan(candidate)) {
            finish(candidate == 0 ? ZEROED : SHRUNK, candidate);
        } else {
            belowKnee = true;
            atPoint(t, s, r, least);
        }
    }

    __device__ static double growth(double first, double second, double steepest) {
        if (steepest == 0) return 1;
        double ratio = second / first;
        double third = first * first / 4 + 2.25 * ratio * ratio + 2 * fmax(1., steepest) * ratio;
        return fmax(1., third * sqrt(fmax(0., 1 - 2 * first + second)));
    }

    __device__ static double conditioning(double first, double second) {
        return sqrt(second) / first * sqrt(fmax(1., 1 - 2 * first + second));
    }

    __device__ void atPoint(double t, double s, double r, double least) {
        double at = theta;
        if (s <= 0) {
            need = EXACT;
            return;
        }
        double newton = newtonStep(t, s);
        if (newton <= -1) {
            evaluateAt(0);
            return;
        }
        double step = halleyStep(t, s, r);
        double next = at * (1 + step);
        double steepest = set.kappa > least ? (set.kappa - least) * at / (least * at + pullAt(at)) : 0;
        double found = fabs(step * step * step) * growth(s / t, r / t, steepest);
        if (found <= set.smallStep * set.smallStep * set.smallStep && fabs(step) * steepest <= MOST_CHANGE && next <= set.knee) {
            error = found + ROUNDING * t / s / 2;
            if (steepest > 0 && conditioning(s / t, r / t) > MOST_CONDITIONING) {
                need = EXACT;
            } else if (belowKnee || next + pullAt(next) / least <= set.knee) {
                finish(SHRUNK, next);
            } else {
                candidate = next;
                evaluateAt(set.knee);
            }
            return;
        }
        if (t > 1) {
            low = at;
        } else {
            high = at;
        }
        if (!(next > low && next < high)) next = at * (1 + newton);
        if (!(next > low && next < high)) next = (low + fmin(high, 2 * at)) / 2;
        evaluateAt(belowKnee ? next : fmin(next, set.knee));
    }
};
