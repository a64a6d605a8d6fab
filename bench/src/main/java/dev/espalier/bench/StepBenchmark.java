package dev.espalier.bench;

import dev.espalier.penalty.GroupLasso;
import dev.espalier.penalty.GroupMcp;
import dev.espalier.penalty.Penalty;
import dev.espalier.step.StepOptions;
import dev.espalier.step.StepReport;
import java.util.Map;
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

/** JMH benchmark of one optimizer step on a whole model. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(
        value = 1,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--add-modules", "jdk.incubator.vector"})
public class StepBenchmark {
    /** The model. */
    @Param({"VGG16", "RESNET34"})
    private String model = "VGG16";

    /** The penalty. */
    @Param({"none", "group-lasso", "group-mcp"})
    private String penalty = "none";

    private @Nullable Workload workload;

    /** Makes no benchmark by itself. */
    public StepBenchmark() {}

    /** Makes the model. */
    @Setup(Level.Trial)
    public void open() {
        Map<String, Penalty> penalties = Map.of(
                "group-lasso", new GroupLasso(Workload.LAMBDA),
                "group-mcp", new GroupMcp(Workload.LAMBDA, Workload.BETA));
        workload = new Workload(ModelShapes.valueOf(model).tensors(), penalties.get(penalty), StepOptions.DEFAULT);
    }

    /** Frees the model. */
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
