// Jobs without a penalty.

__device__ __forceinline__ float4 load4(const float *from, bool there) {
    return there ? *(const float4 *) from : make_float4(0.f, 0.f, 0.f, 0.f);
}

__device__ __noinline__ void plainJob(const Task &task) {
    const Rule rule(task.set, task.tensor);
    const Tensor here = task.tensor;
    const int count = task.job.rows;
    const long long start = task.job.first;
    int done = 0;
    if (!here.layout && (((unsigned long long) (here.x + start) | (unsigned long long) (here.g + start)) & 15) == 0) {
        done = count / 4 * 4;
        #pragma unroll 4
        for (int i = threadIdx.x * 4; i < done; i += THREADS * 4) {
            long long at = start + i;
            float4 x = *(const float4 *) (here.x + at);
            float4 g = __ldcs((const float4 *) (here.g + at));
            float4 m = load4(here.m + at, here.m);
            float4 v = load4(here.v + at, here.v);
            m.x = rule.first(m.x, g.x); v.x = rule.second(v.x, g.x); x.x = rule.stepped(x.x, m.x, rule.metric(v.x));
            m.y = rule.first(m.y, g.y); v.y = rule.second(v.y, g.y); x.y = rule.stepped(x.y, m.y, rule.metric(v.y));
            m.z = rule.first(m.z, g.z); v.z = rule.second(v.z, g.z); x.z = rule.stepped(x.z, m.z, rule.metric(v.z));
            m.w = rule.first(m.w, g.w); v.w = rule.second(v.w, g.w); x.w = rule.stepped(x.w, m.w, rule.metric(v.w));
            if (here.m) *(float4 *) (here.m + at) = m;
            if (here.v) *(float4 *) (here.v + at) = v;
            *(float4 *) (here.x + at) = x;
        }
    }
    for (int i = done + threadIdx.x; i < count; i += THREADS) stepWeight(rule, here, start + i);
}
