package dev.espalier.squad;

/**
 * An answer to a question.
 *
 * @param text the answer
 * @param from where it starts in the text that was asked about, as an index into the string
 * @param to the index after its end
 * @param score the start's logit and the end's, added
 * @param probability the softmax of the scores of all candidates that are given
 */
public record AnswerCandidate(String text, int from, int to, double score, double probability) {}
