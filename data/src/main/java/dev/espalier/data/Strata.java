package dev.espalier.data;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * What is drawn from: blocks of rows that stay together, in strata of blocks that are alike. Both {@link Holdout} and
 * {@link Limit} take the same share of every stratum.
 *
 * <p>The stratum of a row is its first category among the targets; where there is none, the tenth of all rows that its first
 * number among the targets lies in; and where there is neither, there is one stratum. A block is in the stratum of its first row.
 */
final class Strata {
    private static final int TENTHS = 10;
    /** With fewer rows in each, a share of a stratum is too far from a whole number of rows. */
    private static final int LEAST = 50;

    private final List<List<Block>> strata = new ArrayList<>();

    /** Rows that stay together. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Block(int[] rows) {}

    Strata(Dataset dataset) {
        int[] numbers = numbers(dataset);
        Map<Integer, List<Integer>> blocks = new LinkedHashMap<>();
        for (int row = 0; row < dataset.size(); row++) {
            blocks.computeIfAbsent(dataset.block().applyAsInt(row), _ -> new ArrayList<>())
                    .add(row);
        }
        for (List<Integer> block : blocks.values()) {
            int stratum = numbers[block.getFirst()];
            while (strata.size() <= stratum) {
                strata.add(new ArrayList<>());
            }
            strata.get(stratum)
                    .add(new Block(block.stream().mapToInt(Integer::intValue).toArray()));
        }
    }

    /** The blocks of each stratum, in random order. */
    List<List<Block>> shuffled(long seed) {
        List<List<Block>> shuffled = new ArrayList<>();
        for (int stratum = 0; stratum < strata.size(); stratum++) {
            List<Block> blocks = strata.get(stratum);
            int[] order = IntStream.range(0, blocks.size()).toArray();
            new Draws(seed, stratum).shuffle(order);
            shuffled.add(IntStream.of(order).mapToObj(blocks::get).toList());
        }
        return shuffled;
    }

    private static int[] numbers(Dataset dataset) {
        Optional<Column.Categories> category = first(dataset, Column.Categories.class);
        if (category.isPresent()) {
            return IntStream.range(0, dataset.size()).map(category.get()::read).toArray();
        }
        return first(dataset, Column.Numbers.class)
                .map(column -> tenths(column, dataset.size()))
                .orElseGet(() -> new int[dataset.size()]);
    }

    private static <C extends Column> Optional<C> first(Dataset dataset, Class<C> type) {
        return dataset.targets().stream()
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst();
    }

    private static int[] tenths(Column.Numbers column, int size) {
        float[] row = new float[column.field().size()];
        float[] firsts = new float[size];
        for (int i = 0; i < size; i++) {
            column.read(i, row, 0);
            firsts[i] = row[0];
        }
        int[] byValue = IntStream.range(0, size)
                .boxed()
                .sorted(Comparator.comparingDouble(i -> firsts[i]))
                .mapToInt(Integer::intValue)
                .toArray();
        long count = Math.clamp(size / LEAST, 1, TENTHS);
        int[] tenths = new int[size];
        for (int rank = 0; rank < size; rank++) {
            tenths[byValue[rank]] = (int) (rank * count / size);
        }
        return tenths;
    }
}
