// Sums over a block of threads, in a fixed order.

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
