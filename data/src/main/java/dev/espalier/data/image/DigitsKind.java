package dev.espalier.data.image;

import dev.espalier.data.Columns;
import dev.espalier.data.Context;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import dev.espalier.data.Holdout;
import dev.espalier.data.Outline;
import dev.espalier.data.Parts;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;

/**
 * {@code digits}: the 1,797 handwritten digits of 8×8 pixels of the UCI repository, which are part of this library. They are cut
 * by {@link Holdout#DEFAULT}: always the same 1,438 to learn from and 359 for the test.
 */
public final class DigitsKind extends LabelledImages {
    private static final String RESOURCE = "digits-8x8.bin.gz";
    private static final Field.Image FIELD = new Field.Image(IMAGE, 1, 8, 8);
    private static final int RECORD = 1 + FIELD.size();
    private static final int COUNT = 1797;
    private static final int WHITE = 16;
    private static final int CLASSES = 10;

    /** Called by the service loader. */
    public DigitsKind() {}

    @Override
    public String name() {
        return "digits";
    }

    @Override
    public String meaning() {
        return "UCI's handwritten digits, 8×8, which Espalier brings along";
    }

    @Override
    public Outline outline(Values values) {
        return new Outline.Image(FIELD.channels(), FIELD.height(), FIELD.width());
    }

    @Override
    public Parts open(Values values, Context context) throws IOException {
        byte[] records = records();
        byte[][] images = new byte[COUNT][];
        int[] labels = new int[COUNT];
        for (int i = 0; i < COUNT; i++) {
            labels[i] = records[i * RECORD];
            images[i] = Arrays.copyOfRange(records, i * RECORD + 1, (i + 1) * RECORD);
        }
        Dataset all = dataset("digits", Columns.images(FIELD, images, WHITE), Columns.numbered(CLASSES), labels);
        Holdout.Cut cut = Holdout.DEFAULT.of(all);
        return new Parts(cut.kept(), cut.held());
    }

    private static byte[] records() throws IOException {
        try (InputStream stored = DigitsKind.class.getResourceAsStream(RESOURCE)) {
            if (stored == null) {
                throw new IOException("the resource " + RESOURCE + " is missing: espalier-data was not built whole");
            }
            byte[] records = new GZIPInputStream(stored).readAllBytes();
            if (records.length != COUNT * RECORD) {
                throw new IOException("the resource %s has %d bytes instead of %d: espalier-data was not built whole"
                        .formatted(RESOURCE, records.length, COUNT * RECORD));
            }
            return records;
        }
    }
}
