// Tiles that are common: both moments, contiguous tensors, even columns, no threshold of single weights, a step of some length.
// Nothing is decided for single weights, and places are counted in ints from the thread's first. What a tile is made of is
// fetched into shared memory while the one before is solved.

__device__ __forceinline__ bool isCommon(const Task &task) {
    return task.set.common && task.job.near;
}

// Weights that a thread works on at once.
constexpr int AT_ONCE = (DEEP + 1) / 2;

// The weights of a thread in a tile that is common.
struct CommonColumn {
    long long first;
    int stride, count;

    __device__ __forceinline__ CommonColumn(const Job &job, const Seat &seat) {
        if (job.fold == 1) {
            count = seat.lane < seat.lanes ? (job.rows - seat.lane + seat.lanes - 1) / seat.lanes : 0;
            first = job.first + (job.row + seat.lane) * job.stride + seat.column;
            stride = seat.lanes * (int) job.stride;
        } else {
            const Column column(job, seat);
            count = column.count;
            first = column.first;
            stride = (int) column.stride;
        }
    }
};

#if BULK
__shared__ unsigned long long phase;
__shared__ const char *usedMaps; // that the first thread has seen

__device__ __forceinline__ void beginFetching() {
    beginPhases(&phase);
    usedMaps = 0;
}
#endif

// Has x, g, m and v of a tile copied, by each thread its own.
__device__ __noinline__ void fetchOwn(const Task &task, int turn) {
    const Job &job = task.job;
    const Tensor &tensor = task.tensor;
    const Seat seat(job);
    const CommonColumn column(job, seat);
    const int place = seat.lane * job.width + seat.column, pitch = seat.lanes * job.width;
    float *xg = room + (turn & 1) * 2 * TILE + place, *mv = room + 4 * TILE + place;
    #pragma unroll 1
    for (int i = 0; i < column.count; i++) {
        const long long at = column.first + (long long) i * column.stride;
        copyWord(xg, tensor.x + at);
        copyWord(xg + TILE, tensor.g + at);
        copyWord(mv, (const float *) tensor.m + at);
        copyWord(mv + TILE, (const float *) tensor.v + at);
        xg += pitch;
        mv += pitch;
    }
}

// The same, by one thread for all, if the tile can be copied so.
__device__ __forceinline__ void fetch(const Task &task, int turn) {
#if BULK
    const char *maps = task.tensor.maps;
    if (maps) {
        if (threadIdx.x == 0) {
            const int column = (int) task.job.first, row = task.job.row;
            float *xg = room + (turn & 1) * 2 * TILE, *mv = room + 4 * TILE;
            if (maps != usedMaps) {
                readMaps(maps, 4);
                usedMaps = maps;
            }
            expectBytes(&phase, 4 * task.tensor.boxBytes);
            copyBox(xg, maps, column, row, &phase);
            copyBox(xg + TILE, maps + MAP_BYTES, column, row, &phase);
            copyBox(mv, maps + 2 * MAP_BYTES, column, row, &phase);
            copyBox(mv + TILE, maps + 3 * MAP_BYTES, column, row, &phase);
        }
        return;
    }
#endif
    fetchOwn(task, turn);
}

// Waits for it. So many phases have been waited for before; returns how many there are now.
__device__ __forceinline__ int await(const Task &task, int phases) {
#if BULK
    if (task.tensor.maps) {
        while (!isOver(&phase, phases & 1)) {}
        return phases + 1;
    }
#endif
    arrived();
    return phases;
}

// Updates the moments of a tile that has been fetched, makes u and d of x and g, and adds up the first evaluation.
__device__ __forceinline__ void loadCommon(const Task &task, const Seat &seat, const Kept &keep, Sum &sum) {
    const CommonColumn column(task.job, seat);
    const Rule rule(task.set, task.tensor);
    float *xg = keep.xg;
    const float *moments = room + 4 * TILE + seat.lane * task.job.width + seat.column;
    float *m = task.tensor.m + column.first, *v = task.tensor.v + column.first;
    #pragma unroll AT_ONCE
    for (int i = 0; i < column.count; i++) {
        float x = xg[0], g = xg[TILE];
        float first = rule.first(moments[0], g);
        float second = rule.second(moments[TILE], g);
        __stcs(m, first);
        __stcs(v, second);
        float d = rule.metric(second);
        float u = rule.preconditioned(d, x, first);
        xg[0] = u;
        xg[TILE] = d;
        sum.evaluate(u, d);
        xg += keep.pitch;
        moments += keep.pitch;
        m += column.stride;
        v += column.stride;
    }
}

__device__ __forceinline__ void storeCommon(const Task &task, const Seat &seat, const Kept &keep, const Desk &desk) {
    if (desk.need[seat.group] == EXACT) return;
    const CommonColumn column(task.job, seat);
    const Solution solution(desk, seat.group);
    const float *ud = keep.xg;
    float *x = task.tensor.x + column.first;
    #pragma unroll AT_ONCE
    for (int i = 0; i < column.count; i++) {
        __stcs(x, solution.at(ud[0], ud[TILE]));
        ud += keep.pitch;
        x += column.stride;
    }
}
