package dev.espalier.report;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * A page that holds all it needs: style, scripts, data, pictures.
 *
 * @param title what it is about
 * @param content what it says
 * @param charts what is drawn into it
 */
record Page(String title, Html content, List<Chart> charts) {
    Html toHtml() {
        Html library = charts.isEmpty() ? Html.EMPTY : script(ReportAssets.library());
        Html script = script(ReportAssets.script());
        return Template.load("page.html")
                .fill(Map.of(
                        "policy",
                        Html.text(policy(List.of(library, script))),
                        "title",
                        Html.text(title),
                        "style",
                        new Html(ReportAssets.style()),
                        "content",
                        content,
                        "charts",
                        Json.of(charts),
                        "library",
                        library,
                        "script",
                        script));
    }

    /**
     * What the browser may do with the page. It never fetches anything, and runs these scripts only: should some text ever
     * slip in as markup, it could do nothing.
     */
    private static String policy(List<Html> scripts) {
        StringBuilder policy =
                new StringBuilder("default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src");
        scripts.forEach(script ->
                policy.append(" 'sha256-").append(hash(script.markup())).append('\''));
        return policy.append("; base-uri 'none'; form-action 'none'").toString();
    }

    private static String hash(String script) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(script.getBytes(StandardCharsets.UTF_8));
            return Base64.getEncoder().encodeToString(digest);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible); // every JVM has it
        }
    }

    private static Html script(String code) {
        if (code.contains("</script") || code.contains("\r")) {
            throw new IllegalStateException("a script that cannot stand in a page");
        }
        return new Html(code);
    }
}
