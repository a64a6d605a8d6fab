package dev.espalier.train.journal;

import com.google.protobuf.CodedOutputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.zip.CRC32C;

/**
 * Writes numbers for TensorBoard: an event file, which is a sequence of TFRecords that each hold a protobuf message
 * {@code Event}.
 *
 * <p>A record is the length of its message (8 bytes), a checksum of these 8 bytes, the message, and a checksum of it; all
 * little-endian. The first event names the version of the format.
 */
final class TensorBoardWriter implements AutoCloseable {
    private static final String VERSION = "brain.Event:2";

    /** What TensorFlow adds to a rotated checksum, so that a checksum of data with checksums in it is no trivial one. */
    private static final int CHECKSUM_MASK = 0xa282ead8;

    /** The numbers of the fields, as TensorFlow's {@code event.proto} and {@code summary.proto} have them. */
    private static final int EVENT_TIME = 1;

    private static final int EVENT_STEP = 2;
    private static final int EVENT_VERSION = 3;
    private static final int EVENT_SUMMARY = 5;
    private static final int SUMMARY_VALUE = 1;
    private static final int VALUE_TAG = 1;
    private static final int VALUE_NUMBER = 2;

    private final OutputStream file;

    /**
     * Starts a new file.
     *
     * @param folder where; it is made if it is missing
     * @param now the time, which the file is named after
     * @throws IOException if the file cannot be made, or is there already
     */
    public TensorBoardWriter(Path folder, Instant now) throws IOException {
        Files.createDirectories(folder);
        // TensorBoard reads the files with tfevents in their names, in the order of these.
        String name = "events.out.tfevents.%010d.%09d".formatted(now.getEpochSecond(), now.getNano());
        file = new BufferedOutputStream(
                Files.newOutputStream(folder.resolve(name), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
        record(message(event -> {
            event.writeDouble(EVENT_TIME, seconds(now));
            event.writeString(EVENT_VERSION, VERSION);
        }));
    }

    /**
     * Writes a number.
     *
     * @param tag the curve that it belongs to; what stands in front of a slash groups curves
     * @param step where on the curve
     * @param time when it was measured
     * @param value the number, which TensorBoard holds in single precision
     * @throws IOException if it cannot be written
     */
    public void scalar(String tag, long step, Instant time, double value) throws IOException {
        byte[] number = message(fields -> {
            fields.writeString(VALUE_TAG, tag);
            fields.writeFloat(VALUE_NUMBER, (float) value);
        });
        byte[] summary = message(fields -> fields.writeByteArray(SUMMARY_VALUE, number));
        record(message(event -> {
            event.writeDouble(EVENT_TIME, seconds(time));
            event.writeInt64(EVENT_STEP, step);
            event.writeByteArray(EVENT_SUMMARY, summary);
        }));
    }

    /**
     * Hands everything over to the system, so that TensorBoard sees it.
     *
     * @throws IOException if it cannot be written
     */
    public void flush() throws IOException {
        file.flush();
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    @FunctionalInterface
    private interface Fields {
        void writeTo(CodedOutputStream message) throws IOException;
    }

    private static byte[] message(Fields fields) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream message = CodedOutputStream.newInstance(bytes);
        fields.writeTo(message);
        message.flush();
        return bytes.toByteArray();
    }

    private static double seconds(Instant time) {
        return time.getEpochSecond() + time.getNano() * 1e-9;
    }

    private void record(byte[] message) throws IOException {
        byte[] length = little(Long.BYTES).putLong(message.length).array();
        file.write(length);
        file.write(little(Integer.BYTES).putInt(checksum(length)).array());
        file.write(message);
        file.write(little(Integer.BYTES).putInt(checksum(message)).array());
    }

    private static ByteBuffer little(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** CRC-32C, rotated by 15 bits to the right, and masked. */
    static int checksum(byte[] bytes) {
        CRC32C sum = new CRC32C();
        sum.update(bytes);
        return Integer.rotateRight((int) sum.getValue(), 15) + CHECKSUM_MASK;
    }
}
