package dev.espalier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.lang.module.FindException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReader;
import java.lang.module.ModuleReference;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Holds what each module exports to what {@code docs/architecture.md} says is public, and looks at the walls from outside: as
 * a module of somebody else's.
 */
final class WallsTest {
    private static final String ROOT = "dev.espalier.";

    /** Everything on the class path that can be a module. (The file name of libtorch, for one, makes no name of a module.) */
    private static final List<ModuleReference> ALL = Arrays.stream(
                    System.getProperty("java.class.path").split(File.pathSeparator, -1))
            .map(Path::of)
            .filter(Files::exists)
            .flatMap(WallsTest::modules)
            .toList();

    /** Our modules by name, {@code core} for {@code dev.espalier.core}. */
    private static final Map<String, ModuleReference> OURS = ALL.stream()
            .filter(module -> module.descriptor().name().startsWith(ROOT))
            .filter(module -> !module.descriptor().isAutomatic()) // the programs
            .collect(Collectors.toMap(
                    module -> inHouse(module.descriptor().name()), Function.identity(), (a, b) -> a, TreeMap::new));

    private static Stream<ModuleReference> modules(Path entry) {
        try {
            return ModuleFinder.of(entry).findAll().stream();
        } catch (FindException e) {
            return Stream.empty();
        }
    }

    private static String inHouse(String name) {
        return name.substring(ROOT.length());
    }

    @TestFactory
    Stream<DynamicTest> everyModuleExportsWhatIsPublicToAllAndWhatIsUsedToItsUsers() throws IOException {
        Map<String, Set<String>> open = ArchitectureTest.block("public");
        Map<String, Set<String>> arrows = ArchitectureTest.arrows();
        assertTrue(
                OURS.keySet().containsAll(open.keySet()),
                () -> "the block ```public has a line for what is no module: " + open.keySet() + ", of "
                        + OURS.keySet());
        return OURS.entrySet().stream()
                .map(module -> DynamicTest.dynamicTest(
                        module.getKey(),
                        () -> assertEquals(
                                drawn(module.getKey(), open.getOrDefault(module.getKey(), Set.of()), arrows),
                                exports(module.getValue().descriptor()),
                                () -> "what module-info.java of " + module.getKey()
                                        + " exports, and to whom, is not what"
                                        + " docs/architecture.md says in the blocks ```public and ```arrows")));
    }

    /** The exported packages of a module, each with the modules that it is for; with none if it is for everybody. */
    private static Map<String, Set<String>> exports(ModuleDescriptor module) {
        return module.exports().stream()
                .collect(Collectors.toMap(
                        export -> inHouse(export.source()),
                        export -> export.targets().stream()
                                .map(WallsTest::inHouse)
                                .collect(Collectors.toCollection(TreeSet::new)),
                        (a, b) -> a,
                        TreeMap::new));
    }

    private static Map<String, Set<String>> drawn(String module, Set<String> open, Map<String, Set<String>> arrows) {
        Map<String, Set<String>> exports = new TreeMap<>();
        open.forEach(name -> exports.put(name, new TreeSet<>()));
        arrows.forEach((user, used) -> used.stream()
                .filter(name -> moduleOf(name).equals(module) && !open.contains(name))
                .filter(name -> !moduleOf(user).equals(module) && OURS.containsKey(moduleOf(user)))
                .forEach(name ->
                        exports.computeIfAbsent(name, any -> new TreeSet<>()).add(moduleOf(user))));
        return exports;
    }

    /** Packages begin with their module's name. */
    private static String moduleOf(String packageName) {
        return packageName.split("\\.", -1)[0];
    }

    @TestFactory
    Stream<DynamicTest> everyServiceIsFoundOnTheClassPathTooAndViceVersa() {
        return OURS.entrySet().stream()
                .map(module -> DynamicTest.dynamicTest(
                        module.getKey(),
                        () -> assertEquals(
                                onClassPath(module.getValue()),
                                module.getValue().descriptor().provides().stream()
                                        .collect(Collectors.toMap(
                                                ModuleDescriptor.Provides::service,
                                                provides -> new TreeSet<>(provides.providers()))),
                                "META-INF/services and `provides` of module-info.java must name the same")));
    }

    private static Map<String, Set<String>> onClassPath(ModuleReference module) throws IOException {
        String folder = "META-INF/services/";
        try (ModuleReader reader = module.open();
                Stream<String> resources = reader.list()) {
            return resources
                    .filter(name -> name.startsWith(folder) && !name.endsWith("/"))
                    .collect(Collectors.toMap(name -> name.substring(folder.length()), name -> lines(reader, name)));
        }
    }

    private static Set<String> lines(ModuleReader reader, String name) {
        try (InputStream in = reader.open(name).orElseThrow()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .collect(Collectors.toCollection(TreeSet::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Services are found without {@code META-INF}, what is behind a wall can be passed on, and Jackson sees what it must. */
    @Test
    void aModuleOfSomebodyElsesRunsWithOurs(@TempDir Path folder) throws Exception {
        String program = """
                package org.example.user;

                import dev.espalier.core.rule.UpdateRule;
                import dev.espalier.core.step.Optimizer;
                import dev.espalier.core.step.StepOptions;
                import dev.espalier.data.Context;
                import dev.espalier.data.DataSection;
                import dev.espalier.data.Encoding;
                import dev.espalier.engine.Device;
                import java.util.List;

                final class Program {
                    public static void main(String... arguments) throws Exception {
                        try (var optimizer = new Optimizer(
                                new UpdateRule.Adam(), List.of(), StepOptions.DEFAULT, Device.CPU.kernels())) {
                            System.out.println(optimizer.kernelName().isEmpty());
                        }
                        var data = DataSection.load(DataSection.read("data.kind=digits"), Context.QUIET);
                        System.out.println(Encoding.parse(data.encoding().toJson()).equals(data.encoding()));
                    }
                }
                """;
        assertEquals("", complaints(folder, program));
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--module-path",
                        modulePath() + File.pathSeparator + folder,
                        "--module",
                        "org.example.user/org.example.user.Program")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        assertEquals(
                List.of("false", "true"),
                new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                        .lines()
                        .toList());
        assertEquals(0, process.waitFor());
    }

    @Test
    void whatIsBehindAWallIsRefused(@TempDir Path folder) throws IOException {
        for (String walled : List.of("core.check.Check", "core.kernel.StepKernel", "data.image.DigitsKind")) {
            String complaints =
                    complaints(folder, "package org.example.user; class Program { %s%s it; }".formatted(ROOT, walled));
            assertTrue(complaints.contains("is not visible"), () -> walled + ": " + complaints);
        }
    }

    /** What the compiler has against a program in a module that requires ours. */
    private static String complaints(Path output, String program) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        boolean sound = compiler.getTask(
                        messages,
                        null,
                        null,
                        List.of("-d", output.toString(), "--module-path", modulePath()),
                        null,
                        List.of(
                                source(
                                        "module-info",
                                        "module org.example.user { requires dev.espalier.data; requires dev.espalier.engine; }"),
                                source("org/example/user/Program", program)))
                .call();
        return sound ? "" : messages.toString();
    }

    private static SimpleJavaFileObject source(String name, String text) {
        return new SimpleJavaFileObject(URI.create("string:///" + name + ".java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        };
    }

    /** Our modules and other people's; not what of ours is no module. */
    private static String modulePath() {
        return ALL.stream()
                .filter(module -> !module.descriptor().name().startsWith("espalier."))
                .map(module -> Path.of(module.location().orElseThrow()).toString())
                .collect(Collectors.joining(File.pathSeparator));
    }
}
