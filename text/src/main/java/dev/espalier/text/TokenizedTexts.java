package dev.espalier.text;

import dev.espalier.data.Column;
import dev.espalier.data.Context;
import dev.espalier.data.table.Table;
import java.util.ArrayList;
import java.util.List;

/**
 * Texts of a table as tokens.
 *
 * @param columns what a model of the BERT family reads: tokens, which of them are there, and which text they are of
 * @param unknown what the vocabulary does not know
 */
public record TokenizedTexts(List<Column> columns, UnknownTokens unknown) {
    private static final int PROGRESS = 1000;

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
     * @param most how many tokens a row may have; the longer text is cut first
     * @param progress who is told as it goes on
     * @return the tokens
     */
    public static TokenizedTexts of(Table table, int texts, WordPiece tokenizer, int most, Context.Progress progress) {
        UnknownTokens.Counter counter = new UnknownTokens.Counter(tokenizer.unknown());
        List<List<int[]>> ids = new ArrayList<>();
        for (int column = 0; column < texts; column++) {
            List<String> different = table.texts(column);
            List<int[]> made = new ArrayList<>();
            for (String text : different) {
                Tokens tokens = tokenizer.tokenize(text);
                counter.add(text, tokens);
                made.add(tokens.ids());
                if (made.size() % PROGRESS == 0) {
                    progress.at("texts", made.size(), different.size());
                }
            }
            ids.add(made);
        }
        return new TokenizedTexts(new TextColumns(table, ids, tokenizer, most).all(), counter.total());
    }
}
