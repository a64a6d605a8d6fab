// Sums over the rows of a group: those of a block, and those of a team. By one warp, whose lane i asks for group i.

__device__ __forceinline__ int lane() {
    return threadIdx.x % 32;
}

struct GroupSums {
    double t, s, r;
    float least;

    __device__ __forceinline__ GroupSums() : t(0), s(0), r(0), least(__int_as_float(0x7f800000)) {}

    __device__ __forceinline__ void add(double otherT, double otherS, double otherR, float otherLeast) {
        t += otherT;
        s += otherS;
        r += otherR;
        least = fminf(least, otherLeast);
    }

    // Adds up so many neighbouring lanes, and hands what is found to the lane that asked for it.
    __device__ __forceinline__ void addLanes(int lanes) {
        for (int distance = lanes / 2; distance > 0; distance /= 2) {
            double otherT = __shfl_xor_sync(~0u, t, distance), otherS = __shfl_xor_sync(~0u, s, distance);
            double otherR = __shfl_xor_sync(~0u, r, distance);
            add(otherT, otherS, otherR, __shfl_xor_sync(~0u, least, distance));
        }
        if (lanes > 1) {
            t = __shfl_sync(~0u, t, lane() * lanes);
            s = __shfl_sync(~0u, s, lane() * lanes);
            r = __shfl_sync(~0u, r, lane() * lanes);
            least = __shfl_sync(~0u, least, lane() * lanes);
        }
    }

    // As solvers read them.
    __device__ __forceinline__ void put(double *sums, bool survey) const {
        sums[0] = t;
        sums[1] = s;
        sums[2] = r;
        sums[LEAST] = survey ? -least : least;
    }
};

// How many lanes add up a group, where there are so many groups.
__device__ __forceinline__ int lanesFor(int groups) {
    return groups > 16 ? 1 : groups > 8 ? 2 : groups > 4 ? 4 : groups > 2 ? 8 : groups > 1 ? 16 : 32;
}

// The sums over the threads of the block.
__device__ __forceinline__ GroupSums ofBlock(const Job &job, const Desk &desk) {
    const int lanes = lanesFor(job.groups);
    const int group = lane() / lanes;
    GroupSums sums;
    if (group < job.groups) {
        // A group's columns lie side by side, those of the next lane's rows so far behind them.
        const int jump = job.columns - job.inner, entries = THREADS / job.columns * job.inner;
        int within = lane() % lanes, at = group * job.inner + within;
        while (within >= job.inner) {
            within -= job.inner;
            at += jump;
        }
        for (int entry = lane() % lanes; entry < entries; entry += lanes) {
            sums.add(desk.parts[0][at], desk.parts[1][at], desk.parts[2][at], desk.parts[LEAST][at]);
            within += lanes;
            at += lanes;
            while (within >= job.inner) {
                within -= job.inner;
                at += jump;
            }
        }
    }
    sums.addLanes(lanes);
    return sums;
}

// A block's sums of a group, as its team gets them: t, s and r, and a word of the upper half of the least, rounded down, and of a mark,
// which nobody has written there before.
__device__ __forceinline__ uint4 *letters(const Job &job, int round) {
    return plan.letters + ((round & 1) ? plan.slots : 0) + job.slot;
}

__device__ __forceinline__ unsigned markOf(const Set &set, int round) {
    return (set.mark + round) & 0xffffu;
}

// Hands the block's sums to the team.
__device__ __forceinline__ void tell(const Task &task, int round, const GroupSums &sums) {
    if (lane() >= task.job.groups) return;
    unsigned least = __float_as_uint(sums.least);
    if (sums.least < 0 && (least & 0xffffu)) least += 0x10000u;
    writeLetter(letters(task.job, round) + lane(),
                {__float_as_uint((float) sums.t), __float_as_uint((float) sums.s), __float_as_uint((float) sums.r),
                 (least & 0xffff0000u) | markOf(task.set, round)});
}

// Members whose sums a lane asks for at once.
#define TOLD 6

// The sums over some members of the team, in a fixed order, as soon as all have told theirs. Where there are few groups, several
// lanes add up one.
__device__ __forceinline__ GroupSums ofMembers(const Task &task, int round, int from, int to) {
    const Job &job = task.job;
    const int lanes = lanesFor(job.groups);
    const int group = lane() / lanes, share = lane() % lanes;
    const uint4 *in = letters(job, round) + (from + share - job.member) * job.groups + group;
    const int step = lanes * job.groups;
    const unsigned mark = markOf(task.set, round);
    int left = group < job.groups ? (to - from - share + lanes - 1) / lanes : 0;
    GroupSums sums;
    while (left > 0) {
        uint4 some[TOLD];
        bool there = true;
        #pragma unroll
        for (int k = 0; k < TOLD; k++) {
            some[k] = {0u, 0u, 0u, 0x7f800000u | mark};
            if (k < left) some[k] = readLetter(in + k * step);
            there &= (some[k].w & 0xffffu) == mark;
        }
        if (!there) {
            __nanosleep(20);
            continue;
        }
        #pragma unroll
        for (int k = 0; k < TOLD; k++) {
            sums.add(__uint_as_float(some[k].x), __uint_as_float(some[k].y), __uint_as_float(some[k].z),
                     __uint_as_float(some[k].w & 0xffff0000u));
        }
        left -= TOLD;
        in += TOLD * step;
    }
    __syncwarp();
    sums.addLanes(lanes);
    return sums;
}

// What the threads have put on the desk, added up over block and team.
__device__ __forceinline__ GroupSums total(const Task &task, const Desk &desk, int round) {
    GroupSums sums = ofBlock(task.job, desk);
    if (task.job.members > 1) {
        tell(task, round, sums);
        sums = ofMembers(task, round, 0, task.job.members);
    }
    return sums;
}
