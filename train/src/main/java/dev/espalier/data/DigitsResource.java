package dev.espalier.data;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPInputStream;

/** The digits that are part of this library. */
final class DigitsResource {
    private static final String RESOURCE = "digits-8x8.bin.gz";
    private static final SampleShape.Image SHAPE = new SampleShape.Image(1, 8, 8);
    private static final int RECORD = 1 + SHAPE.size();
    private static final int COUNT = 1797;
    private static final int WHITE = 16;

    private DigitsResource() {}

    static DataSplit load() throws IOException {
        byte[] records = records();
        List<byte[]> samples = new ArrayList<>(COUNT);
        int[] labels = new int[COUNT];
        for (int i = 0; i < COUNT; i++) {
            labels[i] = records[i * RECORD];
            samples.add(Arrays.copyOfRange(records, i * RECORD + 1, (i + 1) * RECORD));
        }
        return Holdout.DEFAULT.of(Samples.ofBytes("digits", SHAPE, Samples.numbered(10), samples, labels, WHITE));
    }

    private static byte[] records() throws IOException {
        try (InputStream stored = DigitsResource.class.getResourceAsStream(RESOURCE)) {
            if (stored == null) {
                throw new IOException("the resource " + RESOURCE + " is missing: espalier-train was not built whole");
            }
            byte[] records = new GZIPInputStream(stored).readAllBytes();
            if (records.length != COUNT * RECORD) {
                throw new IOException("the resource %s has %d bytes instead of %d: espalier-train was not built whole"
                        .formatted(RESOURCE, records.length, COUNT * RECORD));
            }
            return records;
        }
    }
}
