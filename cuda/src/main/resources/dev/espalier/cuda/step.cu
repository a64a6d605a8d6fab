// One optimizer step of a whole model, in three launches: inspect, step, finish; with a floor of the metric, floors after inspect.
//
// Blocks of threads work through a list of jobs. A job is a stretch of a tensor without a penalty, or a tile of one with
// groups: some columns (whole groups) of some rows. A thread runs down one column, as a lane of the processor's kernel does,
// and keeps u and d of its weights in shared memory until they are solved: so every number in memory is read once and written
// once. The jobs that hold the rows of the same groups are a team. Its members hand each other their sums through memory,
// add them up in the same order, and so find the same norms, each by itself. That takes all members to run at once: the
// launch is a cooperative one, members are neighbours in the list, and a team has at most as many as there are blocks.
//
// The arithmetic is that of dev.espalier.core.kernel, where it is explained: Update, ScalarLanes, GroupSolver, NestedSolver.
// Compiled without contraction, so that moments come out to the same bit.
//
// THREADS is the number of threads of a block, BLOCKS how many of them a multiprocessor takes, DEEP the weights of a thread,
// BATCH how many of them it has under way at once.
// Compile-time choices, so that a model does not pay for what it does not use:
//   STRIDED      tensors may be other than contiguous
//   NESTED       groups may have groups within them
//   SUBGRADIENT  penalties may act through their subgradient
//   SINGLES      groups may be single weights
//   FLOORED      metrics may have a floor
//
// The source is all files of this folder, in the order that StepProgram names them, behind the structures that Structs declares.

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) step() {
    if (plan.flags->bad || blockIdx.x >= plan.jobCount) return;
    copyAhead(&nextJob, plan.jobs + blockIdx.x);
    fetchAhead();
    for (int number = blockIdx.x; number < plan.jobCount; number += gridDim.x) {
        arrived();
        __syncthreads();
        take(&job, &nextJob);
        take(&tensor, &nextTensor);
        take(&set, &nextSet);
        __syncthreads();
        if (number + gridDim.x < plan.jobCount) copyAhead(&nextJob, plan.jobs + number + gridDim.x);
        switch (job.kind) {
            case PLAIN:
                fetchAhead();
                plainJob();
                break;
            case GROUPED:
                if (!set.seen) {
                    waitingJob(number);
                } else if (isCommon()) {
                    groupedJob<true>(number);
                } else {
                    uncommonJob(number);
                }
                break;
#if SINGLES
            case SINGLE:
                fetchAhead();
                if (set.seen) {
                    singleJob(number);
                } else {
                    plainJob();
                    if (threadIdx.x == 0) plan.jobStats[number] = {};
                }
                break;
#endif
#if NESTED
            case NESTING:
                if (set.seen) {
                    nestedJob(number);
                } else {
                    waitingJob(number);
                }
                break;
#endif
#if SUBGRADIENT
            case SUBGRADIENTS: subgradientJob(); break;
#endif
        }
    }
    arrived();
}

extern "C" __global__ void __launch_bounds__(THREADS) finish() {
    if (plan.flags->bad) return;
    for (int team = blockIdx.x * THREADS + threadIdx.x; team < plan.teamCount; team += gridDim.x * THREADS) plan.arrivals[team] = 0;
    for (int number = blockIdx.x; number < plan.setCount; number += gridDim.x) {
        Stats sum = {};
        float error = 0;
        for (int job = plan.firstJobs[number] + threadIdx.x; job < plan.firstJobs[number + 1]; job += THREADS) {
            Stats stats = plan.jobStats[job];
            sum.evaluations += stats.evaluations;
            sum.penalty += stats.penalty;
            sum.zeroed += stats.zeroed;
            sum.shrunk += stats.shrunk;
            sum.untouched += stats.untouched;
            sum.zeroedWithin += stats.zeroedWithin;
            error = fmaxf(error, stats.error);
        }
        sum.evaluations = (long long) blockSum((double) sum.evaluations);
        sum.penalty = blockSum(sum.penalty);
        sum.zeroed = (int) blockSum(sum.zeroed);
        sum.shrunk = (int) blockSum(sum.shrunk);
        sum.untouched = (int) blockSum(sum.untouched);
        sum.zeroedWithin = (int) blockSum(sum.zeroedWithin);
        __shared__ unsigned most;
        __syncthreads();
        if (threadIdx.x == 0) most = 0;
        __syncthreads();
        atomicMax(&most, __float_as_uint(error));
        __syncthreads();
        sum.error = __uint_as_float(most);
        sum.waits = !plan.sets[number].seen;
        if (threadIdx.x == 0) plan.setStats[number] = sum;
    }
}
