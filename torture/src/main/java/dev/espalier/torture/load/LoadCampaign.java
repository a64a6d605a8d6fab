package dev.espalier.torture.load;

import dev.espalier.cli.Main;
import dev.espalier.cli.ThisProgram;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.torture.Campaign;
import dev.espalier.torture.Effort;
import dev.espalier.torture.Figures;
import dev.espalier.torture.Folders;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Eight processes train while 200 commands are carried out at once, in threads of this process: {@code answer}, {@code predict} and
 * {@code prune}. All must say what they say alone, and the trainings must end; that it takes longer is no failure. A case is all of that.
 */
public final class LoadCampaign implements Campaign {
    private static final int TRAININGS = 8;
    private static final int COMMANDS = 200;
    private static final List<String> QUICK = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m");
    private static final long HANG_MINUTES = 60;

    private static final String RECIPE = """
            data = { kind = "csv", path = "rows.csv", label = "class" }
            model = { kind = "mlp", hidden = [8] }
            penalty = { kind = "group-lasso", lambda = 1e-3 }
            optimizer.rate = 1e-2
            training = { epochs = 40, batch_size = 16, prune_for = "size" }
            checkpoint.every = 20
            divergence.chance_epochs = 0
            """;

    private final int trainings;
    private final int commands;

    /** A campaign. */
    public LoadCampaign() {
        this(TRAININGS, COMMANDS);
    }

    LoadCampaign(int trainings, int commands) {
        this.trainings = trainings;
        this.commands = commands;
    }

    @Override
    public String name() {
        return "load";
    }

    @Override
    public String description() {
        return "8 trainings and 200 commands at once: none fails, and each says what it says alone";
    }

    /**
     * What a command did.
     *
     * @param status its exit status
     * @param said what it printed, times left out
     * @param seconds how long it took
     */
    private record Reply(int status, String said, double seconds) {}

    @Override
    public Figures run(Effort effort) throws IOException, InterruptedException {
        Figures figures = effort.figures();
        Path folder = Files.createTempDirectory("espalier-load");
        try {
            prepare(folder);
            List<List<String>> kinds = kinds(folder);
            List<Reply> alone = new ArrayList<>();
            for (List<String> kind : kinds) {
                alone.add(reply(kind));
            }
            alone.forEach(reply -> require(reply.status() == 0, "a command fails alone: " + reply.said()));
            while (effort.more()) {
                round(folder, kinds, alone, figures);
            }
            return figures;
        } finally {
            Folders.delete(folder);
        }
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what);
        }
    }

    private void prepare(Path folder) throws IOException, InterruptedException {
        StringBuilder rows = new StringBuilder("a,b,class\n");
        for (int i = 0; i < 200; i++) {
            rows.append(i % 7)
                    .append(',')
                    .append(i % 3)
                    .append(',')
                    .append(i % 7 > 3 ? "yes" : "no")
                    .append('\n');
        }
        Files.writeString(folder.resolve("rows.csv"), rows);
        Files.writeString(folder.resolve("recipe.toml"), RECIPE);
        OnnxWriter.write(
                Mlp.ofImages(new ImageOptions(10, 1, 8), List.of(24), Weights.seeded(5)), folder.resolve("model.onnx"));
        List<String> words = List.of(
                "[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "old", "tower", "stands", "near", "river", "what", "?");
        Files.write(folder.resolve("vocab.txt"), words);
        BertConfig tiny = new BertConfig(words.size(), 16, 1, 2, 32, 48, 2, 1e-12, 0, 0, BertConfig.Activation.GELU);
        OnnxWriter.write(Bert.questionAnswering(tiny, Weights.seeded(1)), folder.resolve("answers.onnx"));
        require(start(folder, "trained").waitFor() == 0, "a training fails alone");
    }

    private static List<List<String>> kinds(Path folder) {
        return List.of(
                List.of(
                        "answer",
                        folder.resolve("answers.onnx").toString(),
                        "--question",
                        "what stands near the river ?",
                        "--context",
                        "the old tower stands near the river",
                        "--length",
                        "48",
                        "--stride",
                        "8",
                        "--question-length",
                        "16"),
                List.of(
                        "predict",
                        folder.resolve("trained").toString(),
                        folder.resolve("rows.csv").toString()),
                List.of("prune", folder.resolve("model.onnx").toString(), "--target", "60%", "--for", "size", "-o"));
    }

    private void round(Path folder, List<List<String>> kinds, List<Reply> alone, Figures figures)
            throws IOException, InterruptedException {
        List<Process> processes = new ArrayList<>();
        for (int i = 0; i < trainings; i++) {
            Folders.delete(folder.resolve("run-" + i));
            processes.add(start(folder, "run-" + i));
        }
        List<Future<Reply>> replies = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(commands)) {
            for (int i = 0; i < commands; i++) {
                List<String> words = new ArrayList<>(kinds.get(i % kinds.size()));
                replies.add(threads.submit(() -> reply(words)));
            }
        }
        for (int i = 0; i < commands; i++) {
            Reply expected = alone.get(i % kinds.size());
            String name = kinds.get(i % kinds.size()).getFirst();
            figures.add("commands", 1);
            try {
                Reply reply = replies.get(i).get();
                figures.worst("slowest " + name + ", seconds", reply.seconds());
                figures.worst(name + " alone, seconds", expected.seconds());
                if (reply.status() != 0 || !reply.said().equals(expected.said())) {
                    figures.fail(name + " says " + reply.said() + " with status " + reply.status() + ", and alone "
                            + expected.said());
                }
            } catch (ExecutionException e) {
                figures.fail(name + ": " + e.getCause());
            }
        }
        for (int i = 0; i < trainings; i++) {
            figures.add("trainings", 1);
            Process process = processes.get(i);
            boolean ended = process.waitFor(HANG_MINUTES, TimeUnit.MINUTES);
            if (!ended || process.exitValue() != 0) {
                process.destroyForcibly();
                figures.fail("a training " + (ended ? "fails: " : "hangs: ")
                        + Files.readString(folder.resolve("run-" + i + ".txt")));
            } else if (Files.mismatch(
                            folder.resolve("run-" + i).resolve("model.onnx"),
                            folder.resolve("trained").resolve("model.onnx"))
                    >= 0) {
                figures.fail("a training ends in another model than alone");
            }
        }
    }

    private static Process start(Path folder, String run) throws IOException {
        return new ProcessBuilder(ThisProgram.command(QUICK, List.of("train", "recipe.toml", "--run-dir", run)))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve(run + ".txt").toFile())
                .redirectInput(new File("/dev/null"))
                .start();
    }

    /** Carries out a command; one that ends in {@code -o} is given a file of its own. */
    private static Reply reply(List<String> words) throws IOException {
        List<String> all = new ArrayList<>(words);
        Path file = Files.createTempDirectory("espalier-load-command").resolve("small.onnx");
        if (all.getLast().equals("-o")) {
            all.add(file.toString());
        }
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        long begun = System.nanoTime();
        int status = Main.commandLine()
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(all.toArray(String[]::new));
        double seconds = (System.nanoTime() - begun) / 1e9;
        String said = status == 0 ? out.toString() : out + " " + err;
        Path folder = Objects.requireNonNull(file.getParent());
        Folders.delete(folder);
        return new Reply(
                status, said.replace(folder.toString(), "").replaceAll("[\\d.]+ m?s\\b", "some time"), seconds);
    }
}
