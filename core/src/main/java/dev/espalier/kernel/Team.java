package dev.espalier.kernel;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A fixed number of threads that share out numbered jobs. The caller is one of them. */
final class Team implements AutoCloseable {

    /** A numbered job, done by one member of the team. */
    @FunctionalInterface
    interface Task {
        void run(int job, int member);
    }

    private final int members;
    private final ExecutorService helpers;

    Team(int members) {
        this.members = members;
        this.helpers = Executors.newFixedThreadPool(Math.max(members - 1, 1), runnable -> {
            Thread thread = new Thread(runnable, "espalier-step");
            thread.setDaemon(true);
            return thread;
        });
    }

    int members() {
        return members;
    }

    /** Does all jobs, in no particular order, and returns when they are done. */
    void run(int jobs, Task task) {
        AtomicInteger next = new AtomicInteger();
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        int others = Math.max(Math.min(members, jobs) - 1, 0);
        CountDownLatch done = new CountDownLatch(others);
        for (int member = 1; member <= others; member++) {
            int number = member;
            helpers.execute(() -> {
                work(jobs, task, number, next, failure);
                done.countDown();
            });
        }
        work(jobs, task, 0, next, failure);
        boolean interrupted = false;
        while (done.getCount() > 0) {
            try {
                done.await();
            } catch (InterruptedException e) {
                interrupted = true; // a step is never left half done
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        Throwable thrown = failure.get();
        if (thrown != null) {
            throw new IllegalStateException("a step failed: " + thrown, thrown);
        }
    }

    private static void work(
            int jobs, Task task, int member, AtomicInteger next, AtomicReference<@Nullable Throwable> failure) {
        try {
            for (int job = next.getAndIncrement(); job < jobs; job = next.getAndIncrement()) {
                task.run(job, member);
            }
        } catch (Throwable thrown) { // reported by run
            failure.compareAndSet(null, thrown);
        }
    }

    @Override
    public void close() {
        helpers.shutdown();
    }
}
