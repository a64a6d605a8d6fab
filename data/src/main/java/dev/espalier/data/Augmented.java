package dev.espalier.data;

import java.util.List;

/** A data set under augmentation, for one thread: {@link #begin} draws for a row, and then its columns are read. */
final class Augmented {
    private final Augmentation augmentation;
    private final Dataset dataset;
    private Augmentation.Change change;

    Augmented(Dataset dataset, Augmentation augmentation) {
        augmentation.check(dataset);
        this.augmentation = augmentation;
        this.change = augmentation.draw(new Draws());
        this.dataset = new Dataset(
                dataset.name(),
                dataset.size(),
                changing(dataset.inputs()),
                changing(dataset.targets()),
                dataset.block());
    }

    private List<Column> changing(List<Column> columns) {
        return columns.stream()
                .map(column -> column instanceof Column.Numbers numbers ? changing(numbers) : column)
                .toList();
    }

    private Column changing(Column.Numbers column) {
        float[] raw = new float[column.field().size()];
        return Columns.numbers(column.field(), (row, target, offset) -> {
            column.read(row, raw, 0);
            change.apply(column.field(), raw, target, offset);
        });
    }

    void begin(Draws draws) {
        change = augmentation.draw(draws);
    }

    /** The columns as they are changed. */
    Dataset dataset() {
        return dataset;
    }
}
