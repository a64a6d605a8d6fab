#if NESTED
// NestedSolver, for one group: a model of every part, and one monotone equation for μ on them.
struct NestedSolver {
    double theta[MOST_PARTS], norm[MOST_PARTS], normOfU[MOST_PARTS];
    double base[MOST_PARTS], value[MOST_PARTS], slope[MOST_PARTS], bend[MOST_PARTS];
    unsigned char needs[MOST_PARTS];
    double inner[MOST_PARTS], scale[MOST_PARTS], points[MOST_PARTS];
    double outer, previous, error, squares, rate, spread;
    const Set *set;
    int parts, passes;
    unsigned char branch;

    __device__ void evaluateAt(int part, double at) {
        needs[part] = EVALUATION;
        theta[part] = (float) at;
    }

    __device__ void start(const Set &of, const float *norms) {
        set = &of;
        const long long stride = set->count;
        parts = set->parts;
        outer = set->stepSize * set->outerStrength;
        passes = 0;
        error = 0;
        branch = UNTOUCHED;
        double sum = 0;
        bool fast = true;
        for (int part = 0; part < parts; part++) {
            double last = norms[part * stride];
            sum += last * last;
            inner[part] = set->stepSize * set->innerStrength[part];
            scale[part] = outer + inner[part];
            fast &= (float) scale[part] > 0;
        }
        previous = sqrt(sum);
        for (int part = 0; part < parts; part++) {
            double last = norms[part * stride];
            normOfU[part] = base[part] = UNKNOWN;
            norm[part] = last;
            theta[part] = 1;
            if (set->stepSize == 0) {
                needs[part] = EVALUATION; // of the norm
            } else if (set->idle) {
                needs[part] = NOTHING;
            } else if (fast) {
                double threshold = inner[part] + outer * (last / previous);
                evaluateAt(part, last == 0 ? 0 : last * (scale[part] / threshold));
            } else {
                needs[part] = EXACT;
            }
        }
    }

    __device__ bool busy() const {
        for (int part = 0; part < parts; part++) {
            if (needs[part] != NOTHING) return true;
        }
        return false;
    }

    // The sums of every part, in order; true if the group asks for the exact operator.
    __device__ __noinline__ bool advance(const double (*sums)[SUMS]) {
        if (set->stepSize == 0) {
            for (int part = 0; part < parts; part++) {
                norm[part] = sqrt(sums[part][0]);
                needs[part] = NOTHING;
            }
            return false;
        }
        bool counted = false, sound = true;
        for (int part = 0; part < parts; part++) {
            int need = needs[part];
            needs[part] = NOTHING;
            if (need == EVALUATION) {
                counted |= theta[part] > 0;
                sound &= read(part, sums[part]);
            } else if (need == SURVEY) {
                sound &= readSurvey(part, sums[part]);
            } else if (need == EXACT) {
                sound = false;
            }
        }
        passes += counted;
        return !(sound && passes <= PATIENCE) || !decide();
    }

    __device__ bool read(int part, const double *sums) {
        double t = sums[0], s = sums[1], r = sums[2];
        if (!isfinite(t + s + r) || isnan(theta[part])) return false;
        if (theta[part] == 0) {
            bool told = !isnan(normOfU[part]); // asked for again, it is where the solution is in float, which then says no more of it
            normOfU[part] = scale[part] * sqrt(t);
            return !told;
        }
        double root = 1 / sqrt(t);
        base[part] = theta[part];
        value[part] = root;
        slope[part] = root * (s / t) / theta[part];
        bend[part] = fmax(0., 1.5 * (r / s - s / t)) / theta[part];
        return s > 0;
    }

    __device__ bool readSurvey(int part, const double *sums) {
        base[part] = 0;
        value[part] = scale[part] / normOfU[part];
        slope[part] = fmin(sums[LEAST] / normOfU[part], sqrt(sums[2]) / sums[0]);
        bend[part] = 0;
        return isfinite(value[part]) && slope[part] > 0 && slope[part] < INFINITE;
    }

    __device__ double leastNormOfU(int part) const {
        return isnan(normOfU[part]) ? scale[part] / fmax(0., value[part] - slope[part] * base[part]) : normOfU[part];
    }

    __device__ bool lives(int part) const {
        return isnan(normOfU[part]) || normOfU[part] > inner[part];
    }

    // False if there is no going on.
    __device__ bool decide() {
        double sum = 0;
        bool known = true;
        for (int part = 0; part < parts; part++) {
            double excess = fmax(0., leastNormOfU(part) - inner[part]);
            sum += excess * excess;
            known &= !isnan(normOfU[part]);
        }
        if (known && sum <= outer * outer) {
            branch = ZEROED;
            for (int part = 0; part < parts; part++) theta[part] = norm[part] = 0;
            return true;
        }
        bool asked = false;
        for (int part = 0; part < parts; part++) {
            bool unsure = sum <= outer * outer || leastNormOfU(part) <= inner[part];
            if (isnan(normOfU[part]) && unsure) {
                evaluateAt(part, 0);
                asked = true;
            } else if (isnan(base[part]) && sum > outer * outer && lives(part)) {
                needs[part] = SURVEY;
                asked = true;
            }
        }
        return asked || solveModels(sqrt(sum));
    }

    __device__ bool solveModels(double excess) {
        double mu = outer == 0 ? 0 : solveForMu(excess);
        if (isnan(mu)) return false;
        measure(mu);
        double largest = 0;
        for (int part = 0; part < parts; part++) {
            if (lives(part)) {
                double step = fabs(points[part] - base[part]) / base[part];
                largest = step <= largest ? largest : step;
                if (!(step <= set->smallStep)) evaluateAt(part, points[part]);
            }
        }
        if (!(largest <= set->smallStep)) return true;
        error = largest * largest * largest + ROUNDING / 2 * spread / (1 + rate);
        branch = SHRUNK;
        for (int part = 0; part < parts; part++) {
            theta[part] = lives(part) ? points[part] : 0;
            norm[part] = lives(part) ? points[part] / modelled(part, points[part] - base[part]) : 0;
        }
        return true;
    }

    __device__ double solveForMu(double excess) {
        double mu = previous > 0 ? outer / previous : outer * steepest() / (excess - outer);
        double low = 0, high = INFINITE;
        for (int iteration = 0; iteration < 100; iteration++) {
            measure(mu);
            double off = log(mu * sqrt(squares) / outer);
            if (fabs(off) <= 1e-12) return mu;
            if (off > 0) {
                high = mu;
            } else {
                low = mu;
            }
            double next = mu * exp(-off / (1 + rate));
            if (!(next > low && next < high)) next = high == INFINITE ? 4 * low : low == 0 ? high / 4 : sqrt(low * high);
            mu = next;
        }
        return UNKNOWN;
    }

    __device__ double steepest() const {
        double most = LEAST_NORMAL;
        for (int part = 0; part < parts; part++) {
            if (lives(part)) most = fmax(most, scale[part] * slope[part] / value[part]);
        }
        return most;
    }

    __device__ void measure(double mu) {
        squares = 0;
        rate = 0;
        spread = 0;
        for (int part = 0; part < parts; part++) {
            points[part] = 0;
            if (lives(part)) {
                double m = mu / scale[part], k = inner[part] / scale[part];
                double at = place(part, m, k);
                double f = modelled(part, at - base[part]);
                double stretch = 1 + bend[part] * (at - base[part]);
                double derivative = slope[part] / (stretch * stretch);
                double square = (at / f) * (at / f);
                points[part] = at;
                squares += square;
                double curvature = 1 - at * derivative / f;
                rate -= square * (m / (m + k * derivative)) * curvature;
                spread += square * (1 + k * f / at / (m + k * derivative) * curvature);
            }
        }
        rate /= squares;
        spread /= squares;
    }

    __device__ double modelled(int part, double delta) const {
        return value[part] + slope[part] * delta / (1 + bend[part] * delta);
    }

    __device__ double place(int part, double m, double k) const {
        double excess = m * base[part] + k * value[part] - 1;
        double tangent = -excess / (m + k * slope[part]);
        double linear = m + bend[part] * excess + k * slope[part];
        double divisor = linear + sqrt(fmax(0., linear * linear - 4 * bend[part] * m * excess));
        double delta = divisor > 0 && k > 0 ? fmax(tangent, -2 * excess / divisor) : tangent;
        return fmax(base[part] + delta, 0.1 * base[part]);
    }
};
#endif
