package dev.espalier.data;

import dev.espalier.core.check.Check;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The batches of some epochs, one after the other, loaded ahead by threads of their own.
 *
 * <p>A batch is a function of the plan's seed, its epoch and its number alone: neither the number of threads nor where the
 * iteration starts changes a bit of it. So a run that is resumed at a {@link #position} sees what it would have seen.
 *
 * <p>One thread iterates. Closing stops the loaders and waits for them; it may come from any thread, and wakes one that
 * waits for a batch.
 */
public final class Batches implements Iterator<Batch>, AutoCloseable {
    private final Dataset dataset;
    private final BatchPlan plan;
    private final int perEpoch;
    /** The number of batches before the first, counted from epoch 0. */
    private final long start;
    /** The number of batches from the first to the end. */
    private final long total;

    private final List<Thread> loaders = new ArrayList<>();
    private final Slot[] slots;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition loaded = lock.newCondition();
    private final Condition room = lock.newCondition();
    // All below is guarded by the lock.
    private long claimed;
    private long handedOut;
    private long released;
    private boolean closed;
    private long orderEpoch = -1;
    private int[] order = {};

    /** A place for one batch; whose turn it is follows from the counters. */
    private static final class Slot {
        private final BatchMemory memory = new BatchMemory();
        private boolean ready;
        private @Nullable Batch batch;
        private @Nullable Throwable failure;
    }

    @SuppressWarnings("ArrayRecordComponent") // passed on, never compared
    private record Job(Slot slot, BatchPosition position, int[] order) {}

    /**
     * Starts loading.
     *
     * @param dataset the rows
     * @param encoding how they become a model's inputs
     * @param augmentation what is done to them at random before
     * @param plan how they make batches
     * @param first the first batch to give; one past the last of an epoch is the first of the next
     * @param epochs the epoch to stop before: with n, a run from the start sees every row n times
     */
    public Batches(
            Dataset dataset,
            Encoding encoding,
            Augmentation augmentation,
            BatchPlan plan,
            BatchPosition first,
            long epochs) {
        this.dataset = dataset;
        this.plan = plan;
        this.perEpoch = plan.batchesPerEpoch(dataset.size());
        if (perEpoch == 0) {
            throw new IllegalArgumentException(
                    "batchSize = %d, but %s has only %d rows and the last batch is dropped: it must be at most that"
                            .formatted(plan.batchSize(), dataset.name(), dataset.size()));
        }
        Check.atLeast("epochs", epochs, 0);
        Check.atMost("batch of the first position", first.batch(), perEpoch);
        this.start = Math.addExact(Math.multiplyExact(first.epoch(), (long) perEpoch), first.batch());
        this.total = Math.max(0, Math.multiplyExact(epochs, (long) perEpoch) - start);
        this.slots = new Slot[plan.ahead() + 1];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = new Slot();
        }
        for (int i = 0; i < plan.threads(); i++) {
            Work work = new Work(dataset, encoding, augmentation);
            loaders.add(
                    Thread.ofPlatform().daemon().name("espalier-batches-" + i).unstarted(() -> load(work)));
        }
        loaders.forEach(Thread::start);
    }

    /**
     * One pass over a data set, in order, without what is random: what a model is judged with.
     *
     * @param dataset the rows
     * @param encoding how they become a model's inputs
     * @param batchSize the number of rows in a batch
     * @return all batches
     */
    public static Batches evaluation(Dataset dataset, Encoding encoding, int batchSize) {
        return new Batches(
                dataset, encoding, Augmentation.NONE, BatchPlan.evaluation(batchSize), BatchPosition.START, 1);
    }

    /** What one loader reads from: every row is augmented, then encoded. */
    private static final class Work {
        private final Augmented augmented;
        private final Dataset encoded;

        Work(Dataset dataset, Encoding encoding, Augmentation augmentation) {
            this.augmented = new Augmented(dataset, augmentation);
            this.encoded = encoding.apply(augmented.dataset());
        }
    }

    /**
     * The number of batches in each epoch.
     *
     * @return at least 1
     */
    public int batchesPerEpoch() {
        return perEpoch;
    }

    /**
     * Where the iteration stands: give it to the constructor, and the new iteration goes on as this one would.
     *
     * @return the position of the batch that {@link #next} gives next
     */
    public BatchPosition position() {
        lock.lock();
        try {
            return position(handedOut);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean hasNext() {
        lock.lock();
        try {
            return handedOut < total;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for the next batch, and takes back the memory of the one before.
     *
     * @return the batch
     * @throws NoSuchElementException if there are no more
     * @throws IllegalStateException if this is closed, if the waiting thread is interrupted, or if loading the batch failed:
     *     then with the failure as its cause, now and on every later call
     */
    @Override
    public Batch next() {
        lock.lock();
        try {
            if (handedOut >= total) {
                throw new NoSuchElementException("all %d batches are handed out: ask hasNext first".formatted(total));
            }
            released = handedOut;
            room.signalAll();
            Slot slot = slot(handedOut);
            while (!slot.ready && !closed) {
                loaded.await();
            }
            if (closed) {
                throw new IllegalStateException("these batches are closed");
            }
            Batch batch = slot.batch;
            if (batch == null) {
                BatchPosition position = position(handedOut);
                throw new IllegalStateException(
                        "loading batch %d of epoch %d of %s failed: %s"
                                .formatted(position.batch(), position.epoch(), dataset.name(), slot.failure),
                        slot.failure);
            }
            slot.ready = false;
            handedOut++;
            return batch;
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for a batch", interruption);
        } finally {
            lock.unlock();
        }
    }

    /** Stops the loaders and waits until they are gone. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            loaded.signalAll();
            room.signalAll();
        } finally {
            lock.unlock();
        }
        // A data set that somebody else wrote may be waiting for something.
        loaders.forEach(Thread::interrupt);
        try {
            for (Thread loader : loaders) {
                loader.join();
            }
        } catch (InterruptedException _) {
            // The loaders stop all the same; only nobody waits for it.
            Thread.currentThread().interrupt();
        }
    }

    private Slot slot(long ticket) {
        return slots[(int) (ticket % slots.length)];
    }

    private BatchPosition position(long ticket) {
        return new BatchPosition((start + ticket) / perEpoch, (start + ticket) % perEpoch);
    }

    private void load(Work work) {
        for (Job job = claim(); job != null; job = claim()) {
            Batch batch = null;
            Throwable failure = null;
            try {
                batch = fill(job, work);
            } catch (Throwable problem) {
                // Even an Error: whoever waits for this batch would wait forever.
                failure = problem;
            }
            finish(job, batch, failure);
        }
    }

    /** Waits for room, and takes the next batch that nobody has begun; null if there is nothing left to do. */
    private @Nullable Job claim() {
        lock.lock();
        try {
            while (!closed && claimed < total && claimed - released >= slots.length) {
                room.await();
            }
            if (closed || claimed >= total) {
                return null;
            }
            BatchPosition position = position(claimed);
            if (position.epoch() != orderEpoch) {
                // A new array, since batches of the epoch before may still be loading.
                order = plan.order(dataset, position.epoch());
                orderEpoch = position.epoch();
            }
            Job job = new Job(slot(claimed), position, order);
            claimed++;
            return job;
        } catch (InterruptedException _) {
            // Only close interrupts.
            return null;
        } finally {
            lock.unlock();
        }
    }

    private Batch fill(Job job, Work work) {
        int from = (int) (job.position.batch() * plan.batchSize());
        int size = Math.min(plan.batchSize(), dataset.size() - from);
        BatchMemory memory = job.slot.memory;
        memory.begin(work.encoded, size);
        for (int i = 0; i < size; i++) {
            int row = job.order[from + i];
            work.augmented.begin(plan.augmentation(job.position.epoch(), row));
            memory.read(row, i);
        }
        return memory.batch(job.position);
    }

    private void finish(Job job, @Nullable Batch batch, @Nullable Throwable failure) {
        lock.lock();
        try {
            job.slot.batch = batch;
            job.slot.failure = failure;
            job.slot.ready = true;
            loaded.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
