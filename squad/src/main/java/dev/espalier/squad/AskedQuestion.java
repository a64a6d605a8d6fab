package dev.espalier.squad;

import dev.espalier.text.Tokens;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A question beside its text, both as tokens.
 *
 * @param question the question
 * @param context the text
 * @param questionTokens the question's tokens, all of them
 * @param tokens the text's tokens
 */
record AskedQuestion(Question question, String context, Tokens questionTokens, Tokens tokens) {
    /**
     * What is known of the answer.
     *
     * @param span its tokens; null if it was not found
     * @param counts whether it was found, and how
     */
    record Label(Tokens.@Nullable Span span, AnswerMapping counts) {}

    /** Looks the first answer up. */
    Label label() {
        if (question.answers().isEmpty()) {
            return new Label(null, new AnswerMapping(1, 0, 0, 0));
        }
        Answer answer = question.answers().getFirst();
        int from = answer.locateIn(context);
        if (from < 0) {
            return new Label(null, new AnswerMapping(1, 0, 1, 0));
        }
        int to = from + answer.text().length();
        Tokens.Span span = tokens.overlapping(from, to);
        // The tokenizer drops some characters: control characters, for one.
        if (span.first() > span.last()) {
            return new Label(null, new AnswerMapping(1, 0, 1, 0));
        }
        boolean isWider = tokens.start(span.first()) < from || tokens.end(span.last()) > to;
        return new Label(span, new AnswerMapping(1, from == answer.start() ? 0 : 1, 0, isWider ? 1 : 0));
    }

    /** All windows on the text. */
    List<Window> windows(int number, WindowPlan plan, Tokens.@Nullable Span answer) {
        int asked = Math.min(questionTokens.size(), plan.questionLength());
        int room = plan.room(asked);
        List<Window> windows = new ArrayList<>();
        int to;
        int from = 0;
        do {
            to = Math.min(from + room, tokens.size());
            windows.add(window(number, asked, from, to, answer));
            from += room - plan.stride();
        } while (to < tokens.size());
        return windows;
    }

    private static Window window(int number, int asked, int from, int to, Tokens.@Nullable Span answer) {
        if (answer == null) {
            return new Window(number, asked, from, to, -1, -1);
        }
        if (answer.first() < from || answer.last() >= to) {
            return new Window(number, asked, from, to, 0, 0);
        }
        int shift = new Window(number, asked, from, to, 0, 0).textPosition() - from;
        return new Window(number, asked, from, to, answer.first() + shift, answer.last() + shift);
    }
}
