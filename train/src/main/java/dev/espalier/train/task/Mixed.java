package dev.espalier.train.task;

import dev.espalier.data.BatchPosition;
import dev.espalier.data.Draws;
import dev.espalier.graph.Value;
import dev.espalier.graph.objective.Objective;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;

/**
 * Any task, learned from samples that are mixed with each other (mixup; Zhang, Cissé, Dauphin and Lopez-Paz, 2018): a sample
 * {@code x} becomes {@code s·x + (1 − s)·x'}, where x' is its partner, the one at the same place from the end of the batch. The loss
 * is {@code s} times that by its own targets and {@code 1 − s} times that by its partner's. The share s is drawn anew for every batch
 * from Beta(α, α). A model is judged on samples as they are.
 *
 * <p>What else is measured of a batch, such as the share of right answers, goes by the samples' own targets.
 */
public final class Mixed extends Derived {
    private static final String PARTNER = "mixup/partner/";
    private static final String SHARE = "mixup/share";
    /** Tells these draws from those of order and augmentation, which depend on the same seed. */
    private static final long SHARES = 0x6d69787570L;

    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final double alpha;

    /**
     * A task on mixed samples.
     *
     * @param task what is learned
     * @param alpha α, above 0 and at most 1
     * @throws IllegalArgumentException if the model takes anything but single precision numbers, as an id between two others means
     *     something else; or if it imitates: what its original would say of what is mixed, nobody has asked
     */
    public Mixed(Task task, double alpha) {
        super(task);
        if (!(alpha > 0 && alpha <= 1)) {
            throw new IllegalArgumentException("alpha = %s: it must be above 0, and at most 1".formatted(alpha));
        }
        this.alpha = alpha;
        if (task instanceof Imitation) {
            throw new IllegalArgumentException(
                    "task.mixup = %s and task.kind = imitation exclude each other: the original is asked about samples as they are; set task.mixup = 0"
                            .formatted(alpha));
        }
        Fitted fitted = task.fitted();
        fitted.inputs().forEach((name, taken) -> {
            DataType type = fitted.model().fact(taken).data();
            if (type != DataType.FLOAT32) {
                throw new IllegalArgumentException(
                        "task.mixup = %s mixes numbers of single precision, but the model's input %s takes %s: set task.mixup = 0"
                                .formatted(alpha, name, type));
            }
        });
    }

    @Override
    public Objective objective() {
        Objective own = task.objective();
        return formula -> {
            SequencedMap<String, Value> terms = new LinkedHashMap<>(own.write(formula));
            Value loss = Objects.requireNonNull(terms.get(Objective.LOSS));
            Value other =
                    Objects.requireNonNull(own.write(formula.aimedAt(PARTNER)).get(Objective.LOSS));
            Value share = formula.target(SHARE, DataType.FLOAT32);
            Value rest = formula.minus(formula.number(1), share);
            terms.put(Objective.LOSS, formula.plus(formula.times(share, loss), formula.times(rest, other)));
            return terms;
        };
    }

    @Override
    public Examples examples(long seed, BatchPosition first, long epochs) {
        Examples examples = task.examples(seed, first, epochs);
        Mixer mixer = new Mixer();
        return Examples.of(examples, examples::position, examples::close, example -> {
            BatchPosition next = examples.position(); // no two batches have the same one behind them
            return mixer.mix(example, new Draws(seed, SHARES, next.epoch(), next.batch()).beta(alpha));
        });
    }

    @Override
    public boolean isRepeatable() {
        return false;
    }

    /** A sample whose partner is itself. */
    @Override
    Example judged(Example example) {
        return with(example, example.inputs(), example.raw(), example.targets(), 1);
    }

    private static Example with(
            Example example,
            Map<String, Tensor> inputs,
            Map<String, Tensor> raw,
            Map<String, Tensor> partners,
            double share) {
        Map<String, Tensor> targets = new LinkedHashMap<>(example.targets());
        partners.forEach((name, target) -> targets.put(PARTNER + name, target));
        targets.put(SHARE, Tensor.scalar(DataType.FLOAT32, share));
        return new Example(inputs, targets, example.size(), raw);
    }

    /** Mixes one batch after the other, in the same memory: like the batches', it is good until the next one is asked for. */
    private static final class Mixer {
        private final Map<String, MemorySegment> memory = new HashMap<>();

        Example mix(Example example, double share) {
            Map<String, Tensor> inputs = new LinkedHashMap<>();
            example.inputs().forEach((name, input) -> inputs.put(name, mixed(name, input, (float) share)));
            Map<String, Tensor> partners = new LinkedHashMap<>();
            example.targets().forEach((name, target) -> partners.put(name, reversed(PARTNER + name, target)));
            return with(example, inputs, inputs, partners, (float) share);
        }

        private Tensor mixed(String name, Tensor input, float share) {
            long rows = input.shape()[0];
            long each = input.size() / rows;
            MemorySegment from = input.data();
            MemorySegment to = room(name, from.byteSize());
            for (long row = 0; row < rows; row++) {
                long own = row * each;
                long partner = (rows - 1 - row) * each;
                for (long i = 0; i < each; i++) {
                    float one = from.getAtIndex(FLOAT, own + i);
                    float other = from.getAtIndex(FLOAT, partner + i);
                    to.setAtIndex(FLOAT, own + i, share * one + (1 - share) * other);
                }
            }
            return Tensor.of(DataType.FLOAT32, input.shape(), to);
        }

        private Tensor reversed(String name, Tensor target) {
            if (target.rank() == 0) {
                throw new IllegalArgumentException(
                        "the target of %s is a single number: mixup needs one with a row for each sample"
                                .formatted(name));
            }
            long rows = target.shape()[0];
            MemorySegment from = target.data();
            MemorySegment to = room(name, from.byteSize());
            long bytes = from.byteSize() / rows;
            for (long row = 0; row < rows; row++) {
                MemorySegment.copy(from, row * bytes, to, (rows - 1 - row) * bytes, bytes);
            }
            return Tensor.of(target.type(), target.shape(), to);
        }

        private MemorySegment room(String name, long bytes) {
            MemorySegment room = memory.get(name);
            if (room == null || room.byteSize() < bytes) {
                room = Arena.ofAuto().allocate(bytes, 64);
                memory.put(name, room);
            }
            return room.asSlice(0, bytes);
        }
    }
}
