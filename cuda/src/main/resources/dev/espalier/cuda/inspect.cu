// Launch 1: a look at all gradients.

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
