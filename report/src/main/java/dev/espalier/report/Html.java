package dev.espalier.report;

import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Markup. Text becomes markup by being escaped, here and nowhere else: what is not of this type does not get into a page.
 *
 * @param markup well-formed HTML
 */
record Html(String markup) {
    static final Html EMPTY = new Html("");

    private static final String GAP = "{}";

    /** Text, to be read as it is. */
    static Html text(String text) {
        return new Html(text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;"));
    }

    /**
     * Fills the gaps of a pattern.
     *
     * @param pattern markup with gaps {@code {}}, in text or within quoted attributes
     * @param values what goes there: markup as it is, everything else as text
     */
    static Html of(String pattern, Object... values) {
        StringBuilder markup = new StringBuilder();
        Iterator<Object> rest = List.of(values).iterator();
        int from = 0;
        for (int gap = pattern.indexOf(GAP); gap >= 0; gap = pattern.indexOf(GAP, from)) {
            markup.append(pattern, from, gap).append(from(rest.next()).markup());
            from = gap + GAP.length();
        }
        if (rest.hasNext()) {
            throw new IllegalArgumentException("more values than gaps in " + pattern);
        }
        return new Html(markup.append(pattern, from, pattern.length()).toString());
    }

    private static Html from(Object value) {
        return value instanceof Html html ? html : text(value.toString());
    }

    static Html join(Collection<Html> parts) {
        return new Html(parts.stream().map(Html::markup).collect(Collectors.joining("\n")));
    }

    boolean isEmpty() {
        return markup.isEmpty();
    }
}
