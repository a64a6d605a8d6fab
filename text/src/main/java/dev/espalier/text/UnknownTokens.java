package dev.espalier.text;

import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * How much of some texts a vocabulary does not know: tokens that are {@code [UNK]}, of which a model learns nothing. BERT's own
 * vocabulary leaves less than a thousandth of English prose unknown.
 *
 * @param tokens all tokens, those that are known included
 * @param unknown tokens that are {@code [UNK]}
 * @param withCapitals those of them that were made from a word with a capital letter
 * @param frequent the most frequent words that they were made from
 */
public record UnknownTokens(long tokens, long unknown, long withCapitals, List<String> frequent) {
    /** A share of unknown tokens that is worth a warning: a hundredth. */
    public static final double NOTEWORTHY = 0.01;

    /** A share of unknown tokens at which something must be wrong: a tenth. */
    public static final double SUSPICIOUS = 0.1;

    /** {@code data.largest_unknown}, of kinds of texts. */
    public static final Key<Double> LARGEST = Key.decimal(
                    "data.largest_unknown",
                    "a larger share of tokens that the vocabulary does not know, in any part, ends the training before it begins")
            .in(Range.share())
            .withDefault(SUSPICIOUS)
            .changeable();

    private static final int EXAMPLES = 4;

    /** Copies the list. */
    public UnknownTokens {
        frequent = List.copyOf(frequent);
    }

    /**
     * Counts.
     *
     * @param tokenizer what makes tokens
     * @param texts of these
     * @return what it does not know
     */
    public static UnknownTokens in(WordPiece tokenizer, List<String> texts) {
        Counter counter = new Counter(tokenizer.unknown());
        texts.forEach(text -> counter.add(text, tokenizer.tokenize(text)));
        return counter.total();
    }

    /**
     * How much is unknown.
     *
     * @return from 0 to 1
     */
    public double share() {
        return tokens == 0 ? 0 : (double) unknown / tokens;
    }

    /**
     * The share for people.
     *
     * @return per cent
     */
    public String percent() {
        return String.format(Locale.ROOT, "%.2f %%", 100 * share());
    }

    /**
     * What is probably wrong, and how to mend it.
     *
     * @return a sentence, for a share that is worth one
     */
    public String likelyCause() {
        String words = frequent.stream().map(word -> '"' + word + '"').collect(Collectors.joining(", "));
        return 2 * withCapitals > unknown
                ? "most of them are words with capitals, such as %s: if the vocabulary is one for lower case, write"
                                .formatted(words)
                        + " {\"do_lower_case\": true} to a tokenizer_config.json beside vocab.txt, or set \"lowercase\": true in the"
                        + " normalizer of tokenizer.json"
                : "such as %s: the vocabulary is probably for another language or belongs to another model"
                        .formatted(words);
    }

    /**
     * Refuses texts that are mostly beyond the vocabulary.
     *
     * @param largest the share that may be unknown
     * @param part what the texts are called
     * @throws IllegalArgumentException if more is unknown; the message says what to do
     */
    public void requireAtMost(double largest, String part) {
        if (share() > largest) {
            throw new IllegalArgumentException(
                    "%s of all tokens of the %s part are unknown to the vocabulary, and %s = %s: %s. To train all the same, set %s to 1"
                            .formatted(percent(), part, LARGEST.path(), largest, likelyCause(), LARGEST.path()));
        }
    }

    /**
     * A warning, if it is worth one.
     *
     * @param part what the texts are called
     * @return a sentence; empty if nearly all is known
     */
    public Optional<String> warning(String part) {
        return share() > NOTEWORTHY
                ? Optional.of("warning: %s of all tokens of the %s part are unknown to the vocabulary: %s"
                        .formatted(percent(), part, likelyCause()))
                : Optional.empty();
    }

    /** Adds texts up. */
    public static final class Counter {
        private final int unknownId;
        private final Map<String, Integer> words = new HashMap<>();
        private long tokens;

        /**
         * Nothing counted yet.
         *
         * @param unknownId the number of {@code [UNK]}
         */
        public Counter(int unknownId) {
            this.unknownId = unknownId;
        }

        /**
         * Counts a text.
         *
         * @param text the text
         * @param made its tokens
         */
        public void add(String text, Tokens made) {
            tokens += made.size();
            for (int token = 0; token < made.size(); token++) {
                if (made.id(token) == unknownId) {
                    words.merge(text.substring(made.start(token), made.end(token)), 1, Integer::sum);
                }
            }
        }

        /** {@return what is unknown of all texts together} */
        public UnknownTokens total() {
            return new UnknownTokens(
                    tokens,
                    words.values().stream().mapToLong(Integer::longValue).sum(),
                    words.entrySet().stream()
                            .filter(word -> word.getKey().codePoints().anyMatch(Character::isUpperCase))
                            .mapToLong(Map.Entry::getValue)
                            .sum(),
                    words.entrySet().stream()
                            .sorted(Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder())
                                    .thenComparing(Map.Entry.comparingByKey()))
                            .limit(EXAMPLES)
                            .map(Map.Entry::getKey)
                            .toList());
        }
    }
}
