package dev.espalier.squad;

import java.util.List;

/**
 * A question on a text.
 *
 * @param id its name in the data
 * @param text the question
 * @param answers what people answered; a model learns the first, and is right if it gives any
 */
public record Question(String id, String text, List<Answer> answers) {
    /** Copies the answers. */
    public Question {
        answers = List.copyOf(answers);
    }
}
