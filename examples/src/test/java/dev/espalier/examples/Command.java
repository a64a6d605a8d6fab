package dev.espalier.examples;

import java.util.ArrayList;
import java.util.List;

/**
 * A command of a shell sample.
 *
 * @param words the program and its arguments
 * @param input what {@code echo} pipes into it; empty for nothing
 */
record Command(List<String> words, String input) {
    Command {
        words = List.copyOf(words);
    }

    /** The commands of a sample: one a line, comments left out, lines that end in a backslash joined with the next. */
    static List<Command> of(Block block) {
        List<Command> commands = new ArrayList<>();
        for (String line : block.text().replace("\\\n", " ").lines().toList()) {
            List<String> words = words(block, line);
            if (words.isEmpty()) {
                continue;
            }
            int pipe = words.indexOf("|");
            if (pipe < 0) {
                commands.add(new Command(words, ""));
            } else if (pipe == 2 && words.getFirst().equals("echo")) {
                commands.add(new Command(words.subList(pipe + 1, words.size()), words.get(1) + "\n"));
            } else {
                throw new AssertionError(block.place() + " pipes something else than the one word of an echo: " + line);
            }
        }
        return commands;
    }

    private static List<String> words(Block block, String line) {
        List<String> words = new ArrayList<>();
        StringBuilder word = new StringBuilder();
        boolean begun = false;
        char quote = 0;
        for (int at = 0; at < line.length(); at++) {
            char c = line.charAt(at);
            if (quote != 0) {
                if (c == quote) {
                    quote = 0;
                } else {
                    word.append(c);
                }
            } else if (c == '\'' || c == '"') {
                quote = c;
                begun = true;
            } else if (c == '#' && !begun) {
                break;
            } else if (c != ' ') {
                word.append(c);
                begun = true;
            } else if (begun) {
                words.add(word.toString());
                word.setLength(0);
                begun = false;
            }
        }
        if (quote != 0) {
            throw new AssertionError(block.place() + " leaves a quote open: " + line);
        }
        if (begun) {
            words.add(word.toString());
        }
        return words;
    }

    String line() {
        return String.join(" ", words);
    }
}
