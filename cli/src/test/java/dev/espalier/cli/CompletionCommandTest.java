package dev.espalier.cli;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.espalier.reproduce.Item;
import dev.espalier.reproduce.Items;
import dev.espalier.settings.Key;
import dev.espalier.settings.SettingsException;
import dev.espalier.train.recipe.Recipe;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What shells make of the scripts: real ones, as far as they are installed. */
final class CompletionCommandTest {
    /** How bash cuts a line: at spaces, and around a =. */
    private static final Pattern WORD = Pattern.compile("=|[^\\s=]+");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    Path folder;

    @BeforeEach
    void filesToComplete() throws IOException {
        Files.createDirectories(folder.resolve("runs/one"));
        Files.createDirectories(folder.resolve("recipes"));
        for (String name : List.of("recipes/small.toml", "rows.csv", "resnet.onnx")) {
            Files.createFile(folder.resolve(name));
        }
    }

    private static String script(String shell) {
        StringWriter out = new StringWriter();
        assertEquals(0, Main.commandLine().setOut(new PrintWriter(out)).execute("completion", shell));
        return out.toString();
    }

    private static void requireShell(String shell) {
        assumeTrue(
                Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                        .anyMatch(place -> Files.isExecutable(Path.of(place, shell))),
                () -> "there is no " + shell);
    }

    private List<String> run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        try (BufferedReader reader = process.inputReader()) {
            List<String> lines = reader.readAllLines();
            assertEquals(0, process.waitFor(), lines::toString);
            return lines;
        }
    }

    /** What bash offers at the end of a line. */
    private List<String> offered(String line) throws IOException, InterruptedException {
        requireShell("bash");
        Path script = folder.resolve("runs").resolve("espalier.bash");
        if (!Files.exists(script)) {
            Files.writeString(script, script("bash"));
        }
        List<String> command = new ArrayList<>(List.of(
                "bash",
                "-c",
                "source \"$1\"; COMP_LINE=$2; COMP_POINT=${#COMP_LINE}; shift 2; COMP_WORDS=(\"$@\");"
                        + " COMP_CWORD=$(($# - 1)); _espalier; [ -z \"${COMPREPLY-}\" ] || printf '%s\\n' \"${COMPREPLY[@]}\"",
                "bash",
                script.toString(),
                line));
        WORD.matcher(line).results().map(MatchResult::group).forEach(command::add);
        if (line.endsWith(" ")) {
            command.add("");
        }
        return run(command.toArray(String[]::new));
    }

    @Test
    void commandsAndTheirOptionsAreOffered() throws IOException, InterruptedException {
        Map<String, CommandLine> commands = Main.commandLine().getSubcommands();
        List<String> names = new ArrayList<>(commands.keySet());
        names.remove(TrialCommand.NAME); // not for people
        assertEquals(names, offered("espalier "));
        assertEquals(List.of("train"), offered("./espalier tr"));
        assertEquals(List.of("--run-dir", "--resume"), offered("espalier train recipes/small.toml --r"));
        assertEquals(List.of("prox", "prune", "predict"), offered("espalier help pr"));
        List<String> options = requireNonNull(commands.get("prune")).getCommandSpec().options().stream()
                .flatMap(option -> Arrays.stream(option.names()))
                .toList();
        assertEquals(options, offered("espalier prune -"));
    }

    @Test
    void allKeysOfARecipeAreOffered() throws IOException, InterruptedException {
        for (String command : List.of("train", "sweep", "demo")) {
            assertEquals(
                    new TreeSet<>(Recipe.FORM.keys().stream()
                            .map(key -> key.path() + "=")
                            .toList()),
                    new TreeSet<>(offered("espalier " + command + " --set ")));
        }
        assertEquals(List.of("penalty.lambda="), offered("espalier train small.toml --set penalty.la"));
        assertEquals(List.of(), offered("espalier train small.toml --set training.epochs="));
    }

    @Test
    void valuesThatAreWordsAreOffered() throws IOException, InterruptedException {
        Key<?> kind = Recipe.FORM.keys().stream()
                .filter(key -> key.path().equals("optimizer.kind"))
                .findFirst()
                .orElseThrow();
        assertFalse(kind.words().isEmpty());
        assertEquals(kind.words(), offered("espalier train --set optimizer.kind="));
        assertEquals(
                kind.words().stream().filter(word -> word.startsWith("ad")).toList(),
                offered("espalier train --set=optimizer.kind=ad"));
        assertEquals(List.of("true", "false"), offered("espalier train --set data.normalize="));
    }

    /** What is offered is understood: the reader may find fault with anything else of the recipe, but not with that value. */
    @Test
    void whatIsOfferedForAKeyIsAValueOfIt() {
        for (String word : new RecipeKeys()) {
            if (!word.endsWith("=")) {
                String refused = word.substring(0, word.indexOf('=')) + " = ";
                try {
                    Recipe.parse("none", "", List.of(word));
                } catch (SettingsException exception) {
                    String message = String.valueOf(exception.getMessage());
                    assertFalse(
                            message.lines()
                                    .anyMatch(line -> line.contains(refused) && line.contains("is not possible")),
                            message);
                }
            }
        }
    }

    @Test
    void itemsAndChoicesAreOffered() throws IOException, InterruptedException {
        assertEquals(Items.ALL.stream().map(Item::name).toList(), offered("espalier reproduce "));
        assertEquals(List.of("small", "full"), offered("espalier reproduce table1 --scale "));
        assertEquals(List.of("auto", "cpu", "gpu"), offered("espalier train --device "));
        assertEquals(
                Stream.of(CompletionCommand.Shell.values())
                        .map(shell -> shell.name().toLowerCase(Locale.ROOT))
                        .toList(),
                offered("espalier completion "));
    }

    @Test
    void filesAreOfferedByWhatTheyAreFor() throws IOException, InterruptedException {
        assertEquals(
                List.of("recipes"),
                offered("espalier train r").stream()
                        .filter(name -> !name.equals("runs"))
                        .toList());
        assertEquals(List.of("recipes/small.toml"), offered("espalier train recipes/"));
        assertEquals(List.of("runs/one"), offered("espalier report runs/o"));
        assertEquals(List.of("resnet.onnx"), offered("espalier inspect res"));
        assertEquals(List.of("rows.csv"), offered("espalier evaluate resnet.onnx ro"));
    }

    @Test
    void zshReadsItsScript() throws IOException, InterruptedException {
        requireShell("zsh");
        Path script = Files.writeString(folder.resolve("espalier.zsh"), script("zsh"));
        assertEquals(List.of(), run("zsh", "-f", "-n", script.toString()));
    }

    @Test
    void fishOffersTheSame() throws IOException, InterruptedException {
        requireShell("fish");
        Path script = Files.writeString(folder.resolve("runs/espalier.fish"), script("fish"));
        List<String> table = run("fish", "-c", "source " + script + "; complete -C 'espalier reproduce table'");
        assertEquals(List.of("table1", "table2", "table3", "table4"), table);
        List<String> kinds =
                run("fish", "-c", "source " + script + "; complete -C 'espalier train --set optimizer.kind=ad'");
        assertTrue(kinds.stream().anyMatch(line -> line.startsWith("optimizer.kind=adam")), kinds::toString);
    }
}
