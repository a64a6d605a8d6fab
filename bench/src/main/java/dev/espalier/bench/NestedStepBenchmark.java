package dev.espalier.bench;

import dev.espalier.bench.ModelShapes.TensorShape;
import dev.espalier.bench.Workload.Grouping;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.SparseGroupLasso;
import dev.espalier.core.step.StepOptions;
import java.util.List;
import org.openjdk.jmh.annotations.Param;

/** JMH benchmark of one optimizer step on the queries, keys and values of BERT-base, grouped in different ways. */
public class NestedStepBenchmark extends WorkloadBenchmark {
    /** The groups and their penalty. */
    @Param({"single", "joint", "nested", "sparse-joint"})
    private String groups = "joint";

    /** Makes no benchmark by itself. */
    public NestedStepBenchmark() {}

    @Override
    protected Workload workload() {
        List<TensorShape> tensors = ModelShapes.BERT_BASE.tensors().stream()
                .filter(tensor -> tensor.name().matches(".*\\.(query|key|value)\\.weight"))
                .toList();
        double lambda = Workload.LAMBDA;
        StepOptions options = StepOptions.DEFAULT;
        Home home = new HostHome(Runtime.getRuntime().availableProcessors());
        return switch (groups) {
            case "single" -> new Workload(tensors, new GroupLasso(lambda), Grouping.APART, options, home);
            case "joint" -> new Workload(tensors, new GroupLasso(lambda), Grouping.JOINED, options, home);
            case "nested" -> new Workload(tensors, new NestedLasso(lambda, 0.5), Grouping.NESTED, options, home);
            case "sparse-joint" ->
                new Workload(tensors, new SparseGroupLasso(lambda, 0.3), Grouping.JOINED, options, home);
            default -> throw new IllegalArgumentException("groups = " + groups + " are unknown");
        };
    }
}
