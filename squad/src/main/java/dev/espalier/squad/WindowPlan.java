package dev.espalier.squad;

import dev.espalier.core.check.Check;

/**
 * How question and text are laid side by side: {@code [CLS] question [SEP] text [SEP]}. A text that is too long for one
 * window makes several.
 *
 * @param length tokens in a window at most
 * @param stride tokens of the text that two windows in a row have in common
 * @param questionLength tokens that a question is cut to
 */
public record WindowPlan(int length, int stride, int questionLength) {
    /** Tokens of a window that are of neither question nor text. */
    public static final int SPECIAL = 3;

    /** What BERT's authors took. */
    public static final WindowPlan DEFAULT = new WindowPlan(384, 128, 64);

    /** Checks the numbers. */
    public WindowPlan {
        Check.atLeast("stride", stride, 0);
        Check.atLeast("questionLength", questionLength, 1);
        if ((long) stride + questionLength + SPECIAL >= length) {
            throw new IllegalArgumentException(
                    "length = %d is out of range: it must be above stride = %d and questionLength = %d and %d together"
                            .formatted(length, stride, questionLength, SPECIAL));
        }
    }

    /** How many tokens of the text a window holds. */
    int room(int questionTokens) {
        return length - questionTokens - SPECIAL;
    }
}
