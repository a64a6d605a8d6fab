package dev.espalier.torture.file;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Changes of protobuf messages by their wire format alone: fields go, come twice, change places, come from other messages, hold
 * other numbers and texts. All lengths are right afterwards, so that a parser accepts what was made.
 */
final class MessageMutations {
    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int BYTES = 2;
    private static final int FIXED32 = 5;
    private static final int DEEPEST = 8;

    private final RandomGenerator random;
    private final List<String> words;

    MessageMutations(RandomGenerator random, List<String> words) {
        this.random = random;
        this.words = words;
    }

    /** A field: a number, or bytes that may themselves be fields. */
    private static final class Field {
        final int number;
        int wire;
        long value;
        byte[] bytes = {};
        List<Field> inner = List.of();

        Field(int number, int wire) {
            this.number = number;
            this.wire = wire;
        }
    }

    byte[] change(byte[] file, Supplier<byte[]> other) {
        Optional<List<Field>> parsed = parse(ByteBuffer.wrap(file), 0);
        if (parsed.isEmpty() || parsed.get().isEmpty()) {
            return other.get().clone();
        }
        List<Field> root = parsed.get();
        List<Field> message = anyMessage(root);
        int at = random.nextInt(message.size());
        switch (random.nextInt(10)) {
            case 0 -> message.remove(at);
            case 1 -> message.add(random.nextInt(message.size() + 1), message.get(at));
            case 2 -> message.add(message.remove(random.nextInt(message.size())));
            case 3 -> foreign(message, at, other);
            case 4 -> message.set(random.nextInt(message.size()), message.get(at));
            default -> value(root, message.get(at));
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        write(root, out);
        return out.toByteArray();
    }

    /** A field of another file, of the same number if there is one. */
    private void foreign(List<Field> message, int at, Supplier<byte[]> other) {
        parse(ByteBuffer.wrap(other.get()), 0).filter(list -> !list.isEmpty()).ifPresent(list -> {
            for (int tries = 0; tries < 20; tries++) {
                List<Field> there = anyMessage(list);
                Field field = there.get(random.nextInt(there.size()));
                if (field.number == message.get(at).number || tries == 19) {
                    message.set(at, field);
                    return;
                }
            }
        });
    }

    private void value(List<Field> root, Field field) {
        long awkward = Mutations.AWKWARD[random.nextInt(Mutations.AWKWARD.length)];
        switch (field.wire) {
            case VARINT -> field.value = random.nextInt(3) == 0 ? field.value + random.nextInt(-3, 4) : awkward;
            case FIXED32 -> {
                float[] numbers = {0, -0f, 1, -1, Float.NaN, Float.POSITIVE_INFINITY, 1e38f, 1e-40f};
                field.value = Float.floatToRawIntBits(numbers[random.nextInt(numbers.length)]);
            }
            case FIXED64 -> field.value = awkward;
            default -> bytes(root, field, awkward);
        }
    }

    private void bytes(List<Field> root, Field field, long awkward) {
        switch (random.nextInt(6)) {
            case 0 -> content(field, new byte[0]);
            case 1 -> content(field, word().getBytes(StandardCharsets.UTF_8));
            case 2 -> {
                // A name that occurs elsewhere: wires are tied anew.
                List<Field> message = anyMessage(root);
                Field other = message.get(random.nextInt(message.size()));
                if (other.wire == BYTES && other.inner.isEmpty()) {
                    content(field, other.bytes);
                }
            }
            case 3 -> {
                if (field.inner.isEmpty() && field.bytes.length >= Long.BYTES) {
                    byte[] changed = field.bytes.clone();
                    int at = random.nextInt(changed.length / Long.BYTES) * Long.BYTES;
                    ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN).putLong(at, awkward);
                    content(field, changed);
                }
            }
            case 4 -> {
                byte[] changed = packed(field);
                if (changed.length > 0) {
                    changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
                    content(field, changed);
                }
            }
            default -> {
                byte[] all = packed(field);
                int length = random.nextInt(all.length + 1);
                content(field, Arrays.copyOf(all, random.nextInt(8) == 0 ? all.length * 2 : length));
            }
        }
    }

    private String word() {
        return words.isEmpty() ? "a" : words.get(random.nextInt(words.size()));
    }

    private static void content(Field field, byte[] bytes) {
        field.bytes = bytes;
        field.inner = List.of();
    }

    private static byte[] packed(Field field) {
        if (field.inner.isEmpty()) {
            return field.bytes.clone();
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        write(field.inner, out);
        return out.toByteArray();
    }

    /** The message itself, or one within it; deeper ones are as likely as their number says. */
    private List<Field> anyMessage(List<Field> root) {
        List<List<Field>> all = new ArrayList<>();
        collect(root, all);
        return all.get(random.nextInt(all.size()));
    }

    private static void collect(List<Field> message, List<List<Field>> all) {
        all.add(message);
        for (Field field : message) {
            if (!field.inner.isEmpty()) {
                collect(field.inner, all);
            }
        }
    }

    /** The fields; empty if the bytes are no message. */
    private static Optional<List<Field>> parse(ByteBuffer in, int depth) {
        List<Field> fields = new ArrayList<>();
        while (in.hasRemaining()) {
            long tag = varint(in);
            int number = (int) (tag >>> 3);
            if (tag <= 0 || tag > Integer.MAX_VALUE || number == 0) {
                return Optional.empty();
            }
            Field field = new Field(number, (int) (tag & 7));
            int width = field.wire == FIXED32 ? Integer.BYTES : field.wire == FIXED64 ? Long.BYTES : 0;
            if (field.wire == VARINT) {
                field.value = varint(in);
            } else if (width > 0 && in.remaining() >= width) {
                in.order(ByteOrder.LITTLE_ENDIAN);
                field.value = width == Integer.BYTES ? in.getInt() : in.getLong();
            } else if (field.wire == BYTES) {
                long length = varint(in);
                if (length < 0 || length > in.remaining()) {
                    return Optional.empty();
                }
                field.bytes = new byte[(int) length];
                in.get(field.bytes);
                if (depth < DEEPEST && length > 1) {
                    field.inner = parse(ByteBuffer.wrap(field.bytes), depth + 1).orElse(List.of());
                }
            } else {
                return Optional.empty();
            }
            fields.add(field);
        }
        return Optional.of(fields);
    }

    /** The next number; −1 for one that is cut off, which no tag or length is. */
    private static long varint(ByteBuffer in) {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE && in.hasRemaining(); shift += 7) {
            byte next = in.get();
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        return -1;
    }

    private static void write(List<Field> message, ByteArrayOutputStream out) {
        for (Field field : message) {
            varint(((long) field.number << 3) | field.wire, out);
            switch (field.wire) {
                case VARINT -> varint(field.value, out);
                case FIXED32 ->
                    out.writeBytes(ByteBuffer.allocate(Integer.BYTES)
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .putInt((int) field.value)
                            .array());
                case FIXED64 ->
                    out.writeBytes(ByteBuffer.allocate(Long.BYTES)
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .putLong(field.value)
                            .array());
                default -> {
                    byte[] bytes = packed(field);
                    varint(bytes.length, out);
                    out.writeBytes(bytes);
                }
            }
        }
    }

    private static void varint(long value, ByteArrayOutputStream out) {
        long left = value;
        while ((left & ~0x7fL) != 0) {
            out.write((int) ((left & 0x7f) | 0x80));
            left >>>= 7;
        }
        out.write((int) left);
    }
}
