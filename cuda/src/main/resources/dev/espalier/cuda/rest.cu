// Launch 3, for groups that are rare: single weights, groups within groups, and penalties that act through their subgradient. A
// block does one job after the other, and its first warp solves.

#if SINGLES || NESTED || SUBGRADIENT
__shared__ Task rare;
#if NESTED || SUBGRADIENT
__shared__ Desk rareDesk;
#endif

#if NESTED
__shared__ NestedSolver nestedSolvers[MOST_GROUPS];

__device__ __noinline__ void nestedJob(const Task &task, int number) {
    const Job &job = task.job;
    const Seat seat(job);
    Desk &desk = rareDesk;
    const bool leads = threadIdx.x < job.groups;
    NestedSolver &solver = nestedSolvers[leads ? threadIdx.x : 0];
    bool exact = false;
    if (leads) {
        solver.start(task.set, plan.thetas + job.theta + threadIdx.x);
        desk.need[threadIdx.x] = solver.needs[job.part];
        desk.theta[threadIdx.x] = (float) solver.theta[job.part];
        desk.pull[threadIdx.x] = (float) solver.scale[job.part];
        for (int part = 0; part < solver.parts; part++) exact |= solver.needs[part] == EXACT;
    }
    __syncthreads();
    load(task, 0, Sum(desk, seat.group, 0.f)).put(desk);
    for (int round = 0;; round++) {
        const bool busy = leads && !exact && solver.busy();
        if (!__syncthreads_or(busy)) break;
        if (round > 0) sumUp(task, 0, desk);
        __syncthreads();
        if (threadIdx.x < 32) {
            tell(task, round, ofBlock(job, desk));
            double sums[MOST_PARTS][SUMS];
            for (int part = 0; part < task.set.parts; part++) {
                ofMembers(task, round, task.set.firstMember[part], task.set.firstMember[part + 1])
                    .put(sums[part], leads && solver.needs[part] == SURVEY);
            }
            if (busy) {
                exact = solver.advance(sums);
                desk.need[threadIdx.x] = solver.needs[job.part];
                desk.theta[threadIdx.x] = (float) solver.theta[job.part];
            }
        }
    }
    if (threadIdx.x < 32) {
        Done done = {};
        if (leads) {
            const bool asIs = solver.branch == UNTOUCHED;
            desk.need[threadIdx.x] = exact ? EXACT : NOTHING;
            desk.theta[threadIdx.x] = asIs ? 1.f : (float) solver.theta[job.part];
            desk.pull[threadIdx.x] = asIs ? 0.f : (float) solver.scale[job.part];
            if (job.member == 0) {
                double square = 0, penalty = 0;
                int zeroed = 0;
                for (int part = 0; part < solver.parts && !exact; part++) {
                    plan.thetas[job.theta + threadIdx.x + part * task.set.count] = (float) solver.norm[part];
                    square += solver.norm[part] * solver.norm[part];
                    penalty += task.set.innerStrength[part] * solver.norm[part];
                    zeroed += solver.norm[part] == 0;
                }
                penalty += task.set.outerStrength * sqrt(square);
                if (exact) straggles(job, threadIdx.x, solver.passes);
                done = {solver.branch, solver.passes, zeroed, (float) solver.error, penalty};
            }
        }
        report(task, number, leads && !exact, done);
    }
    __syncthreads();
    store(task, 0, desk);
}
#endif

#if SUBGRADIENT
// The penalty's subgradient is added to the gradient; then the plain step.
__device__ __noinline__ void subgradientJob(const Task &task) {
    const Job &job = task.job;
    const Tensor &tensor = task.tensor;
    const Seat seat(job);
    const Column column(job, seat);
    const Kept keep(job, seat, 0);
    const Rule rule(task.set, tensor);
    Desk &desk = rareDesk;
    Sum sum(EVALUATION, 0.f, 0.f, 0.f);
    for (int i = 0; i < column.count; i++) {
        if (column.has(i)) {
            keep.u(i) = tensor.x[ofWeight(tensor, column.index(i))];
            sum.square(keep.u(i));
        }
    }
    sum.put(desk);
    __syncthreads();
    __shared__ double factors[MOST_GROUPS];
    if (threadIdx.x < 32) {
        double norm = sqrt(total(task, desk, 0).t);
        factors[threadIdx.x] = norm > 0 ? penaltySlope(task.set, norm) / norm : 0;
    }
    __syncthreads();
    double factor = factors[column.group];
    for (int i = 0; i < column.count; i++) {
        if (column.has(i)) {
            long long index = column.index(i);
            float x = keep.u(i);
            double sign = x > 0 ? 1 : x < 0 ? -1 : 0;
            float g = (float) (tensor.g[ofGradient(tensor, index)] + factor * x + task.set.singleStrength * sign);
            const Moments moments(rule, tensor, index, g);
            tensor.x[ofWeight(tensor, index)] = rule.stepped(x, moments.first, rule.metric(moments.second));
        }
    }
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, 2) rest() {
    if (plan.flags->bad) return;
    for (int number = blockIdx.x; number < plan.jobCount; number += gridDim.x) {
        const int kind = plan.jobs[number].kind;
        if (kind == PLAIN || kind == GROUPED) continue;
        __syncthreads();
        copyAhead(&rare.job, plan.jobs + number);
        arrived();
        __syncthreads();
        copyRest(rare);
        arrived();
        __syncthreads();
        switch (kind) {
#if SINGLES
            case SINGLE:
                if (rare.set.seen) {
                    singleJob(rare, number);
                } else {
                    plainJob(rare);
                    if (threadIdx.x == 0) plan.jobStats[number] = {};
                }
                break;
#endif
#if NESTED
            case NESTING:
                if (rare.set.seen) {
                    nestedJob(rare, number);
                } else {
                    waitingTile(rare, number);
                }
                break;
#endif
#if SUBGRADIENT
            case SUBGRADIENTS: subgradientJob(rare); break;
#endif
        }
    }
}
#endif
