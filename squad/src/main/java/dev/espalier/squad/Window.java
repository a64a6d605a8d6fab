package dev.espalier.squad;

/**
 * A question and as much of its text as fits beside it: {@code [CLS] question [SEP] text [SEP]}.
 *
 * @param question the number of the question
 * @param questionTokens tokens of the question
 * @param from the first token of the text in this window
 * @param to the token of the text after the last
 * @param start where in the window the answer's first token is; 0, the place of {@code [CLS]}, if the answer is not or not
 *     all in this window; −1 if nobody knows the answer
 * @param end the same of its last token
 */
record Window(int question, int questionTokens, int from, int to, int start, int end) {
    /**
     * The number of tokens in it.
     *
     * @return how many, with the special ones
     */
    public int length() {
        return questionTokens + to - from + WindowPlan.SPECIAL;
    }

    /**
     * Whether a model can learn from it.
     *
     * @return false if nobody knows the answer
     */
    public boolean isLabelled() {
        return start >= 0;
    }

    /** Where the first token of the text is. */
    int textPosition() {
        return questionTokens + 2;
    }
}
