package dev.espalier.torture.crash;

import dev.espalier.torture.crash.Fault.Operation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** An open file, or an open folder, of a {@link FaultyFileSystem}. */
final class FaultyChannel extends FileChannel {
    private final FileChannel below;
    private final Path file;
    private final Disk disk;
    /** What the disk knows the file by; null for a folder. */
    private final @Nullable Object node;

    FaultyChannel(FileChannel below, Path file, Disk disk, @Nullable Object node) {
        this.below = below;
        this.file = file;
        this.disk = disk;
        this.node = node;
    }

    private interface Write {
        int run(ByteBuffer bytes) throws IOException;
    }

    private int write(ByteBuffer bytes, Write write) throws IOException {
        Fault fault = disk.before(Operation.WRITE, file);
        if (fault != Fault.SHORT && fault != Fault.TORN) {
            return write.run(bytes);
        }
        // A part that is not nothing: a write of nothing at all is for ever.
        int length = Math.ceilDiv(bytes.remaining(), 2);
        ByteBuffer part = bytes.slice(bytes.position(), length);
        while (part.hasRemaining()) {
            write.run(part);
        }
        if (fault == Fault.TORN) {
            disk.die();
        }
        bytes.position(bytes.position() + length);
        return length;
    }

    @Override
    public int write(ByteBuffer bytes) throws IOException {
        return write(bytes, below::write);
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // a part is another buffer, whatever is in it
    public int write(ByteBuffer bytes, long position) throws IOException {
        long start = bytes.position();
        return write(bytes, part -> below.write(part, position + part.position() - (part == bytes ? start : 0)));
    }

    @Override
    public long write(ByteBuffer[] all, int offset, int length) throws IOException {
        long written = 0;
        for (int i = offset; i < offset + length; i++) {
            int wanted = all[i].remaining();
            int taken = write(all[i]);
            written += taken;
            if (taken < wanted) {
                break;
            }
        }
        return written;
    }

    @Override
    public int read(ByteBuffer bytes) throws IOException {
        disk.before(Operation.READ, file);
        return below.read(bytes);
    }

    @Override
    public int read(ByteBuffer bytes, long position) throws IOException {
        disk.before(Operation.READ, file);
        return below.read(bytes, position);
    }

    @Override
    public long read(ByteBuffer[] all, int offset, int length) throws IOException {
        disk.before(Operation.READ, file);
        return below.read(all, offset, length);
    }

    @Override
    public void force(boolean metadata) throws IOException {
        Fault fault = disk.before(node == null ? Operation.SETTLE : Operation.FORCE, file);
        if (fault == Fault.LIE) {
            return;
        }
        // Not to the real disk: it is another power that is cut.
        if (node == null) {
            disk.settled(file);
        } else {
            disk.forced(node);
        }
    }

    @Override
    public FileChannel truncate(long size) throws IOException {
        disk.before(Operation.TRUNCATE, file);
        below.truncate(size);
        return this;
    }

    @Override
    public long position() throws IOException {
        return below.position();
    }

    @Override
    public FileChannel position(long position) throws IOException {
        below.position(position);
        return this;
    }

    @Override
    public long size() throws IOException {
        return below.size();
    }

    @Override
    public long transferTo(long position, long count, WritableByteChannel target) throws IOException {
        disk.before(Operation.READ, file);
        return below.transferTo(position, count, target);
    }

    @Override
    public long transferFrom(ReadableByteChannel source, long position, long count) {
        throw new UnsupportedOperationException("no training writes so; play it when one does");
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) throws IOException {
        disk.before(Operation.READ, file);
        return below.map(mode, position, size);
    }

    @Override
    public MemorySegment map(MapMode mode, long offset, long size, Arena arena) throws IOException {
        disk.before(Operation.READ, file);
        return below.map(mode, offset, size, arena);
    }

    @Override
    public FileLock lock(long position, long size, boolean shared) throws IOException {
        return below.lock(position, size, shared);
    }

    @Override
    public @Nullable FileLock tryLock(long position, long size, boolean shared) throws IOException {
        return below.tryLock(position, size, shared);
    }

    /** Whatever happens: the system closes the files of a process that ends. */
    @Override
    protected void implCloseChannel() throws IOException {
        below.close();
    }
}
