package dev.espalier.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A page with places to fill: {@code {{name}}} stands for markup, and <code>{{#name}}…{{/name}}</code> is left out if there
 * is none of that name.
 *
 * @param text the page
 */
record Template(String text) {
    private static final Pattern SECTION =
            Pattern.compile("\\{\\{#([a-z]+)}}\\n?(.*?)\\{\\{/\\1}}\\n?", Pattern.DOTALL);
    private static final Pattern PLACE = Pattern.compile("\\{\\{([a-z]+)}}");

    /** A file of this package. */
    static Template load(String name) {
        return new Template(resource(name));
    }

    static String resource(String name) {
        try (InputStream in = Template.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("there is no resource " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    Html fill(Map<String, Html> values) {
        String kept = SECTION.matcher(text)
                .replaceAll(match ->
                        value(values, match.group(1)).isEmpty() ? "" : Matcher.quoteReplacement(match.group(2)));
        return new Html(PLACE.matcher(kept)
                .replaceAll(match ->
                        Matcher.quoteReplacement(value(values, match.group(1)).markup())));
    }

    private static Html value(Map<String, Html> values, String name) {
        Html value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("nothing to fill {{" + name + "}} with");
        }
        return value;
    }
}
