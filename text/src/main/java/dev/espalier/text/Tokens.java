package dev.espalier.text;

import dev.espalier.core.check.Check;

/** A text as tokens, each of which knows the piece of the text that it was made from. */
public final class Tokens {
    private final int[] ids;
    private final int[] starts;
    private final int[] ends;

    /**
     * The first and the last of some tokens.
     *
     * @param first the first token
     * @param last the last token, not before the first
     */
    public record Span(int first, int last) {}

    /** Takes the arrays over: nobody writes them any more. */
    Tokens(int[] ids, int[] starts, int[] ends) {
        Check.sameSize("starts", starts.length, "ids", ids.length);
        Check.sameSize("ends", ends.length, "ids", ids.length);
        this.ids = ids;
        this.starts = starts;
        this.ends = ends;
    }

    /** {@return what the vocabulary calls the tokens, in order} */
    public int[] ids() {
        return ids.clone();
    }

    /**
     * The number of tokens.
     *
     * @return how many
     */
    public int size() {
        return ids.length;
    }

    /**
     * What the vocabulary calls a token.
     *
     * @param token its number in the text
     * @return its number in the vocabulary
     */
    public int id(int token) {
        return ids[token];
    }

    /**
     * Where a token's piece of the text starts.
     *
     * @param token its number in the text
     * @return an index into the string that the text is
     */
    public int start(int token) {
        return starts[token];
    }

    /**
     * Where a token's piece of the text ends.
     *
     * @param token its number in the text
     * @return the index after the last character
     */
    public int end(int token) {
        return ends[token];
    }

    /**
     * The tokens that a piece of the text has a part in.
     *
     * @param from where the piece starts
     * @param to where it ends
     * @return the tokens, in order; none if {@code first > last}
     */
    public Span overlapping(int from, int to) {
        int first = 0;
        while (first < ids.length && ends[first] <= from) {
            first++;
        }
        int last = first;
        while (last < ids.length && starts[last] < to) {
            last++;
        }
        return new Span(first, last - 1);
    }
}
