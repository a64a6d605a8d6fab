package dev.espalier.careless;

import dev.espalier.torture.file.Target;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A reader that makes every mistake there is, and one so deep down that chance alone would not find it. */
public final class CarelessTarget implements Target {
    @Override
    public String name() {
        return "careless";
    }

    @Override
    public Structure structure() {
        return Structure.BYTES;
    }

    @Override
    public List<byte[]> seeds(Path folder) {
        return List.of("sound and long enough".getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void read(Path folder, byte[] file) throws IOException {
        if (file.length < 4) {
            throw new IOException("too short");
        }
        switch (new String(file, 0, 4, StandardCharsets.ISO_8859_1)) {
            case "null" -> throw new NullPointerException("a mistake");
            case "file" -> Files.write(folder.resolveSibling("stray"), file);
            case "mean" -> throw new IOException(" ");
            case "lots" -> keep(new byte[64 << 20]);
            case "hang" -> hang();
            default -> deep(file);
        }
    }

    private static void keep(byte[] lots) throws IOException {
        if (lots[lots.length - 1] != 0) {
            throw new IOException("not empty");
        }
    }

    /** Each step of it is a turn of its own, so that counters see how far a file gets. */
    private static void deep(byte[] file) {
        if (file[0] == 'd') {
            if (file[1] == 'e') {
                if (file[2] == 'e') {
                    if (file[3] == 'p') {
                        throw new IllegalStateException("far down");
                    }
                }
            }
        }
    }

    private static void hang() {
        long sum = 0;
        while (!Thread.currentThread().isInterrupted()) {
            sum += System.nanoTime();
        }
        if (sum == 0) {
            throw new IllegalStateException("time stands still");
        }
    }
}
