package dev.espalier.squad;

/**
 * A candidate for an answer among some tokens.
 *
 * @param start its first token
 * @param end its last token
 * @param score how likely a model thinks it is
 */
record TokenPair(int start, int end, double score) {}
