package dev.espalier.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class BatchesTest {
    private static final Field.Image SHAPE = new Field.Image("image", 1, 3, 4);
    private static final Dataset IMAGES = TestData.images(23, SHAPE);
    private static final Encoding PLAIN = Encoding.plain(IMAGES);
    private static final Encoding NORMALIZING = TestData.normalizing(IMAGES);
    private static final ImageAugmentation AUGMENTED = new ImageAugmentation(1, true, 0);
    private static final BatchPlan PLAN = BatchPlan.training(5, 42).withThreads(2, 3);

    /** What a batch was, after its arrays have been given back. */
    private record Copy(BatchPosition position, List<Long> shape, List<Float> values, List<Long> labels) {
        static Copy of(Batch batch) {
            Tensor image = batch.inputs().firstEntry().getValue();
            float[] values = image.toFloats();
            return new Copy(
                    batch.position(),
                    Arrays.stream(image.shape()).boxed().toList(),
                    IntStream.range(0, values.length).mapToObj(i -> values[i]).toList(),
                    Arrays.stream(batch.targets().firstEntry().getValue().toLongs())
                            .boxed()
                            .toList());
        }
    }

    private static List<Copy> all(BatchPlan plan, Augmentation augmentation, BatchPosition first, long epochs) {
        List<Copy> copies = new ArrayList<>();
        try (Batches batches = batches(IMAGES, augmentation, plan, first, epochs)) {
            while (batches.hasNext()) {
                BatchPosition position = batches.position();
                copies.add(Copy.of(batches.next()));
                assertEquals(position, copies.getLast().position);
            }
            assertThrows(NoSuchElementException.class, batches::next);
        }
        return copies;
    }

    /** Normalised if there is chance in it: what is done first and what last must not be mixed up. */
    private static Batches batches(
            Dataset dataset, Augmentation augmentation, BatchPlan plan, BatchPosition first, long epochs) {
        Encoding encoding = augmentation == Augmentation.NONE ? PLAIN : NORMALIZING;
        return new Batches(dataset, encoding, augmentation, plan, first, epochs);
    }

    /** IMAGES, but loading a row first does something else. */
    private static Dataset watched(IntConsumer before) {
        return TestData.images(23, SHAPE, before).named("watched");
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
        List<Copy> copies = all(PLAN, Augmentation.NONE, BatchPosition.START, 3);
        assertEquals(15, copies.size());
        List<List<Integer>> orders = new ArrayList<>();
        for (int epoch = 0; epoch < 3; epoch++) {
            List<Integer> order = new ArrayList<>();
            for (Copy copy : copies.subList(5 * epoch, 5 * epoch + 5)) {
                assertEquals(epoch, copy.position.epoch());
                assertEquals(List.of((long) copy.labels.size(), 1L, 3L, 4L), copy.shape);
                for (int i = 0; i < copy.labels.size(); i++) {
                    int sample = (int) (copy.values.get(i * SHAPE.size()) / SHAPE.size());
                    assertEquals(
                            TestData.label(IMAGES, sample), copy.labels.get(i).intValue());
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
        List<Copy> copies = all(PLAN.withDropLast(true), Augmentation.NONE, BatchPosition.START, 2);
        assertEquals(8, copies.size());
        copies.forEach(copy -> assertEquals(5, copy.labels.size()));
        BatchPlan large = BatchPlan.training(24, 0).withDropLast(true);
        assertThrows(
                IllegalArgumentException.class,
                () -> batches(IMAGES, Augmentation.NONE, large, BatchPosition.START, 1)
                        .close());
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
                all(PLAN, Augmentation.NONE, BatchPosition.START, 1),
                all(other, Augmentation.NONE, BatchPosition.START, 1));
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
            try (Batches batches = batches(IMAGES, AUGMENTED, PLAN, BatchPosition.START, 3)) {
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
        try (Batches batches = Batches.evaluation(IMAGES, PLAIN, 10)) {
            while (batches.hasNext()) {
                Batch batch = batches.next();
                float[] values = batch.inputs().firstEntry().getValue().toFloats();
                for (int i = 0; i < batch.size(); i++, sample++) {
                    assertArrayEquals(
                            TestData.values(IMAGES, sample),
                            Arrays.copyOfRange(values, i * SHAPE.size(), (i + 1) * SHAPE.size()));
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
        try (Batches batches = batches(dataset, AUGMENTED, PLAN.withThreads(2, 3), BatchPosition.START, 2)) {
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
        Batches batches = batches(dataset, Augmentation.NONE, PLAN.withThreads(2, 2), BatchPosition.START, 100);
        await(full);
        awaitIdleLoaders();
        batches.close();
        assertEquals(15, copied.get(), "two ahead and the one to be handed out");
    }

    @Test
    void aFailureReachesWhoeverWaitsForThatBatchAndAgainLater() {
        for (Throwable failure : List.of(new IllegalArgumentException("broken"), new AssertionError("broken"))) {
            int bad = PLAN.order(watched(_ -> {}), 0)[7];
            Dataset dataset = watched(sample -> {
                if (sample == bad) {
                    switch (failure) {
                        case RuntimeException exception -> throw exception;
                        case Error error -> throw error;
                        default -> throw new AssertionError("checked", failure);
                    }
                }
            });
            try (Batches batches = batches(dataset, Augmentation.NONE, PLAN, BatchPosition.START, 2)) {
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
        Batches batches = batches(stuck, Augmentation.NONE, PLAN, BatchPosition.START, 1);
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
        try (Batches batches = batches(watched(_ -> await(never)), Augmentation.NONE, PLAN, BatchPosition.START, 1)) {
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
    void memoryIsWrittenAgain() {
        BatchPlan plan = PLAN.withThreads(1, 1);
        try (Batches batches = batches(IMAGES, Augmentation.NONE, plan, BatchPosition.START, 4)) {
            List<Long> addresses = new ArrayList<>();
            while (batches.hasNext()) {
                addresses.add(
                        batches.next().inputs().firstEntry().getValue().data().address());
            }
            assertEquals(2, addresses.stream().distinct().count(), "even where the last batch is smaller");
        }
    }

    @Test
    void everyColumnHasATensor() {
        int[][] tokens = {{1, 2, 3}, {4}, {}, {5, 6}, {7, 8, 9, 10}};
        Column.Sequences sequences = new Column.Sequences() {
            @Override
            public Field.Tokens field() {
                return new Field.Tokens("tokens", 4, -7);
            }

            @Override
            public int[] read(int row) {
                return tokens[row];
            }
        };
        float[][] matrices = new float[5][6];
        for (int row = 0; row < 5; row++) {
            Arrays.fill(matrices[row], row);
        }
        Column.Numbers numbers = Columns.numbers(new Field.Numbers("matrix", List.of(2, 3)), matrices);
        float[][] prices = {{1}, {2}, {3}, {4}, {5}};
        Column.Numbers price = Columns.numbers(new Field.Numbers("price"), prices);
        Column.Categories kind =
                Columns.categories(new Field.Category("kind", List.of("a", "b")), new int[] {0, 1, 1, 0, -1});
        Dataset dataset = new Dataset("mixed", 5, List.of(sequences, numbers, kind), List.of(price));
        try (Batches batches = Batches.evaluation(dataset, Encoding.plain(dataset), 4)) {
            Batch batch = batches.next();
            assertEquals(
                    List.of("tokens", "matrix", "kind"),
                    List.copyOf(batch.inputs().keySet()));
            assertTensor(batch.inputs().get("tokens"), "INT64", "[4, 3]", 1, 2, 3, 4, -7, -7, -7, -7, -7, 5, 6, -7);
            assertEquals(
                    "[4, 2, 3]",
                    Arrays.toString(batch.inputs().sequencedValues().stream()
                            .toList()
                            .get(1)
                            .shape()));
            assertTensor(batch.inputs().get("kind"), "INT64", "[4]", 0, 1, 1, 0);
            assertTensor(batch.targets().get("price"), "FLOAT32", "[4]", 1, 2, 3, 4);
            batch = batches.next();
            assertTensor(batch.inputs().get("tokens"), "INT64", "[1, 4]", 7, 8, 9, 10);
            assertTensor(batch.inputs().get("kind"), "INT64", "[1]", -1);
        }
    }

    private static void assertTensor(@Nullable Tensor tensor, String type, String shape, double... values) {
        assertEquals(type + shape, tensor == null ? "" : tensor.type() + Arrays.toString(tensor.shape()));
        double[] actual = new double[values.length];
        Arrays.setAll(actual, i -> tensor == null ? 0 : tensor.getDouble(i));
        assertArrayEquals(values, actual);
    }

    @Test
    void whatDoesNotFitIsRefusedAtOnce() {
        Dataset other = TestData.images(23, new Field.Image("image", 3, 3, 4));
        assertThrows(
                IllegalArgumentException.class,
                () -> batches(other, AUGMENTED, PLAN, BatchPosition.START, 1).close());
        assertThrows(IllegalArgumentException.class, () -> BatchPlan.training(0, 1));
        assertThrows(IllegalArgumentException.class, () -> PLAN.withThreads(0, 1));
        assertThrows(IllegalArgumentException.class, () -> PLAN.withThreads(1, 0));
        assertThrows(IllegalArgumentException.class, () -> new BatchPosition(-1, 0));
    }
}
