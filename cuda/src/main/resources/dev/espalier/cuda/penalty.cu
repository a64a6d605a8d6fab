// Penalties as profiles, and jobs whose groups are single weights (Profile, SingleBlock).

__device__ double slopeOf(const Piece &piece, double norm) {
    return piece.bend == 0 ? piece.height : fmax(0., piece.height - piece.bend * norm);
}

__device__ double pieceEnd(const Set &set, int k) {
    return k + 1 < set.pieces ? set.piece[k + 1].from : INFINITE;
}

__device__ __noinline__ double penaltyOf(const Set &set, double norm) {
    double value = 0;
    for (int k = 0; k < set.pieces && set.piece[k].from < norm; k++) {
        double until = fmin(norm, pieceEnd(set, k));
        value += (until - set.piece[k].from) * (slopeOf(set.piece[k], set.piece[k].from) + slopeOf(set.piece[k], until)) / 2;
    }
    return value;
}

__device__ double penaltySlope(const Set &set, double norm) {
    int k = set.pieces - 1;
    while (set.piece[k].from > norm) k--;
    return slopeOf(set.piece[k], norm);
}

#if SINGLES
// Profile.proximalNorm
__device__ __noinline__ double proximalNorm(const Set &set, double norm, double metric) {
    double alpha = set.stepSize;
    double best = 0, bestGain = 0;
    bool longer = metric * norm > alpha * penaltySlope(set, 0);
    bool zeroIsStationary = !longer;
    for (int k = 0; k < set.pieces; k++) {
        Piece piece = set.piece[k];
        double end = pieceEnd(set, k);
        bool longerAtEnd = end <= norm && metric * (norm - end) >= alpha * penaltySlope(set, end);
        double candidate = 0;
        if (norm >= piece.from && ((piece.height == 0 && piece.bend == 0) || alpha == 0)) {
            candidate = norm;
        } else if (longer && !longerAtEnd) {
            double curvature = metric - alpha * piece.bend;
            double excess = metric * norm - alpha * piece.height;
            double most = fmin(end, norm);
            candidate = curvature > 0 ? fmin(fmax(excess / curvature, piece.from), most) : most;
        }
        if (candidate > 0) {
            double gain = candidate * metric * (norm - candidate / 2) - alpha * penaltyOf(set, candidate);
            if (gain >= bestGain || (best == 0 && !zeroIsStationary)) {
                best = candidate;
                bestGain = gain;
            }
        }
        longer = longerAtEnd;
    }
    return best;
}

// Every weight a group of its own (SingleBlock).
__device__ __noinline__ void singleJob(const Task &task, int number) {
    const Set &set = task.set;
    const Tensor &tensor = task.tensor;
    const Rule rule(set, tensor);
    int zeroed = 0, shrunk = 0, untouched = 0;
    double penalty = 0;
    for (int i = threadIdx.x; i < task.job.rows; i += THREADS) {
        long long index = task.job.first + i;
        const Moments moments(rule, tensor, index, tensor.g[ofGradient(tensor, index)]);
        float *x = tensor.x + ofWeight(tensor, index);
        float d = rule.metric(moments.second);
        float u = rule.preconditioned(d, *x, moments.first);
        bool soft = set.singleThreshold > 0;
        if (soft) u = softened(u, (float) set.singleThreshold);
        double candidate = (double) u / d;
        double length = fabs(candidate);
        double norm = proximalNorm(set, length, d);
        if (norm == 0) {
            zeroed++;
        } else if (norm == length && !soft) {
            untouched++;
        } else {
            shrunk++;
        }
        if (set.stepSize > 0) *x = norm == 0 ? 0.f : (float) copysign(norm, candidate);
        penalty += penaltyOf(set, norm) + set.singleStrength * norm;
    }
    Stats stats = {};
    stats.zeroed = (int) blockSum(zeroed);
    stats.shrunk = (int) blockSum(shrunk);
    stats.untouched = (int) blockSum(untouched);
    stats.penalty = blockSum(penalty);
    if (threadIdx.x == 0) plan.jobStats[number] = stats;
}
#endif
