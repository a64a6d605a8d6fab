package dev.espalier.spark;

import dev.espalier.train.study.Storage;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;

/**
 * From where a recipe says that files are to where they are on this machine. What is on another is copied once, to a folder that is called
 * after what it holds, so that other data has another folder: the names, lengths and checksums of all files. Paths are taken as they are, from
 * the folder that the study was started in.
 */
public final class DataCache implements UnaryOperator<String> {
    /** What a model of texts is read by, if that lies beside its file. */
    private static final Set<String> TOKENIZERS = Set.of("tokenizer.json", "vocab.txt");

    private static final String WILD = "*?[{";
    private static final int KEY_LENGTH = 32;

    private final Path folder;
    private final Path origin;
    private final Configuration configuration;
    private final Map<String, String> known = new ConcurrentHashMap<>();

    /**
     * A cache.
     *
     * @param folder where copies are kept; other processes may use it at the same time
     * @param origin what relative paths begin at
     * @param configuration Hadoop's settings
     */
    public DataCache(Path folder, Path origin, Configuration configuration) {
        this.folder = folder;
        this.origin = origin;
        this.configuration = configuration;
    }

    /**
     * Finds a place on this machine, and copies what is not here yet.
     *
     * @param place a path or a URI, either with a pattern such as {@code *.parquet} or without
     * @return a path, with the same pattern
     */
    @Override
    public String apply(String place) {
        return Storage.local(place)
                .map(path -> origin.resolve(path).toString())
                .orElseGet(() -> known.computeIfAbsent(place, this::copied));
    }

    private String copied(String place) {
        try {
            return copy(place);
        } catch (FileNotFoundException | IllegalArgumentException failure) {
            throw new IllegalArgumentException("%s cannot be read: %s".formatted(place, failure.getMessage()), failure);
        } catch (IOException failure) {
            throw new UncheckedIOException("%s cannot be read: %s".formatted(place, failure), failure);
        }
    }

    private String copy(String place) throws IOException {
        int cut = end(place);
        String top = place.substring(0, cut);
        String rest = place.substring(cut);
        org.apache.hadoop.fs.Path from = new org.apache.hadoop.fs.Path(top);
        FileSystem files = HadoopStorage.fileSystem(from, configuration);
        List<FileStatus> wanted = wanted(files, from, rest);
        Path copy = folder.resolve(key(files, wanted));
        if (!Files.isDirectory(copy)) {
            Path temporary = folder.resolve(UUID.randomUUID() + ".tmp");
            try {
                for (FileStatus file : wanted) {
                    Path to = temporary.resolve(relative(files, from, file));
                    Files.createDirectories(to.getParent());
                    try (InputStream contents = files.open(file.getPath())) {
                        Files.copy(contents, to);
                    }
                }
                publish(temporary, copy);
            } finally {
                delete(temporary);
            }
        }
        Path there = copy.resolve(from.getName());
        return rest.isEmpty() ? there.toString() : there + rest;
    }

    /** Where the part of a place ends that has no pattern in it: at a slash, or at its end. */
    private static int end(String place) {
        for (int i = 0; i < place.length(); i++) {
            if (WILD.indexOf(place.charAt(i)) >= 0) {
                return place.lastIndexOf('/', i);
            }
        }
        return place.endsWith("/") ? place.length() - 1 : place.length();
    }

    private static List<FileStatus> wanted(FileSystem files, org.apache.hadoop.fs.Path top, String pattern)
            throws IOException {
        List<FileStatus> wanted = new ArrayList<>();
        if (!pattern.isEmpty()) {
            FileStatus[] matching = files.globStatus(new org.apache.hadoop.fs.Path(top + pattern));
            for (FileStatus match : matching == null ? new FileStatus[0] : matching) {
                addAll(files, match, wanted);
            }
        } else {
            addAll(files, files.getFileStatus(top), wanted);
            if (top.getName().endsWith(".onnx") && top.getParent() != null) {
                addCompanions(files, top, wanted);
            }
        }
        if (wanted.isEmpty()) {
            throw new FileNotFoundException("there is no such file");
        }
        wanted.sort(Comparator.comparing(file -> file.getPath().toString()));
        return wanted;
    }

    private static void addAll(FileSystem files, FileStatus status, List<FileStatus> to) throws IOException {
        if (status.isFile()) {
            to.add(status);
        } else {
            to.addAll(HadoopStorage.below(files, status.getPath()));
        }
    }

    /** What belongs to a model's file and lies beside it: weights in files of their own, and the vocabulary. */
    private static void addCompanions(FileSystem files, org.apache.hadoop.fs.Path model, List<FileStatus> to)
            throws IOException {
        for (FileStatus beside : files.listStatus(model.getParent())) {
            String name = beside.getPath().getName();
            boolean belongs = name.startsWith(model.getName()) && !name.equals(model.getName());
            if (beside.isFile() && (belongs || TOKENIZERS.contains(name))) {
                to.add(beside);
            }
        }
    }

    /** The name of a file in its copy: from the name of the top on, and beside it for what lay beside. */
    private static String relative(FileSystem files, org.apache.hadoop.fs.Path top, FileStatus file) {
        org.apache.hadoop.fs.Path whole = files.makeQualified(top);
        String path = file.getPath().toUri().getPath();
        String start = whole.toUri().getPath();
        return path.equals(start) || path.startsWith(start + "/")
                ? top.getName() + path.substring(start.length())
                : file.getPath().getName();
    }

    private static String key(FileSystem files, List<FileStatus> wanted) throws IOException {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (FileStatus file : wanted) {
                String line = "%s %d %s\n".formatted(file.getPath(), file.getLen(), version(files, file));
                digest.update(line.getBytes(StandardCharsets.UTF_8));
            }
            return HexFormat.of().formatHex(digest.digest()).substring(0, KEY_LENGTH);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** What tells the contents of a file without reading it: what the store keeps of them, or else when it was written. */
    private static String version(FileSystem files, FileStatus file) throws IOException {
        if (file instanceof EtagSource tagged && tagged.getEtag() != null) {
            return tagged.getEtag();
        }
        FileChecksum checksum = files.getFileChecksum(file.getPath());
        return checksum != null ? checksum.toString() : "written " + file.getModificationTime();
    }

    /** Gives a whole copy its name. Whoever comes second takes the copy of the first. */
    private static void publish(Path temporary, Path copy) throws IOException {
        try {
            Files.move(temporary, copy, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException failure) {
            if (!Files.isDirectory(copy)) {
                throw failure;
            }
        }
    }

    /** Deletes a folder with all that is in it, if it is there. */
    static void delete(Path top) throws IOException {
        if (Files.exists(top)) {
            try (Stream<Path> all = Files.walk(top)) {
                for (Path one : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(one);
                }
            }
        }
    }
}
