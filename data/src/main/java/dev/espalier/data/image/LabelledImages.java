package dev.espalier.data.image;

import dev.espalier.data.Augmentation;
import dev.espalier.data.Column;
import dev.espalier.data.ColumnEncoding;
import dev.espalier.data.Columns;
import dev.espalier.data.DataKind;
import dev.espalier.data.DataSection;
import dev.espalier.data.Dataset;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.GivenNormalization;
import dev.espalier.data.Normalization;
import dev.espalier.settings.Key;
import dev.espalier.settings.Values;
import java.util.List;

/** What kinds of images with one label each have in common: how they are normalised, moved and mirrored. */
abstract class LabelledImages implements DataKind {
    static final String IMAGE = "image";
    static final String LABEL = "label";

    /** For the kinds of this package. */
    LabelledImages() {}

    @Override
    public List<Key<?>> keys() {
        return List.of(
                DataSection.NORMALIZE,
                DataSection.MEAN,
                DataSection.STD,
                DataSection.WHITE,
                DataSection.CHANNELS_LAST,
                DataSection.BLUE_FIRST,
                DataSection.PADDING,
                DataSection.FLIP,
                DataSection.CUTOUT);
    }

    @Override
    public void check(Values values) {
        GivenNormalization.check(values);
    }

    @Override
    public final Augmentation augmentation(Values values) {
        return DataSection.imageAugmentation(values);
    }

    @Override
    public final Encoding encoding(Values values, Dataset train) {
        Column.Numbers images = (Column.Numbers) train.inputs().getFirst();
        Normalization by =
                GivenNormalization.of(values, images.field()).orElseGet(() -> normalization(images, train.size()));
        ColumnEncoding scaled = new ColumnEncoding.Scaled(images.field(), by, 0);
        boolean last = values.of(DataSection.CHANNELS_LAST);
        boolean blueFirst = values.of(DataSection.BLUE_FIRST);
        return new Encoding(
                List.of(last || blueFirst ? new ColumnEncoding.Arranged(scaled, last, blueFirst) : scaled),
                Encoding.plain(train.targetFields()));
    }

    /** Means and deviations: of the training part, unless a kind knows better. */
    Normalization normalization(Column.Numbers images, int rows) {
        return Normalization.of(images, rows);
    }

    /** Images and their labels; no targets where there are no classes. */
    static Dataset dataset(String name, Column.Numbers images, List<String> classes, int[] labels) {
        if (classes.isEmpty()) {
            return new Dataset(name, labels.length, List.of(images), List.of());
        }
        Field.Category label = new Field.Category(LABEL, classes);
        return new Dataset(name, labels.length, List.of(images), List.of(Columns.categories(label, labels)));
    }
}
