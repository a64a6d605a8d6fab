package dev.espalier.data.image;

import dev.espalier.data.Column;
import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.Normalization;
import dev.espalier.data.Outline;
import dev.espalier.data.Parts;
import dev.espalier.settings.Key;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * {@code cifar10}: CIFAR-10, the official binary version: {@code data_batch_1.bin} … {@code data_batch_5.bin} and
 * {@code test_batch.bin}, each checked against its published content, in {@code data.dir} or in the folder
 * {@code cifar-10-batches-bin} there.
 */
public final class Cifar10Kind extends LabelledImages {
    /** The usual normalisation, which is that of the training part to four digits. */
    static final Normalization USUAL =
            new Normalization(List.of(0.4914, 0.4822, 0.4465), List.of(0.2470, 0.2435, 0.2616));

    /** Called by the service loader. */
    public Cifar10Kind() {}

    @Override
    public String name() {
        return "cifar10";
    }

    @Override
    public String meaning() {
        return "CIFAR-10's binary batches";
    }

    @Override
    public List<Key<?>> keys() {
        return Stream.concat(Stream.of(DataSection.DIR), super.keys().stream()).toList();
    }

    @Override
    public Outline outline(Values values) {
        return new Outline.Image(
                Cifar10Files.FIELD.channels(), Cifar10Files.FIELD.height(), Cifar10Files.FIELD.width());
    }

    @Override
    public Parts open(Values values, Context context) throws IOException {
        return Cifar10Files.official().loadAll(Path.of(values.of(DataSection.DIR)));
    }

    @Override
    Normalization normalization(Column.Numbers images, int rows) {
        return USUAL;
    }
}
