package dev.espalier.squad;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What an answer is worth, as SQuAD's own evaluation counts it. It looks at texts only, without capitals, punctuation,
 * articles and superfluous space.
 *
 * @param exactMatch 1 if the answer is one of those that people gave, else 0
 * @param f1 the largest harmonic mean of precision and recall of the answer's words, among the answers that people gave
 */
record AnswerScore(double exactMatch, double f1) {
    private static final Pattern PUNCTUATION = Pattern.compile("[!-/:-@\\[-`{-~]");

    // What Python's \b means, which is not what Java's means: accents that stand alone, for one.
    private static final String WORD_CHARACTER = "[\\p{L}\\p{N}_]";
    private static final Pattern ARTICLE =
            Pattern.compile("(?<!" + WORD_CHARACTER + ")(?:a|an|the)(?!" + WORD_CHARACTER + ")");

    // Python's white space: Unicode's, and the four separators of ASCII.
    private static final Pattern SPACE = Pattern.compile("[\\s\\x1c-\\x1f]+", Pattern.UNICODE_CHARACTER_CLASS);

    /**
     * Scores an answer.
     *
     * @param answer what a model said
     * @param right what people said
     * @return the better of its scores, each for itself
     */
    public static AnswerScore of(String answer, List<String> right) {
        double exactMatch = 0;
        double f1 = 0;
        String normal = normalize(answer);
        for (String text : right) {
            String other = normalize(text);
            exactMatch = Math.max(exactMatch, normal.equals(other) ? 1 : 0);
            f1 = Math.max(f1, f1(words(normal), words(other)));
        }
        return new AnswerScore(exactMatch, f1);
    }

    /**
     * Scores an answer to a question.
     *
     * @param answer what a model said
     * @param question what it was asked, with what people said
     * @return the better of its scores, each for itself
     */
    static AnswerScore of(String answer, Question question) {
        return of(answer, question.answers().stream().map(Answer::text).toList());
    }

    /** The text in lower case, without punctuation, articles and superfluous space; in this order. */
    static String normalize(String text) {
        String bare = PUNCTUATION.matcher(text.toLowerCase(Locale.ROOT)).replaceAll("");
        return String.join(" ", words(ARTICLE.matcher(bare).replaceAll(" ")));
    }

    private static List<String> words(String text) {
        return Arrays.stream(SPACE.split(text)).filter(word -> !word.isEmpty()).toList();
    }

    /** Words count as often as they occur. */
    private static double f1(List<String> answer, List<String> right) {
        Map<String, Long> left =
                new HashMap<>(right.stream().collect(Collectors.groupingBy(word -> word, Collectors.counting())));
        int same = 0;
        for (String word : answer) {
            if (left.merge(word, -1L, Long::sum) >= 0) {
                same++;
            }
        }
        // Also where one has no words: then there is nothing to divide by.
        return same == 0 ? 0 : 2.0 * same / (answer.size() + right.size());
    }
}
