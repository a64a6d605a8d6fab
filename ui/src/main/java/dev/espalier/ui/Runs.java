package dev.espalier.ui;

import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.FileVisitor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.Stream;

/**
 * The runs under a folder, whoever trains them. What they did is read from their files, again only when one of these has changed.
 *
 * <p>Only what was found here can be asked for, by the name that it has in the list: a request never makes a path.
 */
final class Runs {
    /** A sweep's runs are that deep: {@code runs/sweep-…/lambda-…}. */
    private static final int DEPTH = 3;

    private final Home home;
    private final Path root;
    private SequencedMap<String, RunFolder> found = new LinkedHashMap<>();
    private Map<String, RunLine> read = new HashMap<>();

    Runs(Home home) {
        this.home = home;
        this.root = home.path();
    }

    /** All runs, the newest first. */
    synchronized List<RunLine> look() throws IOException {
        SequencedMap<String, RunFolder> now = find();
        Map<String, RunLine> lines = new HashMap<>();
        for (Map.Entry<String, RunFolder> run : now.entrySet()) {
            lines.put(run.getKey(), line(run.getKey(), run.getValue()));
        }
        found = now;
        read = lines;
        return lines.values().stream()
                .sorted(Comparator.comparing(RunLine::started)
                        .thenComparing(RunLine::id)
                        .reversed())
                .toList();
    }

    /** The run of a name in the list. */
    synchronized Optional<RunFolder> find(String id) throws IOException {
        if (!found.containsKey(id)) {
            look();
        }
        return Optional.ofNullable(found.get(id));
    }

    /** What a folder is called in the list. */
    String idOf(RunFolder folder) {
        String relative = root.toAbsolutePath()
                .normalize()
                .relativize(folder.path().toAbsolutePath().normalize())
                .toString();
        return relative.isEmpty() ? "." : relative;
    }

    /** The process that trains a run, one of its seeds or its baseline. */
    static Optional<ProcessHandle> trainer(RunFolder folder) throws IOException {
        for (RunFolder part : parts(folder)) {
            Optional<ProcessHandle> process = part.trainer();
            if (process.isPresent()) {
                return process;
            }
        }
        return Optional.empty();
    }

    private static List<RunFolder> parts(RunFolder folder) throws IOException {
        List<RunFolder> parts = new ArrayList<>(folder.runs());
        parts.add(folder.baseline());
        return parts;
    }

    private RunLine line(String id, RunFolder folder) {
        String version = "";
        try {
            Optional<ProcessHandle> trainer = trainer(folder);
            version = version(folder) + trainer.map(ProcessHandle::pid).orElse(0L);
            RunLine known = read.get(id);
            if (known != null && known.version().equals(version)) {
                return known;
            }
            Optional<Path> out = home.wayOut(folder);
            return out.isEmpty()
                    ? RunLine.read(id, folder, trainer.isPresent(), version)
                    : RunLine.broken(id, leadsOut(out.get()), version);
        } catch (IOException | RuntimeException unreadable) {
            // One folder that cannot be read says so; the others are shown.
            return RunLine.broken(
                    id,
                    unreadable.getMessage() + ". Mend or remove the file, or move " + folder.path() + " elsewhere.",
                    version);
        }
    }

    /** Why a run is not shown. */
    String leadsOut(Path link) {
        return "%s is a link that leads out of %s, and is not followed. Replace it by what it leads to."
                .formatted(link, root);
    }

    /** Changes whenever a file does that the run is shown by. */
    private static String version(RunFolder folder) throws IOException {
        StringBuilder version = new StringBuilder();
        for (RunFolder part : parts(folder)) {
            for (Path file : List.of(part.metricsFile(), part.resultFile(), part.reasonFile(), part.report())) {
                if (Files.exists(file)) {
                    version.append(Files.size(file))
                            .append('@')
                            .append(Files.getLastModifiedTime(file).toMillis());
                }
                version.append(';');
            }
        }
        return version.toString();
    }

    private SequencedMap<String, RunFolder> find() throws IOException {
        SequencedMap<String, RunFolder> runs = new LinkedHashMap<>();
        Files.walkFileTree(root, EnumSet.of(FileVisitOption.FOLLOW_LINKS), DEPTH + 1, folders(runs));
        return runs;
    }

    private FileVisitor<Path> folders(Map<String, RunFolder> runs) {
        return new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) throws IOException {
                if (!folder.equals(root) && (folder.getFileName().toString().startsWith(".") || !home.holds(folder))) {
                    return FileVisitResult.SKIP_SUBTREE;
                }
                RunFolder run = new RunFolder(folder);
                if (isRun(run)) {
                    runs.put(idOf(run), run);
                    return FileVisitResult.SKIP_SUBTREE;
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) {
                // Gone in the meantime, somebody else's, or a link in a circle: nothing to show.
                return FileVisitResult.CONTINUE;
            }
        };
    }

    /** A recipe alone makes no run: recipes may lie anywhere. */
    private static boolean isRun(RunFolder folder) throws IOException {
        return Stream.of(folder.provenanceFile(), folder.metricsFile(), folder.resultFile(), folder.reasonFile())
                        .anyMatch(Files::exists)
                || (Files.exists(folder.recipe()) && !folder.runs().contains(folder));
    }
}
