// Sums over the rows of a group: those of a block, and those of a team.

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

#if NESTED
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
#endif

// Readers of the same sum, at most: each reads what some members have written.
#define READERS 8

// The sums of all groups over the team, by all threads, in a fixed order: they take the place of those of the block.
__device__ __noinline__ void gatherAll(int round) {
    double *read = (double *) tile.parts; // has been added up
    int sums = job.groups * SUMS;
    int readers = max(min(min(THREADS / sums, READERS), job.members), 1);
    const double *in = plan.sums + (((round & 1) ? plan.slots : 0) + job.slot - (long long) job.member * job.groups) * SUMS;
    for (int i = threadIdx.x; i < readers * sums; i += THREADS) {
        int which = i % SUMS;
        bool survey = tile.need[i % sums / SUMS] == SURVEY;
        double sum = which == LEAST && !survey ? INFINITE : 0;
        #pragma unroll 4
        for (int member = i / sums; member < job.members; member += readers) {
            double value = __ldcg(in + (long long) member * sums + i % sums);
            sum = which == LEAST ? extreme(sum, value, survey) : sum + value;
        }
        read[i] = sum;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < sums; i += THREADS) {
        int which = i % SUMS;
        bool survey = tile.need[i / SUMS] == SURVEY;
        double sum = read[i];
        for (int k = 1; k < readers; k++) {
            double value = read[k * sums + i];
            sum = which == LEAST ? extreme(sum, value, survey) : sum + value;
        }
        tile.sums[i / SUMS][which] = sum;
    }
    __syncthreads();
}

// Adds up what the threads have put into the tile, over the block and over the team.
__device__ __forceinline__ void total(int round) {
    addThreads();
    if (job.members > 1) {
        exchange(round);
        gatherAll(round);
    }
}
