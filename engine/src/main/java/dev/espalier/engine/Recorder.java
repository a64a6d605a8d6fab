package dev.espalier.engine;

import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.ndarray.types.SparseFormat;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.JniUtils;
import dev.espalier.cuda.driver.CudaException;
import dev.espalier.cuda.driver.Gpu;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torch.Recording;
import java.lang.System.Logger.Level;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Has what a network does over and over on a GPU recorded, and done again as a whole: asking libtorch for one operation after the
 * other takes the host longer than most of them take the GPU.
 *
 * <p>A piece of work is done as ever a few times, then rehearsed, as libtorch could not back out of a recording that fails, and
 * recorded. Where that is not possible it is done as ever for good, and the log says why. All recordings of a network share the memory
 * between operations; what goes in and out has its own.
 */
final class Recorder implements AutoCloseable {
    /** The system property that says whether anything is recorded. */
    private static final String SWITCH = "espalier.record";

    /** Whether inputs may be copied before the pass that needs them is asked for. */
    private static final boolean STAGES = Boolean.parseBoolean(System.getProperty("espalier.stage", "true"));

    /** How often a piece of work is done as ever before it is recorded. */
    private static final int RUNS_BEFORE = 2;

    /** The same for what a network does to itself: what is held may be chosen anew every few steps. */
    private static final int CHORES_BEFORE = 20;

    /** Bytes that must be free before something is recorded: several times what the graph of a large model takes. */
    private static final long ROOM = 64L << 20;

    /** Maximum number of pieces of work that are remembered, recorded or not; the least recently used is forgotten first. */
    private static final int MAX_ENTRIES = 64;

    private final Gpu gpu;
    private final Gpu.SideStream stream;
    /** What inputs are copied in. */
    private final Gpu.SideStream copies;
    /** The memory that recordings share; null while there are none, as libtorch gives it up with the last one. */
    private Recording.@Nullable Pool pool;

    private int recordings;
    private final PtNDManager manager;
    private final RecentlyUsed<Key, Entry> entries = new RecentlyUsed<>(MAX_ENTRIES, this::forget);
    private boolean stopped;

    /**
     * What is recorded.
     *
     * @param what a plan for a pass, compared by identity; or the name of something that a network does to itself
     * @param mode of the pass
     * @param share of a step that its gradients have
     * @param fresh whether it begins with setting gradients to zero
     */
    record Key(Object what, Mode mode, double share, boolean fresh) {
        /** Of something that a network does to itself. */
        static Key of(Object what) {
            return new Key(what, Mode.INFERENCE, 1, false);
        }
    }

    /** What was seen of a piece of work. */
    private static final class Entry {
        private int runs;
        private @Nullable Recorded recorded;
    }

    /** Work that can be recorded: it puts operations of libtorch into the current stream, and waits for none. */
    @FunctionalInterface
    interface Work {
        /**
         * Does it.
         *
         * @param inputs what it reads
         * @param rehearsal whether nothing may be drawn from libtorch's generator
         * @param results takes what it makes, before that is closed
         */
        void run(Map<String, PtNDArray> inputs, boolean rehearsal, Consumer<SequencedMap<String, PtNDArray>> results);
    }

    private Recorder(int index, PtNDManager parent) {
        gpu = Gpu.open(index);
        stream = gpu.newStream();
        copies = gpu.newStream();
        manager = parent.newSubManager(parent.getDevice());
    }

    /** A recorder for a network on a device; null where nothing can be recorded. */
    static @Nullable Recorder of(Device device, PtNDManager parent) {
        if (!device.isGpu() || !Boolean.parseBoolean(System.getProperty(SWITCH, "true"))) {
            return null;
        }
        Optional<String> reason = Recording.whyNot();
        reason.ifPresent(Recorder::tell);
        return reason.isPresent() ? null : new Recorder(device.place().gpu(), parent);
    }

    private static void tell(String reason) {
        System.getLogger(Recorder.class.getName())
                .log(Level.WARNING, "Passes on the GPU are not recorded, which makes them slower: {0}", reason);
    }

    /**
     * The recording of a piece of work, if it is time for it.
     *
     * @param key what it is
     * @param inputs what it reads now; of the same types and shapes whenever it has this key
     * @param work what is recorded
     * @return the recording, to be run; empty if the work is to be done as ever
     */
    Optional<Recorded> find(Key key, SequencedMap<String, Tensor> inputs, Work work) {
        if (stopped) {
            return Optional.empty();
        }
        Entry entry = entries.get(key, Entry::new);
        if (entry.recorded == null && ++entry.runs > (inputs.isEmpty() ? CHORES_BEFORE : RUNS_BEFORE)) {
            entry.recorded = record(inputs, work);
        }
        return Optional.ofNullable(entry.recorded);
    }

    /** Has the inputs of a piece of work copied ahead of the next {@link #find}, if it is recorded. */
    void stage(Key key, SequencedMap<String, Tensor> inputs) {
        Entry entry = entries.find(key);
        if (STAGES && entry != null && entry.recorded != null) {
            entry.recorded.stage(inputs);
        }
    }

    /**
     * Does something that needs nothing, if it is recorded.
     *
     * @param what what it is
     * @param work what is recorded
     * @return what it makes; empty if it is to be done as ever
     */
    Optional<Recorded.Answer> ask(Object what, Work work) {
        return find(Key.of(what), new LinkedHashMap<>(), work).map(known -> known.run(new LinkedHashMap<>()));
    }

    /** Does something that needs nothing and makes nothing. */
    void run(Object what, Runnable work) {
        if (ask(what, (inputs, rehearsal, results) -> work.run()).isEmpty()) {
            work.run();
        }
    }

    private @Nullable Recorded record(SequencedMap<String, Tensor> given, Work work) {
        PtNDManager own = manager.newSubManager(manager.getDevice());
        SequencedMap<String, PtNDArray> inputs = new LinkedHashMap<>();
        given.forEach((name, tensor) -> inputs.put(name, Tensors.upload(own, tensor)));
        gpu.synchronize(Gpu.DEFAULT_STREAM);
        Map<String, Form> forms = new LinkedHashMap<>();
        Optional<String> reason = Recording.inStream(
                gpu.index(),
                stream.handle(),
                () -> stream.rehearse(() -> work.run(
                        inputs, true, made -> made.forEach((name, array) -> forms.put(name, Form.of(array))))));
        if (!given.isEmpty()) {
            // What the rehearsal of a pass took is of no use to others.
            JniUtils.emptyCudaCache();
        }
        reason = reason.or(this::whyNoRoom);
        if (reason.isPresent()) {
            own.close();
            stopped = true;
            tell(reason.get());
            return null;
        }
        SequencedMap<String, PtNDArray> outputs = new LinkedHashMap<>();
        forms.forEach((name, form) -> outputs.put(name, form.zeros(own)));
        Recording.Pool shared = pool == null ? new Recording.Pool() : pool;
        pool = shared;
        Recording recording = Recording.of(
                gpu.index(),
                new Writer(),
                shared,
                () -> work.run(inputs, false, made -> made.forEach((name, array) -> keep(array, outputs.get(name)))));
        recordings++;
        return new Recorded(gpu, recording, copies.handle(), own, inputs, outputs);
    }

    /** A recording takes memory of the driver's, for want of which libtorch would end the process. */
    private Optional<String> whyNoRoom() {
        try (Gpu.Memory _ = gpu.allocate(ROOM)) {
            return Optional.empty();
        } catch (CudaException full) {
            return Optional.of("it has no memory left for that (" + full.getMessage() + ")");
        }
    }

    /** What an array looks like. */
    private record Form(Shape shape, DataType type) {
        static Form of(PtNDArray array) {
            return new Form(array.getShape(), array.getDataType());
        }

        PtNDArray zeros(PtNDManager owner) {
            return JniUtils.createZerosNdArray(owner, shape, type, owner.getDevice(), SparseFormat.DENSE);
        }
    }

    private static void keep(PtNDArray made, @Nullable PtNDArray place) {
        if (place == null) {
            throw new IllegalStateException("a recording made something else than its rehearsal");
        }
        Tensors.store(made, place);
    }

    /** The stream as what records sees it. */
    private final class Writer implements Recording.Stream {
        @Override
        public long handle() {
            return stream.handle();
        }

        @Override
        public boolean writesDown() {
            return stream.writesDown();
        }

        @Override
        public void abandon() {
            stream.abandon();
        }
    }

    /** How many recordings there are. */
    int count() {
        return recordings;
    }

    /** Number of pieces of work that are remembered. */
    int size() {
        return entries.size();
    }

    /** Waits for inputs that are on their way. */
    void awaitCopies() {
        gpu.synchronize(copies.handle());
    }

    private void forget(Entry entry) {
        if (entry.recorded != null) {
            gpu.synchronize(Gpu.DEFAULT_STREAM);
            awaitCopies();
            entry.recorded.close();
            entry.recorded = null;
            recordings--;
            pool = recordings == 0 ? null : pool;
        }
    }

    /** Forgets all recordings: what they read, or how they compute it, is another from now on. */
    void forgetAll() {
        entries.clear();
    }

    /** Forgets what a network does to itself under a name. */
    void forget(String name) {
        entries.remove(Key.of(name));
    }

    @Override
    public void close() {
        forgetAll();
        stream.close();
        copies.close();
        gpu.close();
    }
}
