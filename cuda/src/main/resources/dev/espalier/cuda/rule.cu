// The update rule (Update).

// Good to the last bit but one, in one instruction: a correctly rounded one takes ten. Of numbers below the least normal one it
// makes infinity.
__device__ __forceinline__ float reciprocal(float value) {
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
}

// Likewise; of numbers below the least normal one it makes zero.
__device__ __forceinline__ float root(float value) {
    float result;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
}

// What second moments are multiplied by before their root is taken, and what the root is by: so few are too small for it.
#define RAISED 65536.f
#define LOWERED 0.00390625f

// The numbers of Update, in registers: what lies in shared memory would be read again for every weight.
struct Rule {
    float keepFirst, addFirst, step, keepSecond, addSecond, raisedScale, raisedEpsilon, outerEpsilon, decay;
#if FLOORED
    float metricFloor;
#endif

    __device__ __forceinline__ Rule(const Set &set, const Tensor &tensor)
        : keepFirst(set.keepFirst), addFirst(set.addFirst), step(set.step), keepSecond(set.keepSecond), addSecond(set.addSecond),
          raisedScale(RAISED * set.scaleSecond), raisedEpsilon(RAISED * set.innerEpsilon), outerEpsilon(set.outerEpsilon), decay(set.decay) {
#if FLOORED
        metricFloor = tensor.metricFloor;
#endif
    }

    __device__ __forceinline__ float first(float m, float g) const {
        return fmaf(keepFirst, m, addFirst * g);
    }

    __device__ __forceinline__ float second(float v, float g) const {
        return fmaf(keepSecond, v, addSecond * g * g);
    }

    __device__ __forceinline__ float metric(float v) const {
        float d = fmaf(LOWERED, root(fmaf(raisedScale, v, raisedEpsilon)), outerEpsilon);
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

// The moments of a weight, brought up to date.
struct Moments {
    float first, second;

    __device__ __forceinline__ Moments(const Rule &rule, const Tensor &tensor, long long index, float g) {
        first = rule.first(tensor.m ? tensor.m[index] : 0.f, g);
        second = rule.second(tensor.v ? tensor.v[index] : 0.f, g);
        if (tensor.m) tensor.m[index] = first;
        if (tensor.v) tensor.v[index] = second;
    }
};

// A step without a penalty.
__device__ __forceinline__ void stepWeight(const Rule &rule, const Tensor &tensor, long long index) {
    const Moments moments(rule, tensor, index, tensor.g[ofGradient(tensor, index)]);
    float *x = tensor.x + ofWeight(tensor, index);
    *x = rule.stepped(*x, moments.first, rule.metric(moments.second));
}

__device__ __forceinline__ float softened(float u, float threshold) {
    return fmaxf(u - threshold, 0.f) + fminf(u + threshold, 0.f);
}
