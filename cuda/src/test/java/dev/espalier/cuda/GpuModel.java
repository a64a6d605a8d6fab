package dev.espalier.cuda;

import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.Place;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.cuda.driver.Gpu;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.SplittableRandom;

/** A model twice, in host memory and on a GPU, for tests: weights and gradients of named tensors. */
final class GpuModel implements AutoCloseable {
    /** How a tensor lies in memory. */
    enum Layout {
        ROW_MAJOR,
        TRANSPOSED,
        SLICED
    }

    private final Gpu gpu = Gpu.open(0);
    private final Arena arena = Arena.ofShared();
    private final List<Gpu.Memory> memories = new ArrayList<>();
    final SequencedMap<String, TensorView> weights = new LinkedHashMap<>();
    final SequencedMap<String, TensorView> gradients = new LinkedHashMap<>();
    final SequencedMap<String, TensorView> gpuWeights = new LinkedHashMap<>();
    final SequencedMap<String, TensorView> gpuGradients = new LinkedHashMap<>();

    GpuModel(List<ParameterSet> sets, Layout weightLayout, Layout gradientLayout) {
        for (ParameterSet set : sets) {
            for (Parameter parameter : set.parameters()) {
                add(parameter, weightLayout, weights, gpuWeights);
                add(parameter, gradientLayout, gradients, gpuGradients);
            }
        }
    }

    private void add(
            Parameter parameter,
            Layout layout,
            SequencedMap<String, TensorView> host,
            SequencedMap<String, TensorView> device) {
        long size = parameter.size();
        MemorySegment memory = arena.allocate(2 * size * Float.BYTES, 64);
        Gpu.Memory there = gpu.allocate(memory.byteSize());
        memories.add(there);
        long rows = 2;
        while (rows < size && size % rows != 0) {
            rows++;
        }
        boolean vector = layout != Layout.TRANSPOSED || size == 1;
        long[] shape = vector ? new long[] {size} : new long[] {rows, size / rows};
        long[] strides = vector ? new long[] {layout == Layout.SLICED ? 2 : 1} : new long[] {1, rows};
        host.put(parameter.name(), TensorView.of(memory, ElementType.FLOAT32, shape, strides));
        device.put(parameter.name(), TensorView.of(Place.gpu(0), segment(there), ElementType.FLOAT32, shape, strides));
    }

    @SuppressWarnings("restricted") // addresses of the GPU, never touched here
    static MemorySegment segment(Gpu.Memory memory) {
        return MemorySegment.ofAddress(memory.address()).reinterpret(memory.bytes());
    }

    Gpu gpu() {
        return gpu;
    }

    static void fill(SequencedMap<String, TensorView> tensors, SplittableRandom random, double scale) {
        for (TensorView tensor : tensors.values()) {
            for (long i = 0; i < tensor.size(); i++) {
                tensor.set(i, scale * random.nextGaussian());
            }
        }
    }

    /** What a map must have. */
    static <T> T get(Map<String, T> map, String name) {
        return Objects.requireNonNull(map.get(name), name);
    }

    /** Copies the host's tensors to the GPU. */
    void upload(SequencedMap<String, TensorView> from, SequencedMap<String, TensorView> to) {
        from.forEach((name, tensor) ->
                gpu.copyIn(tensor.segment(), get(to, name).segment().address()));
    }

    /** The GPU's weights, in host memory. */
    SequencedMap<String, TensorView> download() {
        SequencedMap<String, TensorView> copies = new LinkedHashMap<>();
        gpuWeights.forEach((name, tensor) -> {
            MemorySegment copy = arena.allocate(tensor.segment().byteSize(), 8);
            gpu.copyOut(tensor.segment().address(), copy);
            copies.put(name, TensorView.of(copy, ElementType.FLOAT32, tensor.shape(), tensor.strides()));
        });
        return copies;
    }

    @Override
    public void close() {
        memories.forEach(Gpu.Memory::close);
        arena.close();
        gpu.close();
    }
}
