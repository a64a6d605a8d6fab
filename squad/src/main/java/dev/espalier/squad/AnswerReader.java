package dev.espalier.squad;

import dev.espalier.core.check.Check;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Has a model read windows, and finds the answers in what it says. */
public final class AnswerReader {
    private final AnswerModel model;
    private final AnswerSearch search;
    private final int batchSize;

    /**
     * A reader.
     *
     * @param model what reads
     * @param search how its answers are found
     * @param batchSize windows that it reads at once
     */
    public AnswerReader(AnswerModel model, AnswerSearch search, int batchSize) {
        this.model = model;
        this.search = search;
        this.batchSize = (int) Check.atLeast("batchSize", batchSize, 1);
    }

    /**
     * What was read.
     *
     * @param answers for each question its answers, the likeliest first; none if the model's starts all lie behind its ends
     * @param loss the mean over all windows whose answer is known; NaN if there are none
     */
    record Reading(List<List<AnswerSpan>> answers, double loss) {
        /** Copies the lists. */
        public Reading {
            answers = answers.stream().map(List::copyOf).toList();
        }
    }

    /**
     * Reads all windows.
     *
     * @param windows the windows
     * @return the answers
     */
    Reading read(Windows windows) {
        List<List<AnswerSpan>> answers = new ArrayList<>(Collections.nCopies(windows.questionCount(), List.of()));
        double loss = 0;
        long labelled = 0;
        // The longest first: what does not fit into memory fails at once.
        List<Window> order = windows.all().stream()
                .sorted(Comparator.comparingInt(Window::length).reversed())
                .toList();
        for (int from = 0; from < order.size(); from += batchSize) {
            WindowBatch batch = windows.batch(order.subList(from, Math.min(from + batchSize, order.size())));
            AnswerLogits logits = new AnswerLogits(model.predict(batch.inputs()), batch.shape());
            for (int row = 0; row < batch.size(); row++) {
                Window window = batch.windows().get(row);
                List<AnswerSpan> known = answers.get(window.question());
                answers.set(
                        window.question(),
                        AnswerSpan.merge(known, answers(windows, window, logits, row), search.best()));
                if (window.isLabelled()) {
                    loss += logits.loss(row, window);
                    labelled++;
                }
            }
        }
        return new Reading(answers, loss / labelled);
    }

    private List<AnswerSpan> answers(Windows windows, Window window, AnswerLogits logits, int row) {
        return search.search(logits.textStarts(row, window), logits.textEnds(row, window)).stream()
                .map(pair -> windows.span(window, pair))
                .toList();
    }

    /**
     * How many windows of a batch a model gets right: its likeliest start and its likeliest end are the ones to be learned.
     *
     * @param outputs what it answered
     * @param inputs what it was asked, as {@link WindowBatch#inputs} has it
     * @param labels what it should have answered, as {@link WindowBatch#labels} has it
     * @return from 0 to the size of the batch
     */
    static int right(Map<String, Tensor> outputs, Map<String, Tensor> inputs, List<Tensor> labels) {
        Tensor mask = WindowBatch.mask(inputs);
        long[] shape = mask.shape();
        AnswerLogits logits = new AnswerLogits(outputs, shape);
        int right = 0;
        for (int row = 0; row < shape[0]; row++) {
            int tokens = 0;
            while (tokens < shape[1] && mask.getLong(row * shape[1] + tokens) != 0) {
                tokens++;
            }
            boolean isRight =
                    logits.likeliestStart(row, tokens) == labels.get(0).getLong(row)
                            && logits.likeliestEnd(row, tokens) == labels.get(1).getLong(row);
            right += isRight ? 1 : 0;
        }
        return right;
    }
}
