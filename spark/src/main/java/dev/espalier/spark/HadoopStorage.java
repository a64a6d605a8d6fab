package dev.espalier.spark;

import dev.espalier.train.study.FolderStorage;
import dev.espalier.train.study.Storage;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.deploy.SparkHadoopUtil;

/** A folder that Hadoop's client reaches: HDFS, an object store, or whatever else has its classes on the class path. */
public final class HadoopStorage implements Storage {
    private static final String TEMPORARY = ".tmp";

    /** Where a file is there once it is written to its end, and not before, so that no temporary name is needed; and renaming would copy. */
    private static final Set<String> WHOLE_AT_CLOSE = Set.of("s3a", "s3", "gs", "oss", "cosn");

    private final FileSystem files;
    private final Path root;
    private final Configuration configuration;

    /**
     * A folder.
     *
     * @param uri its URI; it need not be there yet
     * @param configuration Hadoop's settings
     * @throws IOException if the file system cannot be reached
     */
    public HadoopStorage(String uri, Configuration configuration) throws IOException {
        this.configuration = configuration;
        this.files = fileSystem(new Path(uri), configuration);
        this.root = files.makeQualified(new Path(uri));
    }

    /** That of a path. On this machine's disk, without the checksums that Hadoop would put beside each file. */
    static FileSystem fileSystem(Path path, Configuration configuration) throws IOException {
        FileSystem found = path.getFileSystem(configuration);
        return found instanceof LocalFileSystem local ? local.getRawFileSystem() : found;
    }

    /** {@return Hadoop's settings as Spark has them: the cluster's, and all {@code spark.hadoop.…}} */
    static Configuration configuration() {
        SparkEnv environment = SparkEnv.get();
        return SparkHadoopUtil.get().newConfiguration(environment == null ? new SparkConf() : environment.conf());
    }

    private String scheme() {
        return files.getUri().getScheme();
    }

    private Path path(String name) {
        if (List.of(name.split("/", -1)).contains("..")) {
            throw new IllegalArgumentException(name + " is not within " + root);
        }
        return name.isEmpty() ? root : new Path(root, name);
    }

    @Override
    public boolean fetch(String name, java.nio.file.Path to) throws IOException {
        Files.createDirectories(to.toAbsolutePath().getParent());
        try (InputStream from = files.open(path(name))) {
            Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING);
            return true;
        } catch (FileNotFoundException _) {
            return false;
        }
    }

    @Override
    public void store(java.nio.file.Path from, String name) throws IOException {
        Path to = path(name);
        if (WHOLE_AT_CLOSE.contains(scheme())) {
            write(from, to);
            return;
        }
        Path temporary = new Path(to.getParent(), to.getName() + "." + UUID.randomUUID() + TEMPORARY);
        boolean there = false;
        try {
            write(from, temporary);
            replace(temporary, to);
            there = true;
        } finally {
            if (!there) {
                files.delete(temporary, false);
            }
        }
    }

    private void write(java.nio.file.Path from, Path to) throws IOException {
        try (OutputStream out = files.create(to, true)) {
            Files.copy(from, out);
        }
    }

    /** In one step on HDFS and on a disk; elsewhere there may be neither for a moment. */
    private void replace(Path from, Path to) throws IOException {
        if (isDisk(files)) {
            if (!files.rename(from, to)) {
                throw new IOException("cannot rename %s to %s".formatted(from, to));
            }
        } else if (WHOLE_AT_CLOSE.contains(scheme())) {
            files.delete(to, false);
            if (!files.rename(from, to)) {
                throw new IOException("cannot rename %s to %s".formatted(from, to));
            }
        } else {
            FileContext.getFileContext(files.getUri(), configuration).rename(from, to, Rename.OVERWRITE);
        }
    }

    @Override
    public void rename(String name, String other) throws IOException {
        Path to = path(other);
        files.mkdirs(to.getParent());
        replace(path(name), to);
    }

    @Override
    public List<String> list(String folder) throws IOException {
        List<String> names = new ArrayList<>();
        for (FileStatus file : below(files, path(folder))) {
            String name = root.toUri().relativize(file.getPath().toUri()).getPath();
            if (!name.endsWith(TEMPORARY)) {
                names.add(name);
            }
        }
        return names.stream().sorted().toList();
    }

    /** All files in a folder and below it; none if there is no such folder. */
    static List<FileStatus> below(FileSystem files, Path folder) throws IOException {
        List<FileStatus> found = new ArrayList<>();
        try {
            if (isDisk(files)) {
                // Hadoop would start a process for each file there, to ask for its owner.
                for (FileStatus one : files.listStatus(folder)) {
                    if (one.isDirectory()) {
                        found.addAll(below(files, one.getPath()));
                    } else {
                        found.add(one);
                    }
                }
            } else {
                RemoteIterator<LocatedFileStatus> all = files.listFiles(folder, true);
                while (all.hasNext()) {
                    found.add(all.next());
                }
            }
        } catch (FileNotFoundException _) {
            // It is not there, or not any more.
        }
        return found;
    }

    private static boolean isDisk(FileSystem files) {
        return files.getUri().getScheme().equals("file");
    }

    @Override
    public void delete(String name) throws IOException {
        files.delete(path(name), true);
    }

    @Override
    public String checksum(String name) throws IOException {
        FileChecksum kept = files.getFileChecksum(path(name));
        if (kept != null) {
            return kept.toString();
        }
        try (InputStream contents = files.open(path(name))) {
            return FolderStorage.sha256(contents);
        }
    }

    @Override
    public boolean exists(String name) throws IOException {
        try {
            FileStatus status = files.getFileStatus(path(name));
            return status.isFile();
        } catch (FileNotFoundException _) {
            return false;
        }
    }

    @Override
    public String toString() {
        return root.toString();
    }
}
