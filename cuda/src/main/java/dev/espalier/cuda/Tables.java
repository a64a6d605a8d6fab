package dev.espalier.cuda;

import dev.espalier.core.kernel.PenaltyTerms;
import dev.espalier.core.kernel.StepKernel.SetPlan;
import dev.espalier.core.kernel.StepKernel.SetStep;
import dev.espalier.core.kernel.Update;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.Profile.Piece;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.Coefficients;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.cuda.Struct.Row;
import dev.espalier.cuda.Tiling.Job;
import dev.espalier.cuda.Tiling.Scan;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Writes what the GPU is told, as {@link Structs} has it. */
final class Tables {
    /** Below, a square may vanish in float32. */
    private static final double LEAST_SQUARED = 1e-15;

    private Tables() {}

    static void job(Row row, Job job) {
        row.put("kind", job.kind().code())
                .put("set", job.set())
                .put("tensor", job.tensor())
                .put("part", job.part())
                .put("first", job.first())
                .put("stride", job.stride())
                .put("row", job.row())
                .put("rows", job.rows())
                .put("columns", job.columns())
                .put("width", job.width())
                .put("inner", job.inner())
                .put("fold", job.fold())
                .put("limit", job.limit())
                .put("near", job.near() ? 1 : 0)
                .put("group", job.group())
                .put("groups", job.groups())
                .put("members", job.members())
                .put("member", job.member())
                .put("theta", job.theta())
                .put("slot", job.slot());
    }

    static void scan(Row row, Scan scan) {
        row.put("tensor", scan.tensor()).put("count", scan.count()).put("first", scan.first());
    }

    static void tensor(
            Row row,
            TensorView weights,
            TensorView gradients,
            long first,
            long second,
            long layout,
            long maps,
            int boxBytes,
            float visible,
            int set) {
        row.clear()
                .put("x", weights.segment().address())
                .put("g", gradients.segment().address())
                .put("m", first)
                .put("v", second)
                .put("layout", layout)
                .put("maps", maps)
                .put("boxBytes", boxBytes)
                .put("visible", visible)
                .put("set", set);
    }

    /**
     * A gradient that is seen for certain ({@link Update#sees}), whatever was seen before: what is below has to be looked at more
     * closely. 0 if gradients do not make the metric.
     */
    static float visible(Coefficients rule) {
        if (rule.addSecond() == 0) {
            return 0;
        }
        Update update = Update.of(rule, 0, 0);
        double least = Math.sqrt(update.unseen() / ((double) update.scaleSecond() * update.addSecond()));
        return (float) Math.max(1.001 * least, LEAST_SQUARED);
    }

    static void layout(Row row, TensorView weights, TensorView gradients) {
        strides(row.within("weights"), weights);
        strides(row.within("gradients"), gradients);
    }

    /** A contiguous tensor is a vector, whatever its shape. */
    private static void strides(Row row, TensorView tensor) {
        long[] shape = tensor.contiguous() ? new long[] {tensor.size()} : tensor.shape();
        row.clear()
                .put("rank", (long) shape.length)
                .put("shape", shape)
                .put("strides", tensor.contiguous() ? new long[] {1} : tensor.strides());
    }

    static void set(
            Row row,
            Kind kind,
            SetPlan plan,
            @Nullable Regularizer regularizer,
            int[] firstMembers,
            SetStep step,
            Coefficients rule,
            double smallStep,
            boolean whole,
            int mark) {
        Update update = Update.of(rule, step.stepSize(), step.weightDecay());
        row.clear()
                .put("keepFirst", update.keepFirst())
                .put("addFirst", update.addFirst())
                .put("step", update.step())
                .put("keepSecond", update.keepSecond())
                .put("addSecond", update.addSecond())
                .put("scaleSecond", update.scaleSecond())
                .put("innerEpsilon", update.innerEpsilon())
                .put("outerEpsilon", update.outerEpsilon())
                .put("decay", update.decay())
                .put("unseen", update.unseen())
                .put("seen", plan.waitsForGradients(rule) ? 0 : 1)
                .put("metricFloor", plan.metricFloor())
                .put("mark", mark);
        if (regularizer != null) {
            int size = regularizer.groups().size(0);
            PenaltyTerms terms = PenaltyTerms.of(regularizer.penalty(), size, step.stepSize());
            NestedLasso nested = kind == Kind.NESTING ? (NestedLasso) regularizer.penalty() : null;
            boolean idle = nested == null ? terms.idle() : step.stepSize() == 0 || nested.lambda() == 0;
            boolean common = kind == Kind.GROUPED && whole && step.stepSize() > 0 && terms.singleThreshold() == 0;
            row.put("idle", idle ? 1 : 0)
                    .put("common", common ? 1 : 0)
                    .put("fast", Kind.isFast(terms) ? 1 : 0)
                    .put("kneed", terms.kneed() ? 1 : 0)
                    .put("stepSize", step.stepSize())
                    .put("smallStep", smallStep)
                    .put("threshold", terms.threshold())
                    .put("kappa", terms.kappa())
                    .put("knee", terms.knee())
                    .put("singleThreshold", terms.singleThreshold())
                    .put("singleStrength", regularizer.penalty().singleStrength());
            if (nested != null) {
                nested(row, nested, regularizer, firstMembers);
            }
            row.put("size", (double) size)
                    .put("count", (long) regularizer.groups().count());
            pieces(row, terms.profile().pieces());
        }
    }

    private static void nested(Row row, NestedLasso penalty, Regularizer regularizer, int[] firstMembers) {
        int parts = firstMembers.length - 1;
        row.put("outerStrength", penalty.outerStrength(regularizer.groups().size(0)))
                .put(
                        "innerStrength",
                        IntStream.range(0, parts)
                                .mapToDouble(part -> penalty.innerStrength(Kind.parts(regularizer.groups())
                                        .get(part)
                                        .size(0)))
                                .toArray())
                .put("parts", parts)
                .put("firstMember", firstMembers);
    }

    private static void pieces(Row row, List<Piece> pieces) {
        row.put("pieces", pieces.size());
        for (int i = 0; i < pieces.size(); i++) {
            Piece piece = pieces.get(i);
            row.within("piece", i)
                    .put("from", piece.from())
                    .put("height", piece.height())
                    .put("bend", piece.bend());
        }
    }
}
