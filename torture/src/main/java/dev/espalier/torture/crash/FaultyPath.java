package dev.espalier.torture.crash;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import org.jspecify.annotations.Nullable;

/**
 * A path of a {@link FaultyFileSystem}: all that can be asked is answered by the real one.
 *
 * @param system where it leads
 * @param real the path on the machine's own system
 */
record FaultyPath(FaultyFileSystem system, Path real) implements Path {
    private Path like(Path other) {
        return new FaultyPath(system, other);
    }

    private @Nullable Path likeIfAny(@Nullable Path other) {
        return other == null ? null : like(other);
    }

    @Override
    public FileSystem getFileSystem() {
        return system;
    }

    @Override
    public boolean isAbsolute() {
        return real.isAbsolute();
    }

    @Override
    public @Nullable Path getRoot() {
        return likeIfAny(real.getRoot());
    }

    @Override
    public @Nullable Path getFileName() {
        return likeIfAny(real.getFileName());
    }

    @Override
    public @Nullable Path getParent() {
        return likeIfAny(real.getParent());
    }

    @Override
    public int getNameCount() {
        return real.getNameCount();
    }

    @Override
    public Path getName(int index) {
        return like(real.getName(index));
    }

    @Override
    public Path subpath(int from, int to) {
        return like(real.subpath(from, to));
    }

    @Override
    public boolean startsWith(Path other) {
        return real.startsWith(FaultyFileSystem.real(other));
    }

    @Override
    public boolean endsWith(Path other) {
        return real.endsWith(FaultyFileSystem.real(other));
    }

    @Override
    public Path normalize() {
        return like(real.normalize());
    }

    @Override
    public Path resolve(Path other) {
        return like(real.resolve(FaultyFileSystem.real(other)));
    }

    @Override
    public Path relativize(Path other) {
        return like(real.relativize(FaultyFileSystem.real(other)));
    }

    @Override
    public URI toUri() {
        return real.toUri();
    }

    @Override
    public Path toAbsolutePath() {
        return like(real.toAbsolutePath());
    }

    @Override
    public Path toRealPath(LinkOption... options) throws IOException {
        return like(real.toRealPath(options));
    }

    @Override
    public WatchKey register(WatchService watcher, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers)
            throws IOException {
        return real.register(watcher, events, modifiers);
    }

    @Override
    public int compareTo(Path other) {
        return real.compareTo(FaultyFileSystem.real(other));
    }

    @Override
    public String toString() {
        return real.toString();
    }
}
