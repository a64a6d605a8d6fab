package dev.espalier.data.table;

import dev.espalier.data.DataException;
import dev.espalier.data.DataSection;
import dev.espalier.settings.Values;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Which columns of a table are used: some to be said, and some to say it from.
 *
 * @param inputs what a model is given, as indices of columns
 * @param labels what it is to say
 * @param categories the inputs that are categories even if all are numbers
 */
public record Selection(List<Integer> inputs, List<Integer> labels, Set<Integer> categories) {
    /** Copies the lists. */
    public Selection {
        inputs = List.copyOf(inputs);
        labels = List.copyOf(labels);
        categories = Set.copyOf(categories);
    }

    /**
     * {@return what settings say of a table}
     *
     * @param values the section's values, of a {@link TableKind}
     * @param place what messages call the table's head
     * @param columns the names of its columns
     * @throws DataException if a column is not there, or nothing is left to say the labels from
     */
    public static Selection of(Values values, String place, List<String> columns) throws DataException {
        List<Integer> labels =
                DataSection.isLabelled(values) ? find("label", values.of(TableKind.LABEL), place, columns) : List.of();
        List<Integer> ignored = find("data.ignore", values.of(TableKind.IGNORE), place, columns);
        List<String> grouped = TableKind.inputs(values).stream()
                .flatMap(input -> input.sources().stream())
                .toList();
        List<Integer> named = grouped.isEmpty()
                ? find("data.columns", values.of(TableKind.COLUMNS), place, columns)
                : find("data.inputs", grouped, place, columns);
        if (!grouped.isEmpty()
                && (named.size() < grouped.size() || named.stream().anyMatch(labels::contains))) {
            throw DataException.in(
                    place,
                    "data.inputs = %s has a column twice, or a label: a column belongs to one input, and a label to none"
                            .formatted(values.of(TableKind.INPUTS)));
        }
        List<Integer> inputs = new ArrayList<>(
                named.isEmpty() ? IntStream.range(0, columns.size()).boxed().toList() : named);
        inputs.removeAll(labels);
        inputs.removeAll(ignored);
        if (inputs.isEmpty()) {
            throw DataException.in(
                    place,
                    "the columns are %s, and none is left to say %s from: check data.label, data.columns and data.ignore, or set data.labelled = false if there are no labels"
                            .formatted(columns, values.of(TableKind.LABEL)));
        }
        List<Integer> categories = values.has(TableKind.CATEGORIES)
                ? find("data.categories", values.of(TableKind.CATEGORIES), place, columns)
                : List.of();
        return new Selection(inputs, labels, new HashSet<>(categories));
    }

    private static List<Integer> find(String what, List<String> wanted, String place, List<String> columns)
            throws DataException {
        List<Integer> found = new ArrayList<>();
        for (String name : wanted) {
            int column = find(what, name, place, columns);
            if (!found.contains(column)) {
                found.add(column);
            }
        }
        return found;
    }

    private static int find(String what, String wanted, String place, List<String> columns) throws DataException {
        if (columns.contains(wanted)) {
            return columns.indexOf(wanted);
        }
        if (Cells.isWhole(wanted)) {
            long index = Long.parseLong(wanted);
            long fromStart = index < 0 ? columns.size() + index : index;
            if (fromStart >= 0 && fromStart < columns.size()) {
                return (int) fromStart;
            }
        }
        throw DataException.in(
                place,
                "there is no %s column %s: give an index from %d to %d, or one of the names %s"
                        .formatted(what, wanted, -columns.size(), columns.size() - 1, columns));
    }

    /**
     * All columns that are used, in the order in which a {@link Table} has them: first the inputs, then the labels.
     *
     * @return indices of columns
     */
    public List<Integer> all() {
        List<Integer> all = new ArrayList<>(inputs);
        all.addAll(labels);
        return all;
    }
}
