package dev.espalier.train.task;

import dev.espalier.core.check.Writing;
import dev.espalier.data.Batch;
import dev.espalier.data.Batches;
import dev.espalier.data.Column;
import dev.espalier.data.Columns;
import dev.espalier.data.Context;
import dev.espalier.data.Dataset;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.graph.Graph;
import dev.espalier.graph.type.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;

/**
 * What an original says of every row, in a file: computed once, checked when it is opened, and gone on with where it was cut off.
 *
 * <p>The file is a key, which tells the model and the data, and then block after block: the answers to some rows, and their
 * checksum. What does not fit its checksum is computed again, with all that comes behind it.
 */
final class KeptAnswers {
    private static final int KEY_BYTES = 32;
    private static final int CHECK_BYTES = Long.BYTES;
    private static final int PROBED = 16;

    private final Path file;
    private final Dataset part;
    private final Encoding encoding;
    private final Original original;
    private final List<Field.Numbers> fields;
    private final int rowFloats;

    private KeptAnswers(Path file, Dataset part, Encoding encoding, Original original) {
        this.file = file;
        this.part = part;
        this.encoding = encoding;
        this.original = original;
        this.fields = original.fitted().model().outputs().stream()
                .map(tensor -> field(original.fitted().model(), tensor))
                .toList();
        this.rowFloats = fields.stream().mapToInt(Field.Dense::size).sum();
    }

    private static Field.Numbers field(Graph model, String tensor) {
        List<Integer> shape = new ArrayList<>();
        model.shape(tensor).dimensions().stream().skip(1).forEach(dimension -> {
            if (!dimension.isKnown()) {
                throw new IllegalArgumentException(
                        "task.answers = kept needs outputs of one size, but %s is %s: set task.answers to engine or runtime"
                                .formatted(tensor, model.shape(tensor)));
            }
            shape.add(Math.toIntExact(dimension.value()));
        });
        return new Field.Numbers(Imitation.TAUGHT + tensor, shape);
    }

    /**
     * Data with the answers beside it, as targets.
     *
     * @param data the data, without targets
     * @param original who answers
     * @param folder where answers are kept
     * @param progress who is told
     * @return the data with a target for each tensor that is compared
     * @throws IOException if a file cannot be read or written
     */
    static LoadedData beside(LoadedData data, Original original, Path folder, Context.Progress progress)
            throws IOException {
        if (data.augmentation().changes()) {
            throw new IllegalArgumentException(
                    "task.answers = kept needs rows that stay as they are, but the data changes them at random: leave that out (data.flip, data.padding), or set task.answers to engine or runtime");
        }
        Files.createDirectories(folder);
        Dataset test =
                new KeptAnswers(folder.resolve("test.bin"), data.test(), data.encoding(), original).all(progress);
        Dataset validation = data.validation().equals(data.test())
                ? test
                : new KeptAnswers(folder.resolve("validation.bin"), data.validation(), data.encoding(), original)
                        .all(progress);
        Dataset train =
                new KeptAnswers(folder.resolve("train.bin"), data.train(), data.encoding(), original).all(progress);
        return new LoadedData(
                train,
                validation,
                test,
                new Encoding(data.encoding().inputs(), Encoding.plain(train.targetFields())),
                data.augmentation(),
                data.notes(),
                data.companion());
    }

    private Dataset all(Context.Progress progress) throws IOException {
        byte[] key = key();
        Writing.to(file, () -> complete(key, progress));
        MemorySegment kept;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            // Read by threads that nobody ends: the garbage collector does.
            kept = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto());
        }
        List<Column> columns = new ArrayList<>();
        int from = 0;
        for (Field.Numbers field : fields) {
            int first = from;
            columns.add(Columns.numbers(
                    field,
                    (row, target, offset) -> MemorySegment.copy(
                            kept,
                            ValueLayout.JAVA_FLOAT_UNALIGNED,
                            place(row) + (long) Float.BYTES * first,
                            target,
                            offset,
                            field.size())));
            from += field.size();
        }
        return new Dataset(part.name(), part.size(), part.inputs(), columns, part.block());
    }

    /** Where the answers to a row begin. */
    private long place(int row) {
        return KEY_BYTES + (long) row * rowFloats * Float.BYTES + (long) (row / Original.BATCH) * CHECK_BYTES;
    }

    private int blocks() {
        return Math.ceilDiv(part.size(), Original.BATCH);
    }

    private int rows(int block) {
        return Math.min(Original.BATCH, part.size() - block * Original.BATCH);
    }

    private void complete(byte[] key, Context.Progress progress) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            int block = sound(channel, key);
            if (block == 0) {
                channel.truncate(0);
                write(channel, ByteBuffer.wrap(key), 0);
            }
            if (block < blocks()) {
                compute(channel, block, progress);
            }
            channel.truncate(place(part.size() - 1) + (long) rowFloats * Float.BYTES + CHECK_BYTES);
        }
    }

    private void compute(FileChannel channel, int first, Context.Progress progress) throws IOException {
        int done = first * Original.BATCH;
        Dataset rest = part.rows(IntStream.range(done, part.size()).toArray());
        try (Batches batches = Batches.evaluation(rest, encoding, Original.BATCH)) {
            for (int block = first; batches.hasNext(); block++) {
                Batch batch = batches.next();
                write(channel, answers(batch), place(block * Original.BATCH));
                done += batch.size();
                progress.at("answers of the original", done, part.size());
            }
        }
        channel.force(false);
    }

    private ByteBuffer answers(Batch batch) {
        SequencedMap<String, Tensor> said = original.answer(original.fitted().feed(batch.inputs()));
        ByteBuffer block = ByteBuffer.allocate(batch.size() * rowFloats * Float.BYTES + CHECK_BYTES)
                .order(ByteOrder.nativeOrder());
        for (int row = 0; row < batch.size(); row++) {
            for (String tensor : original.fitted().model().outputs()) {
                Tensor all = Objects.requireNonNull(said.get(tensor));
                long each = all.size() / batch.size();
                for (long i = row * each; i < (row + 1) * each; i++) {
                    block.putFloat((float) all.getDouble(i));
                }
            }
        }
        block.putLong(checksum(block.duplicate().flip()));
        return block.flip();
    }

    private static long checksum(ByteBuffer bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return checksum.getValue();
    }

    /** How many blocks are as they were written. */
    private int sound(FileChannel channel, byte[] key) throws IOException {
        ByteBuffer found = ByteBuffer.allocate(KEY_BYTES);
        if (!read(channel, found, 0) || !Arrays.equals(found.array(), key)) {
            return 0;
        }
        for (int block = 0; block < blocks(); block++) {
            ByteBuffer bytes = ByteBuffer.allocate(rows(block) * rowFloats * Float.BYTES + CHECK_BYTES)
                    .order(ByteOrder.nativeOrder());
            boolean whole = read(channel, bytes, place(block * Original.BATCH));
            int end = bytes.capacity() - CHECK_BYTES;
            if (!whole || bytes.getLong(end) != checksum(bytes.flip().limit(end))) {
                return block;
            }
        }
        return blocks();
    }

    private static boolean read(FileChannel channel, ByteBuffer bytes, long place) throws IOException {
        while (bytes.hasRemaining()) {
            if (channel.read(bytes, place + bytes.position()) < 0) {
                return false;
            }
        }
        return true;
    }

    private static void write(FileChannel channel, ByteBuffer bytes, long place) throws IOException {
        long at = place;
        while (bytes.hasRemaining()) {
            at += channel.write(bytes, at);
        }
    }

    /** The model, and some of the rows as it sees them. */
    private byte[] key() {
        MessageDigest digest = sha256();
        Graph model = original.fitted().model();
        model.nodes().forEach(node -> digest.update(node.toString().getBytes(StandardCharsets.UTF_8)));
        model.initializers().values().forEach(initializer -> update(digest, initializer.tensor()));
        digest.update(ByteBuffer.allocate(2 * Integer.BYTES)
                .putInt(part.size())
                .putInt(rowFloats)
                .flip());
        int[] some = IntStream.range(0, Math.min(PROBED, part.size()))
                .map(i -> Math.toIntExact((long) i * part.size() / Math.min(PROBED, part.size())))
                .toArray();
        try (Batches batches = Batches.evaluation(part.rows(some), encoding, PROBED)) {
            batches.next().inputs().sequencedValues().forEach(tensor -> update(digest, tensor));
        }
        return digest.digest();
    }

    private static void update(MessageDigest digest, Tensor tensor) {
        digest.update(tensor.data().asByteBuffer());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java has SHA-256", impossible);
        }
    }
}
