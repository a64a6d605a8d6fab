// Jobs of groups: tiles.

// A group's solver is held by the thread of the group's number.
__shared__ union {
    Solver plain[MOST_GROUPS];
#if NESTED
    NestedSolver nested[MOST_GROUPS];
#endif
} solvers;

// u and d of a thread's weights, kept until they are solved.
extern __shared__ float kept[];
#define U(i) kept[(i) * THREADS + threadIdx.x]
#define D(i) kept[(DEEP + (i)) * THREADS + threadIdx.x]

// The weights of a thread: one column, every so many rows. Where a row of the tile is a piece of memory that is folded into
// rows, the groups of the tile lie behind each other.
struct Column {
    int lanes, lane, column, group;
    int count;           // how many weights, those that are not there included
    bool even;           // all of them are there, and equally far from each other
    long long first, stride;

    __device__ __forceinline__ Column() {
        lanes = THREADS / job.columns;
        lane = threadIdx.x / job.columns;
        column = threadIdx.x % job.columns;
        group = column / job.inner;
        even = job.fold == 1 || inOnePiece();
        if (job.fold == 1) {
            count = lane < lanes ? (job.rows - lane + lanes - 1) / lanes : 0;
            first = job.first + (job.row + lane) * job.stride + column;
            stride = lanes * job.stride;
        } else {
            column %= job.inner;
            int start = lane * job.inner + column, step = lanes * job.inner;
            int left = even ? (job.limit - start + step - 1) / step : (job.rows - lane + lanes - 1) / lanes;
            count = lane < lanes && left > 0 ? left : 0;
            first = job.first + (long long) group * job.limit + job.row / job.fold * job.stride + start;
            stride = step;
        }
    }

    // Whether the job has all of its groups' one piece.
    static __device__ __forceinline__ bool inOnePiece() {
        return job.rows == job.fold && job.row % job.fold == 0;
    }

    __device__ __forceinline__ long long index(int i) const {
        if (even) return first + i * stride;
        int row = job.row + i * lanes + lane;
        return job.first + row / job.fold * job.stride + (long long) (row % job.fold) * job.inner + column;
    }

    // A group that is folded may not fill its last row.
    __device__ __forceinline__ bool has(int i) const {
        return even || (job.row + i * lanes + lane) % job.fold * job.inner + column < job.limit;
    }
};

// What a thread adds to the sums of its group.
struct Sum {
    float t, s, r, e;
    float theta, pull, kappa;
    int need;

    __device__ __forceinline__ Sum(int group) {
        t = s = r = 0;
        need = tile.need[group];
        theta = tile.theta[group];
        pull = tile.pull[group];
        kappa = tile.kappa[group];
        e = need == SURVEY ? 0.f : __int_as_float(0x7f800000);
    }

    __device__ __forceinline__ void evaluate(float u, float d) {
        float a = (d - kappa) * theta;
        float q = reciprocal(fmaf(d, theta, pull));
        float w = u * q;
        float wq = w * (a * q);
        t = fmaf(w, w, t);
        s = fmaf(w, wq, s);
        r = fmaf(wq, wq, r);
        e = fminf(e, d);
    }

    __device__ __forceinline__ void survey(float u, float d) {
        t += fabsf(u);
        s += d;
        r = fmaf(d, d, r);
        e = fmaxf(e, d);
    }

    __device__ __forceinline__ void square(float x) {
        t = fmaf(x, x, t);
    }

    __device__ __forceinline__ void add(float u, float d, bool still) {
        if (still) {
            square(u);
        } else if (need == SURVEY) {
            survey(u, d);
        } else {
            evaluate(u, d);
        }
    }

    __device__ __forceinline__ void put() const {
        tile.parts[0][threadIdx.x] = t;
        tile.parts[1][threadIdx.x] = s;
        tile.parts[2][threadIdx.x] = r;
        tile.parts[LEAST][threadIdx.x] = e;
    }
};

// The weights of a group that is solved.
struct Solution {
    float theta, pull;

    __device__ __forceinline__ Solution(int group) : theta(tile.theta[group]), pull(tile.pull[group]) {}

    __device__ __forceinline__ float at(float u, float d) const {
        return theta * u * reciprocal(fmaf(d, theta, pull)) + 0.f; // + 0 turns −0 into 0
    }
};

// Updates the moments of the thread's weights, keeps their u and d, and adds up the first evaluation.
__device__ __forceinline__ void load(const Column &column) {
    const Rule rule;
    const float single = (float) set.singleThreshold;
    const bool still = set.stepSize == 0;
    Sum sum(column.group);
    for (int i = 0; i < column.count; i++) {
        if (column.has(i)) {
            long long index = column.index(i);
            float x = tensor.x[ofWeight(index)];
            float g = tensor.g[ofGradient(index)];
            float first = rule.first(tensor.m ? tensor.m[index] : 0.f, g);
            float second = rule.second(tensor.v ? tensor.v[index] : 0.f, g);
            if (tensor.m) tensor.m[index] = first;
            if (tensor.v) tensor.v[index] = second;
            float d = rule.metric(second);
            float u = rule.preconditioned(d, x, first);
            if (single > 0) u = softened(u, single);
            if (still) u = x;
            sum.add(u, d, still);
            U(i) = u;
            D(i) = d;
        }
    }
    sum.put();
}

// What a solution costs its group; seldom asked for.
__device__ __noinline__ float weigh() {
    const Column column;
    const Solution solution(column.group);
    float sum = 0;
    for (int i = 0; i < column.count; i++) {
        if (column.has(i)) {
            float d = D(i);
            float w = U(i) * reciprocal(fmaf(d, solution.theta, solution.pull));
            sum = fmaf(w, w * reciprocal(d), sum);
        }
    }
    return sum;
}

// Adds up another evaluation, a survey, or a weighing.
__device__ __forceinline__ void sumUp(const Column &column) {
    Sum sum(column.group);
    if (sum.need == WEIGHING) {
        sum.t = weigh();
    } else if (sum.need != NOTHING) {
        for (int i = 0; i < column.count; i++) {
            if (column.has(i)) sum.add(U(i), D(i), false);
        }
    }
    sum.put();
}

// Writes the solution, and returns the sum of its magnitudes.
__device__ __forceinline__ float store(const Column &column) {
    float magnitudes = 0;
    if (tile.need[column.group] == EXACT) return 0;
    const Solution solution(column.group);
    const bool still = set.stepSize == 0;
    for (int i = 0; i < column.count; i++) {
        if (column.has(i)) {
            float z = U(i);
            if (!still) {
                z = solution.at(z, D(i));
                tensor.x[ofWeight(column.index(i))] = z;
            }
            magnitudes += fabsf(z);
        }
    }
    return magnitudes;
}

// The same for what is common: both moments, contiguous tensors, even columns, no threshold of single weights, a step of some
// length. Nothing is decided for single weights, and places are counted in ints from the thread's first: the loop is short.
__device__ __forceinline__ bool isCommon() {
    bool near = job.fold == 1 ? job.rows * job.stride <= 0x7fffffffLL : Column::inOnePiece();
    return tensor.m && tensor.v && !tensor.layout && near && set.stepSize > 0 && set.singleThreshold == 0;
}

__device__ __forceinline__ void loadCommon(const Column &column) {
    const Rule rule;
    const float *x = tensor.x + column.first, *g = tensor.g + column.first;
    float *m = tensor.m + column.first, *v = tensor.v + column.first;
    const int stride = (int) column.stride;
    Sum sum(column.group);
    int i = 0, at = 0;
    for (; i + BATCH <= column.count; i += BATCH) {
        float xs[BATCH], gs[BATCH], ms[BATCH], vs[BATCH];
        #pragma unroll
        for (int j = 0; j < BATCH; j++) {
            xs[j] = x[at + j * stride];
            gs[j] = __ldcs(g + at + j * stride);
            ms[j] = __ldcs(m + at + j * stride);
            vs[j] = __ldcs(v + at + j * stride);
        }
        #pragma unroll
        for (int j = 0; j < BATCH; j++) {
            float first = rule.first(ms[j], gs[j]);
            float second = rule.second(vs[j], gs[j]);
            m[at + j * stride] = first;
            v[at + j * stride] = second;
            float d = rule.metric(second);
            float u = rule.preconditioned(d, xs[j], first);
            sum.evaluate(u, d);
            U(i + j) = u;
            D(i + j) = d;
        }
        at += BATCH * stride;
    }
    for (; i < column.count; i++) {
        float gradient = g[at];
        float first = rule.first(m[at], gradient);
        float second = rule.second(v[at], gradient);
        m[at] = first;
        v[at] = second;
        float d = rule.metric(second);
        float u = rule.preconditioned(d, x[at], first);
        sum.evaluate(u, d);
        U(i) = u;
        D(i) = d;
        at += stride;
    }
    sum.put();
}

__device__ __forceinline__ void storeCommon(const Column &column) {
    if (tile.need[column.group] == EXACT) return;
    const Solution solution(column.group);
    float *x = tensor.x + column.first;
    const int stride = (int) column.stride;
    int at = 0;
    #pragma unroll 4
    for (int i = 0; i < column.count; i++) {
        x[at] = solution.at(U(i), D(i));
        at += stride;
    }
}

// Counts what was done to the groups of a tile; its first member does, for all.
__device__ __noinline__ void report(int number, float magnitudes) {
    double lengths = set.singleStrength > 0 ? blockSum(magnitudes) : 0;
    if (job.member > 0 && set.singleStrength == 0) {
        if (threadIdx.x == 0) plan.jobStats[number] = {}; // the penalty may have had such a strength a step ago
        return;
    }
    __syncthreads();
    if (threadIdx.x >= 32) return;
    Stats stats = {};
    double penalty = 0;
    unsigned error = 0;
    bool soft = set.singleThreshold > 0;
    for (int group = threadIdx.x; group < job.groups && job.member == 0; group += 32) {
        Counted counted = tile.counted[group];
        if (!counted.counts) continue;
        stats.zeroed += counted.branch == ZEROED;
        stats.shrunk += counted.branch == SHRUNK || (counted.branch == UNTOUCHED && soft);
        stats.untouched += counted.branch == UNTOUCHED && !soft;
        stats.zeroedWithin += counted.zeroedWithin;
        stats.evaluations += counted.evaluations;
        penalty += counted.penalty;
        error = max(error, __float_as_uint(counted.error));
    }
    stats.zeroed = __reduce_add_sync(~0u, stats.zeroed);
    stats.shrunk = __reduce_add_sync(~0u, stats.shrunk);
    stats.untouched = __reduce_add_sync(~0u, stats.untouched);
    stats.zeroedWithin = __reduce_add_sync(~0u, stats.zeroedWithin);
    stats.evaluations = __reduce_add_sync(~0u, (int) stats.evaluations);
    stats.error = __uint_as_float(__reduce_max_sync(~0u, error));
    stats.penalty = warpSum(penalty) + set.singleStrength * lengths;
    if (threadIdx.x == 0) plan.jobStats[number] = stats;
}

__device__ void straggles(int group, int evaluations) {
    int place = atomicAdd(&plan.flags->stragglers, 1);
    plan.stragglers[place] = {job.set, job.group + group, evaluations};
}

template <bool COMMON> __device__ __forceinline__ void groupedJob(int number) {
    const Column column;
    bool leads = threadIdx.x < job.groups; // a group
    Solver &solver = solvers.plain[leads ? threadIdx.x : 0];
    if (leads) {
        solver.start(nextThetas[threadIdx.x]); // of this job, as yet
        tile.need[threadIdx.x] = solver.need;
        tile.theta[threadIdx.x] = (float) solver.theta;
        tile.pull[threadIdx.x] = (float) pullAt(solver.theta);
        tile.kappa[threadIdx.x] = (float) set.kappa;
    }
    __syncthreads();
    if (COMMON) {
        loadCommon(column);
    } else {
        load(column);
    }
    for (int round = 0;; round++) {
        bool busy = leads && solver.need != NOTHING && solver.need != EXACT;
        if (!__syncthreads_or(busy)) break;
        if (round > 0) sumUp(column);
        total(round);
        if (busy) {
            solver.advance(tile.sums[threadIdx.x]);
            tile.need[threadIdx.x] = solver.need;
            tile.theta[threadIdx.x] = (float) solver.theta;
            tile.pull[threadIdx.x] = (float) pullAt(solver.theta);
        }
    }
    if (leads) {
        bool exact = solver.need == EXACT;
        bool asIs = solver.branch == UNTOUCHED;
        tile.theta[threadIdx.x] = asIs ? 1.f : (float) solver.theta;
        tile.pull[threadIdx.x] = asIs ? 0.f : (float) pullAt(solver.theta);
        if (job.member == 0) {
            if (exact) {
                straggles(threadIdx.x, solver.evaluations);
            } else {
                plan.thetas[job.theta + threadIdx.x] = (float) solver.theta;
            }
            tile.counted[threadIdx.x] = {exact ? 0. : penaltyOf(solver.theta), (float) solver.error, solver.evaluations, 0,
                                         solver.branch, !exact};
        }
    }
    fetchAhead();
    if (COMMON) {
        storeCommon(column);
        report(number, 0);
    } else {
        report(number, store(column));
    }
}

__device__ __noinline__ void uncommonJob(int number) {
    groupedJob<false>(number);
}

// The penalty waits until the metric has seen a gradient: the step without it. Nothing is counted; the host sees to that.
__device__ __noinline__ void waitingJob(int number) {
    const Column column;
    const Rule rule;
    fetchAhead();
    for (int i = 0; i < column.count; i++) {
        if (column.has(i)) {
            long long index = column.index(i);
            float g = tensor.g[ofGradient(index)];
            float first = rule.first(tensor.m ? tensor.m[index] : 0.f, g);
            float second = rule.second(tensor.v ? tensor.v[index] : 0.f, g);
            if (tensor.m) tensor.m[index] = first;
            if (tensor.v) tensor.v[index] = second;
            float *x = tensor.x + ofWeight(index);
            *x = rule.stepped(*x, first, rule.metric(second));
        }
    }
    if (threadIdx.x == 0) plan.jobStats[number] = {};
}

#if NESTED
__device__ __noinline__ void nestedJob(int number) {
    const Column column;
    bool leads = threadIdx.x < job.groups;
    NestedSolver &solver = solvers.nested[leads ? threadIdx.x : 0];
    bool exact = false;
    if (leads) {
        solver.start(plan.thetas + job.theta + threadIdx.x, set.count);
        tile.need[threadIdx.x] = solver.needs[job.part];
        tile.theta[threadIdx.x] = (float) solver.theta[job.part];
        tile.pull[threadIdx.x] = (float) solver.scale[job.part];
        tile.kappa[threadIdx.x] = 0.f;
        for (int part = 0; part < solver.parts; part++) exact |= solver.needs[part] == EXACT;
    }
    __syncthreads();
    load(column);
    for (int round = 0;; round++) {
        bool busy = leads && !exact && solver.busy();
        if (!__syncthreads_or(busy)) break;
        if (round > 0) sumUp(column);
        addThreads();
        exchange(round);
        if (busy) {
            double sums[MOST_PARTS][SUMS];
            for (int part = 0; part < solver.parts; part++) {
                gather(round, set.firstMember[part], set.firstMember[part + 1], threadIdx.x,
                       solver.needs[part] == SURVEY, sums[part]);
            }
            exact = solver.advance(sums);
            tile.need[threadIdx.x] = solver.needs[job.part];
            tile.theta[threadIdx.x] = (float) solver.theta[job.part];
        }
    }
    if (leads) {
        bool asIs = solver.branch == UNTOUCHED;
        tile.need[threadIdx.x] = exact ? EXACT : NOTHING;
        tile.theta[threadIdx.x] = asIs ? 1.f : (float) solver.theta[job.part];
        tile.pull[threadIdx.x] = asIs ? 0.f : (float) solver.scale[job.part];
        if (job.member == 0) {
            double sum = 0, penalty = 0;
            int zeroed = 0;
            for (int part = 0; part < solver.parts && !exact; part++) {
                plan.thetas[job.theta + threadIdx.x + part * set.count] = (float) solver.norm[part];
                sum += solver.norm[part] * solver.norm[part];
                penalty += set.innerStrength[part] * solver.norm[part];
                zeroed += solver.norm[part] == 0;
            }
            penalty += set.outerStrength * sqrt(sum);
            if (exact) straggles(threadIdx.x, solver.passes);
            tile.counted[threadIdx.x] = {penalty, (float) solver.error, solver.passes, zeroed, solver.branch, !exact};
        }
    }
    fetchAhead();
    report(number, store(column));
}
#endif

#if SUBGRADIENT
// The penalty's subgradient is added to the gradient; then the plain step.
__device__ __noinline__ void subgradientJob() {
    const Column column;
    const Rule rule;
    if (threadIdx.x < job.groups) tile.need[threadIdx.x] = EVALUATION;
    __syncthreads();
    Sum sum(column.group);
    for (int i = 0; i < column.count; i++) {
        if (column.has(i)) {
            U(i) = tensor.x[ofWeight(column.index(i))];
            sum.square(U(i));
        }
    }
    sum.put();
    total(0);
    if (threadIdx.x < job.groups) {
        double norm = sqrt(tile.sums[threadIdx.x][0]);
        tile.sums[threadIdx.x][0] = norm > 0 ? penaltySlope(norm) / norm : 0;
    }
    fetchAhead();
    double factor = tile.sums[column.group][0];
    for (int i = 0; i < column.count; i++) {
        if (column.has(i)) {
            long long index = column.index(i);
            float x = U(i);
            double sign = x > 0 ? 1 : x < 0 ? -1 : 0;
            float g = (float) (tensor.g[ofGradient(index)] + factor * x + set.singleStrength * sign);
            float first = rule.first(tensor.m ? tensor.m[index] : 0.f, g);
            float second = rule.second(tensor.v ? tensor.v[index] : 0.f, g);
            if (tensor.m) tensor.m[index] = first;
            if (tensor.v) tensor.v[index] = second;
            tensor.x[ofWeight(index)] = rule.stepped(x, first, rule.metric(second));
        }
    }
}
#endif
