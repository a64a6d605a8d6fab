package dev.espalier.squad;

import java.util.List;

/**
 * A text with questions on it.
 *
 * @param title of the article that it is from
 * @param context the text
 * @param questions the questions
 */
public record Paragraph(String title, String context, List<Question> questions) {
    /** Copies the questions. */
    public Paragraph {
        questions = List.copyOf(questions);
    }
}
