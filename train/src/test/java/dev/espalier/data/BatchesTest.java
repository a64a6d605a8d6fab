package dev.espalier.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class BatchesTest {
    private static final SampleShape.Image SHAPE = new SampleShape.Image(1, 3, 4);
    private static final Dataset IMAGES = TestData.images(23, SHAPE);
    private static final Preprocessing AUGMENTED = new Preprocessing(Optional.of(Normalization.of(IMAGES)), 1, true);
    private static final BatchPlan PLAN = BatchPlan.training(5, 42).withThreads(2, 3);

    /** What a batch was, after its arrays have been given back. */
    private record Copy(BatchPosition position, List<Long> shape, List<Float> values, List<Long> labels) {
        static Copy of(Batch batch) {
            float[] values = batch.values();
            return new Copy(
                    batch.position(),
                    Arrays.stream(batch.shape()).boxed().toList(),
                    IntStream.range(0, values.length).mapToObj(i -> values[i]).toList(),
                    Arrays.stream(batch.labels()).boxed().toList());
        }
    }

    private static List<Copy> all(BatchPlan plan, Preprocessing preprocessing, BatchPosition first, long epochs) {
        List<Copy> copies = new ArrayList<>();
        try (Batches batches = new Batches(IMAGES, preprocessing, plan, first, epochs)) {
            while (batches.hasNext()) {
                BatchPosition position = batches.position();
                copies.add(Copy.of(batches.next()));
                assertEquals(position, copies.getLast().position);
            }
            assertThrows(NoSuchElementException.class, batches::next);
        }
        return copies;
    }

    /** IMAGES, but loading a sample first does something else. */
    private static Dataset watched(IntConsumer before) {
        return new Dataset() {
            @Override
            public String name() {
                return "watched";
            }

            @Override
            public SampleShape shape() {
                return SHAPE;
            }

            @Override
            public List<String> classNames() {
                return IMAGES.classNames();
            }

            @Override
            public int size() {
                return IMAGES.size();
            }

            @Override
            public int label(int sample) {
                return IMAGES.label(sample);
            }

            @Override
            public void copy(int sample, float[] target, int offset) {
                before.accept(sample);
                IMAGES.copy(sample, target, offset);
            }
        };
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interruption) {
            throw new IllegalStateException(interruption);
        }
    }

    @Test
    void everyEpochHoldsEverySampleOnceWithItsLabelInAnOrderOfItsOwn() {
        List<Copy> copies = all(PLAN, Preprocessing.NONE, BatchPosition.START, 3);
        assertEquals(15, copies.size());
        List<List<Integer>> orders = new ArrayList<>();
        for (int epoch = 0; epoch < 3; epoch++) {
            List<Integer> order = new ArrayList<>();
            for (Copy copy : copies.subList(5 * epoch, 5 * epoch + 5)) {
                assertEquals(epoch, copy.position.epoch());
                assertEquals(List.of((long) copy.labels.size(), 1L, 3L, 4L), copy.shape);
                for (int i = 0; i < copy.labels.size(); i++) {
                    int sample = (int) (copy.values.get(i * SHAPE.size()) / SHAPE.size());
                    assertEquals(IMAGES.label(sample), copy.labels.get(i).intValue());
                    order.add(sample);
                }
            }
            assertEquals(
                    IntStream.range(0, 23).boxed().toList(),
                    order.stream().sorted().toList());
            orders.add(order);
        }
        assertEquals(3, orders.stream().distinct().count());
        assertEquals(3, copies.get(4).labels.size(), "the last batch holds what is left");
    }

    @Test
    void theLastBatchMayBeDropped() {
        List<Copy> copies = all(PLAN.withDropLast(true), Preprocessing.NONE, BatchPosition.START, 2);
        assertEquals(8, copies.size());
        copies.forEach(copy -> assertEquals(5, copy.labels.size()));
        BatchPlan large = BatchPlan.training(24, 0).withDropLast(true);
        assertThrows(
                IllegalArgumentException.class,
                () -> new Batches(IMAGES, Preprocessing.NONE, large, BatchPosition.START, 1).close());
    }

    @Test
    void neitherThreadsNorTheQueueChangeABit() {
        List<Copy> expected = all(PLAN.withThreads(1, 1), AUGMENTED, BatchPosition.START, 4);
        for (int threads : new int[] {1, 2, 3, 8}) {
            for (int ahead : new int[] {1, 2, 50}) {
                assertEquals(expected, all(PLAN.withThreads(threads, ahead), AUGMENTED, BatchPosition.START, 4));
            }
        }
    }

    @Test
    void theSeedDecidesOrderAndAugmentation() {
        BatchPlan other = BatchPlan.training(5, 43);
        assertNotEquals(
                all(PLAN, Preprocessing.NONE, BatchPosition.START, 1),
                all(other, Preprocessing.NONE, BatchPosition.START, 1));
        BatchPlan ordered = new BatchPlan(5, false, false, 42, 1, 1);
        BatchPlan otherOrdered = new BatchPlan(5, false, false, 43, 1, 1);
        assertNotEquals(
                all(ordered, AUGMENTED, BatchPosition.START, 1), all(otherOrdered, AUGMENTED, BatchPosition.START, 1));
        List<Copy> two = all(ordered, AUGMENTED, BatchPosition.START, 2);
        assertNotEquals(two.get(0).values, two.get(5).values, "another epoch, another augmentation");
    }

    @Test
    void resumingAnywhereGivesWhatWouldHaveCome() {
        List<Copy> whole = all(PLAN, AUGMENTED, BatchPosition.START, 3);
        for (int done = 0; done <= whole.size(); done++) {
            BatchPosition position;
            try (Batches batches = new Batches(IMAGES, AUGMENTED, PLAN, BatchPosition.START, 3)) {
                for (int i = 0; i < done; i++) {
                    batches.next();
                }
                position = batches.position();
            }
            assertEquals(whole.subList(done, whole.size()), all(PLAN, AUGMENTED, position, 3), "after " + done);
        }
        assertEquals(whole.subList(5, 15), all(PLAN, AUGMENTED, new BatchPosition(0, 5), 3), "one past the end");
        assertThrows(IllegalArgumentException.class, () -> all(PLAN, AUGMENTED, new BatchPosition(0, 6), 3));
        assertEquals(List.of(), all(PLAN, AUGMENTED, new BatchPosition(7, 0), 3));
    }

    @Test
    void evaluationIsInOrderAndWithoutChance() {
        int sample = 0;
        try (Batches batches =
                Batches.evaluation(IMAGES, Preprocessing.NONE.withPadding(4).withFlip(true), 10)) {
            while (batches.hasNext()) {
                Batch batch = batches.next();
                for (int i = 0; i < batch.size(); i++, sample++) {
                    assertArrayEquals(
                            TestData.values(IMAGES, sample),
                            Arrays.copyOfRange(batch.values(), i * SHAPE.size(), (i + 1) * SHAPE.size()));
                }
            }
        }
        assertEquals(23, sample);
    }

    @Test
    void aBatchIsNotTouchedUntilTheNextIsAskedFor() {
        List<Copy> whole = all(PLAN, AUGMENTED, BatchPosition.START, 2);
        CountDownLatch full = new CountDownLatch(4 * 5);
        Dataset dataset = watched(_ -> full.countDown());
        try (Batches batches = new Batches(dataset, AUGMENTED, PLAN.withThreads(2, 3), BatchPosition.START, 2)) {
            Batch first = batches.next();
            // One in our hands and three ahead: every slot has been written.
            await(full);
            awaitIdleLoaders();
            assertEquals(whole.get(0), Copy.of(first));
        }
    }

    @Test
    void loadingRunsAheadButNoFurtherThanAllowed() {
        AtomicInteger copied = new AtomicInteger();
        CountDownLatch full = new CountDownLatch(3 * 5);
        Dataset dataset = watched(_ -> {
            copied.incrementAndGet();
            full.countDown();
        });
        Batches batches = new Batches(dataset, Preprocessing.NONE, PLAN.withThreads(2, 2), BatchPosition.START, 100);
        await(full);
        awaitIdleLoaders();
        batches.close();
        assertEquals(15, copied.get(), "two ahead and the one to be handed out");
    }

    @Test
    void aFailureReachesWhoeverWaitsForThatBatchAndAgainLater() {
        for (Throwable failure : List.of(new IllegalArgumentException("broken"), new AssertionError("broken"))) {
            int bad = PLAN.order(23, 0)[7];
            Dataset dataset = watched(sample -> {
                if (sample == bad) {
                    switch (failure) {
                        case RuntimeException exception -> throw exception;
                        case Error error -> throw error;
                        default -> throw new AssertionError("checked", failure);
                    }
                }
            });
            try (Batches batches = new Batches(dataset, Preprocessing.NONE, PLAN, BatchPosition.START, 2)) {
                batches.next();
                for (int i = 0; i < 2; i++) {
                    IllegalStateException thrown = assertThrows(IllegalStateException.class, batches::next);
                    assertSame(failure, thrown.getCause());
                    assertTrue(String.valueOf(thrown.getMessage()).contains("batch 1 of epoch 0 of watched"));
                }
                assertEquals(new BatchPosition(0, 1), batches.position());
            }
        }
    }

    @Test
    void closingEndsLoadersThatWaitAndWakesWhoeverWaitsForABatch() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        Dataset stuck = watched(_ -> {
            begun.countDown();
            await(never);
        });
        Batches batches = new Batches(stuck, Preprocessing.NONE, PLAN, BatchPosition.START, 1);
        AtomicReference<Throwable> seen = new AtomicReference<>(new AssertionError("nothing was thrown"));
        Thread consumer = Thread.ofPlatform().start(() -> {
            try {
                batches.next();
            } catch (IllegalStateException closed) {
                seen.set(closed);
            }
        });
        begun.await();
        batches.close();
        consumer.join();
        assertTrue(seen.get() instanceof IllegalStateException, () -> "" + seen.get());
        assertThrows(IllegalStateException.class, batches::next);
        batches.close();
        assertNoLoaderIsLeft();
    }

    @Test
    void anInterruptedConsumerSaysSoAndStaysInterrupted() {
        CountDownLatch never = new CountDownLatch(1);
        try (Batches batches =
                new Batches(watched(_ -> await(never)), Preprocessing.NONE, PLAN, BatchPosition.START, 1)) {
            Thread.currentThread().interrupt();
            assertThrows(IllegalStateException.class, batches::next);
            assertTrue(Thread.interrupted());
        }
        assertNoLoaderIsLeft();
    }

    private static Stream<Thread> loaders() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("espalier-batches"));
    }

    private static void awaitIdleLoaders() {
        while (loaders().anyMatch(thread -> thread.getState() != Thread.State.WAITING)) {
            Thread.onSpinWait();
        }
    }

    private static void assertNoLoaderIsLeft() {
        assertEquals(List.of(), loaders().toList());
    }

    @Test
    void arraysAreWrittenAgain() {
        BatchPlan plan = PLAN.withThreads(1, 1).withDropLast(true);
        try (Batches batches = new Batches(IMAGES, Preprocessing.NONE, plan, BatchPosition.START, 4)) {
            float[] first = batches.next().values();
            batches.next();
            assertSame(first, batches.next().values());
        }
    }

    @Test
    void whatDoesNotFitIsRefusedAtOnce() {
        assertThrows(
                IllegalArgumentException.class,
                () -> new Batches(
                                IMAGES, Preprocessing.normalizing(Normalization.CIFAR10), PLAN, BatchPosition.START, 1)
                        .close());
        assertThrows(IllegalArgumentException.class, () -> BatchPlan.training(0, 1));
        assertThrows(IllegalArgumentException.class, () -> PLAN.withThreads(0, 1));
        assertThrows(IllegalArgumentException.class, () -> PLAN.withThreads(1, 0));
        assertThrows(IllegalArgumentException.class, () -> new BatchPosition(-1, 0));
    }
}
