// How a block gets at what it works on.

template <typename T> __device__ __forceinline__ void copyIn(T *to, const T *from) {
    for (int i = threadIdx.x; i < sizeof(T) / sizeof(int); i += THREADS) ((int *) to)[i] = __ldg((const int *) from + i);
}

template <typename T> __device__ __forceinline__ void take(T *to, const T *from) {
    for (int i = threadIdx.x; i < sizeof(T) / sizeof(int); i += THREADS) ((int *) to)[i] = ((const int *) from)[i];
}

// Copies into shared memory, and does not wait for it: what was copied is there after arrived() and a barrier.
__device__ __forceinline__ void copyAhead(int *to, const int *from, int ints) {
    for (int i = threadIdx.x; i < ints; i += THREADS) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                     :: "r"((unsigned) __cvta_generic_to_shared(to + i)), "l"(__cvta_generic_to_global(from + i)) : "memory");
    }
}

template <typename T> __device__ __forceinline__ void copyAhead(T *to, const T *from) {
    copyAhead((int *) to, (const int *) from, sizeof(T) / sizeof(int));
}

__device__ __forceinline__ void arrived() {
    asm volatile("cp.async.wait_all;" ::: "memory");
}

// Has what belongs to the next job copied, whose own description was before. A barrier.
__device__ __forceinline__ void fetchAhead() {
    arrived();
    __syncthreads();
    copyAhead(&nextTensor, plan.tensors + nextJob.tensor);
    copyAhead(&nextSet, plan.sets + nextJob.set);
    if (nextJob.kind == GROUPED) copyAhead((int *) nextThetas, (const int *) (plan.thetas + nextJob.theta), nextJob.groups);
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
