package dev.espalier.text;

import dev.espalier.data.Column;
import dev.espalier.data.Context;
import dev.espalier.data.Field;
import dev.espalier.data.table.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Texts of a table as tokens.
 *
 * @param columns what a model of the BERT family reads: tokens, which of them are there, and which text they are of
 * @param unknown what the vocabulary does not know
 * @param cut the share of rows that were longer than may be
 */
public record TokenizedTexts(List<Column> columns, UnknownTokens unknown, double cut) {
    /** Texts that are cut at once, by all processors. */
    private static final int CHUNK = 4096;
    /** A share of texts that are cut which is worth a note. */
    private static final double NOTEWORTHY = 0.01;

    /** Copies the list. */
    public TokenizedTexts {
        columns = List.copyOf(columns);
    }

    /**
     * Makes tokens. The tokenizer may be closed afterwards.
     *
     * @param table the table
     * @param texts how many of its first columns are texts: one, or two that are read as a pair
     * @param tokenizer what makes them
     * @param field how many tokens a row may have, as when the model was trained; the longer text is cut first
     * @param progress who is told as it goes on
     * @return the tokens
     */
    public static TokenizedTexts of(
            Table table, int texts, WordPiece tokenizer, Field.Tokens field, Context.Progress progress) {
        return of(table, texts, tokenizer, TokenLengths.as(field), progress);
    }

    static TokenizedTexts of(
            Table table, int texts, WordPiece tokenizer, TokenLengths lengths, Context.Progress progress) {
        UnknownTokens.Counter counter = new UnknownTokens.Counter(tokenizer.unknown());
        List<List<int[]>> ids = new ArrayList<>();
        for (int column = 0; column < texts; column++) {
            List<String> different = table.texts(column);
            List<int[]> made = new ArrayList<>();
            for (int from = 0; from < different.size(); from += CHUNK) {
                List<String> chunk = different.subList(from, Math.min(different.size(), from + CHUNK));
                List<Tokens> cut =
                        chunk.parallelStream().map(tokenizer::tokenize).toList();
                for (int i = 0; i < chunk.size(); i++) {
                    requireEmbedded(cut.get(i), chunk.get(i), lengths);
                    counter.add(chunk.get(i), cut.get(i));
                    made.add(cut.get(i).ids());
                }
                progress.at("texts", made.size(), different.size());
            }
            ids.add(made);
        }
        TextColumns columns = new TextColumns(table, ids, tokenizer, lengths);
        return new TokenizedTexts(columns.all(), counter.total(), columns.cut());
    }

    private static void requireEmbedded(Tokens tokens, String text, TokenLengths lengths) {
        long places = lengths.places().orElse(Long.MAX_VALUE);
        for (int token = 0; token < tokens.size(); token++) {
            if (tokens.id(token) >= places) {
                throw new IllegalArgumentException(
                        "the tokenizer makes %d of '%s', but the model has embeddings of %,d tokens only, from 0 to %,d: it is the tokenizer of another model; name the model's own in model.tokenizer"
                                .formatted(
                                        tokens.id(token),
                                        text.substring(tokens.start(token), tokens.end(token)),
                                        places,
                                        places - 1));
            }
        }
    }

    /** A note, where many texts are cut. */
    Optional<String> longNote(String name, int most) {
        return cut <= NOTEWORTHY
                ? Optional.empty()
                : Optional.of(String.format(
                        Locale.ROOT,
                        "%.1f %% of the texts of %s have more than %d tokens, and are cut there (data.length)",
                        100 * cut,
                        name,
                        most));
    }
}
