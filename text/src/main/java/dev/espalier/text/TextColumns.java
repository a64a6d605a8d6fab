package dev.espalier.text;

import dev.espalier.data.Column;
import dev.espalier.data.Field;
import dev.espalier.data.table.Table;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Texts, or pairs of texts, as BERT reads them: {@code [CLS] text [SEP]} or {@code [CLS] text [SEP] other [SEP]}. */
final class TextColumns {
    private final Table table;
    private final List<List<int[]>> ids;
    private final List<List<String>> written;
    private final List<String> names;
    private final WordPiece tokenizer;
    private final TokenLengths limits;

    /**
     * Columns of a table.
     *
     * @param table the table
     * @param ids for each of its first columns, one or two, the tokens of every text that occurs there
     * @param tokenizer what made them
     * @param limits how long a row may get
     */
    TextColumns(Table table, List<List<int[]>> ids, WordPiece tokenizer, TokenLengths limits) {
        this.table = table;
        this.ids = ids;
        this.written = IntStream.range(0, ids.size()).mapToObj(table::texts).toList();
        this.names = table.heads().subList(0, ids.size()).stream()
                .map(Table.Head::name)
                .toList();
        this.tokenizer = tokenizer;
        this.limits = limits;
    }

    /** The share of rows that are longer than may be. */
    double cut() {
        long cut = IntStream.range(0, table.size())
                .filter(row -> IntStream.range(0, ids.size())
                                .map(column -> text(column, row).length)
                                .sum()
                        > limits.most() - (isPair() ? 3 : 2))
                .count();
        return (double) cut / table.size();
    }

    List<Column> all() {
        return List.of(
                column("input_ids", tokenizer.padding(), this::ids, row -> Optional.of(written(row))),
                column("attention_mask", 0, this::mask, _ -> Optional.empty()),
                column("token_type_ids", 0, this::types, _ -> Optional.empty()));
    }

    private Column column(String name, int padding, IntFunction<int[]> rows, IntFunction<Optional<String>> texts) {
        Field.Tokens field = new Field.Tokens(
                name, limits.width(), padding, names, limits.fixed().isPresent());
        return new Column.Sequences() {
            @Override
            public Field.Tokens field() {
                return field;
            }

            @Override
            public int[] read(int row) {
                return rows.apply(row);
            }

            @Override
            public int length(int row) {
                return limits.buckets() ? size(lengths(row)) : 0;
            }

            @Override
            public Optional<String> text(int row) {
                return texts.apply(row);
            }
        };
    }

    /** As it stands in the file; the second of two texts behind the first. */
    private String written(int row) {
        return IntStream.range(0, ids.size())
                .filter(column -> table.text(column, row) >= 0)
                .mapToObj(column -> written.get(column).get(table.text(column, row)))
                .collect(Collectors.joining(" ¶ "));
    }

    private int[] text(int column, int row) {
        int text = table.text(column, row);
        return text < 0 ? new int[0] : ids.get(column).get(text);
    }

    private boolean isPair() {
        return ids.size() > 1;
    }

    /** How many tokens of each text fit: of two, the longer one is cut until they do. */
    private int[] lengths(int row) {
        int first = text(0, row).length;
        if (!isPair()) {
            return new int[] {Math.min(first, limits.most() - 2), 0};
        }
        int second = text(1, row).length;
        int room = limits.most() - 3;
        if (first + second <= room) {
            return new int[] {first, second};
        }
        int half = room / 2;
        if (second <= half) {
            return new int[] {room - second, second};
        }
        return first <= room - half ? new int[] {first, room - first} : new int[] {room - half, half};
    }

    private int[] ids(int row) {
        int[] lengths = lengths(row);
        int[] tokens = new int[size(lengths)];
        tokens[0] = tokenizer.classifier();
        System.arraycopy(text(0, row), 0, tokens, 1, lengths[0]);
        tokens[1 + lengths[0]] = tokenizer.separator();
        if (isPair()) {
            System.arraycopy(text(1, row), 0, tokens, lengths[0] + 2, lengths[1]);
            tokens[tokens.length - 1] = tokenizer.separator();
        }
        return tokens;
    }

    private int size(int[] lengths) {
        return lengths[0] + lengths[1] + (isPair() ? 3 : 2);
    }

    private int[] mask(int row) {
        int[] mask = new int[size(lengths(row))];
        Arrays.fill(mask, 1);
        return mask;
    }

    private int[] types(int row) {
        int[] lengths = lengths(row);
        int[] types = new int[size(lengths)];
        Arrays.fill(types, lengths[0] + 2, types.length, 1);
        return types;
    }
}
