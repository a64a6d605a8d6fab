package dev.espalier.torture.crash;

import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.HuggingFace;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.squad.Answer;
import dev.espalier.squad.Paragraph;
import dev.espalier.squad.Question;
import dev.espalier.squad.Squad;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A command that trains for a second or so, and can be gone on with. It is started in a folder with the files of {@link #prepare}.
 *
 * @param name what it is called
 * @param begin the words after {@code espalier} that begin it in the folder {@code run}
 * @param resume those that go on
 * @param trainings how many trainings are under way at once
 */
record Victim(String name, List<String> begin, List<String> resume, int trainings) {
    /** What all have in common that learn digits. */
    private static final String DIGITS = """
            data = { kind = "digits", train_limit = 120, test_limit = 40 }
            divergence.chance_epochs = 0
            """;

    /** Batch norm, accumulation, three phases, a λ that is controlled, and batches that are changed at random. */
    private static final String IMAGES = DIGITS.replace(" }", ", padding = 1 }") + """
            model = { kind = "small-cnn", channels = [6, 6] }
            penalty = { kind = "group-lasso", lambda = 1e-4 }
            optimizer.rate = 1e-2
            schedule.kind = "cosine"
            training = { epochs = 3, batch_size = 10, accumulate = 3, prune_for = "size" }
            phases = { warm_up_epochs = 1, heal_epochs = 2 }
            target = { kind = "groups", share = 0.9 }
            checkpoint.every = 2
            """;

    /** A λ that is estimated, and moments of another rule. */
    private static final String NUMBERS = DIGITS + """
            model = { kind = "mlp", hidden = [12, 8] }
            penalty = { kind = "group-mcp", lambda = "auto", beta = 10 }
            optimizer = { kind = "adam", rate = 1e-2 }
            training = { epochs = 4, batch_size = 20, prune_for = "size" }
            target = { kind = "groups", share = 0.7 }
            checkpoint.every = 3
            """;

    /** Dropout and joined groups. */
    private static final String QUESTIONS = """
            data = { kind = "squad", dir = ".", train_file = "squad.json", test_file = "squad.json", length = 32, stride = 8, question_length = 12 }
            model = { kind = "bert", checkpoint = "bert" }
            penalty = { kind = "group-lasso", lambda = 1e-4 }
            groups = { rules = "paper", join = "joint" }
            optimizer = { kind = "adam", rate = 1e-3 }
            training = { epochs = 3, batch_size = 4, prune_for = "size" }
            checkpoint.every = 2
            divergence.chance_epochs = 0
            """;

    private static final String STUDY = """
            study = { recipe = "numbers.toml", set = ["training.epochs=2"] }
            axes.optimizer.rate = [1e-2, 5e-3]
            """;

    private static final String CROWD = """
            study = { recipe = "numbers.toml", seeds = [1, 2, 3] }
            axes.optimizer.rate = [1e-2, 5e-3]
            """;

    private static final List<String> SHRINK = List.of(
            "shrink",
            "model.onnx",
            "--run-dir",
            "run",
            "-o",
            "small.onnx",
            "--inputs",
            "digits",
            "--set",
            "data.train_limit=120",
            "--set",
            "data.test_limit=40",
            "--set",
            "training.prune_for=size",
            "--set",
            "checkpoint.every=4",
            "--keep",
            "80%",
            "--of",
            "parameters",
            "--epochs",
            "6");

    static List<Victim> all() {
        return List.of(
                train("images"),
                train("numbers"),
                train("questions"),
                resumed("shrink", SHRINK),
                study("study", 2, "--on", "process", "--jobs", "2"),
                study("crowd", 6, "--jobs", "6"));
    }

    private static Victim train(String name) {
        return resumed(name, List.of("train", name + ".toml", "--run-dir", "run"));
    }

    private static Victim resumed(String name, List<String> begin) {
        return new Victim(name, begin, join(begin, List.of("--resume")), 1);
    }

    private static Victim study(String name, int trainings, String... options) {
        List<String> begin = join(List.of("study", name + ".toml", "--run-dir", "run"), List.of(options));
        return new Victim(name, begin, begin, trainings);
    }

    /** The same with more options. */
    Victim with(String... options) {
        return new Victim(name, join(begin, List.of(options)), join(resume, List.of(options)), trainings);
    }

    private static List<String> join(List<String> some, List<String> more) {
        List<String> all = new ArrayList<>(some);
        all.addAll(more);
        return all;
    }

    /** Writes all that any of them reads. */
    static void prepare(Path folder) throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve("images.toml"), IMAGES);
        Files.writeString(folder.resolve("numbers.toml"), NUMBERS);
        Files.writeString(folder.resolve("questions.toml"), QUESTIONS);
        Files.writeString(folder.resolve("study.toml"), STUDY);
        Files.writeString(folder.resolve("crowd.toml"), CROWD);
        OnnxWriter.write(
                Mlp.ofImages(new ImageOptions(10, 1, 8), List.of(24), Weights.seeded(5)), folder.resolve("model.onnx"));
        writeQuestions(folder);
    }

    private static void writeQuestions(Path folder) throws IOException {
        List<String> things = List.of("tower", "bridge", "mill", "gate", "castle", "church", "harbour", "palace");
        List<String> words = new ArrayList<>(List.of("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"));
        Collections.addAll(words, "the", "stands", "near", "a", "river", "where", "is", "what", "?", ".");
        words.addAll(things);
        List<Paragraph> paragraphs = new ArrayList<>();
        for (String thing : things) {
            String context = "the %s stands near a river .".formatted(thing);
            paragraphs.add(new Paragraph(
                    thing,
                    context,
                    List.of(
                            question(thing + "-1", "what stands near a river ?", "the " + thing, context),
                            question(thing + "-2", "where is the %s ?".formatted(thing), "near a river", context))));
        }
        new Squad(paragraphs).write(folder.resolve("squad.json"));
        BertConfig tiny = new BertConfig(
                words.size(), 16, 1, 2, 32, 32, 2, BertConfig.BASE.epsilon(), 0.1, 0.1, BertConfig.BASE.activation());
        Path checkpoint = folder.resolve("bert");
        HuggingFace.save(checkpoint, Bert.questionAnswering(tiny, Weights.seeded(0)), tiny);
        Files.write(checkpoint.resolve("vocab.txt"), words);
    }

    private static Question question(String id, String text, String answer, String context) {
        return new Question(id, text, List.of(new Answer(answer, context.indexOf(answer))));
    }
}
