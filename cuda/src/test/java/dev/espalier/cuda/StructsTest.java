package dev.espalier.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.kernel.PenaltyTerms;
import dev.espalier.core.kernel.StepKernel.SetPlan;
import dev.espalier.core.kernel.StepKernel.SetStep;
import dev.espalier.core.kernel.Update;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.Profile.Piece;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.cuda.Struct.Row;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What Java and a GPU tell each other: both see the same, and everything is written where its name is. */
class StructsTest {
    private static final List<String> COMPILERS = List.of("c++", "g++", "clang++");

    private static String name(MemoryLayout layout) {
        return layout.name().orElseThrow();
    }

    @Test
    void nothingIsBetweenMembersNorBehindThem() {
        for (Struct struct : Structs.ALL) {
            Set<String> names = new HashSet<>();
            long end = 0;
            for (MemoryLayout member : struct.layout().memberLayouts()) {
                assertTrue(names.add(name(member)), () -> struct.layout() + " has two of " + name(member));
                assertEquals(0, end % member.byteAlignment(), () -> name(member) + " of " + struct.layout());
                assertEquals(end, struct.layout().byteOffset(PathElement.groupElement(name(member))));
                end += member.byteSize();
            }
            assertEquals(end, struct.size());
            assertEquals(0, end % struct.layout().byteAlignment(), () -> "C would fill up " + struct.layout());
        }
    }

    @Test
    void whatWouldHaveToBePaddedIsRefused() {
        assertThrows(
                IllegalArgumentException.class,
                () -> Struct.named("Gap").ints("one").longs("two"));
    }

    @Test
    void aDeclarationHasTypesAndOrder() {
        Struct inner = Struct.named("Inner").doubles("a");
        Struct outer = Struct.named("Outer")
                .pointers("const float", "p")
                .structs(inner, "one", "two")
                .structArray(inner, 3, "more")
                .longArrays(2, "l", "m")
                .floats("f")
                .ints("i");
        assertEquals("""
                struct Outer {
                    const float * p;
                    Inner one;
                    Inner two;
                    Inner more[3];
                    long long l[2];
                    long long m[2];
                    float f;
                    int i;
                };
                static_assert(sizeof(Outer) == 88, "Outer as Java sees it");
                """, outer.declaration());
    }

    /** The compiler of the processor lays structures out as that of a GPU does: every member is where Java has it. */
    @Test
    void aCompilerFindsEveryMemberWhereJavaDoes() throws IOException, InterruptedException {
        StringBuilder source = new StringBuilder("#include <cstddef>\n").append(Structs.header());
        for (Struct struct : Structs.ALL) {
            for (MemoryLayout member : struct.layout().memberLayouts()) {
                long offset = struct.layout().byteOffset(PathElement.groupElement(name(member)));
                source.append("static_assert(offsetof(%s, %s) == %d, \"offset\");\n"
                        .formatted(name(struct.layout()), name(member), offset));
                source.append("static_assert(sizeof(%s::%s) == %d, \"size\");\n"
                        .formatted(name(struct.layout()), name(member), member.byteSize()));
            }
        }
        assertEquals("", complaints(source.toString()));
        assertTrue(complaints(source + "static_assert(sizeof(Job) == 95, \"never\");\n")
                .contains("never"));
    }

    private static String complaints(String source) throws IOException, InterruptedException {
        for (String compiler : COMPILERS) {
            Process process;
            try {
                process = new ProcessBuilder(compiler, "-std=c++17", "-fsyntax-only", "-x", "c++", "-")
                        .redirectErrorStream(true)
                        .start();
            } catch (IOException e) {
                continue; // not here
            }
            try (var in = process.getOutputStream()) {
                in.write(source.getBytes(StandardCharsets.UTF_8));
            }
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(output.isEmpty(), process.waitFor() == 0, output);
            return output;
        }
        return abort("no C++ compiler here: none of " + COMPILERS);
    }

    /** So that compiled kernels, which are kept by a hash of the source, are not taken for structures of another kind. */
    @Test
    void theSourceHasEveryDeclaration() {
        for (Struct struct : Structs.ALL) {
            assertTrue(StepProgram.source().contains(struct.declaration()), struct::declaration);
        }
    }

    private static Row row(Arena arena, Struct struct) {
        MemorySegment table = arena.allocate(struct.layout(), 3);
        table.fill((byte) -1); // rows are not told that memory is zero
        return struct.row(table, 1);
    }

    @Test
    void aNameThatIsNotThereOrIsSomethingElseIsRefused() {
        try (Arena arena = Arena.ofConfined()) {
            Row row = row(arena, Structs.SET);
            assertMistake("Set has no stepsize, only keepFirst, addFirst", () -> row.put("stepsize", 1.0));
            assertMistake("Set is declared as double stepSize", () -> row.put("stepSize", 1f));
            assertMistake("Set is declared as double innerStrength[8]", () -> row.put("innerStrength", 1.0));
            assertMistake("Set is declared as double innerStrength[8]", () -> row.put("innerStrength", new int[1]));
            assertMistake("no room for 9 in double innerStrength[8]", () -> row.put("innerStrength", new double[9]));
            assertMistake("no number 8 of Piece piece[8]", () -> row.within("piece", 8));
            assertMistake("Set is declared as int fast", () -> row.within("fast"));
        }
    }

    private static void assertMistake(String words, Runnable mistake) {
        String message = String.valueOf(
                assertThrows(IllegalArgumentException.class, mistake::run).getMessage());
        assertTrue(message.contains(words), message);
    }

    @Test
    void aJobIsWrittenUnderTheNamesOfItsComponents() throws ReflectiveOperationException {
        Tiling.Job job = new Tiling.Job(
                Kind.NESTING,
                2,
                3,
                4,
                5L << 40,
                6L << 40,
                7,
                8,
                9,
                10,
                11,
                12,
                13,
                true,
                14,
                15,
                16,
                17,
                18L << 40,
                19L << 40);
        try (Arena arena = Arena.ofConfined()) {
            Row row = row(arena, Structs.JOB);
            Tables.job(row, job);
            assertEquals(Kind.NESTING.code(), row.intOf("kind"));
            assertEquals(1, row.intOf("near"));
            assertComponents(job, row, Set.of("kind", "near"));
            Tiling.Scan scan = new Tiling.Scan(1, 2L << 40, 3);
            Row other = row(arena, Structs.SCAN);
            Tables.scan(other, scan);
            assertComponents(scan, other, Set.of());
        }
    }

    private static void assertComponents(Record written, Row row, Set<String> but) throws ReflectiveOperationException {
        for (RecordComponent component : written.getClass().getRecordComponents()) {
            String name = component.getName();
            if (!but.contains(name)) {
                Object value = component.getAccessor().invoke(written);
                assertEquals(value, value instanceof Long ? (Object) row.longOf(name) : row.intOf(name), name);
            }
        }
    }

    @Test
    void aTensorIsWrittenWithItsStrides() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(24 * Float.BYTES, 8);
            TensorView flat = TensorView.of(memory, ElementType.FLOAT32, new long[] {2, 3}, new long[] {3, 1});
            TensorView turned = TensorView.of(memory, ElementType.FLOAT32, new long[] {2, 3}, new long[] {1, 2});
            Row row = row(arena, Structs.TENSOR);
            Tables.tensor(row, flat, turned, 5, 6, 7, 9, 10, 0.25f, 8);
            assertEquals(memory.address(), row.longOf("x"));
            assertEquals(memory.address(), row.longOf("g"));
            assertEquals(List.of(5L, 6L, 7L), List.of(row.longOf("m"), row.longOf("v"), row.longOf("layout")));
            assertEquals(0, row.floatOf("metricFloor"));
            assertEquals(0.25f, row.floatOf("visible"));
            assertEquals(8, row.intOf("set"));
            assertEquals(9, row.longOf("maps"));
            assertEquals(10, row.intOf("boxBytes"));
            MemorySegment layout = arena.allocate(Structs.LAYOUT.layout()).fill((byte) -1);
            Tables.layout(Structs.LAYOUT.row(layout, 0), flat, turned);
            assertEquals(List.of(1L, 6L, 0L), longs(layout, "weights", "shape"));
            assertEquals(List.of(1L, 1L, 0L), longs(layout, "weights", "strides"));
            assertEquals(List.of(2L, 2L, 3L), longs(layout, "gradients", "shape"));
            assertEquals(List.of(2L, 1L, 2L), longs(layout, "gradients", "strides"));
        }
    }

    /** The rank, and the first two numbers of an array. */
    private static List<Long> longs(MemorySegment layout, String tensor, String array) {
        long at = Structs.LAYOUT.layout().byteOffset(PathElement.groupElement(tensor));
        long numbers =
                Structs.LAYOUT.layout().byteOffset(PathElement.groupElement(tensor), PathElement.groupElement(array));
        return List.of(
                layout.get(ValueLayout.JAVA_LONG, at),
                layout.get(ValueLayout.JAVA_LONG, numbers),
                layout.get(ValueLayout.JAVA_LONG, numbers + Long.BYTES));
    }

    @Test
    void aSetIsWrittenWithRuleAndPenalty() {
        AxisGroups groups = new AxisGroups(3, 4, 5);
        Penalty penalty = new GroupMcp(0.5, 3);
        try (Arena arena = Arena.ofConfined()) {
            Row row = set(arena, Kind.GROUPED, new Regularizer(penalty, groups), new int[] {0, 1});
            Update update = Update.of(new UpdateRule.Adam().at(3), 0.1, 0.01);
            assertEquals(update.keepFirst(), row.floatOf("keepFirst"));
            assertEquals(update.addFirst(), row.floatOf("addFirst"));
            assertEquals(update.step(), row.floatOf("step"));
            assertEquals(update.keepSecond(), row.floatOf("keepSecond"));
            assertEquals(update.addSecond(), row.floatOf("addSecond"));
            assertEquals(update.scaleSecond(), row.floatOf("scaleSecond"));
            assertEquals(update.innerEpsilon(), row.floatOf("innerEpsilon"));
            assertEquals(update.outerEpsilon(), row.floatOf("outerEpsilon"));
            assertEquals(update.decay(), row.floatOf("decay"));
            assertEquals(update.unseen(), row.floatOf("unseen"));
            assertEquals(0, row.intOf("seen"));
            assertEquals(0.125, row.doubleOf("metricFloor"));
            PenaltyTerms terms = PenaltyTerms.of(penalty, groups.size(0), 0.1);
            assertEquals(terms.idle(), row.intOf("idle") != 0);
            assertEquals(terms.fast(), row.intOf("fast") != 0);
            assertEquals(terms.kneed(), row.intOf("kneed") != 0);
            assertEquals(0.1, row.doubleOf("stepSize"));
            assertEquals(1e-3, row.doubleOf("smallStep"));
            assertEquals(terms.threshold(), row.doubleOf("threshold"));
            assertEquals(terms.kappa(), row.doubleOf("kappa"));
            assertEquals(terms.knee(), row.doubleOf("knee"));
            assertEquals(terms.singleThreshold(), row.doubleOf("singleThreshold"));
            assertEquals(penalty.singleStrength(), row.doubleOf("singleStrength"));
            assertEquals(0, row.doubleOf("outerStrength"));
            assertEquals(15, row.doubleOf("size"));
            assertEquals(4, row.longOf("count"));
            assertEquals(0, row.intOf("parts"));
            List<Piece> pieces = terms.profile().pieces();
            assertEquals(pieces.size(), row.intOf("pieces"));
            for (int i = 0; i < Kind.MOST_PIECES; i++) {
                Piece piece = i < pieces.size() ? pieces.get(i) : new Piece(0, 0, 0);
                assertEquals(piece.from(), row.within("piece", i).doubleOf("from"));
                assertEquals(piece.height(), row.within("piece", i).doubleOf("height"));
                assertEquals(piece.bend(), row.within("piece", i).doubleOf("bend"));
            }
        }
    }

    /** Who finds a gradient as large as that need not look at second moments. */
    @Test
    void aVisibleGradientIsSeenByItself() {
        List<UpdateRule> rules = List.of(
                new UpdateRule.Adam(),
                new UpdateRule.Adam(0, 0, 1e-3),
                new UpdateRule.Adam(0.9, 0.99999, 1e-30),
                new UpdateRule.AdaGrad(),
                new UpdateRule.RmsProp());
        for (UpdateRule rule : rules) {
            for (long step : new long[] {1, 2, 10, 100_000}) {
                Update update = Update.of(rule.at(step), 0.1, 0);
                float visible = Tables.visible(rule.at(step));
                String what = rule + " in step " + step + ": " + visible;
                assertTrue(update.sees(update.second(0, visible)), what);
                assertTrue(update.unseen() < 1e-30 || !update.sees(update.second(0, 0.99f * visible)), what);
            }
        }
        assertEquals(0, Tables.visible(new UpdateRule.Sgd().at(1)));
    }

    @Test
    void aSetOfNestedGroupsIsWrittenWithItsParts() {
        JointGroups joint = new JointGroups(List.of(new AxisGroups(2, 3, 4), new AxisGroups(5, 3, 1)));
        NestedLasso penalty = new NestedLasso(0.5, 0.25);
        MemorySegment table = Arena.ofAuto().allocate(Structs.SET.layout()).fill((byte) -1);
        write(
                Structs.SET.row(table, 0),
                Kind.NESTING,
                new Regularizer(penalty, NestedGroups.ofParts(joint)),
                new int[] {0, 2, 3});
        Row row = Structs.SET.row(table, 0);
        assertEquals(penalty.outerStrength(13), row.doubleOf("outerStrength"));
        assertEquals(2, row.intOf("parts"));
        long inner = Structs.SET.layout().byteOffset(PathElement.groupElement("innerStrength"));
        assertEquals(penalty.innerStrength(8), table.get(ValueLayout.JAVA_DOUBLE, inner));
        assertEquals(penalty.innerStrength(5), table.get(ValueLayout.JAVA_DOUBLE, inner + 8));
        assertEquals(0, table.get(ValueLayout.JAVA_DOUBLE, inner + 16));
        long members = Structs.SET.layout().byteOffset(PathElement.groupElement("firstMember"));
        assertEquals(0, table.get(ValueLayout.JAVA_INT, members));
        assertEquals(2, table.get(ValueLayout.JAVA_INT, members + 4));
        assertEquals(3, table.get(ValueLayout.JAVA_INT, members + 8));
        assertEquals(0, table.get(ValueLayout.JAVA_INT, members + 12));
    }

    private static Row set(Arena arena, Kind kind, Regularizer regularizer, int[] firstMembers) {
        Row row = row(arena, Structs.SET);
        write(row, kind, regularizer, firstMembers);
        return row;
    }

    private static void write(Row row, Kind kind, Regularizer regularizer, int[] firstMembers) {
        SetStep step = new SetStep(List.of(), List.of(), 0.1, 0.01);
        List<Long> sizes = regularizer.groups().tensorSizes();
        List<String> names = sizes.stream().map(_ -> "w").toList();
        SetPlan plan = new SetPlan(names, sizes, regularizer, true, 0.125);
        Tables.set(row, kind, plan, regularizer, firstMembers, step, new UpdateRule.Adam().at(3), 1e-3, true, 64);
    }
}
