// Launch 1: a look at all gradients, and at what the rule will make of the metric (Scan).

// Whether the metric of any weight sees a gradient (Update.sees).
__device__ __noinline__ bool sees(const Scan &scan, const Tensor &tensor) {
    const Set &set = plan.sets[tensor.set];
    const Rule rule(set, tensor);
    bool seen = false;
    for (int i = threadIdx.x; i < scan.count; i += THREADS) {
        long long index = scan.first + i;
        float v = rule.second(tensor.v ? tensor.v[index] : 0.f, tensor.g[ofGradient(tensor, index)]);
        seen |= set.scaleSecond * v > set.unseen;
    }
    return __syncthreads_or(seen);
}

#if FLOORED
// The sum of the metric's entries, as yet without a floor; thread 0 gets it.
__device__ __noinline__ double metrics(const Scan &scan, const Tensor &tensor) {
    const Rule rule(plan.sets[tensor.set], tensor);
    double sum = 0;
    for (int i = threadIdx.x; i < scan.count; i += THREADS) {
        long long index = scan.first + i;
        sum += rule.metric(rule.second(tensor.v ? tensor.v[index] : 0.f, tensor.g[ofGradient(tensor, index)]));
    }
    return blockSum(sum);
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS) inspect() {
    // From the last to the first, with which the step begins unless it has no penalty: so it mostly finds some of them in the cache.
    for (int number = plan.scanCount - 1 - (int) blockIdx.x; number >= 0; number -= gridDim.x) {
        const Scan scan = plan.scans[number];
        const Tensor tensor = plan.tensors[scan.tensor];
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
            bits = max(bits, __float_as_uint(g[ofGradient(tensor, scan.first + i)]) & 0x7fffffffu);
        }
        if (!(__uint_as_float(bits) <= LARGEST_GRADIENT)) {
            plan.flags->bad = 1;
            atomicMax(plan.largest + scan.tensor, bits);
        }
        // A second moment is never less than what this gradient alone makes of it: mostly that tells, and v need not be read.
        if (tensor.visible > 0 && (__syncthreads_or(__uint_as_float(bits) >= tensor.visible) || sees(scan, tensor))) {
            if (threadIdx.x == 0) plan.sets[tensor.set].seen = 1;
        }
#if FLOORED
        if (tensor.set >= 0) {
            double sum = metrics(scan, tensor);
            if (threadIdx.x == 0) plan.metricSums[number] = sum;
        }
#endif
    }
}

#if FLOORED
// Launch 2: what the metric of every tensor is not below, a share of its mean. One block for a tensor.
extern "C" __global__ void __launch_bounds__(THREADS) floors() {
    for (int number = blockIdx.x; number < plan.tensorCount; number += gridDim.x) {
        Tensor *floored = plan.tensors + number;
        if (floored->set < 0) continue; // stepped on the host
        double sum = 0, weights = 0;
        for (int scan = plan.firstScans[number] + threadIdx.x; scan < plan.firstScans[number + 1]; scan += THREADS) {
            sum += plan.metricSums[scan];
            weights += plan.scans[scan].count;
        }
        sum = blockSum(sum);
        weights = blockSum(weights);
        if (threadIdx.x == 0) floored->metricFloor = (float) (plan.sets[floored->set].metricFloor * (sum / weights));
    }
}
#endif
