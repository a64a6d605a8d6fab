package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;

final class MainTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TestFactory
    Stream<DynamicTest> everyCommandExplainsItself() {
        return commands(Main.commandLine())
                .map(command -> DynamicTest.dynamicTest(
                        command.getCommandSpec().qualifiedName(), () -> assertExplained(command)));
    }

    @TestFactory
    Stream<DynamicTest> everyCommandHasHelp() {
        return commands(Main.commandLine()).map(CommandLine::getCommandSpec).map(spec -> {
            String[] words = spec.qualifiedName(" ").split(" ", -1);
            words[0] = "help";
            return DynamicTest.dynamicTest(spec.qualifiedName(), () -> {
                assertEquals(0, run(Main.commandLine(), words), err::toString);
                assertTrue(out.toString().contains("Usage: " + spec.qualifiedName()), out::toString);
            });
        });
    }

    /** A command that is new needs a group. */
    @Test
    void theListHasEveryCommandOnceInALineOfAtMostSeventyCharacters() {
        List<String> grouped = CommandGroups.ALL.stream()
                .flatMap(group -> group.commands().stream())
                .toList();
        List<String> visible = Main.commandLine().getSubcommands().entrySet().stream()
                .filter(command ->
                        !command.getValue().getCommandSpec().usageMessage().hidden())
                .map(Map.Entry::getKey)
                .toList();
        assertEquals(new TreeSet<>(visible), new TreeSet<>(grouped));
        assertEquals(visible.size(), grouped.size(), grouped::toString);
        assertEquals(0, run(Main.commandLine(), "--help"), err::toString);
        assertTrue(
                out.toString().contains("%n%nMake a model smaller:%n  shrink      Shrink ".formatted()), out::toString);
        for (CommandLine command : Main.commandLine().getSubcommands().values()) {
            String summary = CommandGroups.summary(command.getHelp());
            assertTrue(
                    summary.length() <= 70
                            || command.getCommandSpec().usageMessage().hidden(),
                    summary);
            assertTrue(
                    summary.matches("[A-Z][a-z]*[^s ] .*"),
                    () -> "begins with no verb that tells to do it: " + summary);
        }
    }

    @Test
    void theMainCommandsShowTwoExamples() {
        for (String name : List.of("shrink", "prune", "train", "convert", "compare")) {
            CommandLine command =
                    Objects.requireNonNull(Main.commandLine().getSubcommands().get(name));
            String[] examples = command.getCommandSpec().usageMessage().footer();
            assertEquals(2, examples.length, name);
            for (String example : examples) {
                String[] words = example.strip().replace("%%", "%").split(" ", -1);
                Main.commandLine().parseArgs(Arrays.copyOfRange(words, 1, words.length));
            }
        }
    }

    @Test
    void versionNamesProgramAndPlatform() {
        assertEquals(0, run(Main.commandLine(), "--version"));
        assertTrue(out.toString().startsWith("espalier "), out::toString);
        assertTrue(out.toString().contains(System.getProperty("os.arch")), out::toString);
    }

    @Test
    void noCommandShowsTheUsage() {
        assertEquals(2, run(Main.commandLine()));
        assertTrue(err.toString().startsWith("Usage: espalier"), err::toString);
    }

    @Test
    void unknownOptionIsOneLineAndAHint() {
        assertEquals(2, run(failing(new IllegalStateException("never thrown")), "fail", "--no-such"));
        assertEquals(
                "espalier: Unknown option: '--no-such'%nTry 'espalier fail --help'.%n".formatted(), err.toString());
    }

    @Test
    void illegalArgumentIsOneLineAndStatusTwo() {
        assertEquals(2, run(failing(new IllegalArgumentException("alpha = -1.0 is out of range")), "fail"));
        assertEquals("espalier: alpha = -1.0 is out of range%n".formatted(), err.toString());
    }

    @Test
    void missingFileIsNamed() {
        assertEquals(2, run(failing(new NoSuchFileException("weights.onnx")), "fail"));
        assertEquals(
                "espalier: no such file: weights.onnx (looked for in %s)%n"
                        .formatted(Path.of("").toAbsolutePath()),
                err.toString());
    }

    @Test
    void unexpectedFailureHidesItsStack() {
        assertEquals(1, run(failing(new IllegalStateException("broken")), "fail"));
        assertEquals(1, err.toString().lines().count(), err::toString);
        assertTrue(err.toString().contains("broken"), err::toString);
        assertTrue(err.toString().contains("--stacktrace"), err::toString);
    }

    @Test
    void stacktraceShowsTheStackOfAnyFailure() {
        assertEquals(1, run(failing(new IllegalStateException("broken")), "fail", "--stacktrace"));
        assertTrue(err.toString().contains("\tat "), err::toString);
    }

    private int run(CommandLine commandLine, String... arguments) {
        return commandLine
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(arguments);
    }

    private static Stream<CommandLine> commands(CommandLine commandLine) {
        return Stream.concat(
                Stream.of(commandLine),
                commandLine.getSubcommands().values().stream().distinct().flatMap(MainTest::commands));
    }

    private static void assertExplained(CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        String name = spec.qualifiedName();
        assertTrue(says(spec.usageMessage().description()), () -> name + " has no description");
        assertAll(Stream.concat(spec.options().stream(), spec.positionalParameters().stream())
                .map(argument -> () -> assertTrue(
                        says(argument.description()), () -> name + " " + label(argument) + " has no description")));
        assertTrue(
                spec.mixinStandardHelpOptions() || spec.optionsMap().containsKey("--help"),
                () -> name + " has no --help");
        assertFalse(command.getUsageMessage().isBlank(), () -> name + " has an empty help page");
    }

    private static boolean says(String[] description) {
        return Arrays.stream(description).anyMatch(line -> !line.isBlank());
    }

    private static String label(ArgSpec argument) {
        return argument.isOption() ? argument.toString() : argument.paramLabel();
    }

    private static CommandLine failing(Exception failure) {
        return Main.commandLine().addSubcommand(new Fail(failure));
    }

    @Command(name = "fail")
    private record Fail(Exception failure) implements Callable<Integer> {
        @Override
        public Integer call() throws Exception {
            throw failure;
        }
    }
}
