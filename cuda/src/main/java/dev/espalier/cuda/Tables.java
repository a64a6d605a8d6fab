package dev.espalier.cuda;

import dev.espalier.cuda.Tiling.Job;
import dev.espalier.cuda.Tiling.Scan;
import dev.espalier.core.kernel.PenaltyTerms;
import dev.espalier.core.kernel.StepKernel.SetStep;
import dev.espalier.core.kernel.Update;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.Profile.Piece;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.Coefficients;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes the structures of {@code tables.cu}, field by field, in its order; their sizes are asserted there. */
final class Tables {
    /** Bytes of the structures. */
    static final int TENSOR = 40;

    static final int LAYOUT = 272;
    static final int SET = 432;
    static final int JOB = 96;
    static final int SCAN = 16;
    static final int STATS = 40;
    static final int FLAGS = 8;
    static final int STRAGGLER = 16;
    static final int PLAN = 128;

    /** Dimensions of a tensor, at most. */
    static final int MOST_RANK = 8;

    private final ByteBuffer buffer;

    Tables(MemorySegment memory) {
        buffer = memory.asByteBuffer().order(ByteOrder.nativeOrder());
    }

    void job(Job job) {
        buffer.putInt(job.kind().code()).putInt(job.set()).putInt(job.tensor()).putInt(job.part());
        buffer.putLong(job.first()).putLong(job.stride());
        buffer.putInt(job.row()).putInt(job.rows()).putInt(job.columns()).putInt(job.inner());
        buffer.putInt(job.fold()).putInt(job.limit()).putInt(job.group()).putInt(job.groups());
        buffer.putInt(job.team()).putInt(job.members()).putInt(job.member()).putInt(0);
        buffer.putLong(job.theta()).putLong(job.slot());
    }

    void scan(Scan scan) {
        buffer.putInt(scan.tensor()).putInt(scan.count()).putLong(scan.first());
    }

    void number(int value) {
        buffer.putInt(value);
    }

    void tensor(TensorView weights, TensorView gradients, long first, long second, long layout) {
        buffer.putLong(weights.segment().address()).putLong(gradients.segment().address());
        buffer.putLong(first).putLong(second).putLong(layout);
    }

    void layout(TensorView weights, TensorView gradients) {
        strides(weights);
        strides(gradients);
    }

    /** A contiguous tensor is a vector, whatever its shape. */
    private void strides(TensorView tensor) {
        long[] vector = {tensor.size()};
        long[] shape = tensor.contiguous() ? vector : tensor.shape();
        buffer.putLong(shape.length);
        longs(shape);
        longs(tensor.contiguous() ? new long[] {1} : tensor.strides());
    }

    private void longs(long[] values) {
        for (int i = 0; i < MOST_RANK; i++) {
            buffer.putLong(i < values.length ? values[i] : 0);
        }
    }

    void set(
            Kind kind,
            @Nullable Regularizer regularizer,
            int[] firstMembers,
            SetStep step,
            Coefficients rule,
            double smallStep) {
        int start = buffer.position();
        Update update = Update.of(rule, step.stepSize(), step.weightDecay());
        buffer.putFloat(update.keepFirst()).putFloat(update.addFirst()).putFloat(update.step());
        buffer.putFloat(update.keepSecond()).putFloat(update.addSecond()).putFloat(update.scaleSecond());
        buffer.putFloat(update.innerEpsilon()).putFloat(update.outerEpsilon()).putFloat(update.decay());
        if (regularizer != null) {
            penalty(kind, regularizer, firstMembers, step.stepSize(), smallStep);
        }
        while (buffer.position() < start + SET) {
            buffer.put((byte) 0);
        }
    }

    private void penalty(Kind kind, Regularizer regularizer, int[] firstMembers, double stepSize, double smallStep) {
        int size = regularizer.groups().size(0);
        PenaltyTerms terms = PenaltyTerms.of(regularizer.penalty(), size, stepSize);
        NestedLasso nested = kind == Kind.NESTING ? (NestedLasso) regularizer.penalty() : null;
        boolean idle = nested == null ? terms.idle() : stepSize == 0 || nested.lambda() == 0;
        buffer.putInt(idle ? 1 : 0).putInt(terms.fast() ? 1 : 0).putInt(terms.kneed() ? 1 : 0);
        buffer.putDouble(stepSize).putDouble(smallStep);
        buffer.putDouble(terms.threshold()).putDouble(terms.kappa()).putDouble(terms.knee());
        buffer.putDouble(terms.singleThreshold())
                .putDouble(regularizer.penalty().singleStrength());
        buffer.putDouble(nested == null ? 0 : nested.outerStrength(size));
        int parts = nested == null ? 0 : firstMembers.length - 1;
        for (int part = 0; part < Kind.MOST_PARTS; part++) {
            buffer.putDouble(
                    nested == null || part >= parts
                            ? 0
                            : nested.innerStrength(
                                    Kind.parts(regularizer.groups()).get(part).size(0)));
        }
        buffer.putDouble(size).putLong(regularizer.groups().count());
        List<Piece> pieces = terms.profile().pieces();
        buffer.putInt(parts).putInt(pieces.size());
        for (int part = 0; part <= Kind.MOST_PARTS; part++) {
            buffer.putInt(part <= parts ? firstMembers[part] : 0);
        }
        buffer.putInt(0);
        for (Piece piece : pieces) {
            buffer.putDouble(piece.from()).putDouble(piece.height()).putDouble(piece.bend());
        }
    }

    void plan(long[] pointers, int jobs, int scans, int sets, int teams, long slots) {
        for (long pointer : pointers) {
            buffer.putLong(pointer);
        }
        buffer.putInt(jobs).putInt(scans).putInt(sets).putInt(teams).putLong(slots);
    }
}
