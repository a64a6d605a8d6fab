// How a block gets at what it works on.

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
