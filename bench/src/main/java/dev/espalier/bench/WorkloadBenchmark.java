package dev.espalier.bench;

import dev.espalier.core.step.StepReport;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** JMH benchmark of one optimizer step; what is stepped, a subclass says. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(
        value = 1,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--add-modules", "jdk.incubator.vector"})
public abstract class WorkloadBenchmark {
    private @Nullable Workload workload;

    /** Makes no benchmark by itself. */
    protected WorkloadBenchmark() {}

    /**
     * What is stepped.
     *
     * @return tensors in the state that training leaves them in
     */
    protected abstract Workload workload();

    /** Makes the tensors. */
    @Setup(Level.Trial)
    public void open() {
        workload = workload();
    }

    /** Frees the tensors. */
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
