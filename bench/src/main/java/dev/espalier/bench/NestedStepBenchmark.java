package dev.espalier.bench;

import dev.espalier.bench.ModelShapes.TensorShape;
import dev.espalier.bench.Workload.Grouping;
import dev.espalier.penalty.GroupLasso;
import dev.espalier.penalty.NestedLasso;
import dev.espalier.penalty.SparseGroupLasso;
import dev.espalier.step.StepOptions;
import dev.espalier.step.StepReport;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** JMH benchmark of one optimizer step on the queries, keys and values of BERT-base, grouped in different ways. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(
        value = 1,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--add-modules", "jdk.incubator.vector"})
public class NestedStepBenchmark {
    /** The groups and their penalty. */
    @Param({"single", "joint", "nested", "sparse-joint"})
    private String groups = "joint";

    private @Nullable Workload workload;

    /** Makes no benchmark by itself. */
    public NestedStepBenchmark() {}

    /** Makes the matrices. */
    @Setup(Level.Trial)
    public void open() {
        List<TensorShape> tensors = ModelShapes.BERT_BASE.tensors().stream()
                .filter(tensor -> tensor.name().matches(".*\\.(query|key|value)\\.weight"))
                .toList();
        double lambda = Workload.LAMBDA;
        StepOptions options = StepOptions.DEFAULT;
        workload = switch (groups) {
            case "single" -> new Workload(tensors, new GroupLasso(lambda), Grouping.APART, options);
            case "joint" -> new Workload(tensors, new GroupLasso(lambda), Grouping.JOINED, options);
            case "nested" -> new Workload(tensors, new NestedLasso(lambda, 0.5), Grouping.NESTED, options);
            case "sparse-joint" -> new Workload(tensors, new SparseGroupLasso(lambda, 0.3), Grouping.JOINED, options);
            default -> throw new IllegalArgumentException("groups = " + groups + " are unknown");
        };
    }

    /** Frees the matrices. */
    @TearDown(Level.Trial)
    public void close() {
        if (workload != null) {
            workload.close();
        }
    }

    /**
     * One step.
     *
     * @return what it did
     */
    @Benchmark
    public StepReport step() {
        if (workload == null) {
            throw new IllegalStateException("open() comes first");
        }
        return workload.step();
    }
}
