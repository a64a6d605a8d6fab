package dev.espalier.examples;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A fenced block of a page of the documentation.
 *
 * @param place the page and the line of the fence, for messages
 * @param language what stands behind the fence; empty for nothing
 * @param note what the HTML comment just above the fence says; empty for none
 * @param text the lines between the fences, each with its line break
 */
record Block(String place, String language, String note, String text) {
    private static final Pattern FENCE = Pattern.compile("( *)```(.*)");
    private static final Pattern NOTE = Pattern.compile(" *<!-- (.*) -->");
    private static final Pattern FILE_NAME = Pattern.compile("(?:#|//) ([\\w-]+\\.(?:java|py|toml))\n");

    /** All blocks of a page, in order. */
    static List<Block> of(String page, String text) {
        List<Block> blocks = new ArrayList<>();
        List<String> lines = text.lines().toList();
        String note = "";
        for (int at = 0; at < lines.size(); at++) {
            Matcher fence = FENCE.matcher(lines.get(at));
            if (fence.matches()) {
                int end = end(page, lines, at);
                String indent = fence.group(1);
                StringBuilder code = new StringBuilder();
                lines.subList(at + 1, end)
                        .forEach(line -> code.append(line.startsWith(indent) ? line.substring(indent.length()) : line)
                                .append('\n'));
                blocks.add(new Block(page + ":" + (at + 1), fence.group(2).strip(), note, code.toString()));
                at = end;
                note = "";
            } else if (!lines.get(at).isBlank()) {
                Matcher comment = NOTE.matcher(lines.get(at));
                note = comment.matches() ? comment.group(1) : "";
            }
        }
        return blocks;
    }

    private static int end(String page, List<String> lines, int start) {
        for (int at = start + 1; at < lines.size(); at++) {
            if (lines.get(at).strip().equals("```")) {
                return at;
            }
        }
        throw new AssertionError(page + ":" + (start + 1) + " opens a block that is never closed");
    }

    /** The file that the reader saves the block as, if a comment in its first line says so. */
    Optional<Path> file() {
        Matcher name = FILE_NAME.matcher(text);
        return name.lookingAt() ? Optional.of(Path.of(name.group(1))) : Optional.empty();
    }

    /** Saves the block under its name, for the samples that follow it. */
    void save() {
        file().ifPresent(file -> {
            try {
                Files.writeString(file, text);
            } catch (IOException broken) {
                throw new UncheckedIOException(broken);
            }
        });
    }
}
