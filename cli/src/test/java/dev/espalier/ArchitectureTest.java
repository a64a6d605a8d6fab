package dev.espalier;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Holds the code to the arrows that {@code docs/architecture.md} draws, so that neither can drift from the other. */
final class ArchitectureTest {
    private static final String ROOT = "dev.espalier";
    private static final Path DOCUMENT = Path.of("docs", "architecture.md");
    private static final String DJL = "ai.djl";

    /** The packages for programs that are written with DJL. */
    private static final Set<String> SPEAKS_DJL = Set.of("torch", "djl", "blocks");

    /** Modules that are not on this class path, as they bring hundreds of megabytes or need this one: they have such a test of their own. */
    private static final Set<String> ELSEWHERE = Set.of("spark", "torture");

    /** All that is delivered, and the benchmarks. */
    static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("/jmh_generated/"))
            .importPackages(ROOT);

    @TestFactory
    Stream<DynamicTest> everyPackageKnowsOnlyWhatItsArrowsName() throws IOException {
        Map<String, Set<String>> libraries = block("libraries");
        return arrows().entrySet().stream()
                .filter(arrow -> isHere(arrow.getKey()))
                .map(arrow -> DynamicTest.dynamicTest(
                        arrow.getKey(), () -> assertKnowsOnly(arrow.getKey(), arrow.getValue(), libraries)));
    }

    @Test
    void documentAndCodeNameTheSamePackages() throws IOException {
        Set<String> inCode =
                CLASSES.stream().map(ArchitectureTest::packageOf).collect(Collectors.toCollection(TreeSet::new));
        assertEquals(
                arrows().keySet().stream()
                        .filter(ArchitectureTest::isHere)
                        .collect(Collectors.toCollection(TreeSet::new)),
                inCode,
                () -> "The packages in the block ```arrows of " + DOCUMENT + " and the packages of " + ROOT
                        + " differ: add or remove the line `package -> what, it, may, know`");
    }

    @Test
    void everyLibraryIsUsedBySomebody() throws IOException {
        Set<String> packages = arrows().keySet();
        block("libraries").forEach((library, users) -> {
            require(packages.containsAll(users), library + " -> " + users + " names a package without an arrow");
            for (String user : users.stream().filter(ArchitectureTest::isHere).toList()) {
                boolean used = CLASSES.stream()
                        .filter(type -> packageOf(type).equals(user))
                        .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
                        .anyMatch(dependency ->
                                dependency.getTargetClass().getPackageName().startsWith(library));
                require(used, user + " does not use " + library + " any more: remove it there");
            }
        });
    }

    @Test
    void drawnArrowsHaveNoCycle() throws IOException {
        Map<String, Set<String>> arrows = arrows();
        Set<String> settled = new TreeSet<>();
        while (arrows.entrySet().stream()
                .anyMatch(arrow -> settled.containsAll(arrow.getValue()) && settled.add(arrow.getKey()))) {}
        assertEquals(arrows.keySet(), settled, () -> DOCUMENT + " draws a cycle through the packages missing here");
    }

    /** Whoever calls the engine, or anything behind it, must not have to know DJL. */
    @Test
    void typesOfDjlAreSeenInTheSignaturesOfTorchAndDjlAlone() {
        List<String> seen = CLASSES.stream()
                .filter(type -> !SPEAKS_DJL.contains(packageOf(type)) && isVisible(type))
                .flatMap(ArchitectureTest::signatures)
                .filter(signature -> signature.types().stream()
                        .flatMap(type -> type.getAllInvolvedRawTypes().stream())
                        .anyMatch(type -> type.getPackageName().startsWith(DJL)))
                .map(Signature::where)
                .toList();
        assertEquals(List.of(), seen, () -> "types of " + DJL + " in signatures outside of " + SPEAKS_DJL);
    }

    /**
     * What others see of a class.
     *
     * @param where its name
     * @param types the types that it is made of
     */
    private record Signature(String where, List<JavaType> types) {}

    /** Nobody sees what is in a class that is not seen. */
    private static boolean isVisible(JavaClass type) {
        return isVisible(type.getModifiers())
                && type.getEnclosingClass().map(ArchitectureTest::isVisible).orElse(true);
    }

    private static boolean isVisible(Set<JavaModifier> modifiers) {
        return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
    }

    private static Stream<Signature> signatures(JavaClass type) {
        List<JavaType> parents = new ArrayList<>(type.getInterfaces());
        type.getSuperclass().ifPresent(parents::add);
        Stream<Signature> codeUnits = type.getCodeUnits().stream()
                .filter(unit -> isVisible(unit.getModifiers()))
                .map(unit -> {
                    List<JavaType> types = new ArrayList<>(unit.getParameterTypes());
                    types.add(unit.getReturnType());
                    return new Signature(unit.getFullName(), types);
                });
        Stream<Signature> fields = type.getFields().stream()
                .filter(field -> isVisible(field.getModifiers()))
                .map(field -> new Signature(field.getFullName(), List.of(field.getType())));
        return Stream.of(Stream.of(new Signature(type.getName(), parents)), codeUnits, fields)
                .flatMap(each -> each);
    }

    @Test
    void malformedArrowsAreRefused() {
        assertEquals(
                Map.of("a", Set.of(), "b", Set.of("a")),
                requireClosed(parse(List.of("```arrows", "a ->", "b -> a", "```"), "arrows")));
        for (List<String> lines : List.of(
                List.of("no block"),
                List.of("```arrows", "a ->"),
                List.of("```arrows", "a", "```"),
                List.of("```arrows", "a ->", "a ->", "```"),
                List.of("```arrows", "a -> b", "```"))) {
            assertThrows(IllegalStateException.class, () -> requireClosed(parse(lines, "arrows")), lines::toString);
        }
    }

    private static void assertKnowsOnly(String name, Set<String> targets, Map<String, Set<String>> libraries) {
        List<String> allowed = new ArrayList<>(List.of("java..", "org.jspecify..", ROOT + "." + name));
        targets.forEach(target -> allowed.add(ROOT + "." + target));
        libraries.forEach((library, users) -> {
            if (users.contains(name)) {
                allowed.add(library + "..");
            }
        });
        classes()
                .that()
                .resideInAPackage(ROOT + "." + name)
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage(allowed.toArray(String[]::new))
                .because(DOCUMENT + " draws no other arrow from " + name)
                .check(CLASSES);
    }

    private static boolean isHere(String name) {
        return !ELSEWHERE.contains(name.split("\\.", 2)[0]);
    }

    private static String packageOf(JavaClass type) {
        return type.getPackageName().substring(ROOT.length() + 1);
    }

    static Map<String, Set<String>> arrows() throws IOException {
        return requireClosed(block("arrows"));
    }

    static Map<String, Set<String>> block(String kind) throws IOException {
        Path here = Path.of("").toAbsolutePath();
        for (Path folder = here; folder != null; folder = folder.getParent()) {
            if (Files.exists(folder.resolve(DOCUMENT))) {
                return parse(Files.readAllLines(folder.resolve(DOCUMENT)), kind);
            }
        }
        throw new IllegalStateException("found no " + DOCUMENT + " in " + here + " or above it");
    }

    private static Map<String, Set<String>> parse(List<String> lines, String kind) {
        int start = lines.indexOf("```" + kind) + 1;
        int length = lines.subList(start, lines.size()).indexOf("```");
        require(start > 0 && length >= 0, "no block that starts with ```" + kind + " and ends with ```");
        Map<String, Set<String>> arrows = new TreeMap<>();
        for (String line : lines.subList(start, start + length)) {
            String[] sides = line.split("->", -1);
            require(sides.length == 2, "not of the form `package -> what, it, may, know`: " + line);
            Set<String> targets = Arrays.stream(sides[1].split(",", -1))
                    .map(String::strip)
                    .filter(target -> !target.isEmpty())
                    .collect(Collectors.toCollection(TreeSet::new));
            require(arrows.put(sides[0].strip(), targets) == null, "a second line for the package of: " + line);
        }
        return arrows;
    }

    private static Map<String, Set<String>> requireClosed(Map<String, Set<String>> arrows) {
        arrows.forEach((name, targets) -> require(
                arrows.keySet().containsAll(targets), name + " -> " + targets + " names a package without a line"));
        return arrows;
    }

    private static void require(boolean holds, String problem) {
        if (!holds) {
            throw new IllegalStateException(DOCUMENT + ": " + problem);
        }
    }
}
