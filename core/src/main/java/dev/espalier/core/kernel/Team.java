package dev.espalier.core.kernel;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A fixed number of threads that share out numbered jobs. The caller is one of them.
 *
 * <p>A step is many short runs in a row, so whoever waits spins for a moment before it sleeps: waking a thread takes longer
 * than some runs do.
 */
final class Team implements AutoCloseable {
    private static final long SPIN_NANOSECONDS = 200_000;

    /** A numbered job, done by one member of the team. */
    @FunctionalInterface
    interface Task {
        void run(int job, int member);
    }

    /** Jobs to be done, how many of them are taken, and how many helpers have yet to finish. */
    private static final class Run {
        final int jobs;
        final Task task;
        final Thread caller = Thread.currentThread();
        final AtomicInteger next = new AtomicInteger();
        final AtomicInteger busy;
        final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

        Run(int jobs, Task task, int helpers) {
            this.jobs = jobs;
            this.task = task;
            this.busy = new AtomicInteger(helpers);
        }

        void work(int member) {
            try {
                for (int job = next.getAndIncrement(); job < jobs; job = next.getAndIncrement()) {
                    task.run(job, member);
                }
            } catch (Throwable thrown) { // reported by the caller
                failure.compareAndSet(null, thrown);
            }
        }
    }

    private final Thread[] helpers;
    private volatile @Nullable Run current;
    private volatile boolean closed;

    Team(int members) {
        helpers = new Thread[members - 1];
        for (int i = 0; i < helpers.length; i++) {
            int member = i + 1;
            helpers[i] =
                    Thread.ofPlatform().daemon().name("espalier-step-", member).unstarted(() -> help(member));
        }
        for (Thread helper : helpers) {
            helper.start();
        }
    }

    int members() {
        return helpers.length + 1;
    }

    private void help(int member) {
        Run done = null;
        while (true) {
            Run run = current;
            long deadline = System.nanoTime() + SPIN_NANOSECONDS;
            while (run == done && !closed) {
                pause(deadline);
                run = current;
            }
            if (run == null || run == done) {
                return; // closed
            }
            run.work(member);
            if (run.busy.decrementAndGet() == 0) {
                LockSupport.unpark(run.caller);
            }
            done = run;
        }
    }

    private void pause(long deadline) {
        if (System.nanoTime() < deadline) {
            Thread.onSpinWait();
        } else {
            LockSupport.park(this);
        }
    }

    /** Does all jobs, in no particular order, and returns when they are done. */
    void run(int jobs, Task task) {
        Run run = new Run(jobs, task, helpers.length);
        current = run;
        for (Thread helper : helpers) {
            LockSupport.unpark(helper);
        }
        run.work(0);
        boolean interrupted = false;
        long deadline = System.nanoTime() + SPIN_NANOSECONDS;
        while (run.busy.get() > 0) {
            pause(deadline);
            interrupted |= Thread.interrupted(); // a step is never left half done
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        Throwable thrown = run.failure.get();
        if (thrown != null) {
            throw new IllegalStateException("a step failed: " + thrown, thrown);
        }
    }

    @Override
    public void close() {
        closed = true;
        for (Thread helper : helpers) {
            LockSupport.unpark(helper);
        }
    }
}
