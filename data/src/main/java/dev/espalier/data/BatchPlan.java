package dev.espalier.data;

import dev.espalier.core.check.Check;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * How rows make batches.
 *
 * @param batchSize the number of rows in a batch
 * @param dropLast whether the last batch of an epoch is left out if it is smaller than the others
 * @param shuffle whether each epoch has its own random order; otherwise all have the order of the data set
 * @param seed what order and augmentation depend on
 * @param threads how many threads load; they change nothing but the speed
 * @param ahead how many batches may be ready before anyone asks for them
 */
public record BatchPlan(int batchSize, boolean dropLast, boolean shuffle, long seed, int threads, int ahead) {
    private static final int USUAL_THREADS = Math.clamp(Runtime.getRuntime().availableProcessors() / 2, 1, 8);
    /** Batches that rows of like length are chosen from: enough that hardly anything is filled up, and few enough to be random. */
    private static final int POOL = 64;

    private static final int USUAL_AHEAD = 2 * USUAL_THREADS;

    /** Checks the numbers. */
    public BatchPlan {
        Check.atLeast("batchSize", batchSize, 1);
        Check.atLeast("threads", threads, 1);
        Check.atMost("threads", threads, 1024);
        Check.atLeast("ahead", ahead, 1);
        Check.atMost("ahead", ahead, 1 << 16);
    }

    /**
     * Shuffled batches of all rows, loaded by half of the processors.
     *
     * @param batchSize the number of rows in a batch
     * @param seed what order and augmentation depend on
     * @return the plan
     */
    public static BatchPlan training(int batchSize, long seed) {
        return new BatchPlan(batchSize, false, true, seed, USUAL_THREADS, USUAL_AHEAD);
    }

    /**
     * Batches of all rows in order.
     *
     * @param batchSize the number of rows in a batch
     * @return the plan
     */
    public static BatchPlan evaluation(int batchSize) {
        return new BatchPlan(batchSize, false, false, 0, USUAL_THREADS, USUAL_AHEAD);
    }

    /**
     * {@return the same by another seed}
     *
     * @param other what order and augmentation depend on
     */
    public BatchPlan withSeed(long other) {
        return new BatchPlan(batchSize, dropLast, shuffle, other, threads, ahead);
    }

    /**
     * {@return the same with or without a smaller last batch}
     *
     * @param dropped whether it is left out
     */
    public BatchPlan withDropLast(boolean dropped) {
        return new BatchPlan(batchSize, dropped, shuffle, seed, threads, ahead);
    }

    /**
     * {@return the same on other threads}
     *
     * @param count how many load
     * @param batches how many batches may be ready before anyone asks for them
     */
    public BatchPlan withThreads(int count, int batches) {
        return new BatchPlan(batchSize, dropLast, shuffle, seed, count, batches);
    }

    /**
     * The number of batches in an epoch.
     *
     * @param rows the number of rows in the data set
     * @return the number of batches; 0 if the rows do not fill a single one and the last is dropped
     */
    public int batchesPerEpoch(int rows) {
        return dropLast ? rows / batchSize : Math.ceilDiv(rows, batchSize);
    }

    /**
     * The order of the rows in an epoch. Where rows have lengths, a pool of many batches is drawn at a time and sorted by length, and
     * its batches come in random order: so every row has its chance to be anywhere, and yet hardly anything is filled up.
     */
    int[] order(Dataset dataset, long epoch) {
        int rows = dataset.size();
        int[] order = new int[rows];
        for (int i = 0; i < rows; i++) {
            order[i] = i;
        }
        if (shuffle) {
            Draws draws = new Draws(seed, epoch);
            draws.shuffle(order);
            Optional<Column.Sequences> lengths = dataset.lengths();
            return lengths.isPresent() ? alike(order, lengths.get(), draws) : order;
        }
        return order;
    }

    /** A last batch that is smaller than the others stays the last. */
    private int[] alike(int[] order, Column.Sequences lengths, Draws draws) {
        int pool = (int) Math.min(order.length, (long) POOL * batchSize);
        for (int from = 0; from < order.length; from += pool) {
            int to = Math.min(order.length, from + pool);
            int[] sorted = IntStream.range(from, to)
                    .mapToObj(i -> order[i])
                    .sorted(Comparator.comparingInt(lengths::length))
                    .mapToInt(Integer::intValue)
                    .toArray();
            System.arraycopy(sorted, 0, order, from, sorted.length);
        }
        int[] batches = IntStream.range(0, order.length / batchSize).toArray();
        draws.shuffle(batches);
        int[] mixed = order.clone();
        for (int i = 0; i < batches.length; i++) {
            System.arraycopy(order, batches[i] * batchSize, mixed, i * batchSize, batchSize);
        }
        return mixed;
    }

    /** The random numbers that belong to a row in an epoch, whoever loads it. */
    Draws augmentation(long epoch, int row) {
        return new Draws(seed, epoch, row);
    }
}
