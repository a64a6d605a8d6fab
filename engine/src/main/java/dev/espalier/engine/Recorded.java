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
    private final Gpu gpu;
    private final Recording recording;
    private final PtNDManager manager;
    private final SequencedMap<String, Port> inputs = new LinkedHashMap<>();
    private final SequencedMap<String, Port> outputs = new LinkedHashMap<>();

    /** Stands behind what was asked for last. */
    private final Gpu.Mark done;

    /** What was asked for last. */
    private @Nullable Answer last;

    /** Inputs that are on their way, for a run that was not asked for yet; none if there are none. */
    private Map<String, Tensor> staged = Map.of();

    /** Which of its two places an input takes next: what is in the other one may still be copied. */
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
     * @param manager owns both; is closed with this
     * @param inputs by name
     * @param outputs by name
     */
    Recorded(
            Gpu gpu,
            Recording recording,
            PtNDManager manager,
            SequencedMap<String, PtNDArray> inputs,
            SequencedMap<String, PtNDArray> outputs) {
        this.gpu = gpu;
        this.recording = recording;
        this.manager = manager;
        this.done = gpu.newMark();
        inputs.forEach((name, array) -> this.inputs.put(name, port(array, 2)));
        outputs.forEach((name, array) -> this.outputs.put(name, port(array, 1)));
    }

    private Port port(PtNDArray array, int places) {
        MemorySegment there = Tensors.memory(array);
        List<Gpu.Pinned> memory = Stream.generate(() -> gpu.allocatePinned(there.byteSize()))
                .limit(places)
                .toList();
        return new Port(array, there.address(), memory);
    }

    /** What a run will have made. */
    final class Answer {
        private @Nullable SequencedMap<String, Tensor> tensors;

        /** Waits for it, once. */
        SequencedMap<String, Tensor> get() {
            SequencedMap<String, Tensor> found = tensors;
            if (found == null) {
                done.await();
                found = new LinkedHashMap<>();
                for (Map.Entry<String, Port> output : outputs.entrySet()) {
                    found.put(output.getKey(), copy(output.getValue()));
                }
                tensors = found;
            }
            return found;
        }

        private static Tensor copy(Port port) {
            PtNDArray array = port.array();
            return Tensors.Copy.of(
                            Tensors.type(array.getDataType()),
                            array.getShape().getShape(),
                            port.memory()
                                    .getFirst()
                                    .segment()
                                    .asSlice(0, Tensors.memory(array).byteSize()))
                    .tensor();
        }
    }

    private long stream() {
        return Torch.stream(gpu.index());
    }

    /**
     * Puts copies of the inputs of the next run into the current stream, behind the last one, whose end is not waited for.
     *
     * @param given the inputs by name
     */
    void stage(Map<String, Tensor> given) {
        long stream = stream();
        if (!staged.isEmpty()) {
            // Nobody wanted them: both places may be in use.
            gpu.synchronize(stream);
        }
        int place = turn;
        turn = 1 - turn;
        inputs.forEach((name, port) -> {
            MemorySegment data = Objects.requireNonNull(given.get(name), name).data();
            MemorySegment here = port.memory()
                    .get(place)
                    .segment()
                    .asSlice(0, data.byteSize())
                    .copyFrom(data);
            if (data.byteSize() > 0) {
                gpu.copyIn(here, port.address(), stream);
            }
        });
        staged = Map.copyOf(given);
    }

    /** Whether these very tensors are on their way. */
    private boolean isStaged(Map<String, Tensor> given) {
        return !staged.isEmpty() && inputs.keySet().stream().allMatch(name -> staged.get(name) == given.get(name));
    }

    /**
     * Puts copies of the inputs, the work and copies of what it makes into the current stream. What was asked for before is waited for
     * first. Inputs that were {@link #stage staged} are not copied again.
     *
     * @param given the inputs by name
     * @return what it makes
     */
    Answer run(Map<String, Tensor> given) {
        if (!isStaged(given)) {
            stage(given);
        }
        staged = Map.of();
        if (last != null) {
            last.get();
        }
        long stream = stream();
        // A GPU that was lost is told of here by an exception; libtorch would end the process.
        done.put(stream);
        recording.replay();
        outputs.values()
                .forEach(port ->
                        gpu.copyOut(port.address(), port.memory().getFirst().segment(), stream));
        done.put(stream);
        Answer answer = new Answer();
        last = inputs.isEmpty() && outputs.isEmpty() ? null : answer;
        return answer;
    }

    @Override
    public void close() {
        recording.close();
        inputs.values().forEach(Port::close);
        outputs.values().forEach(Port::close);
        done.close();
        manager.close();
    }
}
