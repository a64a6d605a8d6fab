package dev.espalier.bench;

import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.step.StepOptions;
import java.util.Map;
import org.openjdk.jmh.annotations.Param;

/** JMH benchmark of one optimizer step on a whole model. */
public class StepBenchmark extends WorkloadBenchmark {
    /** The model. */
    @Param({"VGG16", "RESNET34"})
    private String model = "VGG16";

    /** The penalty. */
    @Param({"none", "group-lasso", "group-mcp", "group-scad"})
    private String penalty = "none";

    /** Makes no benchmark by itself. */
    public StepBenchmark() {}

    @Override
    protected Workload workload() {
        Map<String, Penalty> penalties = Map.of(
                "group-lasso", new GroupLasso(Workload.LAMBDA),
                "group-mcp", new GroupMcp(Workload.LAMBDA, Workload.BETA),
                "group-scad", new GroupScad(Workload.LAMBDA, Workload.BETA, 0.27));
        return new Workload(ModelShapes.valueOf(model).tensors(), penalties.get(penalty), StepOptions.DEFAULT);
    }
}
