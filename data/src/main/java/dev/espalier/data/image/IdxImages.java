package dev.espalier.data.image;

import dev.espalier.data.DataSection;
import dev.espalier.data.Outline;
import dev.espalier.data.Parts;
import dev.espalier.settings.Key;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** What MNIST and its kin have in common: the folder of their files, and 28×28 grey pixels. */
abstract class IdxImages extends LabelledImages {
    private static final int USUAL_SIZE = 28;

    /** For the kinds of this package. */
    IdxImages() {}

    @Override
    public final List<Key<?>> keys() {
        return Stream.concat(Stream.of(DataSection.DIR), super.keys().stream()).toList();
    }

    @Override
    public final Outline outline(Values values) {
        return new Outline.Image(1, USUAL_SIZE, USUAL_SIZE);
    }

    final Parts open(Values values, String title, List<String> classes) throws IOException {
        return IdxFiles.load(title, Path.of(values.of(DataSection.DIR)), classes);
    }
}
