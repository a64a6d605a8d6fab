package dev.espalier.data.image;

import dev.espalier.data.Columns;
import dev.espalier.data.Context;
import dev.espalier.data.Parts;
import dev.espalier.settings.Values;
import java.io.IOException;

/**
 * {@code mnist}: MNIST, as {@code train-images-idx3-ubyte}, {@code train-labels-idx1-ubyte}, {@code t10k-images-idx3-ubyte} and
 * {@code t10k-labels-idx1-ubyte}, plain or with {@code .gz}, in {@code data.dir}.
 */
public final class MnistKind extends IdxImages {
    /** Called by the service loader. */
    public MnistKind() {}

    @Override
    public String name() {
        return "mnist";
    }

    @Override
    public String meaning() {
        return "MNIST's idx files";
    }

    @Override
    public Parts open(Values values, Context context) throws IOException {
        return open(values, "MNIST", Columns.numbered(10));
    }
}
