package dev.espalier.cuda;

import dev.espalier.core.group.Groups;
import dev.espalier.core.kernel.StepKernel.SetPlan;
import dev.espalier.core.kernel.StepKernel.SetStep;
import dev.espalier.core.rule.Coefficients;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.cuda.Struct.Row;
import dev.espalier.cuda.driver.Gpu;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a GPU keeps of a model from step to step, moments and norms; and the tables that tell it where the tensors are in this
 * step, and what is to be done with them.
 */
final class DeviceState {
    /** Addresses that are remembered for a tensor, about: engines lend the same few over and over. */
    private static final int MOST_KNOWN = 16;

    /** Rounds of a step, at most; and steps whose rounds have marks of their own, as marks have 16 bits. */
    private static final int ROUNDS = 64;

    private static final int MOST_MARKS = (1 << 16) / ROUNDS - 1;

    private final Gpu gpu;
    private final boolean bothMoments;
    private final Arena arena;
    private final List<SetState> sets = new ArrayList<>();
    private final List<Tensor> tensors = new ArrayList<>();

    /** The number of every tensor's set in the tables; -1 for those that the GPU does not step. */
    private final int[] setOf;

    /** The sets that the GPU steps, those with a penalty first. */
    private final List<SetState> here;

    private final Tiling tiling;
    private final Gpu.Memory moments;
    private final Gpu.Memory thetas;

    /** Tensors, layouts and sets, on the GPU and as they are written. */
    private final Gpu.Memory tables;

    private final MemorySegment tablesHere;

    /** Takes tables to the GPU beside what it is doing, and stands behind them. */
    private final Gpu.SideStream aside;

    private final Gpu.Mark uploaded;

    /** Moments and norms in host memory, as they were lent out; uploaded before the next step. */
    private @Nullable Mirror mirror;

    private boolean lent;

    /** How tiles are copied. */
    private final BoxMaps maps;

    /** Steps since marks began. */
    private int marks;

    /** Addresses that the driver has said are on this GPU. */
    private final Set<Long> known = new HashSet<>();

    /**
     * A tensor.
     *
     * @param first where its first moment begins, in floats; negative if it has none
     * @param second where its second moment begins, likewise
     */
    private record Tensor(String name, long size, long first, long second) {}

    /** Host copies of what is kept on the GPU. */
    private record Mirror(MemorySegment moments, MemorySegment thetas) {}

    /**
     * The state of a model before its first step.
     *
     * @param resources will give back what this takes
     */
    DeviceState(Gpu gpu, Resources resources, UpdateRule rule, List<SetPlan> plans) {
        this.gpu = gpu;
        bothMoments = rule.hasFirstMoment() && rule.hasSecondMoment();
        arena = resources.keep(Arena.ofShared());
        long floats = 0;
        long norms = 0;
        for (SetPlan plan : plans) {
            SetState set = new SetState(plan, sets.size(), Kind.of(plan), tensors.size(), norms);
            sets.add(set);
            norms += set.onGpu() ? plan.norms() : 0;
            for (int i = 0; i < plan.names().size(); i++) {
                long size = plan.sizes().get(i);
                boolean first = set.onGpu() && rule.hasFirstMoment();
                boolean second = set.onGpu() && rule.hasSecondMoment();
                long room = Math.ceilDiv(size, 64L) * 64;
                tensors.add(new Tensor(
                        plan.names().get(i), size, first ? floats : -1, second ? floats + (first ? room : 0) : -1));
                floats += (first ? room : 0) + (second ? room : 0);
            }
        }
        here = sets.stream()
                .filter(SetState::onGpu)
                .sorted(Comparator.comparing(set -> set.kind == Kind.PLAIN))
                .toList();
        List<Groups> tiled = here.stream()
                .filter(set -> set.kind.tiles())
                .map(set -> Objects.requireNonNull(set.plan.regularizer()).groups())
                .toList();
        tiling = new Tiling(tiled, new Tiling.Room(gpu.multiprocessors(), gpu.sharedMemory()));
        setOf = new int[tensors.size()];
        Arrays.fill(setOf, -1);
        for (int i = 0; i < here.size(); i++) {
            SetState set = here.get(i);
            Arrays.fill(
                    setOf, set.firstTensor, set.firstTensor + set.plan.names().size(), i);
            tiling.add(set.kind, set.plan, i, set.firstTensor, set.theta);
        }
        for (int i = 0; i < tensors.size(); i++) {
            tiling.scan(i, tensors.get(i).size());
        }
        moments = resources.keep(gpu.allocate(floats * Float.BYTES));
        thetas = resources.keep(gpu.allocate(norms * Float.BYTES));
        maps = new BoxMaps(gpu, resources, tiling.boxes());
        long bytes = setTable() + here.size() * Structs.SET.size();
        tables = resources.keep(gpu.allocate(bytes));
        tablesHere = resources.keep(gpu.allocatePinned(bytes)).segment();
        aside = resources.keep(gpu.newStream());
        uploaded = resources.keep(gpu.newMark());
    }

    /** Where the layouts begin, behind the tensors. */
    private long layoutTable() {
        return tensors.size() * Structs.TENSOR.size();
    }

    /** Where the sets begin, behind the layouts. */
    private long setTable() {
        return layoutTable() + tensors.size() * Structs.LAYOUT.size();
    }

    /** All sets, in the order that they were given. */
    List<SetState> sets() {
        return sets;
    }

    /** The sets that the GPU steps, in the order of its tables. */
    List<SetState> here() {
        return here;
    }

    /** The names of all tensors, in the order of the tables. */
    List<String> tensorNames() {
        return tensors.stream().map(Tensor::name).toList();
    }

    /** The jobs that the model is cut into. */
    Tiling tiling() {
        return tiling;
    }

    /** Writes into the plan where this is. */
    void describe(Row plan) {
        plan.put("tensors", tables.address())
                .put("sets", tables.address() + setTable())
                .put("thetas", thetas.address());
    }

    /**
     * Moments and norms, to be read and written until the next step.
     *
     * @param hosts those of the sets that the GPU does not step
     */
    SequencedMap<String, MemorySegment> lend(SequencedMap<String, MemorySegment> hosts) {
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
        SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
        for (SetState set : sets) {
            for (Tensor tensor : tensors(set)) {
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

    private List<Tensor> tensors(SetState set) {
        return tensors.subList(
                set.firstTensor, set.firstTensor + set.plan.names().size());
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

    /** Uploads what was lent out: it may have been written to. */
    void takeBack() {
        if (lent && mirror != null) {
            gpu.copyIn(mirror.moments(), moments.address());
            gpu.copyIn(mirror.thetas(), thetas.address());
            lent = false;
        }
    }

    /** Asks the driver whose memory the tensors are, of every address once. */
    void requireOwn(List<SetStep> steps) {
        if (known.size() > MOST_KNOWN * tensors.size()) {
            known.clear();
        }
        int number = 0;
        for (SetStep step : steps) {
            for (int i = 0; i < step.weights().size(); i++) {
                Tensor tensor = tensors.get(number++);
                requireOwn("weights", tensor, step.weights().get(i).segment().address());
                requireOwn("gradient", tensor, step.gradients().get(i).segment().address());
            }
        }
    }

    private void requireOwn(String what, Tensor tensor, long address) {
        if (!known.contains(address)) {
            gpu.requireOwn(what + " of " + tensor.name(), address);
            known.add(address);
        }
    }

    /** Whether marks begin anew with the next step: then what blocks have told each other must be forgotten. */
    boolean marksAreUp() {
        if (marks < MOST_MARKS) {
            return false;
        }
        marks = 0;
        return true;
    }

    /** Writes down where everything is and what is to be done. Returns whether a tensor is not contiguous. */
    boolean write(List<SetStep> steps, Coefficients coefficients, double smallStep) {
        marks++;
        boolean strided = false;
        Set<Integer> broken = new HashSet<>(); // sets that have a tensor which is not contiguous
        float visible = Tables.visible(coefficients);
        MemorySegment layouts = tablesHere.asSlice(layoutTable());
        int number = 0;
        for (SetStep step : steps) {
            for (int i = 0; i < step.weights().size(); i++) {
                Tensor tensor = tensors.get(number);
                TensorView x = step.weights().get(i);
                TensorView g = step.gradients().get(i);
                boolean contiguous = x.contiguous() && g.contiguous();
                int set = setOf[number];
                boolean waits = set >= 0 && here.get(set).plan.waitsForGradients(coefficients);
                long layout = tables.address() + layoutTable() + number * Structs.LAYOUT.size();
                Tables.tensor(
                        Structs.TENSOR.row(tablesHere, number),
                        x,
                        g,
                        moment(tensor.first()),
                        moment(tensor.second()),
                        contiguous ? 0 : layout,
                        contiguous
                                ? maps.of(
                                        number,
                                        x.segment().address(),
                                        g.segment().address(),
                                        moment(tensor.first()),
                                        moment(tensor.second()))
                                : 0,
                        maps.boxBytes(number),
                        waits ? visible : 0,
                        set);
                if (!contiguous) {
                    Tables.layout(Structs.LAYOUT.row(layouts, number), x, g);
                    strided = true;
                    broken.add(set);
                }
                number++;
            }
        }
        MemorySegment table = tablesHere.asSlice(setTable());
        for (int i = 0; i < here.size(); i++) {
            SetState set = here.get(i);
            Tables.set(
                    Structs.SET.row(table, i),
                    set.kind,
                    set.plan,
                    set.regularizer,
                    tiling.firstMembers(i),
                    steps.get(set.place),
                    coefficients,
                    smallStep,
                    bothMoments && !broken.contains(i),
                    marks * ROUNDS);
        }
        return strided;
    }

    /**
     * Copies what was written to the GPU, which need not have come to the step for that: nobody reads the tables of the last one any
     * more.
     *
     * @param stream is held back until the copy is there
     */
    void upload(long stream) {
        gpu.copyIn(tablesHere, tables.address(), aside.handle());
        maps.upload(aside.handle());
        uploaded.put(aside.handle());
        uploaded.holdBack(stream);
    }

    /** The address of a moment; zero if it is not kept. */
    private long moment(long at) {
        return at < 0 ? 0 : moments.address() + at * Float.BYTES;
    }

    /** What the GPU has found that the metric of a tensor is not below in this step. */
    private float metricFloor(int tensor) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment row = scratch.allocate(Structs.TENSOR.layout());
            gpu.copyOut(tables.address() + tensor * Structs.TENSOR.size(), row);
            return Structs.TENSOR.row(row, 0).floatOf("metricFloor");
        }
    }

    /** Copies a set, so that some of its groups can be solved here. */
    Stragglers stragglers(SetState set, SetStep step, Coefficients coefficients) {
        List<Stragglers.Place> places = new ArrayList<>();
        for (int i = 0; i < set.plan.names().size(); i++) {
            Tensor tensor = tensors.get(set.firstTensor + i);
            places.add(new Stragglers.Place(
                    tensor.size(), moment(tensor.first()), moment(tensor.second()), metricFloor(set.firstTensor + i)));
        }
        return new Stragglers(
                gpu,
                Objects.requireNonNull(set.regularizer),
                step,
                coefficients,
                places,
                thetas.address() + set.theta * Float.BYTES,
                set.plan.norms());
    }
}
