// Penalties as profiles, and jobs whose groups are single weights (Profile, SingleBlock).

__device__ double slopeOf(const Piece &piece, double norm) {
    return piece.bend == 0 ? piece.height : fmax(0., piece.height - piece.bend * norm);
}

__device__ double pieceEnd(int k) {
    return k + 1 < set.pieces ? set.piece[k + 1].from : INFINITE;
}

__device__ __noinline__ double penaltyOf(double norm) {
    double value = 0;
    for (int k = 0; k < set.pieces && set.piece[k].from < norm; k++) {
        double until = fmin(norm, pieceEnd(k));
        value += (until - set.piece[k].from) * (slopeOf(set.piece[k], set.piece[k].from) + slopeOf(set.piece[k], until)) / 2;
    }
    return value;
}

__device__ double penaltySlope(double norm) {
    int k = set.pieces - 1;
    while (set.piece[k].from > norm) k--;
    return slopeOf(set.piece[k], norm);
}

#if SINGLES
// Profile.proximalNorm
__device__ __noinline__ double proximalNorm(double norm, double metric) {
    double alpha = set.stepSize;
    double best = 0, bestGain = 0;
    bool longer = metric * norm > alpha * penaltySlope(0);
    bool zeroIsStationary = !longer;
    for (int k = 0; k < set.pieces; k++) {
        Piece piece = set.piece[k];
        double end = pieceEnd(k);
        bool longerAtEnd = end <= norm && metric * (norm - end) >= alpha * penaltySlope(end);
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
            double gain = candidate * metric * (norm - candidate / 2) - alpha * penaltyOf(candidate);
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
__device__ __noinline__ void singleJob(int number) {
    const Rule rule;
    int zeroed = 0, shrunk = 0, untouched = 0;
    double penalty = 0;
    for (int i = threadIdx.x; i < job.rows; i += THREADS) {
        long long index = job.first + i;
        float g = tensor.g[ofGradient(index)];
        float first = rule.first(tensor.m ? tensor.m[index] : 0.f, g);
        float second = rule.second(tensor.v ? tensor.v[index] : 0.f, g);
        if (tensor.m) tensor.m[index] = first;
        if (tensor.v) tensor.v[index] = second;
        float *x = tensor.x + ofWeight(index);
        float d = rule.metric(second);
        float u = rule.preconditioned(d, *x, first);
        bool soft = set.singleThreshold > 0;
        if (soft) u = softened(u, (float) set.singleThreshold);
        double candidate = (double) u / d;
        double length = fabs(candidate);
        double norm = proximalNorm(length, d);
        if (norm == 0) {
            zeroed++;
        } else if (norm == length && !soft) {
            untouched++;
        } else {
            shrunk++;
        }
        if (set.stepSize > 0) *x = norm == 0 ? 0.f : (float) copysign(norm, candidate);
        penalty += penaltyOf(norm) + set.singleStrength * norm;
    }
    Stats stats = {};
    stats.zeroed = (int) blockSum(zeroed);
    stats.shrunk = (int) blockSum(shrunk);
    stats.untouched = (int) blockSum(untouched);
    stats.penalty = blockSum(penalty);
    if (threadIdx.x == 0) plan.jobStats[number] = stats;
}
#endif
