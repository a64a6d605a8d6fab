// How a block gets at what it works on.

// Has memory copied into what a block shares, in ints, while the threads go on: it is there for all when each has called arrive(), and they
// have met.
__device__ __forceinline__ void fetch(void *to, const void *from, int count) {
    for (int i = threadIdx.x; i < count; i += THREADS) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                     :: "r"((unsigned) __cvta_generic_to_shared((int *) to + i)), "l"((const int *) from + i) : "memory");
    }
}

template <typename T> __device__ __forceinline__ void fetch(T *to, const T *from) {
    fetch(to, from, sizeof(T) / sizeof(int));
}

// Waits for all that the thread has fetched.
__device__ __forceinline__ void arrive() {
    asm volatile("cp.async.wait_all;" ::: "memory");
}

template <typename T> __device__ __forceinline__ void take(T *to, const T *from) {
    for (int i = threadIdx.x; i < sizeof(T) / sizeof(int); i += THREADS) ((int *) to)[i] = ((const int *) from)[i];
}

// Fetches what belongs to the next job, whose own description has been fetched.
__device__ __forceinline__ void fetchAhead() {
    fetch(&nextTensor, plan.tensors + nextJob.tensor);
    fetch(&nextSet, plan.sets + nextJob.set);
    fetch(nextThetas, plan.thetas + nextJob.theta, nextJob.groups);
}

// Has the next job's weights brought near, as far as AHEAD hundredths of it: what is on its way while a block waits for its team, it need not
// wait for afterwards.
__device__ __forceinline__ void bringNear() {
#if __CUDA_ARCH__ >= 900
    if (nextJob.kind != GROUPED || nextTensor.layout || !nextTensor.m || !nextTensor.v) return;
    // Groups that are folded lie behind each other, in one piece.
    bool folded = nextJob.fold > 1;
    if (folded && (nextJob.rows != nextJob.fold || nextJob.row % nextJob.fold != 0)) return;
    int rows = folded ? nextJob.groups : (nextJob.rows * AHEAD + 99) / 100;
    long long stride = folded ? nextJob.limit : nextJob.stride;
    long long first = nextJob.first + (folded ? nextJob.row / nextJob.fold : nextJob.row) * nextJob.stride;
    int bytes = 4 * (folded ? (nextJob.limit * AHEAD + 99) / 100 : nextJob.columns);
    for (int i = threadIdx.x; i < 4 * rows; i += THREADS) {
        const float *array = i % 4 == 0 ? nextTensor.x : i % 4 == 1 ? nextTensor.g : i % 4 == 2 ? nextTensor.m : nextTensor.v;
        unsigned long long from = (unsigned long long) (array + first + i / 4 * stride);
        unsigned size = (unsigned) (((from & 15) + bytes + 15) & ~15ULL);
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" :: "l"(from & ~15ULL), "r"(size));
    }
#endif
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
