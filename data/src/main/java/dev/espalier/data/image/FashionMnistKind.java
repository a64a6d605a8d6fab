package dev.espalier.data.image;

import dev.espalier.data.Context;
import dev.espalier.data.Parts;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.util.List;

/**
 * {@code fashion-mnist}: Fashion-MNIST, in files named as those of {@link MnistKind}, in {@code data.dir}.
 */
public final class FashionMnistKind extends IdxImages {
    private static final List<String> CLASSES = List.of(
            "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot");

    /** Called by the service loader. */
    public FashionMnistKind() {}

    @Override
    public String name() {
        return "fashion-mnist";
    }

    @Override
    public String meaning() {
        return "Fashion-MNIST's idx files";
    }

    @Override
    public Parts open(Values values, Context context) throws IOException {
        return open(values, "Fashion-MNIST", CLASSES);
    }
}
