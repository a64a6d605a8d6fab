package dev.espalier.core.step;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.IndexGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.StepOptions.NonFinite;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Training that is interrupted goes on as if it had not been; files that are not right are refused. */
class ResumeTest {
    private static final StepOptions OPTIONS =
            StepOptions.DEFAULT.withThreads(2).withNonFinite(NonFinite.SKIP);

    static Stream<Arguments> rules() {
        return Stream.of(
                Arguments.of(new UpdateRule.Sgd(), 0.0),
                Arguments.of(new UpdateRule.Momentum(), 0.0),
                Arguments.of(new UpdateRule.AdaGrad(), 0.0),
                Arguments.of(new UpdateRule.RmsProp(), 0.0),
                Arguments.of(new UpdateRule.Adam(), 0.0),
                Arguments.of(new UpdateRule.Adam(), 0.3));
    }

    private static List<ParameterSet> sets() {
        LearningRate rate = new LearningRate.Cosine(0.1, 0.01, 20);
        return List.of(
                ParameterSet.of(rate, new Parameter("bias", 300_007)), // more than a chunk of the file
                ParameterSet.of(rate, new Parameter("conv", 9 * 70 * 9))
                        .withRegularizer(new Regularizer(new GroupMcp(0.5, 3), new AxisGroups(9, 70, 9))),
                ParameterSet.of(rate, new Parameter("odd", 9))
                        .withRegularizer(new Regularizer(
                                new GroupLasso(0.5), new IndexGroups(9, List.of(List.of(8L, 2L), List.of(0L))))),
                ParameterSet.of(rate, new Parameter("query", 40 * 70), new Parameter("key", 40 * 70))
                        .withRegularizer(new Regularizer(
                                new NestedLasso(0.5, 0.6),
                                NestedGroups.ofParts(new JointGroups(
                                        List.of(new AxisGroups(40, 70, 1), new AxisGroups(40, 70, 1)))))));
    }

    /** A training run and all that is saved of it. */
    private static final class Run implements AutoCloseable {
        final TestModel model = new TestModel(sets());
        final Optimizer optimizer;
        final UniformIterate uniform;

        Run(UpdateRule rule, double floor) {
            optimizer = new Optimizer(rule, sets(), OPTIONS.withMetricFloor(floor));
            uniform = new UniformIterate(
                    sets().stream().flatMap(set -> set.parameters().stream()).toList(), 77);
            TestModel.fill(model.weights(), new SplittableRandom(1), 0.5);
        }

        void train(int from, int to) {
            for (int step = from; step < to; step++) {
                TestModel.fill(model.gradients(), new SplittableRandom(1000 + step), 1);
                if (step == 4) {
                    model.gradients().firstEntry().getValue().set(5, Double.NaN); // one step is skipped
                }
                optimizer.step(model.weights(), model.gradients());
                uniform.offer(model.weights());
            }
        }

        SequencedMap<String, MemorySegment> state() {
            SequencedMap<String, MemorySegment> state = optimizer.state();
            state.putAll(uniform.state());
            model.weights().forEach((name, view) -> state.put("weights/" + name, view.segment()));
            return state;
        }

        @Override
        public void close() {
            optimizer.close();
            model.close();
        }
    }

    @ParameterizedTest
    @MethodSource("rules")
    void aResumedRunIsTheSameToTheLastBit(UpdateRule rule, double floor, @TempDir Path folder) throws IOException {
        Path file = folder.resolve("state");
        try (Run whole = new Run(rule, floor);
                Run first = new Run(rule, floor);
                Run second = new Run(rule, floor)) {
            whole.train(0, 20);
            first.train(0, 10);
            StateFile.save(file, first.state());
            StateFile.load(file, second.state());
            second.train(10, 20);
            assertEquals(19, second.optimizer.steps());
            assertEquals(1, second.optimizer.skippedSteps());
            assertEquals(whole.uniform.step(), second.uniform.step());
            SequencedMap<String, MemorySegment> expected = whole.state();
            SequencedMap<String, MemorySegment> actual = second.state();
            assertEquals(List.copyOf(expected.keySet()), List.copyOf(actual.keySet()));
            actual.forEach((name, memory) ->
                    assertEquals(-1, Objects.requireNonNull(expected.get(name)).mismatch(memory), name));
            try (Stream<Path> files = Files.list(folder)) {
                assertEquals(List.of(file), files.toList()); // nothing temporary is left
            }
        }
    }

    private static SequencedMap<String, MemorySegment> state(int floats, float value) {
        SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
        float[] values = new float[floats];
        Arrays.fill(values, value);
        state.put("counters", MemorySegment.ofArray(new long[] {(long) value, 2}));
        state.put("a long name to make the header long as well: weights", MemorySegment.ofArray(values));
        return state;
    }

    @Test
    void whatIsWantedIsReadByWhoeverDoesNotKnowTheRest(@TempDir Path folder) {
        Path file = folder.resolve("state");
        SequencedMap<String, MemorySegment> state = state(300_000, 5);
        state.put("λ after it", MemorySegment.ofArray(new double[] {7}));
        StateFile.save(file, state);
        SequencedMap<String, MemorySegment> read = StateFile.read(file, name -> !name.equals("counters"));
        assertEquals(List.copyOf(state.keySet()).subList(1, 3), List.copyOf(read.keySet()));
        read.forEach((name, memory) ->
                assertEquals(-1, Objects.requireNonNull(state.get(name)).mismatch(memory), name));
    }

    /** Its sum is right, so nothing but the numbers themselves tell. */
    @Test
    void aFileThatAnnouncesMoreThanItHoldsIsRefusedBeforeMemoryIsReserved(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("state");
        StateFile.save(file, new LinkedHashMap<>(Map.of("a", MemorySegment.ofArray(new long[] {7}))));
        byte[] whole = Files.readAllBytes(file);
        int sizeAt = 8 + 4 + 4 + 3;
        for (long size : new long[] {-1, 9, 1L << 40, Long.MAX_VALUE}) {
            ByteBuffer changed = ByteBuffer.wrap(whole.clone()).putLong(sizeAt, size);
            CRC32C sum = new CRC32C();
            sum.update(changed.array(), 0, whole.length - 4);
            Files.write(
                    file, changed.putInt(whole.length - 4, (int) sum.getValue()).array());
            String message = assertThrows(IllegalArgumentException.class, () -> StateFile.read(file, _ -> true))
                    .toString();
            assertTrue(message.contains("its piece a has " + size), message);
        }
    }

    private static void assertRefused(Path file, String what) {
        SequencedMap<String, MemorySegment> target = state(40, 5);
        var before = TestModel.copy(target);
        String message = assertThrows(IllegalArgumentException.class, () -> StateFile.load(file, target))
                .toString();
        assertTrue(message.contains(what) && message.contains(file.toString()), message);
        assertEquals(before, TestModel.copy(target));
    }

    @Test
    void aFileThatIsCutOffAnywhereIsRefused(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("state");
        StateFile.save(file, state(40, 1));
        byte[] bytes = Files.readAllBytes(file);
        for (int length = 0; length < bytes.length; length++) {
            Files.write(file, Arrays.copyOf(bytes, length));
            assertRefused(file, "damaged");
        }
        Files.write(file, Arrays.copyOf(bytes, bytes.length + 1));
        assertRefused(file, "damaged");
    }

    @Test
    void aFileWithAFlippedBitIsRefused(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("state");
        StateFile.save(file, state(40, 1));
        byte[] bytes = Files.readAllBytes(file);
        for (int at = 0; at < bytes.length; at++) {
            byte[] flipped = bytes.clone();
            flipped[at] ^= (byte) (1 << at % 8);
            Files.write(file, flipped);
            assertRefused(file, "damaged");
        }
    }

    @Test
    void theStateOfAnotherModelIsRefused(@TempDir Path folder) {
        Path file = folder.resolve("state");
        SequencedMap<String, MemorySegment> renamed = new LinkedHashMap<>();
        state(40, 1).forEach((name, memory) -> renamed.put(name + "!", memory));
        SequencedMap<String, MemorySegment> tiny = new LinkedHashMap<>();
        tiny.put("t", MemorySegment.ofArray(new float[1]));
        SequencedMap<String, MemorySegment> more = state(40, 1);
        more.put("more", MemorySegment.ofArray(new float[1]));
        for (SequencedMap<String, MemorySegment> other :
                List.of(state(41, 1), state(39, 1), renamed, tiny, more, new LinkedHashMap<String, MemorySegment>())) {
            StateFile.save(file, other);
            assertRefused(file, "another model");
        }
    }

    @Test
    void whatCannotBeReadOrWrittenIsSaidByName(@TempDir Path folder) throws IOException {
        Path missing = folder.resolve("missing");
        assertIo(missing, () -> StateFile.load(missing, state(40, 1)));
        Path nowhere = folder.resolve("no such folder").resolve("state");
        assertIo(nowhere, () -> StateFile.save(nowhere, state(40, 1)));
        Path occupied = Files.createDirectory(folder.resolve("occupied"));
        Path inside = Files.writeString(occupied.resolve("inside"), "kept");
        assertIo(occupied, () -> StateFile.save(occupied, state(40, 1)));
        assertEquals("kept", Files.readString(inside));
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(List.of(occupied), files.toList()); // nothing temporary is left
        }
    }

    /** What stands in the way of the temporary file stops a save; the older state stays. */
    @Test
    void aSaveThatFailsKeepsTheOldFile(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("state");
        StateFile.save(file, state(40, 1));
        byte[] before = Files.readAllBytes(file);
        Files.createDirectory(folder.resolve("state.tmp"));
        assertIo(file, () -> StateFile.save(file, state(40, 2)));
        assertArrayEquals(before, Files.readAllBytes(file));
        Files.delete(folder.resolve("state.tmp"));
        StateFile.save(file, state(40, 2));
        assertFalse(Arrays.equals(before, Files.readAllBytes(file)));
    }

    private static void assertIo(Path file, Executable executable) {
        String message = assertThrows(UncheckedIOException.class, executable).toString();
        assertTrue(message.contains(file.toString()), message);
    }

    /** A piece of more than a gigabyte would not fit a test, one of more than a chunk does. */
    @Test
    void piecesOfManyChunksComeBack(@TempDir Path folder) {
        Path file = folder.resolve("state");
        int[] numbers = new SplittableRandom(3).ints((1 << 19) + 5).toArray();
        SequencedMap<String, MemorySegment> saved = new LinkedHashMap<>();
        saved.put("numbers", MemorySegment.ofArray(numbers));
        saved.put("after", MemorySegment.ofArray(new byte[] {1, 2, 3}));
        StateFile.save(file, saved);
        int[] read = new int[numbers.length];
        byte[] after = new byte[3];
        SequencedMap<String, MemorySegment> loaded = new LinkedHashMap<>();
        loaded.put("numbers", MemorySegment.ofArray(read));
        loaded.put("after", MemorySegment.ofArray(after));
        StateFile.load(file, loaded);
        assertArrayEquals(numbers, read);
        assertArrayEquals(new byte[] {1, 2, 3}, after);
    }
}
