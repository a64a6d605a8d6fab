// Sums over the rows of a group: those of a block, and those of a team.

__device__ __forceinline__ double extreme(double one, double other, bool most) {
    return most ? fmax(one, other) : fmin(one, other);
}

// A sum of a group, to which numbers are added in a fixed order; or what is the least of them, or the most.
struct Total {
    double value;
    bool adds, most;

    __device__ __forceinline__ Total(int which, bool survey) : adds(which != LEAST), most(survey) {
        value = adds || survey ? 0 : INFINITE;
    }

    __device__ __forceinline__ void add(double other) {
        value = adds ? value + other : extreme(value, other, most);
    }
};

// Entries of a group in a block, up to which one thread adds them up.
#define FEW 36

// Adds the threads' sums up to sums of groups: one thread for each sum of a group, or a warp where there is more to add.
__device__ __noinline__ void addThreads() {
    int lanes = THREADS / job.columns;
    int entries = job.inner * lanes;
    int sums = job.groups * SUMS;
    __syncthreads();
    if (entries <= FEW) {
        for (int i = threadIdx.x; i < sums; i += THREADS) {
            int group = i % job.groups, which = i / job.groups;
            Total total(which, tile.need[group] == SURVEY);
            const float *parts = tile.parts[which] + group * job.inner;
            for (int lane = 0; lane < lanes; lane++, parts += job.columns) {
                #pragma unroll 4
                for (int k = 0; k < job.inner; k++) total.add(parts[k]);
            }
            tile.sums[group][which] = total.value;
        }
    } else {
        int place = threadIdx.x % 32;
        for (int i = threadIdx.x / 32; i < sums; i += THREADS / 32) {
            int group = i % job.groups, which = i / job.groups;
            Total total(which, tile.need[group] == SURVEY);
            for (int entry = place; entry < entries; entry += 32) {
                total.add(tile.parts[which][entry / job.inner * job.columns + group * job.inner + entry % job.inner]);
            }
            for (int distance = 16; distance > 0; distance >>= 1) total.add(__shfl_down_sync(~0u, total.value, distance));
            if (place == 0) tile.sums[group][which] = total.value;
        }
    }
    __syncthreads();
}

// Members of a team write each other letters, a sum in each, and nobody counts who has written: every half of a number has a mark beside it, in
// the same eight bytes, which memory hands over as a whole. The mark names step and round, and so is never there before the number is; letters
// of odd rounds have other places, so that what is still read is not written over.
__device__ __forceinline__ unsigned long long mark(int round) {
    return (unsigned long long) ((unsigned) set.serial * 64u + (unsigned) round % 64u) << 32;
}

__device__ __forceinline__ ulonglong2 *letters(int round, long long slot) {
    return (ulonglong2 *) plan.letters + ((round & 1 ? plan.slots : 0) + slot) * SUMS;
}

// Hands the block's sums to the team.
__device__ __forceinline__ void send(int round) {
    ulonglong2 *out = letters(round, job.slot);
    const unsigned long long stamp = mark(round);
    for (int i = threadIdx.x; i < job.groups * SUMS; i += THREADS) {
        double value = tile.sums[i / SUMS][i % SUMS];
        asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};"
                     :: "l"(out + i), "l"(stamp | (unsigned) __double2loint(value)), "l"(stamp | (unsigned) __double2hiint(value))
                     : "memory");
    }
}

__device__ __forceinline__ bool look(const ulonglong2 *letter, unsigned long long stamp, double *value) {
    unsigned long long low, high;
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(letter) : "memory");
    *value = __hiloint2double((int) high, (int) low);
    return (low ^ stamp) >> 32 == 0 && (high ^ stamp) >> 32 == 0;
}

// Waits for the letters of members from, from + step, … below to, in their order: those with one sum of a group.
__device__ __forceinline__ double receive(int round, int from, int to, int step, int group, int which, bool survey) {
    const ulonglong2 *in = letters(round, job.slot - (long long) job.member * job.groups + group) + which;
    const long long apart = (long long) job.groups * SUMS;
    const unsigned long long stamp = mark(round);
    Total total(which, survey);
    for (int member = from; member < to; member += 4 * step) {
        double values[4];
        for (bool there = false; !there;) { // four at once, as each takes long to come
            there = true;
            #pragma unroll
            for (int k = 0; k < 4; k++) {
                if (member + k * step < to) there &= look(in + (member + k * step) * apart, stamp, values + k);
            }
            if (!there) __nanosleep(40); // memory has other things to do
        }
        #pragma unroll
        for (int k = 0; k < 4; k++) {
            if (member + k * step < to) total.add(values[k]);
        }
    }
    return total.value;
}

// The sums of a group over members of the team, by one thread.
__device__ void gather(int round, int from, int to, int group, bool survey, double *sums) {
    for (int which = 0; which < SUMS; which++) sums[which] = receive(round, from, to, 1, group, which, survey);
}

// Readers of the same sum, at most: each waits for some members.
#define READERS 8

// The sums of all groups over the team, by all threads: they take the place of those of the block.
__device__ __noinline__ void gatherAll(int round) {
    double *read = (double *) tile.parts; // has been added up
    int sums = job.groups * SUMS;
    int readers = max(min(min(THREADS / sums, READERS), job.members), 1);
    for (int i = threadIdx.x; i < readers * sums; i += THREADS) {
        int group = i % sums / SUMS, which = i % SUMS;
        read[i] = receive(round, i / sums, job.members, readers, group, which, tile.need[group] == SURVEY);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < sums; i += THREADS) {
        int group = i / SUMS, which = i % SUMS;
        Total total(which, tile.need[group] == SURVEY);
        for (int k = 0; k < readers; k++) total.add(read[k * sums + i]);
        tile.sums[group][which] = total.value;
    }
    __syncthreads();
}
