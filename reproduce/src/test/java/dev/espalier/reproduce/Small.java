package dev.espalier.reproduce;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.reproduce.Comparison.Cell;
import dev.espalier.train.run.RunOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** Items at small scale, and what tests ask of their tables. */
final class Small {
    private Small() {}

    static Setting setting(Path folder) {
        return new Setting(Scale.SMALL, Optional.empty(), 1, folder, RunOptions.DEFAULT);
    }

    static Findings run(Item item, Path folder) throws IOException {
        return item.run(setting(folder)).orElseThrow();
    }

    static Cell cell(Comparison table, String row, String column) {
        return table.rows().stream()
                .filter(one -> one.name().equals(row))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no row " + row + " in " + table.body()))
                .cells()
                .get(column(table, column));
    }

    static double ours(Comparison table, String row, String column) {
        return cell(table, row, column).ours().mean();
    }

    static int column(Comparison table, String name) {
        for (int i = 0; i < table.columns().size(); i++) {
            if (table.columns().get(i).name().equals(name)) {
                return i;
            }
        }
        throw new AssertionError("no column " + name + " in " + table.head());
    }

    static void assertBetween(double low, double high, double value, String what) {
        assertTrue(
                value >= low && value <= high, () -> what + " = " + value + " is not in [" + low + ", " + high + "]");
    }
}
