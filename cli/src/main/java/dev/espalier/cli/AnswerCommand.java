package dev.espalier.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.espalier.runtime.OnnxRuntimeModel;
import dev.espalier.squad.AnswerCandidate;
import dev.espalier.squad.AnswerReader;
import dev.espalier.squad.AnswerSearch;
import dev.espalier.squad.Answerer;
import dev.espalier.squad.FirstToken;
import dev.espalier.squad.WindowPlan;
import dev.espalier.text.UnknownTokens;
import dev.espalier.text.WordPiece;
import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code espalier answer}: asks a model a question on a text. */
@Command(
        name = "answer",
        description = {
            "Answer a question from a text, with a model trained on SQuAD.",
            "Prints the piece of the text that the model takes for the answer. ONNX Runtime runs the model. Positions count characters from 0, as in SQuAD.",
        })
final class AnswerCommand implements Callable<Integer> {
    /** Long texts have many windows; this many are in memory at once. */
    private static final int WINDOWS_AT_ONCE = 8;

    private static final String STANDARD_INPUT = "-";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Parameters(
            paramLabel = "MODEL",
            description = "An ONNX file, or the folder of a training run: then the pruned model in it.")
    @SuppressWarnings("NullAway.Init")
    private Path model;

    @Option(names = "--question", paramLabel = "TEXT", required = true, description = "The question.")
    @SuppressWarnings("NullAway.Init")
    private String question;

    @ArgGroup(multiplicity = "1")
    @SuppressWarnings("NullAway.Init")
    private Context context;

    /** Where the text comes from. */
    private static final class Context {
        @Option(names = "--context", paramLabel = "TEXT", description = "The text that the answer is a piece of.")
        private @Nullable String text;

        @Option(
                names = "--context-file",
                paramLabel = "FILE",
                description = "A file with that text in UTF-8; " + STANDARD_INPUT + " is standard input.")
        private @Nullable String file;

        private String read() throws IOException {
            if (text != null || file == null) {
                return String.valueOf(text);
            }
            boolean isStandardInput = file.equals(STANDARD_INPUT);
            if (!isStandardInput && Files.isDirectory(Path.of(file))) {
                throw new IllegalArgumentException(
                        "--context-file = " + file + " is a folder: give a file with the text");
            }
            byte[] bytes = isStandardInput ? System.in.readAllBytes() : Files.readAllBytes(Path.of(file));
            try {
                return StandardCharsets.UTF_8
                        .newDecoder()
                        .decode(ByteBuffer.wrap(bytes))
                        .toString();
            } catch (CharacterCodingException broken) {
                throw new IOException((isStandardInput ? "standard input" : file) + " is no text in UTF-8", broken);
            }
        }
    }

    @Option(
            names = "--tokenizer",
            paramLabel = "DIR",
            description =
                    "Where the tokenizer.json or vocab.txt is that the model was trained with; beside the model if left"
                            + " out.")
    private @Nullable Path tokenizer;

    @Option(
            names = "--best",
            paramLabel = "N",
            description = "How many answers to print, the likeliest first (default: ${DEFAULT-VALUE}).")
    private int best = 1;

    @Option(
            names = "--length",
            paramLabel = "N",
            description =
                    "Tokens that the model reads at once, question included. This and the next two are those of the"
                            + " recipe.toml next to the model by default, or else the defaults of recipes.")
    private @Nullable Integer length;

    @Option(
            names = "--stride",
            paramLabel = "N",
            description = "Tokens of a long text that are read again with the next ones.")
    private @Nullable Integer stride;

    @Option(names = "--question-length", paramLabel = "N", description = "Tokens that a question is cut to.")
    private @Nullable Integer questionLength;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    /** What the model says. */
    private record Opinion(List<AnswerCandidate> answers, double noAnswer) {
        private boolean prefersNone() {
            return !answers.isEmpty() && noAnswer > answers.getFirst().score();
        }
    }

    @Override
    public Integer call() throws IOException {
        if (best < 1) {
            throw new IllegalArgumentException("--best = " + best + " is out of range: it must be at least 1");
        }
        AnsweringModel asked = AnsweringModel.read(AnsweringModel.locate(model));
        RunFolder run = new RunFolder(model);
        if (asked.file().equals(run.model())) {
            PrintWriter err = spec.commandLine().getErr();
            err.printf("espalier: there is no %s, so %s is asked%n", run.pruned(), run.model());
            err.flush();
        }
        String text = context.read();
        Opinion opinion = ask(asked, text);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(json(asked, opinion, text).toPrettyString());
        } else {
            print(opinion, text, out);
        }
        out.flush();
        return 0;
    }

    private Opinion ask(AnsweringModel asked, String text) throws IOException {
        ReadingPlan plan = ReadingPlan.in(asked.folder());
        WindowPlan windows = windows(plan.windows());
        requireFits(asked, windows);
        AnswerSearch search = new AnswerSearch(
                Math.max(best, plan.search().best()), plan.search().answerLength());
        try (WordPiece words = asked.tokenizer(tokenizer);
                OnnxRuntimeModel runtime =
                        new OnnxRuntimeModel(asked.file(), Runtime.getRuntime().availableProcessors())) {
            warnOfUnknown(UnknownTokens.in(words, List.of(question, text)));
            FirstToken first = new FirstToken(runtime::run);
            AnswerReader reader = new AnswerReader(first, search, WINDOWS_AT_ONCE);
            List<AnswerCandidate> answers = new Answerer(words, windows, reader).answer(question, text);
            return new Opinion(answers.subList(0, Math.min(best, answers.size())), first.score());
        }
    }

    private void warnOfUnknown(UnknownTokens unknown) {
        warning(unknown).ifPresent(warning -> {
            PrintWriter err = spec.commandLine().getErr();
            err.println("espalier: " + warning);
            err.flush();
        });
    }

    /** What to say of texts that the tokenizer hardly knows. */
    static Optional<String> warning(UnknownTokens unknown) {
        return unknown.share() > UnknownTokens.SUSPICIOUS
                ? Optional.of("%s of all tokens are unknown to the tokenizer: %s"
                        .formatted(unknown.percent(), unknown.likelyCause()))
                : Optional.empty();
    }

    private WindowPlan windows(WindowPlan usual) {
        return new WindowPlan(
                length == null ? usual.length() : length,
                stride == null ? usual.stride() : stride,
                questionLength == null ? usual.questionLength() : questionLength);
    }

    private static void requireFits(AnsweringModel asked, WindowPlan windows) {
        OptionalLong most = asked.longestWindow();
        if (most.isPresent() && windows.length() > most.getAsLong()) {
            throw new IllegalArgumentException(
                    "--length = %d is out of range: %s reads at most %d tokens at once; --stride and --question-length together"
                                    .formatted(windows.length(), asked.file(), most.getAsLong())
                            + " must be less by more than 3");
        }
    }

    private static void print(Opinion opinion, String text, PrintWriter out) {
        List<AnswerCandidate> answers = opinion.answers();
        if (answers.isEmpty()) {
            out.println("No answer: wherever the model sees one start, it sees it end before that.");
        } else if (answers.size() == 1) {
            AnswerCandidate answer = answers.getFirst();
            out.println(line(answer));
            out.printf(
                    "score %s, probability %s, characters %s%n",
                    score(answer.score()), percent(answer), place(answer, text));
        } else {
            List<List<String>> rows = new ArrayList<>();
            rows.add(List.of("answer", "score", "probability", "characters"));
            for (AnswerCandidate answer : answers) {
                rows.add(List.of(line(answer), score(answer.score()), percent(answer), place(answer, text)));
            }
            Columns.print(rows, out);
        }
        if (opinion.prefersNone()) {
            out.printf(
                    "The model would rather say that the answer is not in this text: score %s.%n",
                    score(opinion.noAnswer()));
        }
    }

    /** An answer may go over several lines of the text. */
    private static String line(AnswerCandidate answer) {
        return answer.text().replaceAll("\\s+", " ");
    }

    private static String score(double score) {
        return String.format(Locale.ROOT, "%.3f", score);
    }

    private static String percent(AnswerCandidate answer) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * answer.probability());
    }

    private static String place(AnswerCandidate answer, String text) {
        return characters(text, answer.from()) + " to " + characters(text, answer.to());
    }

    /** A string counts some characters twice. */
    private static int characters(String text, int index) {
        return text.codePointCount(0, index);
    }

    private ObjectNode json(AnsweringModel asked, Opinion opinion, String text) {
        ObjectNode root = JsonNodeFactory.instance
                .objectNode()
                .put("model", asked.file().toString())
                .put("question", question);
        ArrayNode answers = root.putArray("answers");
        for (AnswerCandidate answer : opinion.answers()) {
            answers.addObject()
                    .put("text", answer.text())
                    .put("score", answer.score())
                    .put("probability", answer.probability())
                    .put("start", characters(text, answer.from()))
                    .put("end", characters(text, answer.to()));
        }
        return root.put("no_answer_score", opinion.noAnswer()).put("prefers_no_answer", opinion.prefersNone());
    }
}
