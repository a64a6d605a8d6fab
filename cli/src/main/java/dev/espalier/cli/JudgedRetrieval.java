package dev.espalier.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.espalier.data.Context;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.runtime.OnnxRuntimeModel;
import dev.espalier.runtime.RuntimeTypes;
import dev.espalier.squad.Retrieval;
import dev.espalier.squad.TextVectors;
import dev.espalier.squad.TextVectors.Vectors;
import dev.espalier.text.WordPiece;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What models find that make vectors of texts: {@code compare --task retrieval}.
 *
 * @param file the model
 * @param score what its questions find
 * @param millisecondsText how long it takes for one of the texts that are found, on average
 * @param millisecondsQuestion how long for a question
 * @param milliseconds how long for any of them, if all questions are asked
 */
record JudgedRetrieval(
        Path file, Retrieval.Score score, double millisecondsText, double millisecondsQuestion, double milliseconds) {

    /**
     * How texts are read.
     *
     * @param place where the tokenizer is
     * @param longest tokens that a text is cut to
     * @param batchSize texts that are read at once
     * @param threads how many threads ONNX Runtime gets
     */
    record Plan(Path place, int longest, int batchSize, int threads) {}

    /** Judges models side by side, on the same batches. */
    static List<JudgedRetrieval> of(List<Path> files, Retrieval asked, Plan plan, Context.Progress progress)
            throws IOException {
        List<OnnxRuntimeModel> runtimes = new ArrayList<>();
        List<TextVectors.Model> models = new ArrayList<>();
        List<Graph> graphs = new ArrayList<>();
        for (Path file : files) {
            graphs.add(OnnxReader.read(file, new RuntimeTypes()).graph());
        }
        try (WordPiece tokenizer =
                AnsweringModel.tokenizer(plan.place(), files.getFirst(), graphs.getFirst(), Bert.INPUT_IDS)) {
            for (int i = 0; i < files.size(); i++) {
                OnnxRuntimeModel runtime = new OnnxRuntimeModel(files.get(i), plan.threads());
                runtimes.add(runtime);
                models.add(TextVectors.Model.of(graphs.get(i), files.get(i).toString(), runtime::run));
            }
            TextVectors vectors = new TextVectors(tokenizer, plan.longest(), plan.batchSize());
            List<Vectors> texts = vectors.of(asked.texts(), models, progress);
            List<Vectors> questions =
                    vectors.of(asked.questions(), models, (_, done, total) -> progress.at("questions", done, total));
            List<JudgedRetrieval> judged = new ArrayList<>();
            for (int i = 0; i < files.size(); i++) {
                judged.add(judged(files.get(i), asked, texts.get(i), questions.get(i)));
            }
            return judged;
        } finally {
            runtimes.forEach(OnnxRuntimeModel::close);
        }
    }

    private static JudgedRetrieval judged(Path file, Retrieval asked, Vectors texts, Vectors questions) {
        double all = (texts.milliseconds() * asked.texts().size() + questions.milliseconds() * asked.asked())
                / (asked.texts().size() + asked.asked());
        return new JudgedRetrieval(
                file,
                asked.score(texts.vectors(), questions.vectors()),
                texts.milliseconds(),
                questions.milliseconds(),
                all);
    }

    static void print(List<JudgedRetrieval> judged, Retrieval asked, Plan plan, PrintWriter out) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("model", "MRR@10", "recall@1", "recall@10", "ms a text", "speed-up"));
        for (JudgedRetrieval one : judged) {
            rows.add(List.of(
                    one.file().toString(),
                    share(one.score().meanReciprocalRank()),
                    share(one.score().first()),
                    share(one.score().amongTen()),
                    String.format(Locale.ROOT, "%.2f", one.milliseconds()),
                    String.format(Locale.ROOT, "%.2f ×", judged.getFirst().milliseconds() / one.milliseconds())));
        }
        Columns.print(rows, out);
        out.printf(
                Locale.ROOT,
                "%,d%s questions, each of which must find its text among %,d. At most %d tokens, %d texts at once, on %d threads.%n",
                asked.questions().size(),
                asked.questions().size() < asked.asked() ? String.format(Locale.ROOT, " of %,d", asked.asked()) : "",
                asked.texts().size(),
                plan.longest(),
                plan.batchSize(),
                plan.threads());
    }

    private static String share(double share) {
        return String.format(Locale.ROOT, "%.4f", share);
    }

    static ObjectNode json(List<JudgedRetrieval> judged, Retrieval asked, Plan plan) {
        ObjectNode root = JsonNodeFactory.instance
                .objectNode()
                .put("task", "retrieval")
                .put("texts", asked.texts().size())
                .put("questions", asked.questions().size())
                .put("longest", plan.longest())
                .put("batch_size", plan.batchSize())
                .put("threads", plan.threads());
        ArrayNode models = root.putArray("models");
        for (JudgedRetrieval one : judged) {
            models.addObject()
                    .put("file", one.file().toString())
                    .put("mrr_at_10", one.score().meanReciprocalRank())
                    .put("recall_at_1", one.score().first())
                    .put("recall_at_10", one.score().amongTen())
                    .put("milliseconds", one.milliseconds())
                    .put("milliseconds_text", one.millisecondsText())
                    .put("milliseconds_question", one.millisecondsQuestion());
        }
        return root;
    }
}
