// Tiles of groups: what the threads of a block do with their weights.

// Numbers of all weights of a tile.
#define TILE (DEEP * THREADS)

// By turns for two tiles: x and g of their weights, which become u and d and are kept until these are solved. Behind that, for one
// tile, m and v.
extern __shared__ __align__(128) float room[];

// Where a thread works in a tile: in which of its rows first, and in which column, of which group. Many tiles are alike, and to
// find it out takes two divisions.
struct Seat {
    int columns, inner;  // of the tile that it is for
    int lanes, lane, column, group;

    __device__ __forceinline__ Seat() : columns(0) {}

    __device__ __forceinline__ explicit Seat(const Job &job) : columns(0) {
        take(job);
    }

    __device__ __forceinline__ void take(const Job &job) {
        if (job.columns == columns && job.inner == inner) return;
        columns = job.columns;
        inner = job.inner;
        lanes = THREADS / columns;
        lane = threadIdx.x / columns;
        column = threadIdx.x % columns;
        group = column / inner;
    }
};

// The weights of a thread: one column, every so many rows. Where a row of the tile is a piece of memory that is folded into
// rows, the groups of the tile lie behind each other.
struct Column {
    const Job &job;
    int lanes, lane, column, group;
    int count;           // how many weights, those that are not there included
    bool even;           // all of them are there, and equally far from each other
    long long first, stride;

    __device__ __forceinline__ Column(const Job &job, const Seat &seat)
        : job(job), lanes(seat.lanes), lane(seat.lane), column(seat.column), group(seat.group) {
        even = job.fold == 1 || inOnePiece(job);
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
    static __device__ __forceinline__ bool inOnePiece(const Job &job) {
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

// Where the numbers of a thread's weights are, which are fetched, and kept until they are solved: x and g of each become u and d.
struct Kept {
    float *xg;
    int pitch;

    __device__ __forceinline__ Kept(const Job &job, const Seat &seat, int turn)
        : xg(room + (turn & 1) * 2 * TILE + seat.lane * job.width + seat.column), pitch(seat.lanes * job.width) {}

    __device__ __forceinline__ float &u(int i) const {
        return xg[i * pitch];
    }

    __device__ __forceinline__ float &d(int i) const {
        return xg[TILE + i * pitch];
    }
};

// What a thread adds to the sums of its group.
struct Sum {
    float t, s, r, e;
    float theta, pull, kappa;
    int need;

    __device__ __forceinline__ Sum(int need, float theta, float pull, float kappa)
        : t(0), s(0), r(0), e(__int_as_float(0x7f800000)), theta(theta), pull(pull), kappa(kappa), need(need) {}

    // What the desk asks for.
    __device__ __forceinline__ Sum(const Desk &desk, int group, float kappa)
        : Sum(desk.need[group], desk.theta[group], desk.pull[group], kappa) {}

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
        e = fminf(e, -d);
    }

    __device__ __forceinline__ void square(float x) {
        t = fmaf(x, x, t);
    }

    // What a solution costs; seldom asked for.
    __device__ __forceinline__ void weigh(float u, float d) {
        float w = u * reciprocal(fmaf(d, theta, pull));
        t = fmaf(w, w * reciprocal(d), t);
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

    __device__ __forceinline__ void put(Desk &desk) const {
        desk.parts[0][threadIdx.x] = t;
        desk.parts[1][threadIdx.x] = s;
        desk.parts[2][threadIdx.x] = r;
        desk.parts[LEAST][threadIdx.x] = e;
    }
};

// The weights of a group that is solved.
struct Solution {
    float theta, pull;

    __device__ __forceinline__ Solution(const Desk &desk, int group) : theta(desk.theta[group]), pull(desk.pull[group]) {}

    __device__ __forceinline__ float at(float u, float d) const {
        return theta * u * reciprocal(fmaf(d, theta, pull)) + 0.f; // + 0 turns −0 into 0
    }
};

// Updates the moments of the thread's weights, keeps their u and d, and adds up the first evaluation.
__device__ __noinline__ Sum load(const Task &task, int turn, Sum sum) {
    const Seat seat(task.job);
    const Column column(task.job, seat);
    const Kept keep(task.job, seat, turn);
    const Tensor &tensor = task.tensor;
    const Rule rule(task.set, tensor);
    const float single = (float) task.set.singleThreshold;
    const bool still = task.set.stepSize == 0;
    for (int i = 0; i < column.count; i++) {
        if (column.has(i)) {
            long long index = column.index(i);
            float x = tensor.x[ofWeight(tensor, index)];
            const Moments moments(rule, tensor, index, tensor.g[ofGradient(tensor, index)]);
            float d = rule.metric(moments.second);
            float u = rule.preconditioned(d, x, moments.first);
            if (single > 0) u = softened(u, single);
            if (still) u = x;
            sum.add(u, d, still);
            keep.u(i) = u;
            keep.d(i) = d;
        }
    }
    return sum;
}

// Adds up another evaluation, a survey, or a weighing.
__device__ __noinline__ void sumUp(const Task &task, int turn, Desk &desk) {
    const Seat seat(task.job);
    const Column column(task.job, seat);
    const Kept keep(task.job, seat, turn);
    Sum sum(desk, column.group, (float) task.set.kappa);
    for (int i = 0; i < column.count; i++) {
        if (column.has(i)) {
            if (sum.need == WEIGHING) {
                sum.weigh(keep.u(i), keep.d(i));
            } else if (sum.need != NOTHING) {
                sum.add(keep.u(i), keep.d(i), false);
            }
        }
    }
    sum.put(desk);
}

// Writes the solution, and returns the sum of its magnitudes.
__device__ __noinline__ float store(const Task &task, int turn, const Desk &desk) {
    const Seat seat(task.job);
    const Column column(task.job, seat);
    const Kept keep(task.job, seat, turn);
    float magnitudes = 0;
    if (desk.need[column.group] == EXACT) return 0;
    const Solution solution(desk, column.group);
    const bool still = task.set.stepSize == 0;
    for (int i = 0; i < column.count; i++) {
        if (column.has(i)) {
            float z = keep.u(i);
            if (!still) {
                z = solution.at(z, keep.d(i));
                task.tensor.x[ofWeight(task.tensor, column.index(i))] = z;
            }
            magnitudes += fabsf(z);
        }
    }
    return magnitudes;
}

// The penalty waits until the metric has seen a gradient: the step without it. Nothing is counted; the host sees to that.
__device__ __noinline__ void waitingTile(const Task &task, int number) {
    const Seat seat(task.job);
    const Column column(task.job, seat);
    const Rule rule(task.set, task.tensor);
    for (int i = 0; i < column.count; i++) {
        if (column.has(i)) stepWeight(rule, task.tensor, column.index(i));
    }
    if (threadIdx.x == 0) plan.jobStats[number] = {};
}

__device__ void straggles(const Job &job, int group, int evaluations) {
    int place = atomicAdd(&plan.flags->stragglers, 1);
    plan.stragglers[place] = {job.set, job.group + group, evaluations};
}

// What was done to a group.
struct Done {
    int branch, evaluations, zeroedWithin;
    float error;
    double penalty;
};

// By a warp: counts what was done to the groups of a tile, each lane's own. Its first member does, for all.
__device__ __noinline__ void report(const Task &task, int number, bool counts, const Done &done) {
    Stats stats = {}; // all of it: the penalty may have been of single weights a step ago
    if (task.job.member == 0) {
        bool soft = task.set.singleThreshold > 0;
        stats.zeroed = __reduce_add_sync(~0u, counts && done.branch == ZEROED);
        stats.shrunk = __reduce_add_sync(~0u, counts && (done.branch == SHRUNK || (done.branch == UNTOUCHED && soft)));
        stats.untouched = __reduce_add_sync(~0u, counts && done.branch == UNTOUCHED && !soft);
        stats.zeroedWithin = __reduce_add_sync(~0u, counts ? done.zeroedWithin : 0);
        stats.evaluations = __reduce_add_sync(~0u, counts ? done.evaluations : 0);
        stats.error = __uint_as_float(__reduce_max_sync(~0u, counts ? __float_as_uint(done.error) : 0u));
        stats.penalty = warpSum(counts ? done.penalty : 0);
    }
    if (lane() == 0) plan.jobStats[number] = stats;
}
