package dev.espalier.squad;

import dev.espalier.core.check.Check;
import dev.espalier.data.BatchPosition;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Random;

/**
 * The windows to learn from, epoch after epoch, in batches of windows of nearly the same length.
 *
 * <p>A batch is a function of the seed, its epoch and its number alone. So a run that is resumed at a {@link #position}
 * sees what it would have seen. Nothing is loaded ahead: a batch is made in less than a millisecond.
 */
final class WindowBatches implements Iterator<WindowBatch> {
    /**
     * So many batches in a row of a random order are sorted by length among themselves. With more of them less is filled
     * up, but long windows would always meet the same long windows.
     */
    private static final int POOL = 50;

    private final Windows windows;
    private final List<Window> labelled;
    private final int batchSize;
    private final long seed;
    private final int perEpoch;
    private final long end;
    private long next;
    private long orderEpoch = -1;
    private List<List<Window>> order = List.of();

    /**
     * Batches to iterate over.
     *
     * @param windows where they are from; those without a known answer are left out
     * @param batchSize the number of windows in a batch; one batch of an epoch may have fewer
     * @param seed what the order depends on
     * @param first the first batch to give; one past the last of an epoch is the first of the next
     * @param epochs the epoch to stop before: with n, a run from the start sees every window n times
     */
    public WindowBatches(Windows windows, int batchSize, long seed, BatchPosition first, long epochs) {
        this.windows = windows;
        this.labelled = windows.labelled();
        this.batchSize = (int) Check.atLeast("batchSize", batchSize, 1);
        this.seed = seed;
        this.perEpoch = batchesPerEpoch(windows, batchSize);
        if (perEpoch == 0) {
            throw new IllegalArgumentException("there is nothing to learn from: " + windows.mapping());
        }
        Check.atLeast("epochs", epochs, 0);
        Check.atMost("batch of the first position", first.batch(), perEpoch);
        this.next = Math.addExact(Math.multiplyExact(first.epoch(), (long) perEpoch), first.batch());
        this.end = Math.multiplyExact(epochs, (long) perEpoch);
    }

    /**
     * The number of batches in each epoch.
     *
     * @param windows where they are from
     * @param batchSize the number of windows in a batch
     * @return how many; 0 if there is nothing to learn from
     */
    public static int batchesPerEpoch(Windows windows, int batchSize) {
        return Math.ceilDiv(windows.labelled().size(), batchSize);
    }

    /**
     * Where the iteration stands: give it to the constructor, and the new iteration goes on as this one would.
     *
     * @return the position of the batch that {@link #next} gives next
     */
    public BatchPosition position() {
        return new BatchPosition(next / perEpoch, next % perEpoch);
    }

    @Override
    public boolean hasNext() {
        return next < end;
    }

    @Override
    public WindowBatch next() {
        if (!hasNext()) {
            throw new NoSuchElementException("all batches are handed out: ask hasNext first");
        }
        BatchPosition position = position();
        if (position.epoch() != orderEpoch) {
            order = order(position.epoch());
            orderEpoch = position.epoch();
        }
        next++;
        return windows.batch(order.get((int) position.batch()));
    }

    private List<List<Window>> order(long epoch) {
        Random random = random(epoch);
        List<Window> shuffled = new ArrayList<>(labelled);
        Collections.shuffle(shuffled, random);
        int pool = (int) Math.min((long) POOL * batchSize, shuffled.size());
        parts(shuffled, pool).forEach(part -> part.sort(Comparator.comparingInt(Window::length)));
        List<List<Window>> batches = parts(shuffled, batchSize);
        Collections.shuffle(batches, random);
        return batches;
    }

    /** The old generator, because it is the one that the JDK promises to replay. */
    private Random random(long epoch) {
        return new Random(new Random(seed).longs().skip(epoch).findFirst().orElseThrow());
    }

    /** Views of the list, of the given size but for the last. */
    private static List<List<Window>> parts(List<Window> list, int size) {
        List<List<Window>> parts = new ArrayList<>();
        for (int from = 0; from < list.size(); from += size) {
            parts.add(list.subList(from, Math.min(from + size, list.size())));
        }
        return parts;
    }
}
