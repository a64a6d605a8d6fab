package dev.espalier.engine;

import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import dev.espalier.cuda.driver.Gpu;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torch.Recording;
import dev.espalier.torch.Torch;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/** A recording with what goes in and out: from the processor's memory to the GPU's, and back. */
final class Recorded implements AutoCloseable {
    private final Gpu gpu;
    private final Recording recording;
    private final PtNDManager manager;
    private final SequencedMap<String, Port> inputs = new LinkedHashMap<>();
    private final SequencedMap<String, Port> outputs = new LinkedHashMap<>();

    /** What was asked for last. */
    private @Nullable Answer last;

    /** An array on the GPU, and memory of the processor that copies to and from it do not wait for. */
    private record Port(PtNDArray array, long address, Gpu.Pinned memory) {}

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
        inputs.forEach((name, array) -> this.inputs.put(name, port(array)));
        outputs.forEach((name, array) -> this.outputs.put(name, port(array)));
    }

    private Port port(PtNDArray array) {
        MemorySegment there = Tensors.memory(array);
        return new Port(array, there.address(), gpu.allocatePinned(there.byteSize()));
    }

    /** What a run will have made. */
    final class Answer {
        private @Nullable SequencedMap<String, Tensor> tensors;

        /** Waits for it, once. */
        SequencedMap<String, Tensor> get() {
            SequencedMap<String, Tensor> found = tensors;
            if (found == null) {
                gpu.synchronize(stream());
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
                                    .segment()
                                    .asSlice(0, Tensors.memory(array).byteSize()))
                    .tensor();
        }
    }

    private long stream() {
        return Torch.stream(gpu.index());
    }

    /**
     * Puts copies of the inputs, the work and copies of what it makes into the current stream. What was asked for before is waited for first.
     *
     * @param given the inputs by name
     * @return what it makes
     */
    Answer run(Map<String, Tensor> given) {
        if (last != null) {
            last.get();
        }
        long stream = stream();
        inputs.forEach((name, port) -> {
            MemorySegment data = Objects.requireNonNull(given.get(name), name).data();
            MemorySegment staged =
                    port.memory().segment().asSlice(0, data.byteSize()).copyFrom(data);
            if (data.byteSize() > 0) {
                gpu.copyIn(staged, port.address(), stream);
            }
        });
        recording.replay();
        outputs.values()
                .forEach(port -> gpu.copyOut(port.address(), port.memory().segment(), stream));
        Answer answer = new Answer();
        last = inputs.isEmpty() && outputs.isEmpty() ? null : answer;
        return answer;
    }

    @Override
    public void close() {
        recording.close();
        inputs.values().forEach(port -> port.memory().close());
        outputs.values().forEach(port -> port.memory().close());
        manager.close();
    }
}
