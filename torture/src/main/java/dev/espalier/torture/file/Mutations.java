package dev.espalier.torture.file;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Changes of a file by chance: some of its bytes, some of what its format is made of. */
final class Mutations {
    /** The longest file that is made. */
    static final int LONGEST = 1 << 18;

    /** Numbers at which arithmetic breaks: the ends of types, and what is nearly a length or an axis. */
    static final long[] AWKWARD = {
        0,
        1,
        -1,
        2,
        3,
        -2,
        4,
        7,
        8,
        16,
        64,
        65,
        100,
        127,
        128,
        255,
        256,
        1000,
        Short.MAX_VALUE,
        1 << 16,
        1 << 20,
        1 << 24,
        Integer.MAX_VALUE - 8,
        Integer.MAX_VALUE,
        Integer.MIN_VALUE,
        1L << 32,
        (1L << 32) - 1,
        1L << 40,
        Long.MAX_VALUE / 8,
        Long.MAX_VALUE / 2,
        Long.MAX_VALUE,
        Long.MIN_VALUE
    };

    private final RandomGenerator random;
    private final Target.Structure structure;
    private final List<String> words;

    Mutations(RandomGenerator random, Target target) {
        this.random = random;
        this.structure = target.structure();
        this.words = target.words();
    }

    /** The file with one to four changes. */
    byte[] mutate(byte[] file, Supplier<byte[]> other) {
        byte[] changed = file;
        int changes = 1 + Integer.numberOfTrailingZeros(random.nextInt() | 8);
        for (int i = 0; i < changes; i++) {
            changed = change(changed, other);
            if (changed.length > LONGEST) {
                changed = Arrays.copyOf(changed, LONGEST);
            }
        }
        return changed;
    }

    private byte[] change(byte[] file, Supplier<byte[]> other) {
        if (random.nextInt(4) == 0) {
            return bytes(file, other);
        }
        return switch (structure) {
            case BYTES -> bytes(file, other);
            case TEXT -> new TextMutations(random, words).change(file, other);
            case MESSAGE -> new MessageMutations(random, words).change(file, other);
        };
    }

    private byte[] bytes(byte[] file, Supplier<byte[]> other) {
        if (file.length == 0) {
            return other.get().clone();
        }
        int at = random.nextInt(file.length);
        int length = 1 + random.nextInt(Math.min(file.length - at, 1 << random.nextInt(10)));
        return switch (random.nextInt(words.isEmpty() ? 9 : 11)) {
            case 0 -> flip(file, at);
            case 1 -> Arrays.copyOf(file, at);
            case 2 -> splice(file, at, at + length, new byte[0]);
            case 3 -> splice(file, at, at, Arrays.copyOfRange(file, at, at + length));
            case 4 -> splice(file, at, at + length, piece(other.get()));
            case 5 -> fill(file, at, length);
            case 6 -> splice(file, at, at, piece(file));
            case 9 -> splice(file, at, at, word());
            case 10 -> over(file, at, word());
            default -> number(file, at);
        };
    }

    private byte[] word() {
        return words.get(random.nextInt(words.size())).getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] over(byte[] file, int at, byte[] word) {
        byte[] changed = file.clone();
        System.arraycopy(word, 0, changed, at, Math.min(word.length, file.length - at));
        return changed;
    }

    private byte[] flip(byte[] file, int at) {
        byte[] changed = file.clone();
        for (int i = random.nextInt(4); i >= 0; i--) {
            changed[random.nextInt(4) == 0 ? random.nextInt(file.length) : at] ^= (byte) (1 << random.nextInt(8));
        }
        return changed;
    }

    private byte[] fill(byte[] file, int at, int length) {
        byte[] changed = file.clone();
        byte[] values = {0, -1, 1, 127, -128, ' ', '0', 'A', '"', '\n'};
        Arrays.fill(changed, at, at + length, values[random.nextInt(values.length)]);
        return changed;
    }

    /** A number of 1, 2, 4 or 8 bytes, the least byte first or last; or one that is a little larger or smaller. */
    private byte[] number(byte[] file, int at) {
        int width = 1 << random.nextInt(4);
        byte[] changed = file.clone();
        if (at + width > changed.length) {
            return changed;
        }
        ByteBuffer place =
                ByteBuffer.wrap(changed).order(random.nextBoolean() ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
        boolean near = random.nextInt(3) == 0;
        long step = random.nextInt(-16, 17);
        long awkward = AWKWARD[random.nextInt(AWKWARD.length)];
        switch (width) {
            case 1 -> place.put(at, (byte) (near ? place.get(at) + step : awkward));
            case 2 -> place.putShort(at, (short) (near ? place.getShort(at) + step : awkward));
            case 4 -> place.putInt(at, (int) (near ? place.getInt(at) + step : awkward));
            default -> place.putLong(at, near ? place.getLong(at) + step : awkward);
        }
        return changed;
    }

    private byte[] piece(byte[] file) {
        if (file.length == 0) {
            return file;
        }
        int from = random.nextInt(file.length);
        return Arrays.copyOfRange(file, from, from + 1 + random.nextInt(file.length - from));
    }

    /** The file with something else from one place to another. */
    static byte[] splice(byte[] file, int from, int to, byte[] other) {
        byte[] changed = Arrays.copyOf(file, from + other.length + file.length - to);
        System.arraycopy(other, 0, changed, from, other.length);
        System.arraycopy(file, to, changed, from + other.length, file.length - to);
        return changed;
    }
}
