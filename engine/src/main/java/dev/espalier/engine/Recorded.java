package dev.espalier.engine;

import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import dev.espalier.cuda.driver.Gpu;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torch.Recording;
import dev.espalier.torch.Torch;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A recording with what goes in and out: from the processor's memory to the GPU's, and back. */
final class Recorded implements AutoCloseable {
    /** How many runs may be under way at once: places of the processor's memory for what goes in and out. */
    private static final int PLACES = 2;

    private final Gpu gpu;
    private final Recording recording;

    /** What inputs are copied in: beside what the GPU does between two runs, such as the step. */
    private final long copies;

    /** Stands behind the last copies. */
    private final Gpu.Mark copied;

    private final PtNDManager manager;
    private final SequencedMap<String, Port> inputs = new LinkedHashMap<>();
    private final SequencedMap<String, Port> outputs = new LinkedHashMap<>();

    /** What was asked for last and before; null where nothing was. Each has its place for what comes out, and a mark behind it. */
    private final @Nullable Answer[] answers = new Answer[PLACES];

    private final List<Gpu.Mark> marks;

    /** The place of the next one. */
    private int next;

    /** Inputs that are on their way, for a run that was not asked for yet; none if there are none. */
    private Map<String, Tensor> staged = Map.of();

    /** Which of its places an input takes next: what is in the other one may still be copied. */
    private int turn;

    /** An array on the GPU, and memory of the processor that copies to and from it do not wait for. */
    private record Port(PtNDArray array, long address, List<Gpu.Pinned> memory) {
        void close() {
            memory.forEach(Gpu.Pinned::close);
        }
    }

    /**
     * A recording.
     *
     * @param gpu where it is
     * @param recording reads the inputs and writes the outputs; is closed with this
     * @param copies a stream that inputs are copied in
     * @param manager owns both; is closed with this
     * @param inputs by name
     * @param outputs by name
     */
    Recorded(
            Gpu gpu,
            Recording recording,
            long copies,
            PtNDManager manager,
            SequencedMap<String, PtNDArray> inputs,
            SequencedMap<String, PtNDArray> outputs) {
        this.gpu = gpu;
        this.recording = recording;
        this.copies = copies;
        this.copied = gpu.newMark();
        this.manager = manager;
        this.marks = Stream.generate(gpu::newMark).limit(PLACES).toList();
        inputs.forEach((name, array) -> this.inputs.put(name, port(array)));
        outputs.forEach((name, array) -> this.outputs.put(name, port(array)));
    }

    private Port port(PtNDArray array) {
        MemorySegment there = Tensors.memory(array);
        List<Gpu.Pinned> memory = Stream.generate(() -> gpu.allocatePinned(there.byteSize()))
                .limit(PLACES)
                .toList();
        return new Port(array, there.address(), memory);
    }

    /** What a run will have made. */
    final class Answer {
        private final int place;
        private @Nullable SequencedMap<String, Tensor> tensors;

        private Answer(int place) {
            this.place = place;
        }

        /** Waits for it, once. */
        SequencedMap<String, Tensor> get() {
            SequencedMap<String, Tensor> found = tensors;
            if (found == null) {
                marks.get(place).await();
                found = new LinkedHashMap<>();
                for (Map.Entry<String, Port> output : outputs.entrySet()) {
                    found.put(output.getKey(), copy(output.getValue()));
                }
                tensors = found;
            }
            return found;
        }

        private Tensor copy(Port port) {
            PtNDArray array = port.array();
            return Tensors.Copy.of(
                            Tensors.type(array.getDataType()),
                            array.getShape().getShape(),
                            port.memory()
                                    .get(place)
                                    .segment()
                                    .asSlice(0, Tensors.memory(array).byteSize()))
                    .tensor();
        }
    }

    private long stream() {
        return Torch.stream(gpu.index());
    }

    /**
     * Puts copies of the inputs of the next run on their way, beside all else but behind the last one, whose end is not waited for, but that of the
     * one before.
     *
     * @param given the inputs by name
     */
    void stage(Map<String, Tensor> given) {
        if (inputs.isEmpty()) {
            return;
        }
        if (!staged.isEmpty()) {
            // Nobody wanted them: both places may be in use.
            gpu.synchronize(copies);
        }
        marks.get((next + PLACES - 1) % PLACES).holdBack(copies);
        awaitPlace();
        int place = turn;
        turn = (turn + 1) % PLACES;
        inputs.forEach((name, port) -> {
            MemorySegment data = Objects.requireNonNull(given.get(name), name).data();
            MemorySegment here = port.memory()
                    .get(place)
                    .segment()
                    .asSlice(0, data.byteSize())
                    .copyFrom(data);
            if (data.byteSize() > 0) {
                gpu.copyIn(here, port.address(), copies);
            }
        });
        copied.put(copies);
        staged = Map.copyOf(given);
    }

    /** Waits for the run whose places the next one takes: they have been copied from, and what came out is taken. */
    private void awaitPlace() {
        Answer before = answers[next];
        if (before != null) {
            before.get();
        }
    }

    /** Whether these very tensors are on their way. */
    private boolean isStaged(Map<String, Tensor> given) {
        return !staged.isEmpty() && inputs.keySet().stream().allMatch(name -> staged.get(name) == given.get(name));
    }

    /**
     * Puts the work, behind copies of the inputs, and copies of what it makes into the current stream, likewise. Inputs that were {@link #stage staged} are not copied again.
     *
     * @param given the inputs by name
     * @return what it makes
     */
    Answer run(Map<String, Tensor> given) {
        if (!isStaged(given)) {
            stage(given);
        }
        staged = Map.of();
        awaitPlace();
        Answer answer = new Answer(next);
        next = (next + 1) % PLACES;
        long stream = stream();
        Gpu.Mark done = marks.get(answer.place);
        // A GPU that was lost is told of here by an exception; libtorch would end the process.
        done.put(stream);
        if (!inputs.isEmpty()) {
            copied.holdBack(stream);
        }
        recording.replay();
        outputs.values()
                .forEach(port -> gpu.copyOut(
                        port.address(), port.memory().get(answer.place).segment(), stream));
        done.put(stream);
        answers[answer.place] = inputs.isEmpty() && outputs.isEmpty() ? null : answer;
        return answer;
    }

    @Override
    public void close() {
        recording.close();
        inputs.values().forEach(Port::close);
        outputs.values().forEach(Port::close);
        marks.forEach(Gpu.Mark::close);
        copied.close();
        manager.close();
    }
}
