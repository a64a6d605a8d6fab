// How threads get at what they work on, and wait for each other.

// Waits until so many threads have come to a barrier, or passed it.
template <int barrier, int threads> __device__ __forceinline__ void meet() {
    asm volatile("bar.sync %0, %1;" :: "n"(barrier), "n"(threads) : "memory");
}

// Counts at a barrier, and does not wait: what was written before is seen by those who meet there.
template <int barrier, int threads> __device__ __forceinline__ void pass() {
    asm volatile("bar.arrive %0, %1;" :: "n"(barrier), "n"(threads) : "memory");
}

// The same at two barriers by turns.
template <int first, int threads> __device__ __forceinline__ void meet(int turn) {
    if (turn & 1) {
        meet<first + 1, threads>();
    } else {
        meet<first, threads>();
    }
}

template <int first, int threads> __device__ __forceinline__ void pass(int turn) {
    if (turn & 1) {
        pass<first + 1, threads>();
    } else {
        pass<first, threads>();
    }
}

// Sixteen bytes that are written and read as one, by whoever: no other mark says that they are there.
__device__ __forceinline__ void writeLetter(uint4 *to, uint4 letter) {
    asm volatile("{ .reg .b128 all; .reg .b64 low, high; mov.b64 low, {%1, %2}; mov.b64 high, {%3, %4}; mov.b128 all, {low, high}; st.relaxed.gpu.global.b128 [%0], all; }"
                 :: "l"(__cvta_generic_to_global(to)), "r"(letter.x), "r"(letter.y), "r"(letter.z), "r"(letter.w) : "memory");
}

__device__ __forceinline__ uint4 readLetter(const uint4 *from) {
    uint4 letter;
    asm volatile("{ .reg .b128 all; .reg .b64 low, high; ld.relaxed.gpu.global.b128 all, [%4]; mov.b128 {low, high}, all; mov.b64 {%0, %1}, low; mov.b64 {%2, %3}, high; }"
                 : "=r"(letter.x), "=r"(letter.y), "=r"(letter.z), "=r"(letter.w) : "l"(__cvta_generic_to_global(from)) : "memory");
    return letter;
}

// Copies a word into shared memory, and does not wait for it: it is there after arrived(), for other threads after a barrier too.
template <typename T> __device__ __forceinline__ void copyWord(T *to, const T *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                 :: "r"((unsigned) __cvta_generic_to_shared(to)), "l"(__cvta_generic_to_global(from)) : "memory");
}

// By the first THREADS threads of a block.
__device__ __forceinline__ void copyAhead(int *to, const int *from, int ints) {
    for (int i = threadIdx.x; i < ints; i += THREADS) copyWord(to + i, from + i);
}

template <typename T> __device__ __forceinline__ void copyAhead(T *to, const T *from) {
    copyAhead((int *) to, (const int *) from, sizeof(T) / sizeof(int));
}

__device__ __forceinline__ void arrived() {
    asm volatile("cp.async.wait_all;" ::: "memory");
}

// Whether one thread can have a whole tile copied.
#define BULK (__CUDA_ARCH__ >= 900)

#if BULK
// Such copies are waited for by phases: one ends when as many bytes have come as were expected in it.
__device__ __forceinline__ unsigned inShared(const void *address) {
    return (unsigned) __cvta_generic_to_shared(address);
}

__device__ __forceinline__ void beginPhases(unsigned long long *phase) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(inShared(phase)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void expectBytes(unsigned long long *phase, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(inShared(phase)), "r"(bytes) : "memory");
}

// A map is in memory that is written between launches: whoever uses it must see it.
__device__ __forceinline__ void readMaps(const char *maps, int count) {
    for (int i = 0; i < count; i++) {
        asm volatile("fence.proxy.tensormap::generic.acquire.sys [%0], 128;" :: "l"(__cvta_generic_to_global(maps + i * MAP_BYTES)) : "memory");
    }
}

// Copies a box of a matrix, as a map describes both; what is outside the matrix becomes zero.
__device__ __forceinline__ void copyBox(float *to, const char *map, int column, int row, unsigned long long *phase) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(inShared(to)), "l"(__cvta_generic_to_global(map)), "r"(column), "r"(row), "r"(inShared(phase)) : "memory");
}

__device__ __forceinline__ bool isOver(unsigned long long *phase, unsigned parity) {
    unsigned over;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(over) : "r"(inShared(phase)), "r"(parity) : "memory");
    return over;
}

// What was written to shared memory before comes before boxes that are copied there behind a barrier.
__device__ __forceinline__ void giveUp() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
#endif

// Has all that belongs to a job copied; the job itself is there.
__device__ __forceinline__ void copyRest(Task &task) {
    copyAhead(&task.tensor, plan.tensors + task.job.tensor);
    copyAhead(&task.set, plan.sets + task.job.set);
    if (task.job.kind == GROUPED) copyAhead((int *) task.thetas, (const int *) (plan.thetas + task.job.theta), task.job.groups);
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

__device__ __forceinline__ long long ofWeight(const Tensor &tensor, long long index) {
#if STRIDED
    if (tensor.layout) return strided(tensor.layout->weights, index);
#endif
    return index;
}

__device__ __forceinline__ long long ofGradient(const Tensor &tensor, long long index) {
#if STRIDED
    if (tensor.layout) return strided(tensor.layout->gradients, index);
#endif
    return index;
}
