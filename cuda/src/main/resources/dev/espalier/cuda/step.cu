// One optimizer step of a whole model, in three launches: inspect, step, finish; with a floor of the metric, floors after inspect,
// and with groups that are rare, rest after step.
//
// Blocks of threads work through a list of jobs. A job is a stretch of a tensor without a penalty, or a tile of one with
// groups: some columns (whole groups) of some rows. A thread runs down one column, as a lane of the processor's kernel does,
// and keeps u and d of its weights in shared memory until they are solved: so every number in memory is read once and written
// once. The jobs that hold the rows of the same groups are a team. Its members hand each other their sums through memory,
// add them up in the same order, and so find the same norms, each by itself. That takes all members to run at once: the
// launch is a cooperative one, members are neighbours in the list, and a team has at most as many as there are blocks.
//
// Nobody waits for a norm, mostly. The first THREADS threads of a block are its workers, the SOLVERS warps behind them solve, by turns. While
// a solver adds up what the workers have summed, asks the team and solves, the next tile is on its way into shared memory.
//
// The arithmetic is that of dev.espalier.core.kernel, where it is explained: Update, ScalarLanes, GroupSolver, NestedSolver.
// Compiled without contraction, so that moments come out to the same bit.
//
// THREADS is the number of workers of a block, SOLVERS that of its warps that solve, BLOCKS how many blocks a multiprocessor takes, DEEP
// the weights of a thread.
// Compile-time choices, so that a model does not pay for what it does not use:
//   GROUPED_TOO  there are tiles of groups, and so a solver
//   STRIDED      tensors may be other than contiguous
//   NESTED       groups may have groups within them
//   SUBGRADIENT  penalties may act through their subgradient
//   SINGLES      groups may be single weights
//   FLOORED      metrics may have a floor
//
// The source is all files of this folder, in the order that StepProgram names them, behind the structures that Structs declares.

// Tasks that are known: the one at hand and the one before, which is to be stored; two that follow, and the job of a third; and two
// that solvers may still tell of.
#define TASKS 7

__shared__ Task tasks[TASKS];

#if GROUPED_TOO
#define ALL_THREADS (THREADS + 32) // that meet over a tile
#else
#define ALL_THREADS THREADS
#endif

// Barriers: where workers meet, and for tiles by turns, where they hand over sums and where they get norms.
#define WORKERS 1
#define SUMMED 2
#define SOLVED 4

#if GROUPED_TOO
__shared__ Desk desks[2];

// What the solver begins with, too.
__device__ __forceinline__ Sum firstSum(const Task &task, int group) {
    double theta = firstTheta(task.set, task.thetas[group]);
    return Sum(EVALUATION, (float) theta, (float) pullAt(task.set, theta), (float) task.set.kappa);
}

// Makes u and d of a tile's weights, and adds up the first evaluation.
__device__ __forceinline__ void beginTile(const Task &task, const Seat &seat, int turn, bool common) {
    Sum sum = firstSum(task, seat.group);
    if (common) {
        loadCommon(task, seat, Kept(task.job, seat, turn), sum);
    } else {
        sum = load(task, turn, sum);
    }
    sum.put(desks[turn & 1]);
    pass<SUMMED, ALL_THREADS>(turn);
}

// Single weights bear a penalty too: its part is added to what the solver has reported.
__device__ __noinline__ void addLengths(const Task &task, int number, float magnitudes) {
    __shared__ double perWarp[THREADS / 32];
    double sum = warpSum(magnitudes);
    if (lane() == 0) perWarp[threadIdx.x / 32] = sum;
    meet<WORKERS, THREADS>();
    if (threadIdx.x == 0) {
        double lengths = 0;
        for (int warp = 0; warp < THREADS / 32; warp++) lengths += perWarp[warp];
        plan.jobStats[number].penalty += task.set.singleStrength * lengths;
    }
}

// Stores a tile once it is solved, which may take more evaluations.
__device__ __forceinline__ void endTile(const Task &task, const Seat &seat, int turn, int number) {
    Desk &desk = desks[turn & 1];
    for (;;) {
        meet<SOLVED, ALL_THREADS>(turn);
        if (!desk.again) break;
        sumUp(task, turn, desk);
        pass<SUMMED, ALL_THREADS>(turn);
    }
    if (isCommon(task)) {
        storeCommon(task, seat, Kept(task.job, seat, turn), desk);
    } else {
        float magnitudes = store(task, turn, desk);
        if (task.set.singleStrength > 0) addLengths(task, number, magnitudes);
    }
}

// Solves the groups of a tile, a lane each.
__device__ __forceinline__ void solveTile(const Task &task, int turn, int number) {
    Desk &desk = desks[turn & 1];
    Solver solver;
    meet<SUMMED, ALL_THREADS>(turn); // until then the task may not be there
    const bool leads = lane() < task.job.groups;
    solver.start(task.set, task.thetas[lane()]);
    for (int round = 0;; round++) {
        const bool busy = leads && solver.need != NOTHING && solver.need != EXACT;
        if (!__any_sync(~0u, busy)) break;
        if (round > 0) {
            if (leads) {
                desk.need[lane()] = solver.need;
                desk.theta[lane()] = (float) solver.theta;
                desk.pull[lane()] = (float) pullAt(task.set, solver.theta);
            }
            desk.again = true;
            pass<SOLVED, ALL_THREADS>(turn);
            meet<SUMMED, ALL_THREADS>(turn);
        }
        double sums[SUMS];
        total(task, desk, round).put(sums, leads && solver.need == SURVEY);
        if (busy) solver.advance(sums);
    }
    if (leads) {
        const bool asIs = solver.branch == UNTOUCHED;
        desk.need[lane()] = solver.need;
        desk.theta[lane()] = asIs ? 1.f : (float) solver.theta;
        desk.pull[lane()] = asIs ? 0.f : (float) pullAt(task.set, solver.theta);
    }
    desk.again = false;
    const bool lengths = task.set.singleStrength > 0;
    if (!lengths) pass<SOLVED, ALL_THREADS>(turn);
    const bool exact = leads && solver.need == EXACT;
    Done done = {};
    if (leads && task.job.member == 0) {
        if (exact) {
            straggles(task.job, lane(), solver.evaluations);
        } else {
            plan.thetas[task.job.theta + lane()] = (float) solver.theta;
            done = {solver.branch, solver.evaluations, 0, (float) solver.error, penaltyOf(task.set, solver.theta)};
        }
    }
    report(task, number, leads && !exact, done);
    if (lengths) pass<SOLVED, ALL_THREADS>(turn); // the workers add to the report
}

// Whether a job is a tile whose penalty acts.
__device__ __forceinline__ bool isTile(const Job &job) {
    return job.kind == GROUPED && plan.sets[job.set].seen;
}

// By turns with the other warp.
__device__ __forceinline__ void solve(int first) {
    const int step = SOLVERS * gridDim.x;
    for (int number = blockIdx.x + first * gridDim.x, turn = first; number < plan.jobCount; number += step, turn += SOLVERS) {
        if (isTile(plan.jobs[number])) solveTile(tasks[turn % TASKS], turn, number);
    }
}
#endif

__device__ __forceinline__ Task &taskOf(int turn) {
    return tasks[turn % TASKS];
}

// Has the description of a job copied that comes so many turns after the first.
__device__ __forceinline__ void copyJob(int turn) {
    int number = blockIdx.x + turn * gridDim.x;
    if (number < plan.jobCount) copyAhead(&taskOf(turn).job, plan.jobs + number);
}

// Has all that belongs to it copied; the description is there.
__device__ __forceinline__ void copyTask(int turn) {
    if (blockIdx.x + turn * gridDim.x < plan.jobCount) copyRest(taskOf(turn));
}

__device__ __forceinline__ void work() {
#if GROUPED_TOO
#if BULK
    if (threadIdx.x == 0) beginFetching();
#endif
    int phases = 0;      // that have been waited for
    bool behind = false; // a tile is to be stored
    Seat seat;
#endif
    for (int turn = 0; turn < 3; turn++) copyJob(turn);
    arrived();
    meet<WORKERS, THREADS>();
    copyTask(0);
    copyTask(1);
    for (int turn = 0, number = blockIdx.x;; turn++, number += gridDim.x) {
        // All are done with what this tile takes the place of, and its task is there.
        arrived();
        meet<WORKERS, THREADS>();
        const Task &task = taskOf(turn);
        const bool goesOn = number < plan.jobCount;
#if GROUPED_TOO
        const bool grouped = goesOn && task.job.kind == GROUPED, tile = grouped && task.set.seen, common = tile && isCommon(task);
        if (common) fetch(task, turn);
#endif
        copyTask(turn + 2);
        copyJob(turn + 3);
        if (goesOn && task.job.kind == PLAIN) plainJob(task);
#if GROUPED_TOO
        if (common) phases = await(task, phases);
        if (tile) {
            seat.take(task.job);
            beginTile(task, seat, turn, common);
        } else if (grouped) {
            waitingTile(task, number);
        }
        if (behind) {
            seat.take(taskOf(turn - 1).job);
            endTile(taskOf(turn - 1), seat, turn - 1, number - gridDim.x);
        }
        behind = tile;
#if BULK
        giveUp();
#endif
#endif
        if (!goesOn) break;
    }
    arrived();
}

extern "C" __global__ void __launch_bounds__(THREADS + 32 * SOLVERS, BLOCKS) step() {
    if (plan.flags->bad || blockIdx.x >= plan.jobCount) return;
#if GROUPED_TOO
    if (threadIdx.x >= THREADS) {
        solve((threadIdx.x - THREADS) / 32);
        return;
    }
#endif
    work();
}

__device__ __forceinline__ void add(Stats &sum, const Stats &other) {
    sum.evaluations += other.evaluations;
    sum.penalty += other.penalty;
    sum.zeroed += other.zeroed;
    sum.shrunk += other.shrunk;
    sum.untouched += other.untouched;
    sum.zeroedWithin += other.zeroedWithin;
    sum.error = fmaxf(sum.error, other.error);
}

// Tells the host, in its own memory.
extern "C" __global__ void __launch_bounds__(THREADS) finish() {
    if (blockIdx.x == 0 && threadIdx.x == 0) *plan.toldFlags = *plan.flags;
    if (plan.flags->bad) return;
    __shared__ Stats perWarp[THREADS / 32];
    for (int number = blockIdx.x; number < plan.setCount; number += gridDim.x) {
        Stats sum = {};
        for (int job = plan.firstJobs[number] + threadIdx.x; job < plan.firstJobs[number + 1]; job += THREADS) add(sum, plan.jobStats[job]);
        for (int distance = 16; distance > 0; distance /= 2) {
            Stats other;
            for (int i = 0; i < sizeof(Stats) / sizeof(int); i++) {
                ((int *) &other)[i] = __shfl_down_sync(~0u, ((const int *) &sum)[i], distance);
            }
            add(sum, other);
        }
        __syncthreads();
        if (lane() == 0) perWarp[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int warp = 1; warp < THREADS / 32; warp++) add(sum, perWarp[warp]);
            sum.waits = !plan.sets[number].seen;
            perWarp[0] = sum;
        }
        __syncthreads();
        // Side by side, so that it goes as one.
        if (threadIdx.x < sizeof(Stats) / sizeof(int)) ((int *) (plan.setStats + number))[threadIdx.x] = ((const int *) perWarp)[threadIdx.x];
    }
}
