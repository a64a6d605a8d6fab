package dev.espalier.runtime;

import dev.espalier.core.check.Check;
import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.onnx.Dequantization;
import dev.espalier.graph.onnx.OnnxModel;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.PrunePlan;
import dev.espalier.graph.prune.PruneReport;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.prune.SeededZeros;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * What can be done with models that others made: whether they are read, whether what was read computes the same as the file, and
 * what pruning makes of them when a share of every layer's groups is zero. All of it is judged by ONNX Runtime.
 *
 * @param zeros what is made zero before pruning, in place of a training
 * @param samples what models are run with
 * @param threads how many threads a single operator may use
 * @param timing what models are pruned for, and how long each may be measured
 */
public record Survey(SeededZeros zeros, SampleInputs samples, int threads, Timing timing) {

    /** Outputs of an int8 file and of what was read of it point in the same direction, or it was misread: the least cosine. */
    private static final double NEAR = 0.9;

    /** How far it goes with a model. */
    public enum Outcome {
        /** It is not read. */
        REFUSED,
        /** It is read, but ONNX Runtime does not run the file, or breaks what pruning leaves of it: there is nothing to compare. */
        UNPROVEN,
        /** What was read, or what was left after pruning, computes something else: a mistake of ours. */
        DIFFERENT,
        /** What was read computes the same, and there is nothing in it that could be cut out. */
        READ,
        /** What was read computes the same, and so does what pruning leaves of it. */
        PRUNED
    }

    /**
     * What became of one model.
     *
     * @param outcome how far it went
     * @param opset the version of ONNX's operators that the file was written for; 0 if it was not read
     * @param parameters how many there are
     * @param pruned what pruning did, if it came to that
     * @param words what there is to say of it, such as why it did not go further; empty if there is nothing
     */
    public record Row(Outcome outcome, int opset, long parameters, Optional<PruneReport> pruned, String words) {
        private Row ending(Outcome other, String why) {
            return new Row(other, opset, parameters, pruned, why);
        }

        private Row adding(String more) {
            return ending(outcome, words.isEmpty() ? more : words + "; " + more);
        }
    }

    /** Checks the number of threads. */
    public Survey {
        Check.atLeast("threads", threads, 1);
    }

    /**
     * Tries a model.
     *
     * @param file an ONNX file
     * @return what became of it
     */
    public Row of(Path file) {
        OnnxModel model;
        try {
            model = OnnxReader.read(file, new RuntimeTypes());
        } catch (IOException | RuntimeException refused) {
            return new Row(Outcome.REFUSED, 0, 0, Optional.empty(), words(refused));
        }
        Graph graph = model.graph();
        Row row = new Row(Outcome.READ, model.opset(), Cost.parameters(graph), Optional.empty(), "");
        try (Judge judge = Judge.of(file, graph, samples, threads)) {
            row = row.ending(Outcome.READ, compared(judge, model));
        } catch (IllegalStateException refused) {
            return row.ending(Outcome.UNPROVEN, words(refused));
        } catch (RuntimeException different) {
            return row.ending(Outcome.DIFFERENT, words(different));
        }
        try {
            return pruned(row, graph);
        } catch (OptimizerException breaks) {
            return row.ending(Outcome.UNPROVEN, words(breaks));
        } catch (RuntimeException different) {
            return row.ending(Outcome.DIFFERENT, words(different));
        }
    }

    /** Requires that a model was read as it is, and says what one should know of that. */
    private static String compared(Judge judge, OnnxModel model) {
        Dequantization int8 = model.dequantization();
        if (int8.isExact()) {
            judge.requireRead(model.graph(), OnnxWriter.Options.DEFAULT);
            return int8.equals(Dequantization.NONE) ? "" : int8.note();
        }
        double cosine = judge.cosine(model.graph(), OnnxWriter.Options.DEFAULT);
        String words = String.format(Locale.ROOT, "%s; the cosine to the file's outputs is %.4f", int8.note(), cosine);
        if (!(cosine >= NEAR)) {
            throw new GraphException(words);
        }
        return words;
    }

    private Row pruned(Row row, Graph graph) {
        Graph zeroed = zeros.in(graph);
        PrunePlan plan = Pruner.plan(zeroed, PruneOptions.DEFAULT);
        if (!plan.changes()) {
            return row.adding(zeroed == graph ? "no groups that could be zero" : "nothing could be cut out");
        }
        try (Judge judge = Judge.of(zeroed, samples, threads)) {
            PruneTrial trial = PruneTrial.of(judge, zeroed, plan, UnaryOperator.identity(), judge.lengths(), timing);
            Row cut = new Row(Outcome.PRUNED, row.opset(), row.parameters(), Optional.of(trial.report()), row.words());
            return trial.plan().changes() ? cut : cut.adding("left uncut: no cut makes it faster");
        }
    }

    private static String words(Exception problem) {
        String message = problem.getMessage();
        return message == null ? problem.toString() : message;
    }
}
