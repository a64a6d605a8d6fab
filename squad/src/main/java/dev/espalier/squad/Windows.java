package dev.espalier.squad;

import dev.espalier.graph.model.Bert;
import dev.espalier.graph.type.Tensor;
import dev.espalier.text.Tokens;
import dev.espalier.text.UnknownTokens;
import dev.espalier.text.WordPiece;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Questions and texts as a model reads them. Kept are the tokens of every question and, once, of every text; the tensors
 * are made from them batch by batch.
 */
final class Windows {
    /**
     * Batches are as long as their longest window, rounded up to a multiple of this: an engine prepares itself for each
     * length that it meets.
     */
    private static final int LENGTH_UNIT = 32;

    private final WindowPlan plan;
    private final int classifier;
    private final int separator;
    private final int padding;
    private final List<AskedQuestion> asked;
    private final List<Window> all;
    private final AnswerMapping mapping;
    private final UnknownTokens unknown;

    /**
     * Cuts texts into windows, on all processors.
     *
     * @param squad the texts and questions
     * @param tokenizer what makes tokens of them; not needed any more afterwards
     * @param plan how long a window is
     */
    public Windows(Squad squad, WordPiece tokenizer, WindowPlan plan) {
        this.plan = plan;
        this.classifier = tokenizer.classifier();
        this.separator = tokenizer.separator();
        this.padding = tokenizer.padding();
        this.asked = squad.paragraphs().parallelStream()
                .flatMap(paragraph -> ask(paragraph, tokenizer))
                .toList();
        List<Window> windows = new ArrayList<>();
        AnswerMapping counts = AnswerMapping.NONE;
        for (int number = 0; number < asked.size(); number++) {
            AskedQuestion.Label label = asked.get(number).label();
            windows.addAll(asked.get(number).windows(number, plan, label.span()));
            counts = counts.plus(label.counts());
        }
        this.all = List.copyOf(windows);
        this.mapping = counts;
        this.unknown = count(tokenizer.unknown());
    }

    /** {@return how texts are cut} */
    public WindowPlan plan() {
        return plan;
    }

    private static Stream<AskedQuestion> ask(Paragraph paragraph, WordPiece tokenizer) {
        Tokens tokens = tokenizer.tokenize(paragraph.context());
        return paragraph.questions().stream()
                .map(question ->
                        new AskedQuestion(question, paragraph.context(), tokenizer.tokenize(question.text()), tokens));
    }

    /**
     * All windows, question after question.
     *
     * @return at least one for each question
     */
    public List<Window> all() {
        return all;
    }

    /**
     * The windows to learn from.
     *
     * @return those of questions whose answer was found
     */
    public List<Window> labelled() {
        return all.stream().filter(Window::isLabelled).toList();
    }

    /**
     * The number of questions.
     *
     * @return how many
     */
    public int questionCount() {
        return asked.size();
    }

    /**
     * A question.
     *
     * @param number its number, from 0
     * @return the question
     */
    public Question question(int number) {
        return asked.get(number).question();
    }

    /**
     * The text that a question is on.
     *
     * @param question the question's number
     * @return the text
     */
    public String context(int question) {
        return asked.get(question).context();
    }

    /**
     * What became of the answers.
     *
     * @return how many were found, and how
     */
    public AnswerMapping mapping() {
        return mapping;
    }

    /**
     * What the vocabulary does not know, in all questions and, once each, in all texts.
     *
     * @return how much, and why that may be
     */
    public UnknownTokens unknown() {
        return unknown;
    }

    private UnknownTokens count(int unknownId) {
        UnknownTokens.Counter counter = new UnknownTokens.Counter(unknownId);
        @Nullable Tokens counted = null;
        for (AskedQuestion question : asked) {
            // Questions on a text share its tokens, and follow each other.
            if (question.tokens() != counted) {
                counted = question.tokens();
                counter.add(question.context(), counted);
            }
            counter.add(question.question().text(), question.questionTokens());
        }
        return counter.total();
    }

    /** The piece of the text from one of a window's text tokens to another. */
    AnswerSpan span(Window window, TokenPair pair) {
        Tokens tokens = asked.get(window.question()).tokens();
        return new AnswerSpan(
                tokens.start(window.from() + pair.start()), tokens.end(window.from() + pair.end()), pair.score());
    }

    /**
     * Tensors of some windows, as long as the longest of them needs.
     *
     * @param windows at least one
     * @return what a model is fed with, and what it should answer
     */
    public WindowBatch batch(List<Window> windows) {
        int longest = windows.stream().mapToInt(Window::length).max().orElseThrow();
        int length = Math.min(Math.ceilDiv(longest, LENGTH_UNIT) * LENGTH_UNIT, plan.length());
        long[] ids = new long[windows.size() * length];
        long[] mask = new long[ids.length];
        long[] types = new long[ids.length];
        Arrays.fill(ids, padding);
        for (int row = 0; row < windows.size(); row++) {
            Window window = windows.get(row);
            int from = row * length;
            write(window, ids, from);
            Arrays.fill(mask, from, from + window.length(), 1);
            Arrays.fill(types, from + window.textPosition(), from + window.length(), 1);
        }
        SequencedMap<String, Tensor> inputs = new LinkedHashMap<>();
        inputs.put(Bert.INPUT_IDS, Tensor.of(ids, windows.size(), length));
        inputs.put(Bert.ATTENTION_MASK, Tensor.of(mask, windows.size(), length));
        inputs.put(Bert.TOKEN_TYPE_IDS, Tensor.of(types, windows.size(), length));
        return new WindowBatch(windows, inputs);
    }

    private void write(Window window, long[] ids, int from) {
        AskedQuestion question = asked.get(window.question());
        int position = from;
        ids[position++] = classifier;
        for (int token = 0; token < window.questionTokens(); token++) {
            ids[position++] = question.questionTokens().id(token);
        }
        ids[position++] = separator;
        for (int token = window.from(); token < window.to(); token++) {
            ids[position++] = question.tokens().id(token);
        }
        ids[position] = separator;
    }
}
