package dev.espalier.cuda;

import dev.espalier.cuda.driver.Gpu;
import dev.espalier.core.kernel.LaneChoice;
import dev.espalier.core.kernel.StepKernel;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.prox.Summary;
import dev.espalier.core.rule.Coefficients;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.Place;
import dev.espalier.core.tensor.TensorView;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.DoubleConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Steps on a GPU, in three launches whatever the model. Sets that {@code step.cu} has no code for are stepped by the
 * processor's kernel on copies, and single groups that leave its common paths go to the exact operator here: both right, and
 * slow.
 */
final class CudaKernel implements StepKernel {
    /** What messages call the source, and its parts: each needs those before it. */
    private static final String SOURCE = "step.cu";

    private static final List<String> PARTS = List.of(
            "tables.cu",
            "memory.cu",
            "rule.cu",
            "sums.cu",
            "inspect.cu",
            "plain.cu",
            "penalty.cu",
            "team.cu",
            "solver.cu",
            "nested.cu",
            "tile.cu",
            SOURCE);

    /** Blocks on a multiprocessor at once, with tiles of groups and without: what registers and shared memory leave room for. */
    private static final int BLOCKS = 3;

    private static final int PLAIN_BLOCKS = 4;

    /** Bytes of shared memory that a block keeps u and d in. */
    private static final int KEPT = 2 * Tiling.DEEP * Tiling.THREADS * Float.BYTES;

    private static final int FLAG_BAD = 0;
    private static final int FLAG_STRAGGLERS = 4;

    /** Addresses that are remembered for a tensor, about: engines lend the same few over and over. */
    private static final int MOST_KNOWN = 16;

    /** Stands in the table of layouts for a tensor that needs none. */
    private static final TensorView FLAT = TensorView.of(new float[1]);

    /** Where results begin, behind the flags. */
    private static final int RESULTS = 16;

    private final Gpu gpu;
    private final CudaSteps options;
    private final Arena arena = Arena.ofShared();
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();
    private final List<SetState> sets = new ArrayList<>();
    private final List<TensorState> tensors = new ArrayList<>();

    /** The sets that the GPU steps, those with a penalty first, and those that the processor does. */
    private final List<SetState> here;

    private final List<SetState> there;
    private final @Nullable StepKernel host;

    private final Tiling tiling = new Tiling();
    private final Gpu.Memory moments;
    private final Gpu.Memory thetas;
    private final Gpu.Memory tables;
    private final Gpu.Memory results;
    private final Gpu.Memory stragglers;
    private final Gpu.Memory largest;
    private final Gpu.Pinned tablesHere;
    private final Gpu.Pinned resultsHere;
    private final MemorySegment plan;
    private final Map<Boolean, Program> programs = new HashMap<>();
    private final String name;

    /** Moments and norms in host memory, as they were lent out; uploaded before the next step. */
    private @Nullable Mirror mirror;

    private boolean lent;

    /** Addresses that the driver has said are on this GPU. */
    private final Set<Long> known = new HashSet<>();

    /** A tensor: where its moments begin, in floats; negative if it has none. */
    private record TensorState(String name, long size, long first, long second) {}

    /** What is stepped together. */
    private static final class SetState {
        final SetPlan plan;
        final Kind kind;
        final int firstTensor;
        final int place;

        /** Where its norms begin, in floats. */
        final long theta;

        @Nullable
        Regularizer regularizer;

        SetState(SetPlan plan, int place, Kind kind, int firstTensor, long theta) {
            this.plan = plan;
            this.place = place;
            this.kind = kind;
            this.firstTensor = firstTensor;
            this.theta = theta;
            regularizer = plan.regularizer();
        }
    }

    /** The kernels, compiled for tensors that are all contiguous, or not. */
    private record Program(Gpu.Kernel inspect, Gpu.Kernel step, Gpu.Kernel finish, int blocks) {}

    /** Host copies of what is kept on the GPU. */
    private record Mirror(MemorySegment moments, MemorySegment thetas) {}

    CudaKernel(Gpu gpu, CudaSteps options, UpdateRule rule, List<SetPlan> plans, int threads) {
        this.gpu = gpu;
        this.options = options;
        resources.push(gpu);
        try {
            long floats = 0;
            long norms = 0;
            for (SetPlan set : plans) {
                Kind kind = Kind.of(set);
                sets.add(new SetState(set, sets.size(), kind, tensors.size(), norms));
                boolean kept = kind != Kind.ON_THE_HOST;
                norms += kept ? set.norms() : 0;
                for (int i = 0; i < set.names().size(); i++) {
                    long size = set.sizes().get(i);
                    boolean first = kept && rule.hasFirstMoment();
                    boolean second = kept && rule.hasSecondMoment();
                    long room = Math.ceilDiv(size, 64L) * 64;
                    tensors.add(new TensorState(
                            set.names().get(i), size, first ? floats : -1, second ? floats + (first ? room : 0) : -1));
                    floats += (first ? room : 0) + (second ? room : 0);
                }
            }
            here = sets.stream()
                    .filter(set -> set.kind != Kind.ON_THE_HOST)
                    .sorted(Comparator.comparing(set -> set.kind == Kind.PLAIN))
                    .toList();
            there = sets.stream().filter(set -> set.kind == Kind.ON_THE_HOST).toList();
            for (int i = 0; i < here.size(); i++) {
                SetState set = here.get(i);
                tiling.add(set.kind, set.plan, i, set.firstTensor, set.theta);
            }
            for (int i = 0; i < tensors.size(); i++) {
                tiling.scan(i, tensors.get(i).size());
            }
            host = there.isEmpty()
                    ? null
                    : LaneChoice.BEST.create(
                            rule, there.stream().map(set -> set.plan).toList(), threads);
            if (host != null) {
                resources.push(host);
            }
            int groups = here.stream().mapToInt(set -> set.plan.norms()).sum();
            moments = allocate(floats * Float.BYTES);
            thetas = allocate(norms * Float.BYTES);
            long tableBytes = (long) tensors.size() * (Tables.TENSOR + Tables.LAYOUT) + (long) here.size() * Tables.SET;
            tables = allocate(tableBytes);
            tablesHere = keep(gpu.allocatePinned(tableBytes));
            long resultBytes = RESULTS + (long) here.size() * Tables.STATS;
            results = allocate(resultBytes);
            resultsHere = keep(gpu.allocatePinned(resultBytes));
            stragglers = allocate((long) groups * Tables.STRAGGLER);
            largest = allocate(tensors.size() * 4L);
            plan = makePlan();
            name = "%s (%s), CUDA".formatted(gpu.name(), gpu.architecture());
            program(false);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private Gpu.Memory allocate(long bytes) {
        return keep(gpu.allocate(bytes));
    }

    private <T extends AutoCloseable> T keep(T resource) {
        resources.push(resource);
        return resource;
    }

    /** Writes what does not change from step to step to the GPU, and makes the structure that points to it. */
    private MemorySegment makePlan() {
        Gpu.Memory jobs = upload(
                tiling.jobs().size() * (long) Tables.JOB, table -> tiling.jobs().forEach(table::job));
        Gpu.Memory scans = upload(
                tiling.scans().size() * (long) Tables.SCAN,
                table -> tiling.scans().forEach(table::scan));
        Gpu.Memory firstJobs = upload(
                tiling.firstJobs().size() * 4L, table -> tiling.firstJobs().forEach(table::number));
        Gpu.Memory sums = allocate(2 * tiling.slots() * 4 * Double.BYTES);
        Gpu.Memory arrivals = allocate(tiling.teams() * 4L);
        Gpu.Memory jobStats = allocate(tiling.jobs().size() * (long) Tables.STATS);
        long[] pointers = {
            tables.address(),
            setsAddress(),
            jobs.address(),
            scans.address(),
            thetas.address(),
            sums.address(),
            arrivals.address(),
            jobStats.address(),
            results.address() + RESULTS,
            firstJobs.address(),
            largest.address(),
            results.address(),
            stragglers.address(),
        };
        MemorySegment memory = arena.allocate(Tables.PLAN, 8);
        new Tables(memory)
                .plan(
                        pointers,
                        tiling.jobs().size(),
                        tiling.scans().size(),
                        here.size(),
                        tiling.teams(),
                        tiling.slots());
        return memory;
    }

    private long setsAddress() {
        return tables.address() + (long) tensors.size() * (Tables.TENSOR + Tables.LAYOUT);
    }

    private interface Writer {
        void write(Tables table);
    }

    private Gpu.Memory upload(long bytes, Writer writer) {
        Gpu.Memory memory = allocate(bytes);
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment table = scratch.allocate(Math.max(bytes, 1), 8);
            writer.write(new Tables(table));
            gpu.copyIn(table, memory.address());
        }
        return memory;
    }

    private Program program(boolean strided) {
        return programs.computeIfAbsent(strided, this::compile);
    }

    private Program compile(boolean strided) {
        Set<Kind> kinds = EnumSet.noneOf(Kind.class);
        here.forEach(set -> kinds.add(set.kind));
        Gpu.Kernels kernels = keep(gpu.compile(SOURCE, source(), compilerOptions(kinds, strided)));
        gpu.copyIn(plan, kernels.variable("plan"));
        Gpu.Kernel step = kernels.kernel("step");
        if (tiles(kinds)) {
            step.useSharedMemory(KEPT);
        }
        int blocks = step.residentBlocks(Tiling.THREADS);
        if (tiling.largestTeam() > blocks) {
            throw new IllegalArgumentException(
                    "a group is too large for a step on %s: it takes %d blocks of threads, and %d run at once; use smaller groups, or step on the processor"
                            .formatted(gpu.name(), tiling.largestTeam(), blocks));
        }
        return new Program(kernels.kernel("inspect"), step, kernels.kernel("finish"), blocks);
    }

    /** Whether a kind works on tiles of groups. */
    private static boolean tiles(Set<Kind> kinds) {
        return kinds.stream().anyMatch(kind -> kind != Kind.PLAIN && kind != Kind.SINGLE);
    }

    /** What the compiler is told for a model with sets of some kinds. */
    static List<String> compilerOptions(Set<Kind> kinds, boolean strided) {
        return List.of(
                "--fmad=false",
                "-DTHREADS=" + Tiling.THREADS,
                "-DDEEP=" + Tiling.DEEP,
                "-DBLOCKS=" + (tiles(kinds) ? BLOCKS : PLAIN_BLOCKS),
                "-DSTRIDED=" + (strided ? 1 : 0),
                "-DNESTED=" + (kinds.contains(Kind.NESTING) ? 1 : 0),
                "-DSUBGRADIENT=" + (kinds.contains(Kind.SUBGRADIENTS) ? 1 : 0),
                "-DSINGLES=" + (kinds.contains(Kind.SINGLE) ? 1 : 0));
    }

    /** All parts of the source, each with its name and lines for the compiler's messages. */
    static String source() {
        StringBuilder source = new StringBuilder();
        for (String part : PARTS) {
            try (InputStream in = Objects.requireNonNull(CudaKernel.class.getResourceAsStream(part), part)) {
                source.append("#line 1 \"%s\"\n".formatted(part))
                        .append(new String(in.readAllBytes(), StandardCharsets.UTF_8));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return source.toString();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void requireUsable(String what, String of, TensorView tensor, boolean written) {
        if (!tensor.place().equals(Place.gpu(gpu.index()))) {
            throw new IllegalArgumentException("%s of %s is on %s, but the step runs on GPU %d: move it there"
                    .formatted(what, of, tensor.place(), gpu.index()));
        }
        if (tensor.type() != ElementType.FLOAT32) {
            throw new IllegalArgumentException("%s of %s is %s: a step needs float32".formatted(what, of, tensor));
        }
        if (tensor.shape().length > Tables.MOST_RANK && !tensor.contiguous()) {
            throw new IllegalArgumentException(
                    "%s of %s is %s, and not contiguous: a step needs at most %d dimensions then"
                            .formatted(what, of, tensor, Tables.MOST_RANK));
        }
    }

    @Override
    public SequencedMap<String, MemorySegment> state() {
        Mirror copies = mirror;
        if (copies == null) {
            copies = new Mirror(arena.allocate(moments.bytes(), 64), arena.allocate(thetas.bytes(), 64));
            mirror = copies;
        }
        if (!lent) {
            gpu.copyOut(moments.address(), copies.moments());
            gpu.copyOut(thetas.address(), copies.thetas());
            lent = true;
        }
        SequencedMap<String, MemorySegment> hosts = host == null ? new LinkedHashMap<>() : host.state();
        SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
        for (SetState set : sets) {
            for (int i = 0; i < set.plan.names().size(); i++) {
                TensorState tensor = tensors.get(set.firstTensor + i);
                putMoment(state, "first/" + tensor.name(), tensor.first(), tensor.size(), copies, hosts);
                putMoment(state, "second/" + tensor.name(), tensor.second(), tensor.size(), copies, hosts);
            }
        }
        for (SetState set : sets) {
            String key = "theta/" + set.plan.name();
            if (hosts.containsKey(key)) {
                state.put(key, Objects.requireNonNull(hosts.get(key)));
            } else if (set.plan.norms() > 0) {
                state.put(key, copies.thetas().asSlice(set.theta * Float.BYTES, (long) set.plan.norms() * Float.BYTES));
            }
        }
        return state;
    }

    private static void putMoment(
            SequencedMap<String, MemorySegment> state,
            String key,
            long at,
            long size,
            Mirror copies,
            SequencedMap<String, MemorySegment> hosts) {
        if (at >= 0) {
            state.put(key, copies.moments().asSlice(at * Float.BYTES, size * Float.BYTES));
        } else if (hosts.containsKey(key)) {
            state.put(key, Objects.requireNonNull(hosts.get(key)));
        }
    }

    @Override
    public void changePenalty(Penalty penalty) {
        List<@Nullable Regularizer> changed = new ArrayList<>(); // all or none
        for (SetState set : sets) {
            changed.add(set.regularizer == null ? null : set.kind.requireRoom(set.regularizer.withPenalty(penalty)));
        }
        for (int i = 0; i < sets.size(); i++) {
            sets.get(i).regularizer = changed.get(i);
        }
        if (host != null) {
            host.changePenalty(penalty);
        }
    }

    @Override
    public Result step(List<SetStep> steps, Coefficients coefficients, double smallStep) {
        requireOwn(steps);
        takeBack();
        long queue = options.stream().getAsLong();
        DoubleConsumer clock = options.clock();
        Program program = program(prepare(steps, coefficients, smallStep));
        if (clock == null) {
            enqueue(program, queue);
        } else {
            clock.accept(gpu.time(queue, () -> enqueue(program, queue)));
        }
        gpu.synchronize(queue);
        if (flag(FLAG_BAD) != 0) {
            return Result.refused(badGradient());
        }
        Summary[] summaries = new Summary[sets.size()];
        double[] penalties = new double[sets.size()];
        for (int i = 0; i < here.size(); i++) {
            int place = here.get(i).place;
            summaries[place] = summary(i);
            penalties[place] = penalty(i);
        }
        solveStragglers(steps, coefficients, summaries, penalties);
        if (host != null) {
            stepOnHost(host, steps, coefficients, smallStep, summaries, penalties);
        }
        List<SetResult> all = new ArrayList<>();
        for (int i = 0; i < summaries.length; i++) {
            all.add(new SetResult(summaries[i], penalties[i]));
        }
        return Result.of(all);
    }

    /** Writes down where everything is and what is to be done. Returns whether a tensor is not contiguous. */
    private boolean prepare(List<SetStep> steps, Coefficients coefficients, double smallStep) {
        boolean strided = false;
        Tables tensorTable = new Tables(tablesHere.segment());
        Tables layoutTable = new Tables(tablesHere.segment().asSlice((long) tensors.size() * Tables.TENSOR));
        int number = 0;
        for (SetStep step : steps) {
            for (int i = 0; i < step.weights().size(); i++) {
                TensorState tensor = tensors.get(number);
                TensorView x = step.weights().get(i);
                TensorView g = step.gradients().get(i);
                boolean contiguous = x.contiguous() && g.contiguous();
                long layout = tables.address() + (long) tensors.size() * Tables.TENSOR + (long) number * Tables.LAYOUT;
                tensorTable.tensor(x, g, moment(tensor.first()), moment(tensor.second()), contiguous ? 0 : layout);
                layoutTable.layout(contiguous ? FLAT : x, contiguous ? FLAT : g);
                strided |= !contiguous;
                number++;
            }
        }
        Tables setTable =
                new Tables(tablesHere.segment().asSlice((long) tensors.size() * (Tables.TENSOR + Tables.LAYOUT)));
        for (int i = 0; i < here.size(); i++) {
            SetState set = here.get(i);
            SetStep step = steps.get(set.place);
            setTable.set(set.kind, set.regularizer, tiling.firstMembers(i), step, coefficients, smallStep);
        }
        return strided;
    }

    /** Puts a step into a stream. */
    private void enqueue(Program program, long queue) {
        gpu.copyIn(tablesHere.segment(), tables.address(), queue);
        program.inspect().launch(Math.clamp(tiling.scans().size(), 1, 4 * program.blocks()), Tiling.THREADS, queue);
        program.step().launchTogether(Math.clamp(tiling.jobs().size(), 1, program.blocks()), Tiling.THREADS, queue);
        program.finish().launch(Math.max(here.size(), 1), Tiling.THREADS, queue);
        gpu.copyOut(results.address(), resultsHere.segment(), queue);
    }

    private long moment(long at) {
        return at < 0 ? 0 : moments.address() + at * Float.BYTES;
    }

    /** Asks the driver whose memory it is, of every address once. */
    private void requireOwn(List<SetStep> steps) {
        if (known.size() > MOST_KNOWN * tensors.size()) {
            known.clear();
        }
        int number = 0;
        for (SetStep step : steps) {
            for (int i = 0; i < step.weights().size(); i++) {
                TensorState tensor = tensors.get(number++);
                requireOwn("weights", tensor, step.weights().get(i).segment().address());
                requireOwn("gradient", tensor, step.gradients().get(i).segment().address());
            }
        }
    }

    private void requireOwn(String what, TensorState tensor, long address) {
        if (!known.contains(address)) {
            gpu.requireOwn(what + " of " + tensor.name(), address);
            known.add(address);
        }
    }

    /** State that was lent out may have been written to. */
    private void takeBack() {
        if (lent && mirror != null) {
            gpu.copyIn(mirror.moments(), moments.address());
            gpu.copyIn(mirror.thetas(), thetas.address());
            lent = false;
        }
    }

    private int flag(int at) {
        return resultsHere.segment().get(ValueLayout.JAVA_INT, at);
    }

    private BadGradient badGradient() {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment magnitudes = scratch.allocate(tensors.size() * 4L, 8);
            gpu.copyOut(largest.address(), magnitudes);
            gpu.copyIn(scratch.allocate(tensors.size() * 4L, 8), largest.address());
            gpu.copyIn(scratch.allocate(Tables.FLAGS, 8), results.address());
            for (int i = 0; i < tensors.size(); i++) {
                float magnitude = magnitudes.getAtIndex(ValueLayout.JAVA_FLOAT, i);
                if (!(magnitude <= LARGEST_GRADIENT)) {
                    return new BadGradient(tensors.get(i).name(), magnitude);
                }
            }
        }
        throw new IllegalStateException("a gradient was bad, and none is");
    }

    private double penalty(int set) {
        return resultsHere.segment().get(ValueLayout.JAVA_DOUBLE, RESULTS + (long) set * Tables.STATS + 8);
    }

    private int count(int set, int at) {
        return resultsHere.segment().get(ValueLayout.JAVA_INT, RESULTS + (long) set * Tables.STATS + at);
    }

    private Summary summary(int set) {
        long at = RESULTS + (long) set * Tables.STATS;
        long evaluations = resultsHere.segment().get(ValueLayout.JAVA_LONG, at);
        float error = resultsHere.segment().get(ValueLayout.JAVA_FLOAT, at + 16);
        return new Summary(count(set, 20), count(set, 24), count(set, 28), evaluations, 0, error, count(set, 32));
    }

    /** Solves the groups that left the common paths, by the exact operator. */
    private void solveStragglers(
            List<SetStep> steps, Coefficients coefficients, Summary[] summaries, double[] penalties) {
        int count = flag(FLAG_STRAGGLERS);
        if (count == 0) {
            return;
        }
        Map<Integer, SequencedMap<Integer, Integer>> evaluationsOf = new TreeMap<>();
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment list = scratch.allocate((long) count * Tables.STRAGGLER, 8);
            gpu.copyOut(stragglers.address(), list);
            gpu.copyIn(scratch.allocate(Tables.FLAGS, 8), results.address());
            for (int i = 0; i < count; i++) {
                int set = here.get(list.getAtIndex(ValueLayout.JAVA_INT, 4L * i)).place;
                evaluationsOf
                        .computeIfAbsent(set, key -> new TreeMap<>())
                        .put(
                                list.getAtIndex(ValueLayout.JAVA_INT, 4L * i + 1),
                                list.getAtIndex(ValueLayout.JAVA_INT, 4L * i + 2));
            }
        }
        evaluationsOf.forEach((set, groups) -> {
            try (Stragglers some = stragglers(sets.get(set), steps.get(set), coefficients)) {
                groups.forEach(some::solve);
                some.writeBack();
                summaries[set] = summaries[set].plus(some.summary());
                penalties[set] += some.penalty();
            }
        });
    }

    private Stragglers stragglers(SetState set, SetStep step, Coefficients coefficients) {
        List<Stragglers.Moments> places = new ArrayList<>();
        for (TensorState tensor : tensors.subList(
                set.firstTensor, set.firstTensor + set.plan.names().size())) {
            places.add(new Stragglers.Moments(tensor.size(), moment(tensor.first()), moment(tensor.second())));
        }
        long norms = thetas.address() + set.theta * Float.BYTES;
        Regularizer regularizer = Objects.requireNonNull(set.regularizer);
        return new Stragglers(gpu, regularizer, step, coefficients, places, norms, set.plan.norms());
    }

    private void stepOnHost(
            StepKernel kernel,
            List<SetStep> steps,
            Coefficients coefficients,
            double smallStep,
            Summary[] summaries,
            double[] penalties) {
        try (Arena copies = Arena.ofShared()) {
            List<SetStep> onHost = new ArrayList<>();
            for (SetState set : there) {
                SetStep step = steps.get(set.place);
                onHost.add(new SetStep(
                        step.weights().stream()
                                .map(tensor -> Stragglers.copyOf(gpu, tensor, copies))
                                .toList(),
                        step.gradients().stream()
                                .map(tensor -> Stragglers.copyOf(gpu, tensor, copies))
                                .toList(),
                        step.stepSize(),
                        step.weightDecay()));
            }
            Result result = kernel.step(onHost, coefficients, smallStep);
            for (int i = 0; i < there.size(); i++) {
                int place = there.get(i).place;
                summaries[place] = result.sets().get(i).summary();
                penalties[place] = result.sets().get(i).penalty();
                List<TensorView> weights = steps.get(place).weights();
                for (int tensor = 0; tensor < weights.size(); tensor++) {
                    gpu.copyIn(
                            onHost.get(i).weights().get(tensor).segment(),
                            weights.get(tensor).segment().address());
                }
            }
        }
    }

    @Override
    public void close() {
        arena.close();
        while (!resources.isEmpty()) {
            try {
                resources.pop().close();
            } catch (Exception e) {
                throw new IllegalStateException("the GPU did not give something back: " + e.getMessage(), e);
            }
        }
    }
}
