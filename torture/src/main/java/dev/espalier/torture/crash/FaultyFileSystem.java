package dev.espalier.torture.crash;

import dev.espalier.torture.crash.Fault.Operation;
import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The machine's files, by way of a {@link Disk}: whatever is done to one is told to the disk before, which counts, and decides whether it is
 * done. Whoever is given a path of this system needs no line of code for that. Native code that is given a path's name sees the real file.
 */
final class FaultyFileSystem extends FileSystem {
    private final FileSystem real = FileSystems.getDefault();
    private final Provider provider = new Provider();
    private final Disk disk;

    FaultyFileSystem(Disk disk) {
        this.disk = disk;
    }

    /** The same file on this system. */
    Path of(Path file) {
        return new FaultyPath(this, file);
    }

    static Path real(Path path) {
        return path instanceof FaultyPath faulty ? faulty.real() : path;
    }

    /** As the disk knows it. */
    private static Path place(Path path) {
        return real(path).toAbsolutePath().normalize();
    }

    @Override
    public FileSystemProvider provider() {
        return provider;
    }

    @Override
    public void close() {
        throw new UnsupportedOperationException("it is always open");
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public boolean isReadOnly() {
        return false;
    }

    @Override
    public String getSeparator() {
        return real.getSeparator();
    }

    @Override
    public Iterable<Path> getRootDirectories() {
        return real.getRootDirectories();
    }

    @Override
    public Iterable<FileStore> getFileStores() {
        return real.getFileStores();
    }

    @Override
    public Set<String> supportedFileAttributeViews() {
        return real.supportedFileAttributeViews();
    }

    @Override
    public Path getPath(String first, String... more) {
        return of(real.getPath(first, more));
    }

    @Override
    public PathMatcher getPathMatcher(String pattern) {
        PathMatcher matcher = real.getPathMatcher(pattern);
        return path -> matcher.matches(real(path));
    }

    @Override
    public UserPrincipalLookupService getUserPrincipalLookupService() {
        return real.getUserPrincipalLookupService();
    }

    @Override
    public WatchService newWatchService() throws IOException {
        return real.newWatchService();
    }

    /** What {@link Files} asks. */
    private final class Provider extends FileSystemProvider {
        private final FileSystemProvider below = real.provider();

        @Override
        public String getScheme() {
            return "faulty";
        }

        @Override
        public FileSystem newFileSystem(URI uri, Map<String, ?> environment) {
            throw new UnsupportedOperationException("made of a disk, not of an address");
        }

        @Override
        public FileSystem getFileSystem(URI uri) {
            return FaultyFileSystem.this;
        }

        @Override
        public Path getPath(URI uri) {
            return of(below.getPath(uri));
        }

        @Override
        public SeekableByteChannel newByteChannel(
                Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes) throws IOException {
            return newFileChannel(path, options, attributes);
        }

        @Override
        public FileChannel newFileChannel(Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
                throws IOException {
            Path file = place(path);
            boolean folder = Files.isDirectory(file);
            if (!folder) {
                disk.before(Operation.OPEN, file);
            }
            FileChannel channel = below.newFileChannel(file, options, attributes);
            if (folder) {
                return new FaultyChannel(channel, file, disk, null);
            }
            return new FaultyChannel(channel, file, disk, disk.node(file));
        }

        @Override
        public DirectoryStream<Path> newDirectoryStream(Path path, DirectoryStream.Filter<? super Path> filter)
                throws IOException {
            disk.before(Operation.LIST, place(path));
            DirectoryStream<Path> entries = below.newDirectoryStream(real(path), entry -> filter.accept(of(entry)));
            return new DirectoryStream<>() {
                @Override
                public Iterator<Path> iterator() {
                    Iterator<Path> each = entries.iterator();
                    return new Iterator<>() {
                        @Override
                        public boolean hasNext() {
                            return each.hasNext();
                        }

                        @Override
                        public Path next() {
                            return of(each.next());
                        }
                    };
                }

                @Override
                public void close() throws IOException {
                    entries.close();
                }
            };
        }

        @Override
        public void createDirectory(Path path, FileAttribute<?>... attributes) throws IOException {
            disk.before(Operation.FOLDER, place(path));
            below.createDirectory(real(path), attributes);
            disk.madeFolder(place(path));
        }

        @Override
        public void delete(Path path) throws IOException {
            disk.before(Operation.DELETE, place(path));
            if (Files.isRegularFile(place(path))) {
                disk.removing(place(path));
            }
            below.delete(real(path));
        }

        @Override
        public void copy(Path from, Path to, CopyOption... options) {
            throw new UnsupportedOperationException("no training copies files; play it when one does");
        }

        @Override
        public void move(Path from, Path to, CopyOption... options) throws IOException {
            disk.before(Operation.RENAME, place(to));
            disk.removing(place(to));
            below.move(real(from), real(to), options);
            disk.renamed(place(from), place(to));
        }

        @Override
        public boolean isSameFile(Path one, Path other) throws IOException {
            return below.isSameFile(real(one), real(other));
        }

        @Override
        public boolean isHidden(Path path) throws IOException {
            return below.isHidden(real(path));
        }

        @Override
        public FileStore getFileStore(Path path) throws IOException {
            return below.getFileStore(real(path));
        }

        @Override
        public void checkAccess(Path path, AccessMode... modes) throws IOException {
            disk.before(Operation.LOOK, place(path));
            below.checkAccess(real(path), modes);
        }

        @Override
        public <V extends FileAttributeView> @Nullable V getFileAttributeView(
                Path path, Class<V> type, LinkOption... options) {
            return below.getFileAttributeView(real(path), type, options);
        }

        @Override
        public <A extends BasicFileAttributes> A readAttributes(Path path, Class<A> type, LinkOption... options)
                throws IOException {
            disk.before(Operation.LOOK, place(path));
            return below.readAttributes(real(path), type, options);
        }

        @Override
        public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options)
                throws IOException {
            disk.before(Operation.LOOK, place(path));
            return below.readAttributes(real(path), attributes, options);
        }

        @Override
        public void setAttribute(Path path, String attribute, Object value, LinkOption... options) throws IOException {
            below.setAttribute(real(path), attribute, value, options);
        }
    }
}
