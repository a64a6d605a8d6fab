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
__device__ __forceinline__ double pullAt(const Set &set, double norm) {
    return norm >= set.knee ? 0 : fmax(0., set.threshold - set.kappa * norm);
}

// Where a group is evaluated first.
__device__ __forceinline__ double firstTheta(const Set &set, float previous) {
    return set.stepSize > 0 && !set.idle && set.fast ? fmin((double) previous, set.knee) : (double) previous;
}

// GroupSolver, for one group.
struct Solver {
    const Set *set;
    double theta, low, high, normOfU, candidate, error;
    double beyond, lowT, lowSlope;
    int evaluations;
    unsigned char need, branch;
    bool belowKnee, surveyed, rootless;

    __device__ void evaluateAt(double at) {
        need = EVALUATION;
        theta = set->kneed && (float) at > 0 ? at : (double) (float) at;
    }

    __device__ void finish(int how, double norm) {
        need = NOTHING;
        branch = how;
        theta = norm;
    }

    __device__ void start(const Set &of, float previous) {
        set = &of;
        low = 0;
        high = INFINITE;
        candidate = UNKNOWN;
        normOfU = 0;
        belowKnee = !set->kneed;
        beyond = 0;
        surveyed = rootless = false;
        evaluations = 0;
        error = 0;
        branch = UNTOUCHED;
        theta = firstTheta(of, previous);
        if (set->stepSize == 0) {
            need = EVALUATION; // of the norm
        } else if (set->idle) {
            finish(UNTOUCHED, previous);
        } else if (set->fast) {
            evaluateAt(theta);
        } else {
            need = EXACT;
        }
    }

    __device__ __forceinline__ void advance(const double *sums) {
        if (set->stepSize == 0) {
            finish(UNTOUCHED, sqrt(sums[0]));
            return;
        }
        if (need == SURVEY) {
            double kappa = set->kappa, size = set->size, sumOfD = sums[1];
            double bound = lowerBound(size, set->threshold, normOfU, sums[0], sums[LEAST] - kappa, sumOfD - size * kappa,
                                      fmax(0., sums[2] - kappa * (2 * sumOfD - size * kappa)));
            surveyed = true;
            bound = fmax(bound, LEAST_NORMAL);
            if (bound < set->knee) {
                evaluateAt(bound);
            } else {
                leave();
            }
            return;
        }
        if (need == WEIGHING) {
            weighed(sums[0]);
            return;
        }
        double t = sums[0], s = sums[1], r = sums[2], least = sums[LEAST];
        if (theta > 0) evaluations++;
        if (!isfinite(t + s + r) || isnan(theta) || evaluations > PATIENCE) {
            need = EXACT;
        } else if (theta == 0) {
            atZero(t, least);
        } else if (theta == set->knee) {
            atKnee(t, s, r, least);
        } else {
            atPoint(t, s, r, least);
        }
    }

    __device__ void atZero(double t, double least) {
        normOfU = set->threshold * sqrt(t);
        double most = set->threshold * sqrt(t + set->size * 1.401298464324817e-45); // squares below float's least may have vanished
        if (t > 1) {
            need = SURVEY;
        } else if (belowKnee || most <= least * set->knee) {
            finish(ZEROED, 0);
        } else {
            propose(0);
        }
    }

    __device__ void propose(double norm) {
        candidate = norm;
        if (beyond > 0) {
            need = WEIGHING;
            theta = norm;
        } else {
            evaluateAt(set->knee);
        }
    }

    __device__ void leave() {
        rootless = true;
        if (beyond > 0) {
            finish(UNTOUCHED, beyond);
        } else {
            evaluateAt(set->knee);
        }
    }

    // The pull is one line up to the knee: what is saved is its square by 2κ, and what is paid its square times half the sum.
    __device__ void weighed(double sum) {
        double ratio = set->kappa * sum;
        if (!(fabs(ratio - 1) > DOUBT * ROUNDING) || !isfinite(ratio)) {
            need = EXACT;
        } else if (ratio > 1) {
            error = 0;
            finish(UNTOUCHED, beyond);
        } else {
            finish(theta == 0 ? ZEROED : SHRUNK, theta);
        }
    }

    __device__ void atKnee(double t, double s, double r, double least) {
        if (t > 1 && (s > 0 || rootless || isFar(t, s))) {
            finish(UNTOUCHED, set->knee * sqrt(t));
        } else if (t > 1) {
            beyond = set->knee * sqrt(t);
            if (isnan(candidate)) {
                beyondValley(t, s);
            } else {
                propose(candidate);
            }
        } else if (!isnan(candidate)) {
            finish(candidate == 0 ? ZEROED : SHRUNK, candidate);
        } else {
            belowKnee = true;
            atPoint(t, s, r, least);
        }
    }

    __device__ static bool isFar(double t, double s) {
        double distance = sqrt(t) - 1;
        return distance * distance > (1 - s / t) * (1 + DOUBT * ROUNDING);
    }

    __device__ void goTo(double next) {
        if (next > low && next < high) {
            evaluateAt(next);
        } else {
            need = EXACT;
        }
    }

    __device__ void beyondValley(double t, double s) {
        double at = theta;
        if (!set->kneed) {
            need = EXACT;
        } else if (low == 0 && t > 1 && surveyed) {
            leave();
        } else if (low == 0) {
            evaluateAt(0);
        } else if (t > 1) {
            high = at;
            double slope = -2 * s / at;
            double meet = (lowT - t + slope * at - lowSlope * low) / (slope - lowSlope);
            double bottom = lowT + lowSlope * (meet - low);
            if (bottom > 1 + DOUBT * ROUNDING * lowT) {
                leave();
            } else {
                goTo(meet);
            }
        } else {
            high = at;
            goTo(low + (1 - lowT) / lowSlope);
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
            beyondValley(t, s);
            return;
        }
        double newton = newtonStep(t, s);
        if (newton <= -1) {
            evaluateAt(0);
            return;
        }
        double step = halleyStep(t, s, r);
        double next = at * (1 + step);
        double steepest = set->kappa > least ? (set->kappa - least) * at / (least * at + pullAt(*set, at)) : 0;
        double found = fabs(step * step * step) * growth(s / t, r / t, steepest);
        if (found <= set->smallStep * set->smallStep * set->smallStep && fabs(step) * steepest <= MOST_CHANGE && next <= set->knee) {
            error = found + ROUNDING * t / s / 2;
            if (steepest > 0 && conditioning(s / t, r / t) > MOST_CONDITIONING) {
                need = EXACT;
            } else if (belowKnee || next + pullAt(*set, next) / least <= set->knee) {
                finish(SHRUNK, next);
            } else {
                propose(next);
            }
            return;
        }
        if (t > 1) {
            low = at;
            lowT = t;
            lowSlope = -2 * s / at;
        } else {
            high = at;
        }
        if (!(next > low && next < high)) next = at * (1 + newton);
        if (!(next > low && next < high)) next = (low + fmin(high, 2 * at)) / 2;
        evaluateAt(belowKnee ? next : fmin(next, set->knee));
    }
};
