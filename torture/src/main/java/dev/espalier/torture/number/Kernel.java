package dev.espalier.torture.number;

import dev.espalier.core.kernel.StepKernel;
import dev.espalier.core.kernel.StepKernel.SetPlan;
import dev.espalier.core.kernel.StepKernel.SetStep;
import dev.espalier.core.root.ReciprocalNewton;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.Place;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.cuda.CudaSteps;
import dev.espalier.cuda.driver.Gpu;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Does the step of a batch on some kernel. */
final class Kernel {
    /** As exact as the optimizer has it in float32. */
    private static final double TOLERANCE = 1e-7;

    private Kernel() {}

    /**
     * What a step leaves.
     *
     * @param weights of each tensor
     * @param norms that are kept for the next step
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Result(List<float[]> weights, float[] norms) {}

    /** On the processor. */
    static Result onHost(Batch batch, StepKernel.Factory kernels) {
        try (Arena arena = Arena.ofConfined();
                StepKernel kernel = create(batch, kernels)) {
            List<TensorView> weights = new ArrayList<>();
            List<TensorView> gradients = new ArrayList<>();
            for (int tensor = 0; tensor < batch.weights().size(); tensor++) {
                weights.add(view(arena, batch.weights().get(tensor)));
                gradients.add(view(arena, batch.gradients().get(tensor)));
            }
            step(batch, kernel, weights, gradients);
            return new Result(
                    weights.stream()
                            .map(tensor -> tensor.segment().toArray(ValueLayout.JAVA_FLOAT))
                            .toList(),
                    norms(kernel));
        }
    }

    private static TensorView view(Arena arena, float[] numbers) {
        MemorySegment memory = arena.allocate((long) numbers.length * Float.BYTES, 64);
        memory.copyFrom(MemorySegment.ofArray(numbers));
        return TensorView.of(memory, ElementType.FLOAT32, numbers.length);
    }

    /** On the first GPU. */
    static Result onGpu(Batch batch) {
        List<Gpu.Memory> memories = new ArrayList<>();
        try (Gpu gpu = Gpu.open(0);
                StepKernel kernel = create(batch, CudaSteps.onFirstGpu())) {
            List<TensorView> weights = new ArrayList<>();
            List<TensorView> gradients = new ArrayList<>();
            try {
                for (int tensor = 0; tensor < batch.weights().size(); tensor++) {
                    weights.add(view(gpu, batch.weights().get(tensor), memories));
                    gradients.add(view(gpu, batch.gradients().get(tensor), memories));
                }
                step(batch, kernel, weights, gradients);
                List<float[]> results = new ArrayList<>();
                for (TensorView tensor : weights) {
                    float[] numbers = new float[Math.toIntExact(tensor.size())];
                    try (Arena arena = Arena.ofConfined()) {
                        MemorySegment copy = arena.allocate((long) numbers.length * Float.BYTES, 64);
                        gpu.copyOut(tensor.segment().address(), copy);
                        MemorySegment.ofArray(numbers).copyFrom(copy);
                    }
                    results.add(numbers);
                }
                return new Result(results, norms(kernel));
            } finally {
                memories.forEach(Gpu.Memory::close);
            }
        }
    }

    @SuppressWarnings("restricted") // an address of the GPU, never touched here
    private static TensorView view(Gpu gpu, float[] numbers, List<Gpu.Memory> memories) {
        Gpu.Memory memory = gpu.allocate((long) numbers.length * Float.BYTES);
        memories.add(memory);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate((long) numbers.length * Float.BYTES, 64);
            copy.copyFrom(MemorySegment.ofArray(numbers));
            gpu.copyIn(copy, memory.address());
        }
        MemorySegment there = MemorySegment.ofAddress(memory.address()).reinterpret(memory.bytes());
        long[] shape = {numbers.length};
        return TensorView.of(Place.gpu(0), there, ElementType.FLOAT32, shape, new long[] {1});
    }

    private static StepKernel create(Batch batch, StepKernel.Factory kernels) {
        List<Long> sizes = batch.regularizer().groups().tensorSizes();
        List<String> names =
                IntStream.range(0, sizes.size()).mapToObj(i -> "w" + i).toList();
        SetPlan plan = new SetPlan(names, sizes, batch.regularizer(), true);
        // Of the rules the one that keeps a second moment and no first; its numbers are the batch's.
        return kernels.create(new UpdateRule.AdaGrad(), List.of(plan), 1);
    }

    private static void step(Batch batch, StepKernel kernel, List<TensorView> weights, List<TensorView> gradients) {
        SplittableRandom random = new SplittableRandom(batch.starts());
        kernel.state().forEach((name, memory) -> {
            if (name.startsWith("second/")) {
                float[] moments = batch.moments().get(Integer.parseInt(name.substring("second/w".length())));
                MemorySegment.copy(MemorySegment.ofArray(moments), 0, memory, 0, memory.byteSize());
            } else if (name.startsWith("theta/")) {
                for (long i = 0; i < memory.byteSize() / Float.BYTES; i++) {
                    float start = random.nextInt(4) == 0 ? 0 : (float) Batch.logUniform(random, 1e-9, 1e6);
                    memory.setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i, start);
                }
            }
        });
        SetStep set = new SetStep(weights, gradients, batch.stepSize(), 0);
        StepKernel.Result result = kernel.step(List.of(set), batch.rule(), ReciprocalNewton.smallHalleyStep(TOLERANCE));
        if (result.bad() != null) {
            throw new IllegalStateException("the step was refused: " + result.bad());
        }
    }

    private static float[] norms(StepKernel kernel) {
        return kernel.state().entrySet().stream()
                .filter(entry -> entry.getKey().startsWith("theta/"))
                .map(entry -> entry.getValue().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED))
                .findFirst()
                .orElse(new float[0]);
    }
}
