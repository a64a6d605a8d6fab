package dev.espalier.torture.file;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Changes of texts in quotes, numbers, words, brackets and lines, wherever they stand in a file. A character is a byte. */
final class TextMutations {
    private static final Pattern TOKEN = Pattern.compile(
            "\"(?:[^\"\\\\\n]|\\\\.)*+\"|'[^'\n]*+'|[-+]?[0-9][0-9.eE+_-]*+|[A-Za-z_][A-Za-z_0-9]*+|[\\[\\](){},:=#;]");

    /** Values at which readers of text break. */
    private static final List<String> VALUES = List.of(
            "0",
            "-1",
            "1",
            "2",
            "1.5",
            "-0.0",
            "2147483647",
            "2147483648",
            "-2147483649",
            "4294967296",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775809",
            "1e308",
            "1e400",
            "-1e400",
            "1e-400",
            "1e2147483647",
            "1e-2147483648",
            "0." + "0".repeat(400) + "1",
            "9".repeat(2000),
            "NaN",
            "nan",
            "inf",
            "-Infinity",
            "null",
            "true",
            "false",
            "\"\"",
            "\"a\"",
            "\" \"",
            "''",
            "\"0\"",
            "\"-1\"",
            "\"null\"",
            "\"NaN\"",
            "\"\\u0000\"",
            "\"\\ud800\"",
            "\"\\udc00\\ud800\"",
            "\"../x\"",
            "\"/etc/hostname\"",
            "\"" + "a".repeat(5000) + "\"",
            "[]",
            "{}",
            "[[]]",
            "[null]",
            "[{}]",
            "[1, 2]",
            "[\"a\", \"b\"]",
            "{\"a\": 1}",
            "{a = 1}",
            "1979-05-27T07:32:00Z",
            "1979-05-27",
            "07:32:00",
            "0x7fffffffffffffff",
            "0b101",
            "1_000",
            "'''\n'''",
            "\"\"\"\n\"\"\"",
            "\n",
            "\r\n",
            "\t",
            "\u00ff",
            "\u00c0\u0080",
            "\u00ed\u00a0\u0080",
            "\u00f4\u0090\u0080\u0080",
            "\u00ef\u00bb\u00bf");

    private static final String[] OPENING = {"[", "{", "(", "{\"a\":", "[[", "\"", "'", "a.", "-"};

    private final RandomGenerator random;
    private final List<String> words;

    TextMutations(RandomGenerator random, List<String> words) {
        this.random = random;
        this.words = words;
    }

    private record Span(int from, int to) {
        String of(String text) {
            return text.substring(from, to);
        }
    }

    byte[] change(byte[] file, Supplier<byte[]> other) {
        String text = new String(file, StandardCharsets.ISO_8859_1);
        return change(text, other).getBytes(StandardCharsets.ISO_8859_1);
    }

    private String change(String text, Supplier<byte[]> other) {
        List<Span> tokens = tokens(text);
        if (tokens.isEmpty()) {
            return text + value();
        }
        Span one = any(tokens);
        return switch (random.nextInt(16)) {
            case 0, 1, 2 -> replace(text, one, value());
            case 3 -> replace(text, one, "");
            case 4 -> replace(text, one, any(tokens).of(text));
            case 5 -> replace(text, one, foreign(other));
            case 6 ->
                replace(text, new Span(one.from, one.from), any(tokens).of(text) + (random.nextBoolean() ? "," : " "));
            case 7 -> bracket(text, tokens, other);
            case 8 -> line(text, other);
            case 9 -> swap(text, one, any(tokens));
            case 10 -> deep(text, one);
            case 11, 12, 13, 14 -> near(text, one);
            default -> inner(text, one);
        };
    }

    private static List<Span> tokens(String text) {
        List<Span> tokens = new ArrayList<>();
        Matcher matcher = TOKEN.matcher(text);
        while (matcher.find() && tokens.size() < 20_000) {
            tokens.add(new Span(matcher.start(), matcher.end()));
        }
        return tokens;
    }

    private Span any(List<Span> tokens) {
        return tokens.get(random.nextInt(tokens.size()));
    }

    private String value() {
        if (!words.isEmpty() && random.nextInt(3) == 0) {
            return words.get(random.nextInt(words.size()));
        }
        return random.nextInt(4) == 0
                ? Long.toString(Mutations.AWKWARD[random.nextInt(Mutations.AWKWARD.length)])
                : VALUES.get(random.nextInt(VALUES.size()));
    }

    private String foreign(Supplier<byte[]> other) {
        String text = new String(other.get(), StandardCharsets.ISO_8859_1);
        List<Span> tokens = tokens(text);
        return tokens.isEmpty() ? "" : any(tokens).of(text);
    }

    private static String replace(String text, Span span, String by) {
        return text.substring(0, span.from) + by + text.substring(span.to);
    }

    /** A number near to it in place of a number, another word for a word: what may well be sound. */
    private String near(String text, Span one) {
        String token = one.of(text);
        if (token.matches("[-+]?[0-9]{1,15}")) {
            long number = Long.parseLong(token);
            long[] others = {number + 1, number - 1, number * 2, number / 2, -number, 0, 1, random.nextInt(100)};
            return replace(text, one, Long.toString(others[random.nextInt(others.length)]));
        }
        if (token.matches("[-+]?[0-9]+\\.?[0-9]*([eE][-+]?[0-9]{1,2})?")) {
            double number = Double.parseDouble(token);
            double[] others = {number * 2, number / 2, -number, 0.5, 1e-3, number * 1e3, 1};
            return replace(text, one, Double.toString(others[random.nextInt(others.length)]));
        }
        if (token.equals("true") || token.equals("false")) {
            return replace(text, one, token.equals("true") ? "false" : "true");
        }
        return words.isEmpty() ? text : replace(text, one, words.get(random.nextInt(words.size())));
    }

    private static String swap(String text, Span one, Span two) {
        if (one.to > two.from) {
            return one.from == two.from ? text : swap(text, two, one);
        }
        return text.substring(0, one.from)
                + two.of(text)
                + text.substring(one.to, two.from)
                + one.of(text)
                + text.substring(two.to);
    }

    /** What stands in a pair of brackets goes, comes twice, becomes a value, or that of another pair. */
    private String bracket(String text, List<Span> tokens, Supplier<byte[]> other) {
        Span span = pair(text, tokens);
        return switch (random.nextInt(4)) {
            case 0 -> replace(text, span, "");
            case 1 -> replace(text, span, span.of(text) + "," + span.of(text));
            case 2 -> replace(text, span, value());
            default -> {
                String foreign = new String(other.get(), StandardCharsets.ISO_8859_1);
                List<Span> there = tokens(foreign);
                yield there.isEmpty()
                        ? text
                        : replace(text, span, pair(foreign, there).of(foreign));
            }
        };
    }

    /** From an opening bracket to the one that closes it; the token itself if it is none. */
    private Span pair(String text, List<Span> tokens) {
        int start = random.nextInt(tokens.size());
        for (int i = start; i < Math.min(tokens.size(), start + 50); i++) {
            char opening = text.charAt(tokens.get(i).from);
            int closing = opening == '[' ? ']' : opening == '{' ? '}' : opening == '(' ? ')' : -1;
            if (closing >= 0) {
                int depth = 0;
                for (int j = i; j < tokens.size(); j++) {
                    char here = text.charAt(tokens.get(j).from);
                    depth += here == opening ? 1 : here == closing ? -1 : 0;
                    if (depth == 0) {
                        return new Span(tokens.get(i).from, tokens.get(j).to);
                    }
                }
            }
        }
        return tokens.get(start);
    }

    /** A line goes, comes twice, moves to the end, or is followed by one of another file. */
    private String line(String text, Supplier<byte[]> other) {
        Span line = line(text);
        return switch (random.nextInt(4)) {
            case 0 -> replace(text, line, "");
            case 1 -> replace(text, line, line.of(text).repeat(1 + random.nextInt(3)));
            case 2 -> replace(text, line, "") + line.of(text);
            default -> {
                String foreign = new String(other.get(), StandardCharsets.ISO_8859_1);
                yield replace(text, new Span(line.to, line.to), line(foreign).of(foreign));
            }
        };
    }

    private Span line(String text) {
        if (text.isEmpty()) {
            return new Span(0, 0);
        }
        int at = random.nextInt(text.length());
        int from = text.lastIndexOf('\n', at - 1) + 1;
        int end = text.indexOf('\n', at);
        return new Span(Math.min(from, at), end < 0 ? text.length() : end + 1);
    }

    /** Opens brackets and quotes over and over, and perhaps closes them. */
    private String deep(String text, Span one) {
        String opening = OPENING[random.nextInt(OPENING.length)];
        int depth = 1 << random.nextInt(14);
        String closing = opening.startsWith("[") ? "]" : opening.startsWith("{") ? "}" : opening.equals("(") ? ")" : "";
        String inside = random.nextBoolean() ? one.of(text) : "";
        return replace(
                text,
                one,
                opening.repeat(depth)
                        + inside
                        + (random.nextBoolean() ? closing.repeat(depth * (opening.equals("[[") ? 2 : 1)) : ""));
    }

    /** Another character within a token. */
    private String inner(String text, Span one) {
        int at = one.from + random.nextInt(one.to - one.from);
        String pool = "0123456789-+.eE\"'\\/ {}[](),:=#_aZ\n\u0000\u0080\u00ff";
        String character = String.valueOf(pool.charAt(random.nextInt(pool.length())));
        return replace(text, new Span(at, at + random.nextInt(2)), character);
    }
}
