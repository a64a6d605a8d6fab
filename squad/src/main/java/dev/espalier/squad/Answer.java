package dev.espalier.squad;

/**
 * A piece of a text that answers a question.
 *
 * @param text the answer
 * @param start where the data says that it starts, as an index into the string that the text is; −1 if the data says
 *     something that is outside
 */
public record Answer(String text, int start) {
    /**
     * Where the answer is in a text. Where the data is wrong about it, an answer that occurs only once is found all the same.
     *
     * @param context the text
     * @return an index, or −1 if nobody can tell
     */
    int locateIn(String context) {
        if (text.isEmpty()) {
            return -1;
        }
        if (context.startsWith(text, start)) {
            return start;
        }
        int first = context.indexOf(text);
        return first == context.lastIndexOf(text) ? first : -1;
    }
}
