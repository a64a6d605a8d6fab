package dev.espalier.torture.file.reader;

import dev.espalier.core.step.StateFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.zip.CRC32C;

/** Checkpoints and the optimizer's state. */
public final class StateTarget extends SingleFile {
    /** Called by the service loader. */
    public StateTarget() {
        super("state", Structure.BYTES, "step-1.state");
    }

    private static SequencedMap<String, MemorySegment> state() {
        SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
        state.put("network/tensor/w", MemorySegment.ofArray(new float[] {1, 2, 3}));
        state.put("step", MemorySegment.ofArray(new long[] {7}));
        state.put("none", MemorySegment.ofArray(new byte[0]));
        return state;
    }

    @Override
    public List<byte[]> seeds(Path folder) throws IOException {
        Path file = folder.resolve("seed");
        StateFile.save(file, state());
        return List.of(Files.readAllBytes(file));
    }

    @Override
    public byte[] mend(byte[] file) {
        byte[] mended = file.clone();
        int end = file.length - Integer.BYTES;
        if (end >= 0) {
            CRC32C sum = new CRC32C();
            sum.update(file, 0, end);
            ByteBuffer.wrap(mended).putInt(end, (int) sum.getValue());
        }
        return mended;
    }

    @Override
    void read(Path file) throws IOException {
        StateFile.isIntact(file);
        StateFile.read(file, _ -> true);
        StateFile.load(file, state());
    }
}
