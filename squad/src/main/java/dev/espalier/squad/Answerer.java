package dev.espalier.squad;

import dev.espalier.text.WordPiece;
import java.util.List;

/** Answers a question on a text. */
public final class Answerer {
    private final WordPiece tokenizer;
    private final WindowPlan plan;
    private final AnswerReader reader;

    /**
     * Something to ask.
     *
     * @param tokenizer the one that the model was trained with
     * @param plan how long a window is
     * @param reader what reads the windows
     */
    public Answerer(WordPiece tokenizer, WindowPlan plan, AnswerReader reader) {
        this.tokenizer = tokenizer;
        this.plan = plan;
        this.reader = reader;
    }

    /**
     * Asks.
     *
     * @param question the question
     * @param context the text that the answer is a piece of
     * @return answers, the likeliest first; none if the model's starts all lie behind its ends
     */
    public List<AnswerCandidate> answer(String question, String context) {
        requireTokens("question", question);
        requireTokens("context", context);
        Question asked = new Question("", question, List.of());
        Squad squad = new Squad(List.of(new Paragraph("", context, List.of(asked))));
        List<AnswerSpan> spans =
                reader.read(new Windows(squad, tokenizer, plan)).answers().getFirst();
        double top = spans.isEmpty() ? 0 : spans.getFirst().score();
        double sum =
                spans.stream().mapToDouble(span -> Math.exp(span.score() - top)).sum();
        return spans.stream()
                .map(span -> new AnswerCandidate(
                        context.substring(span.from(), span.to()),
                        span.from(),
                        span.to(),
                        span.score(),
                        Math.exp(span.score() - top) / sum))
                .toList();
    }

    private void requireTokens(String name, String text) {
        if (tokenizer.tokenize(text).size() == 0) {
            throw new IllegalArgumentException(
                    "%s = \"%s\" has no words: it must have at least one".formatted(name, text));
        }
    }
}
