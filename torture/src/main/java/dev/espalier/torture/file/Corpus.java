package dev.espalier.torture.file;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/** Files that made a reader do something new, to be changed further; in memory, shared by all jobs. */
final class Corpus {
    /** More would thin out what is new. */
    private static final int MOST = 4000;

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final List<byte[]> files = new ArrayList<>();
    /** Those of them that are read to the end: changes of these get further. */
    private final List<byte[]> sound = new ArrayList<>();
    /** For each counter, a bit for each magnitude that was seen. */
    private final byte[] seen = new byte[Hits.SIZE];

    private int turns;

    /** Takes a sound file whatever it does. */
    synchronized void plant(byte[] file) {
        files.add(file);
        sound.add(file);
    }

    synchronized byte[] any(RandomGenerator random) {
        List<byte[]> from = random.nextBoolean() ? sound : files;
        int size = from.size();
        // What was found last is tried more often than what is long known.
        int back = Math.min(random.nextInt(size), random.nextInt(size));
        return from.get(size - 1 - back);
    }

    synchronized int size() {
        return files.size();
    }

    /** How many turns were ever taken. */
    synchronized int turns() {
        return turns;
    }

    /** Keeps a file whose reading took turns, or took them as often, as none before. Clears the counters. */
    void learn(byte[] file, byte[] hits, Reading reading) {
        boolean news = false;
        for (int at = 0; at < hits.length; at += Long.BYTES) {
            if ((long) LONGS.get(hits, at) != 0) {
                for (int i = at; i < at + Long.BYTES; i++) {
                    news |= hits[i] != 0 && learn(i, magnitude(Byte.toUnsignedInt(hits[i])));
                }
            }
        }
        Arrays.fill(hits, (byte) 0);
        if (news && reading.failure().isEmpty()) {
            keep(file, reading.sound());
        }
    }

    private synchronized void keep(byte[] file, boolean whole) {
        if (files.size() < MOST) {
            files.add(file);
            if (whole) {
                sound.add(file);
            }
        }
    }

    private boolean learn(int turn, byte magnitude) {
        if ((seen[turn] & magnitude) != 0) {
            return false;
        }
        synchronized (this) {
            turns += seen[turn] == 0 ? 1 : 0;
            seen[turn] |= magnitude;
        }
        return true;
    }

    /** Once, twice, three times, up to 7, 15, 31, 127, more: differences between are chance. */
    private static byte magnitude(int count) {
        int rank = count <= 3 ? count - 1 : count < 8 ? 3 : count < 16 ? 4 : count < 32 ? 5 : count < 128 ? 6 : 7;
        return (byte) (1 << rank);
    }
}
