// One optimizer step of a whole model, in three launches: inspect, step, finish.
//
// Blocks of threads work through a list of jobs. A job is a stretch of a tensor without a penalty, or a tile of one with
// groups: some columns (whole groups) of some rows. A thread runs down one column, as a lane of the processor's kernel does,
// and keeps u and d of its weights in shared memory until they are solved: so every number in memory is read once and written
// once. The jobs that hold the rows of the same groups are a team. Its members hand each other their sums through memory,
// add them up in the same order, and so find the same norms, each by itself. That takes all members to run at once: the
// launch is a cooperative one, members are neighbours in the list, and a team has at most as many as there are blocks.
//
// The arithmetic is that of dev.espalier.kernel, where it is explained: Update, ScalarLanes, GroupSolver, NestedSolver.
// Compiled without contraction, so that moments come out to the same bit.
//
// THREADS is the number of threads of a block, BLOCKS how many of them a multiprocessor takes, DEEP the weights of a thread.
// Compile-time choices, so that a model does not pay for what it does not use:
//   STRIDED      tensors may be other than contiguous
//   NESTED       groups may have groups within them
//   SUBGRADIENT  penalties may act through their subgradient
//   SINGLES      groups may be single weights

#define BATCH 4             // weights that a thread has under way at once
#define MOST_PIECES 8
#define MOST_PARTS 8
#define MOST_RANK 8
#define MOST_GROUPS 64      // of a tile
#define MOST_NESTED 32      // the same, where they have groups within them
#define PATIENCE 12
#define LARGEST_GRADIENT 1e15f
#define LEAST_NORMAL 1.17549435e-38
#define INFINITE __longlong_as_double(0x7ff0000000000000LL)
#define UNKNOWN __longlong_as_double(0x7ff8000000000000LL)

enum Kind { PLAIN, SINGLE, GROUPED, NESTING, SUBGRADIENTS };
enum Need { NOTHING, EVALUATION, SURVEY, EXACT };
enum Branch { ZEROED, SHRUNK, UNTOUCHED };

struct Strides {
    long long rank;
    long long shape[MOST_RANK];
    long long strides[MOST_RANK];
};

struct Layout {
    Strides weights, gradients;
};

// Where a tensor is in this step. A moment that the rule does not have is null, and so is the layout of what is contiguous.
struct Tensor {
    float *x;
    const float *g;
    float *m;
    float *v;
    const Layout *layout;
};

struct Piece {
    double from, height, bend;
};

// A set of tensors in this step: the rule (Update), the penalty (PenaltyTerms) and, where groups nest, NestedSolver's l and l_c.
struct Set {
    float keepFirst, addFirst, step, keepSecond, addSecond, scaleSecond, innerEpsilon, outerEpsilon, shrink;
    int idle, fast, kneed;
    double stepSize, smallStep, threshold, kappa, knee, singleThreshold, singleStrength;
    double outerStrength, innerStrength[MOST_PARTS];
    double size;                      // of a group, in weights
    long long count;                  // of groups
    int parts, pieces;
    int firstMember[MOST_PARTS + 1];  // of the jobs of a team, by part
    int unused;
    Piece piece[MOST_PIECES];
};

struct Job {
    int kind, set, tensor, part;
    long long first;     // the logical index of its first weight
    long long stride;    // weights from one row to the next
    int row, rows;       // its first row, and how many
    int columns, inner;  // columns, and columns of a group
    int fold, limit;     // a group that lies in one piece is folded into so many rows, and has so many weights
    int group, groups;   // its first group, and how many
    int team, members;   // its team, and how many jobs that has
    int member, unused;  // its number there
    long long theta;     // where the norms of its groups are
    long long slot;      // where its sums are
};

struct Stats {
    long long evaluations;
    double penalty;
    float error;
    int zeroed, shrunk, untouched, zeroedWithin, unused;
};

struct Flags {
    int bad;         // a gradient is not finite: the step does nothing
    int stragglers;  // groups that ask for the exact operator
};

struct Scan {
    int tensor, count;
    long long first;
};

struct Plan {
    const Tensor *tensors;
    const Set *sets;
    const Job *jobs;
    const Scan *scans;
    float *thetas;
    double *sums;
    unsigned *arrivals;
    Stats *jobStats;
    Stats *setStats;
    const int *firstJobs;  // of every set, and their end
    unsigned *largest;
    Flags *flags;
    int4 *stragglers;      // set, group and evaluations so far
    int jobCount, scanCount, setCount, teamCount;
    long long slots;       // of all jobs: the sums of odd rounds follow those of even ones
};

// Tables.java writes them so.
static_assert(sizeof(Tensor) == 40 && sizeof(Layout) == 272 && sizeof(Set) == 432 && sizeof(Job) == 96, "sizes");
static_assert(sizeof(Stats) == 40 && sizeof(Flags) == 8 && sizeof(Scan) == 16 && sizeof(Plan) == 128, "sizes");

#define SUMS 4
#define LEAST 3  // the least d of an evaluation, the largest of a survey

// What was done to a group.
struct Counted {
    double penalty;
    float error;
    int evaluations, zeroedWithin;
    unsigned char branch;
    bool counts;
};

// What the threads of a block share about the groups of a tile.
struct Tile {
    float theta[MOST_GROUPS];         // where each is evaluated; from where it is stored
    float kappa[MOST_GROUPS];
    float threshold[MOST_GROUPS];
    unsigned char need[MOST_GROUPS];
    float parts[SUMS][THREADS];       // sums of every thread
    double sums[MOST_GROUPS][SUMS];   // sums of every group over the rows of the block
    Counted counted[MOST_GROUPS];
};

__constant__ Plan plan;     // of all steps
__shared__ Job job;         // at hand, with its tensor and set
__shared__ Tensor tensor;
__shared__ Set set;
__shared__ Tile tile;
__shared__ Job nextJob;     // what comes after, fetched ahead
__shared__ Tensor nextTensor;
__shared__ Set nextSet;

// ---------------------------------------------------------------------------------------------- memory

template <typename T> __device__ __forceinline__ void copyIn(T *to, const T *from) {
    for (int i = threadIdx.x; i < sizeof(T) / sizeof(int); i += THREADS) ((int *) to)[i] = __ldg((const int *) from + i);
}

template <typename T> __device__ __forceinline__ void take(T *to, const T *from) {
    for (int i = threadIdx.x; i < sizeof(T) / sizeof(int); i += THREADS) ((int *) to)[i] = ((const int *) from)[i];
}

// Fetches what belongs to the next job, whose own description has been fetched.
__device__ __forceinline__ void fetchAhead() {
    copyIn(&nextTensor, plan.tensors + nextJob.tensor);
    copyIn(&nextSet, plan.sets + nextJob.set);
}

#if STRIDED
__device__ __noinline__ long long strided(const Strides &layout, long long index) {
    long long position = 0;
    for (int axis = (int) layout.rank - 1; axis >= 0; axis--) {
        position += index % layout.shape[axis] * layout.strides[axis];
        index /= layout.shape[axis];
    }
    return position;
}
#endif

__device__ __forceinline__ long long ofWeight(long long index) {
#if STRIDED
    if (tensor.layout) return strided(tensor.layout->weights, index);
#endif
    return index;
}

__device__ __forceinline__ long long ofGradient(long long index) {
#if STRIDED
    if (tensor.layout) return strided(tensor.layout->gradients, index);
#endif
    return index;
}

// ---------------------------------------------------------------------------------------------- the update rule

// Good to the last bit but one, in one instruction: a correctly rounded one takes ten.
__device__ __forceinline__ float reciprocal(float value) {
    float result;
    asm("rcp.approx.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
}

__device__ __forceinline__ float root(float value) {
    float result;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
}

// The numbers of Update, in registers: what lies in shared memory would be read again for every weight.
struct Rule {
    float keepFirst, addFirst, step, keepSecond, addSecond, scaleSecond, innerEpsilon, outerEpsilon, shrink;

    __device__ __forceinline__ Rule()
        : keepFirst(set.keepFirst), addFirst(set.addFirst), step(set.step), keepSecond(set.keepSecond), addSecond(set.addSecond),
          scaleSecond(set.scaleSecond), innerEpsilon(set.innerEpsilon), outerEpsilon(set.outerEpsilon), shrink(set.shrink) {}

    __device__ __forceinline__ float first(float m, float g) const {
        return fmaf(keepFirst, m, addFirst * g);
    }

    __device__ __forceinline__ float second(float v, float g) const {
        return fmaf(keepSecond, v, addSecond * g * g);
    }

    __device__ __forceinline__ float metric(float v) const {
        return root(fmaf(scaleSecond, v, innerEpsilon)) + outerEpsilon;
    }

    __device__ __forceinline__ float stepped(float x, float m, float d) const {
        return fmaf(shrink, x, -step * m / d);
    }

    __device__ __forceinline__ float preconditioned(float d, float x, float m) const {
        return fmaf(d, shrink * x, -step * m);
    }
};

__device__ __forceinline__ float softened(float u, float threshold) {
    return fmaxf(u - threshold, 0.f) + fminf(u + threshold, 0.f);
}

// ---------------------------------------------------------------------------------------------- sums over a block

__device__ __forceinline__ double warpSum(double value) {
    for (int distance = 16; distance > 0; distance >>= 1) value += __shfl_down_sync(~0u, value, distance);
    return value;
}

// The sum over all threads, in a fixed order; thread 0 gets it.
__device__ __noinline__ double blockSum(double value) {
    __shared__ double perWarp[THREADS / 32];
    value = warpSum(value);
    __syncthreads();
    if (threadIdx.x % 32 == 0) perWarp[threadIdx.x / 32] = value;
    __syncthreads();
    double sum = 0;
    if (threadIdx.x == 0) {
        for (int warp = 0; warp < THREADS / 32; warp++) sum += perWarp[warp];
    }
    return sum;
}

// ---------------------------------------------------------------------------------------------- launch 1: look at the gradients

extern "C" __global__ void __launch_bounds__(THREADS) inspect() {
    for (int number = blockIdx.x; number < plan.scanCount; number += gridDim.x) {
        const Scan scan = plan.scans[number];
        __syncthreads();
        copyIn(&tensor, plan.tensors + scan.tensor);
        __syncthreads();
        const float *g = tensor.g;
        unsigned bits = 0; // of the largest magnitude; as bits, NaN is above infinity, and that above all numbers
        bool plain = tensor.layout == 0 && ((unsigned long long) (g + scan.first) & 15) == 0;
        if (plain) {
            const uint4 *four = (const uint4 *) (g + scan.first);
            int fours = scan.count / 4;
            #pragma unroll 4
            for (int i = threadIdx.x; i < fours; i += THREADS) {
                uint4 some = __ldg(four + i);
                bits = max(bits, max(max(some.x & 0x7fffffffu, some.y & 0x7fffffffu),
                                     max(some.z & 0x7fffffffu, some.w & 0x7fffffffu)));
            }
        }
        for (int i = (plain ? scan.count / 4 * 4 : 0) + threadIdx.x; i < scan.count; i += THREADS) {
            bits = max(bits, __float_as_uint(g[ofGradient(scan.first + i)]) & 0x7fffffffu);
        }
        if (!(__uint_as_float(bits) <= LARGEST_GRADIENT)) {
            plan.flags->bad = 1;
            atomicMax(plan.largest + scan.tensor, bits);
        }
    }
}

// ---------------------------------------------------------------------------------------------- no penalty

__device__ __forceinline__ float4 load4(const float *from, bool there) {
    return there ? *(const float4 *) from : make_float4(0.f, 0.f, 0.f, 0.f);
}

__device__ void plainJob() {
    const Rule rule;
    const Tensor here = tensor;
    const int count = job.rows;
    const long long start = job.first;
    int done = 0;
    if (!here.layout && (((unsigned long long) (here.x + start) | (unsigned long long) (here.g + start)) & 15) == 0) {
        done = count / 4 * 4;
        #pragma unroll 2
        for (int i = threadIdx.x * 4; i < done; i += THREADS * 4) {
            long long at = start + i;
            float4 x = *(const float4 *) (here.x + at);
            float4 g = __ldcs((const float4 *) (here.g + at));
            float4 m = load4(here.m + at, here.m);
            float4 v = load4(here.v + at, here.v);
            m.x = rule.first(m.x, g.x); v.x = rule.second(v.x, g.x); x.x = rule.stepped(x.x, m.x, rule.metric(v.x));
            m.y = rule.first(m.y, g.y); v.y = rule.second(v.y, g.y); x.y = rule.stepped(x.y, m.y, rule.metric(v.y));
            m.z = rule.first(m.z, g.z); v.z = rule.second(v.z, g.z); x.z = rule.stepped(x.z, m.z, rule.metric(v.z));
            m.w = rule.first(m.w, g.w); v.w = rule.second(v.w, g.w); x.w = rule.stepped(x.w, m.w, rule.metric(v.w));
            if (here.m) *(float4 *) (here.m + at) = m;
            if (here.v) *(float4 *) (here.v + at) = v;
            *(float4 *) (here.x + at) = x;
        }
    }
    for (int i = done + threadIdx.x; i < count; i += THREADS) {
        long long index = start + i;
        float g = here.g[ofGradient(index)];
        float m = rule.first(here.m ? here.m[index] : 0.f, g);
        float v = rule.second(here.v ? here.v[index] : 0.f, g);
        if (here.m) here.m[index] = m;
        if (here.v) here.v[index] = v;
        float *x = here.x + ofWeight(index);
        *x = rule.stepped(*x, m, rule.metric(v));
    }
}

// ---------------------------------------------------------------------------------------------- penalties as profiles

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

// ---------------------------------------------------------------------------------------------- teams

__device__ __forceinline__ double extreme(double one, double other, bool most) {
    return most ? fmax(one, other) : fmin(one, other);
}

// Adds the threads' sums up to sums of groups. The groups' threads are those with the lowest numbers.
__device__ __noinline__ void addThreads() {
    int lanes = THREADS / job.columns;
    int entries = job.inner * lanes;
    __syncthreads();
    if (entries <= 16) {
        if (threadIdx.x < job.groups) {
            int group = threadIdx.x;
            bool survey = tile.need[group] == SURVEY;
            double t = 0, s = 0, r = 0, e = survey ? 0 : INFINITE;
            for (int lane = 0; lane < lanes; lane++) {
                for (int i = 0; i < job.inner; i++) {
                    int at = lane * job.columns + group * job.inner + i;
                    t += tile.parts[0][at];
                    s += tile.parts[1][at];
                    r += tile.parts[2][at];
                    e = extreme(e, tile.parts[LEAST][at], survey);
                }
            }
            tile.sums[group][0] = t;
            tile.sums[group][1] = s;
            tile.sums[group][2] = r;
            tile.sums[group][LEAST] = e;
        }
    } else {
        int lane32 = threadIdx.x % 32;
        for (int group = threadIdx.x / 32; group < job.groups; group += THREADS / 32) {
            bool survey = tile.need[group] == SURVEY;
            double t = 0, s = 0, r = 0, e = survey ? 0 : INFINITE;
            for (int entry = lane32; entry < entries; entry += 32) {
                int at = entry / job.inner * job.columns + group * job.inner + entry % job.inner;
                t += tile.parts[0][at];
                s += tile.parts[1][at];
                r += tile.parts[2][at];
                e = extreme(e, tile.parts[LEAST][at], survey);
            }
            t = warpSum(t);
            s = warpSum(s);
            r = warpSum(r);
            for (int distance = 16; distance > 0; distance >>= 1) {
                e = extreme(e, __shfl_down_sync(~0u, e, distance), survey);
            }
            if (lane32 == 0) {
                tile.sums[group][0] = t;
                tile.sums[group][1] = s;
                tile.sums[group][2] = r;
                tile.sums[group][LEAST] = e;
            }
        }
    }
    __syncthreads();
}

// Hands the block's sums to the team, and waits for those of the other members.
__device__ void exchange(int round) {
    if (threadIdx.x < job.groups) {
        double *out = plan.sums + (((round & 1) ? plan.slots : 0) + job.slot + threadIdx.x) * SUMS;
        for (int i = 0; i < SUMS; i++) __stcg(out + i, tile.sums[threadIdx.x][i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(plan.arrivals + job.team, 1u);
        unsigned all = (unsigned) (round + 1) * job.members;
        while (*(volatile unsigned *) (plan.arrivals + job.team) < all) __nanosleep(20);
        __threadfence();
    }
    __syncthreads();
}

// The sums of a group over members of the team, in their order.
__device__ void gather(int round, int from, int to, int group, bool survey, double *sums) {
    sums[0] = sums[1] = sums[2] = 0;
    sums[LEAST] = survey ? 0 : INFINITE;
    long long base = (((round & 1) ? plan.slots : 0) + job.slot - (long long) job.member * job.groups + group) * SUMS;
    #pragma unroll 4
    for (int member = from; member < to; member++) {
        const double *in = plan.sums + base + (long long) member * job.groups * SUMS;
        double2 one = __ldcg((const double2 *) in);
        double2 two = __ldcg((const double2 *) in + 1);
        sums[0] += one.x;
        sums[1] += one.y;
        sums[2] += two.x;
        sums[LEAST] = extreme(sums[LEAST], two.y, survey);
    }
}

// Adds up what the threads have put into the tile, over the block and over the team.
__device__ __forceinline__ void total(int round, double *sums) {
    addThreads();
    if (job.members > 1) exchange(round);
    if (threadIdx.x < job.groups) {
        int group = threadIdx.x;
        if (job.members > 1) {
            gather(round, 0, job.members, group, tile.need[group] == SURVEY, sums);
        } else {
            for (int i = 0; i < SUMS; i++) sums[i] = tile.sums[group][i];
        }
    }
}

// ---------------------------------------------------------------------------------------------- one norm for a group

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

// GroupSolver, for one group.
struct Solver {
    double theta, low, high, normOfU, candidate, error;
    int evaluations;
    unsigned char need, branch;
    bool belowKnee;

    __device__ void evaluateAt(double at) {
        need = EVALUATION;
        theta = (float) at;
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
        } else if (theta == (float) set.knee) {
            atKnee(t, s, r, least);
        } else {
            atPoint(t, s, r, least);
        }
    }

    __device__ void atZero(double t, double least) {
        normOfU = set.threshold * sqrt(t);
        if (t > 1) {
            need = SURVEY;
        } else if (belowKnee || normOfU <= least * set.knee) {
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
        if (fabs(step) <= set.smallStep && next <= set.knee) {
            error = fabs(step * step * step);
            if (belowKnee || next + (set.threshold - set.kappa * next) / least <= set.knee) {
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

#if NESTED
// NestedSolver, for one group: a model of every part, and one monotone equation for μ on them.
struct NestedSolver {
    double theta[MOST_PARTS], norm[MOST_PARTS], normOfU[MOST_PARTS];
    double base[MOST_PARTS], value[MOST_PARTS], slope[MOST_PARTS], bend[MOST_PARTS];
    unsigned char needs[MOST_PARTS];
    double inner[MOST_PARTS], scale[MOST_PARTS], points[MOST_PARTS];
    double outer, previous, error, squares, rate;
    int parts, passes;
    unsigned char branch;

    __device__ void evaluateAt(int part, double at) {
        needs[part] = EVALUATION;
        theta[part] = (float) at;
    }

    __device__ void start(const float *norms, long long stride) {
        parts = set.parts;
        outer = set.stepSize * set.outerStrength;
        passes = 0;
        error = 0;
        branch = UNTOUCHED;
        double sum = 0;
        bool fast = true;
        for (int part = 0; part < parts; part++) {
            double last = norms[part * stride];
            sum += last * last;
            inner[part] = set.stepSize * set.innerStrength[part];
            scale[part] = outer + inner[part];
            fast &= (float) scale[part] > 0;
        }
        previous = sqrt(sum);
        for (int part = 0; part < parts; part++) {
            double last = norms[part * stride];
            normOfU[part] = base[part] = UNKNOWN;
            norm[part] = last;
            theta[part] = 1;
            if (set.stepSize == 0) {
                needs[part] = EVALUATION; // of the norm
            } else if (set.idle) {
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
        if (set.stepSize == 0) {
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
        if (theta[part] == 0 || t == 0) {
            normOfU[part] = scale[part] * sqrt(t);
            return true;
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
                if (!(step <= set.smallStep)) evaluateAt(part, points[part]);
            }
        }
        if (!(largest <= set.smallStep)) return true;
        error = largest * largest * largest;
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
                rate -= square * (m / (m + k * derivative)) * (1 - at * derivative / f);
            }
        }
        rate /= squares;
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

// A group's solver is held by the thread of the group's number.
__shared__ union {
    Solver plain[MOST_GROUPS];
#if NESTED
    NestedSolver nested[MOST_NESTED];
#endif
} solvers;

// ---------------------------------------------------------------------------------------------- tiles of groups

// u and d of a thread's weights, kept until they are solved.
extern __shared__ float kept[];
#define U(i) kept[(i) * THREADS + threadIdx.x]
#define D(i) kept[(DEEP + (i)) * THREADS + threadIdx.x]

// The weights of a thread: one column, every so many rows.
struct Column {
    int lanes, lane, column, group;
    int count;           // how many weights, those that are not there included
    long long first, stride;

    __device__ __forceinline__ Column() {
        lanes = THREADS / job.columns;
        lane = threadIdx.x / job.columns;
        column = threadIdx.x % job.columns;
        group = column / job.inner;
        count = lane < lanes ? (job.rows - lane + lanes - 1) / lanes : 0;
        first = job.first + (job.row + lane) * job.stride + column;
        stride = lanes * job.stride;
    }

    __device__ __forceinline__ long long index(int i) const {
        if (job.fold == 1) return first + i * stride;
        int row = job.row + i * lanes + lane;
        return job.first + row / job.fold * job.stride + (long long) (row % job.fold) * job.columns + column;
    }

    // A group that is folded may not fill its last row.
    __device__ __forceinline__ bool has(int i) const {
        return job.fold == 1 || (job.row + i * lanes + lane) % job.fold * job.columns + column < job.limit;
    }
};

// What a thread adds to the sums of its group.
struct Sum {
    float t, s, r, e;
    float theta, kappa, threshold;
    int need;

    __device__ __forceinline__ Sum(int group) {
        t = s = r = 0;
        need = tile.need[group];
        theta = tile.theta[group];
        kappa = tile.kappa[group];
        threshold = tile.threshold[group];
        e = need == SURVEY ? 0.f : __int_as_float(0x7f800000);
    }

    __device__ __forceinline__ void evaluate(float u, float d) {
        float a = (d - kappa) * theta;
        float q = reciprocal(a + threshold);
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
    float theta, kappa, threshold;

    __device__ __forceinline__ Solution(int group)
        : theta(tile.theta[group]), kappa(tile.kappa[group]), threshold(tile.threshold[group]) {}

    __device__ __forceinline__ float at(float u, float d) const {
        return theta * u * reciprocal((d - kappa) * theta + threshold) + 0.f; // + 0 turns −0 into 0
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

// Adds up another evaluation, or a survey.
__device__ __forceinline__ void sumUp(const Column &column) {
    Sum sum(column.group);
    if (sum.need != NOTHING) {
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

// The same for what is common: both moments, contiguous tensors, no folds, no threshold of single weights, a step of some
// length. Nothing is decided for single weights, and places are counted in ints from the thread's first: the loop is short.
__device__ __forceinline__ bool isCommon() {
    return tensor.m && tensor.v && !tensor.layout && job.fold == 1 && job.rows * job.stride <= 0x7fffffffLL && set.stepSize > 0
        && set.singleThreshold == 0;
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
    if (job.member > 0 && set.singleStrength == 0) return;
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
    plan.stragglers[place] = make_int4(job.set, job.group + group, evaluations, 0);
}

template <bool COMMON> __device__ __forceinline__ void groupedJob(int number) {
    const Column column;
    bool leads = threadIdx.x < job.groups; // a group
    Solver &solver = solvers.plain[leads ? threadIdx.x : 0];
    if (leads) {
        solver.start(plan.thetas[job.theta + threadIdx.x]);
        tile.need[threadIdx.x] = solver.need;
        tile.theta[threadIdx.x] = (float) solver.theta;
        tile.kappa[threadIdx.x] = (float) set.kappa;
        tile.threshold[threadIdx.x] = (float) set.threshold;
    }
    __syncthreads();
    if (COMMON) {
        loadCommon(column);
    } else {
        load(column);
    }
    for (int round = 0;; round++) {
        bool busy = leads && (solver.need == EVALUATION || solver.need == SURVEY);
        if (!__syncthreads_or(busy)) break;
        if (round > 0) sumUp(column);
        double sums[SUMS];
        total(round, sums);
        if (busy) {
            solver.advance(sums);
            tile.need[threadIdx.x] = solver.need;
            tile.theta[threadIdx.x] = (float) solver.theta;
        }
    }
    if (leads) {
        bool exact = solver.need == EXACT;
        bool asIs = solver.branch == UNTOUCHED;
        tile.theta[threadIdx.x] = asIs ? 1.f : (float) solver.theta;
        tile.kappa[threadIdx.x] = asIs ? 0.f : (float) set.kappa;
        tile.threshold[threadIdx.x] = asIs ? 0.f : (float) set.threshold;
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
    __syncthreads();
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
        tile.kappa[threadIdx.x] = 0.f;
        tile.threshold[threadIdx.x] = (float) solver.scale[job.part];
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
        tile.threshold[threadIdx.x] = asIs ? 0.f : (float) solver.scale[job.part];
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
    __syncthreads();
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
    double sums[SUMS];
    total(0, sums);
    if (threadIdx.x < job.groups) {
        double norm = sqrt(sums[0]);
        tile.sums[threadIdx.x][0] = norm > 0 ? penaltySlope(norm) / norm : 0;
    }
    __syncthreads();
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

// ---------------------------------------------------------------------------------------------- launch 2: the step

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) step() {
    if (plan.flags->bad || blockIdx.x >= plan.jobCount) return;
    copyIn(&nextJob, plan.jobs + blockIdx.x);
    __syncthreads();
    fetchAhead();
    for (int number = blockIdx.x; number < plan.jobCount; number += gridDim.x) {
        __syncthreads();
        take(&job, &nextJob);
        take(&tensor, &nextTensor);
        take(&set, &nextSet);
        __syncthreads();
        if (number + gridDim.x < plan.jobCount) copyIn(&nextJob, plan.jobs + number + gridDim.x);
        switch (job.kind) {
            case PLAIN:
                __syncthreads();
                fetchAhead();
                plainJob();
                break;
            case GROUPED:
                if (isCommon()) {
                    groupedJob<true>(number);
                } else {
                    uncommonJob(number);
                }
                break;
#if SINGLES
            case SINGLE:
                __syncthreads();
                fetchAhead();
                singleJob(number);
                break;
#endif
#if NESTED
            case NESTING: nestedJob(number); break;
#endif
#if SUBGRADIENT
            case SUBGRADIENTS: subgradientJob(); break;
#endif
        }
    }
}

// ---------------------------------------------------------------------------------------------- launch 3: what was done

extern "C" __global__ void __launch_bounds__(THREADS) finish() {
    if (plan.flags->bad) return;
    for (int team = blockIdx.x * THREADS + threadIdx.x; team < plan.teamCount; team += gridDim.x * THREADS) plan.arrivals[team] = 0;
    for (int number = blockIdx.x; number < plan.setCount; number += gridDim.x) {
        Stats sum = {};
        float error = 0;
        for (int job = plan.firstJobs[number] + threadIdx.x; job < plan.firstJobs[number + 1]; job += THREADS) {
            Stats stats = plan.jobStats[job];
            sum.evaluations += stats.evaluations;
            sum.penalty += stats.penalty;
            sum.zeroed += stats.zeroed;
            sum.shrunk += stats.shrunk;
            sum.untouched += stats.untouched;
            sum.zeroedWithin += stats.zeroedWithin;
            error = fmaxf(error, stats.error);
        }
        sum.evaluations = (long long) blockSum((double) sum.evaluations);
        sum.penalty = blockSum(sum.penalty);
        sum.zeroed = (int) blockSum(sum.zeroed);
        sum.shrunk = (int) blockSum(sum.shrunk);
        sum.untouched = (int) blockSum(sum.untouched);
        sum.zeroedWithin = (int) blockSum(sum.zeroedWithin);
        __shared__ unsigned most;
        __syncthreads();
        if (threadIdx.x == 0) most = 0;
        __syncthreads();
        atomicMax(&most, __float_as_uint(error));
        __syncthreads();
        sum.error = __uint_as_float(most);
        if (threadIdx.x == 0) plan.setStats[number] = sum;
    }
}
