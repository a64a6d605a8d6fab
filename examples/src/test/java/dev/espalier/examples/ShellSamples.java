package dev.espalier.examples;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.cli.Main;
import dev.espalier.train.recipe.Recipe;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Runs the commands of shell samples in the working directory. {@code ./espalier} runs within this JVM; trainings are cut
 * short. What cannot be run here is listed with the reason; its options are parsed all the same.
 */
final class ShellSamples {
    /** What a command starts with that is not run, and why. */
    static final Map<String, String> NOT_RUN = Map.ofEntries(
            Map.entry("./espalier bench", "measures for minutes"),
            Map.entry(
                    "./espalier compare MINILM.onnx",
                    "needs a model of texts and SQuAD; CompareCommandTest has tiny ones"),
            Map.entry(
                    "./espalier shrink MINILM.onnx",
                    "needs a model of texts, SQuAD and a GPU; ShrinkTest has a tiny one"),
            Map.entry("./espalier shrink VGG16.onnx", "needs a trained model, CIFAR-10 and a GPU"),
            Map.entry("./espalier data cifar10", "downloads 160 MB"),
            Map.entry(
                    "./espalier gpu --install",
                    "fetches gigabytes, and changes what the user has installed; GpuCommandTest and CudaLibTorchTest install"),
            Map.entry("./espalier answer", "asks a BERT that was trained on SQuAD; AnswerCommandTest asks a tiny one"),
            Map.entry("./espalier reproduce", "computes for minutes; every item has a test of its own"),
            Map.entry("./espalier ui", "serves until Ctrl-C; UiCommandTest starts it, and ends it so"),
            Map.entry(
                    "./espalier train recipes/bert-squad",
                    "needs SQuAD and a checkpoint; AnsweringTest trains a tiny BERT"),
            Map.entry("mvn", "this test runs within Maven"),
            Map.entry("cuda/gpu-tests", "builds with Maven"),
            Map.entry("torture/run", "goes on for minutes; every campaign has a short test of its own"),
            Map.entry("python3 bench/pytorch/training.py", "measures PyTorch in Python on a GPU"),
            Map.entry("python3 bench/pytorch/step.py", "measures PyTorch in Python on a GPU"),
            Map.entry("python3 bench/pytorch/decay.py", "trains in Python on a GPU"),
            Map.entry(
                    "./espalier study studies/digits.toml --on",
                    "fetches Spark, 220 MB; SparkLauncherTest carries a study out on two executors"),
            Map.entry("spark-submit", "needs a cluster; SparkLauncherTest has one of two processes"),
            Map.entry("java", "runs what mvn built in the line before"));

    /** Makes any training short, careful, and content with what little it then learns. */
    private static final List<String> SHORT = List.of(
            "data.train_limit=192",
            "data.test_limit=100",
            "training.epochs=1",
            "phases.heal_epochs=0",
            "optimizer.rate=1e-4",
            "divergence.chance_epochs=0");

    /** Makes the shrinking of any model short. */
    private static final List<String> SHRINK =
            List.of("data.train_limit=192", "data.test_limit=100", "training.prune_for=size");

    /** Makes the network of {@code recipes/digits.toml} small. */
    private static final String SMALL = "model.channels=[4,8]";

    private static final Set<String> TRAINING = Set.of("demo", "train", "sweep");
    private static final Pattern EXAMPLE = Pattern.compile("-Dexample=(\\w+)");
    private static final Pattern PROFILE = Pattern.compile("-P([\\w-]+)");

    /** The exceptions that some command made use of. */
    private final Set<String> used = new TreeSet<>();

    /** What commands printed, by their lines: what stands on several pages is run once. */
    private final Map<String, String> outputs = new HashMap<>();

    Set<String> used() {
        return used;
    }

    /** Runs a sample, and returns what those of its commands print that are run. */
    String run(Block block) throws Exception {
        StringBuilder output = new StringBuilder();
        List<Command> commands = Command.of(block);
        assertTrue(!commands.isEmpty(), () -> block.place() + " has no command");
        for (Command command : commands) {
            output.append(run(block, command));
        }
        return output.toString();
    }

    private String run(Block block, Command command) throws Exception {
        return switch (command.words().getFirst()) {
            case "./espalier" -> {
                parse(block, command);
                requireKeys(command);
                yield isException(command) ? "" : once(block, command);
            }
            case "mvn" -> {
                requireModules(block, command);
                requireProfiles(block, command);
                Optional<Class<?>> example = example(command);
                // An example is run without Maven.
                yield example.isEmpty() && isException(command) ? "" : Programs.outputOf(example.orElseThrow());
            }
            case "java", "cuda/gpu-tests", "torture/run", "python3", "spark-submit" -> {
                assertTrue(isException(command), () -> block.place() + " is neither run nor listed: " + command.line());
                yield "";
            }
            case "python" -> Python.run(block, command);
            default ->
                throw new AssertionError(
                        block.place() + " has a command that no treatment is known for: " + command.line());
        };
    }

    private boolean isException(Command command) {
        Optional<String> start =
                NOT_RUN.keySet().stream().filter(command.line()::startsWith).findFirst();
        start.ifPresent(used::add);
        return start.isPresent();
    }

    private String once(Block block, Command command) {
        String known = outputs.get(command.line() + command.input());
        if (known == null) {
            known = execute(block, command);
            outputs.put(command.line() + command.input(), known);
        }
        return known;
    }

    private static void parse(Block block, Command command) {
        String[] arguments = arguments(command).toArray(String[]::new);
        assertDoesNotThrow(() -> Main.commandLine().parseArgs(arguments), () -> block.place() + ": " + command.line());
    }

    /** A shipped recipe is read with the overrides of the command, whether or not the training is run. */
    private static void requireKeys(Command command) throws IOException {
        List<String> words = command.words();
        List<String> overrides = IntStream.range(1, words.size())
                .filter(at -> words.get(at - 1).equals("--set"))
                .mapToObj(words::get)
                .collect(Collectors.toCollection(ArrayList::new));
        if (words.contains("--keep")) {
            // Whatever share it is, the recipe then has a target.
            overrides.addAll(List.of("target.kind=parameters", "target.share=0.3"));
        }
        for (String word : words) {
            if (word.startsWith("recipes/")) {
                Recipe.read(Documentation.ROOT.resolve(word), overrides);
            }
        }
    }

    private static List<String> arguments(Command command) {
        return command.words().subList(1, command.words().size());
    }

    private String execute(Block block, Command command) {
        List<String> arguments = new ArrayList<>(arguments(command));
        if (!arguments.isEmpty() && TRAINING.contains(arguments.getFirst())) {
            SHORT.forEach(key -> arguments.addAll(List.of("--set", key)));
            if (command.line().contains("demo") || command.line().contains("digits.toml")) {
                arguments.addAll(List.of("--set", SMALL));
            }
            if (!arguments.contains("--run-dir")) {
                // Folders are named after the second, and here two runs may begin in the same.
                arguments.addAll(List.of("--run-dir", "runs/" + arguments.getFirst() + "-" + outputs.size()));
            }
        }
        if (!arguments.isEmpty() && arguments.getFirst().equals("study")) {
            String changes = Stream.concat(SHORT.stream(), Stream.of(SMALL))
                    .map(key -> "\"" + key + "\"")
                    .collect(Collectors.joining(",", "study.set=[", "]"));
            arguments.addAll(List.of("--set", changes, "--set", "halving.first=0"));
        }
        if (!arguments.isEmpty() && arguments.getFirst().equals("shrink")) {
            int minutes = arguments.indexOf("--minutes");
            if (minutes >= 0) {
                arguments.subList(minutes, minutes + 2).clear();
            }
            arguments.addAll(List.of("--epochs", "2"));
            SHRINK.forEach(key -> arguments.addAll(List.of("--set", key)));
        }
        return espalier(block.place() + ": " + command.line(), command.input(), arguments);
    }

    /** Runs the command line within this JVM, and returns what it prints. */
    static String espalier(String name, String input, List<String> arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        InputStream before = System.in;
        try {
            System.setIn(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)));
            int exitStatus = Main.commandLine()
                    .setOut(new PrintWriter(out))
                    .setErr(new PrintWriter(err))
                    .execute(arguments.toArray(String[]::new));
            assertTrue(exitStatus == 0 || isHardlyTrained(arguments, out), () -> name + " fails:\n" + out + err);
        } finally {
            System.setIn(before);
        }
        return out.toString();
    }

    /** What was shrunk in two epochs may be no good, which is said first. */
    private static boolean isHardlyTrained(List<String> arguments, StringWriter out) {
        return arguments.getFirst().equals("shrink")
                && out.toString().startsWith("The small model cannot stand in for the original");
    }

    private static void requireModules(Block block, Command command) {
        int modules = command.words().indexOf("-pl");
        if (modules >= 0) {
            for (String module : command.words().get(modules + 1).split(",", -1)) {
                assertTrue(
                        Files.exists(Documentation.ROOT.resolve(module).resolve("pom.xml")),
                        () -> block.place() + " names a module " + module + " that is not there");
            }
        }
    }

    private static void requireProfiles(Block block, Command command) throws IOException {
        String poms = Files.readString(Documentation.ROOT.resolve("pom.xml"))
                + Files.readString(Documentation.ROOT.resolve("examples/pom.xml"))
                + Files.readString(Documentation.ROOT.resolve("spark/pom.xml"));
        for (String word : command.words()) {
            Matcher profile = PROFILE.matcher(word);
            if (profile.matches()) {
                assertTrue(
                        poms.contains("<id>" + profile.group(1) + "</id>"),
                        () -> block.place() + " names a profile " + profile.group(1) + " that is not there");
            }
        }
    }

    /** The example that a command of Maven runs. */
    private static Optional<Class<?>> example(Command command) throws ClassNotFoundException {
        for (String word : command.words()) {
            Matcher example = EXAMPLE.matcher(word);
            if (example.matches()) {
                return Optional.of(Class.forName(ShellSamples.class.getPackageName() + "." + example.group(1)));
            }
        }
        return Optional.empty();
    }
}
