package dev.espalier.squad;

/**
 * What became of the answers when they were looked up among the tokens.
 *
 * @param questions how many there are
 * @param moved answers that are not where the data says, but occur once in the text and are taken from there
 * @param lost answers that could not be found: their questions are not learned from
 * @param widened answers that start or end inside a token, of which the whole token is learned
 */
record AnswerMapping(int questions, int moved, int lost, int widened) {
    static final AnswerMapping NONE = new AnswerMapping(0, 0, 0, 0);

    AnswerMapping plus(AnswerMapping other) {
        return new AnswerMapping(
                questions + other.questions, moved + other.moved, lost + other.lost, widened + other.widened);
    }

    /**
     * One line for people.
     *
     * @return all numbers
     */
    @Override
    public String toString() {
        return "%d questions; %d answers not found, %d found elsewhere than stated, %d widened to whole tokens"
                .formatted(questions, lost, moved, widened);
    }
}
