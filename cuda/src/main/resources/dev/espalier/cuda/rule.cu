// The update rule (Update).

// Good to the last bit but one, in one instruction: a correctly rounded one takes ten.
__device__ __forceinline__ float reciprocal(float value) {
    float result;
    asm("rcp.approx.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
}

__device__ __forceinline__ float root(float value) {
    float result;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
}

// The numbers of Update, in registers: what lies in shared memory would be read again for every weight.
struct Rule {
    float keepFirst, addFirst, step, keepSecond, addSecond, scaleSecond, innerEpsilon, outerEpsilon, decay;
#if FLOORED
    float metricFloor = tensor.metricFloor;
#endif

    __device__ __forceinline__ Rule()
        : keepFirst(set.keepFirst), addFirst(set.addFirst), step(set.step), keepSecond(set.keepSecond), addSecond(set.addSecond),
          scaleSecond(set.scaleSecond), innerEpsilon(set.innerEpsilon), outerEpsilon(set.outerEpsilon), decay(set.decay) {}

    __device__ __forceinline__ float first(float m, float g) const {
        return fmaf(keepFirst, m, addFirst * g);
    }

    __device__ __forceinline__ float second(float v, float g) const {
        return fmaf(keepSecond, v, addSecond * g * g);
    }

    __device__ __forceinline__ float metric(float v) const {
        float d = root(fmaf(scaleSecond, v, innerEpsilon)) + outerEpsilon;
#if FLOORED
        d = d < metricFloor ? metricFloor : d;
#endif
        return d;
    }

    __device__ __forceinline__ float stepped(float x, float m, float d) const {
        return x + fmaf(-decay, x, -step * m / d);
    }

    __device__ __forceinline__ float preconditioned(float d, float x, float m) const {
        return fmaf(d, x, fmaf(-decay * x, d, -step * m));
    }
};

__device__ __forceinline__ float softened(float u, float threshold) {
    return fmaxf(u - threshold, 0.f) + fminf(u + threshold, 0.f);
}
