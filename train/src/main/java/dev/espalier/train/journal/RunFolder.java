package dev.espalier.train.journal;

import dev.espalier.core.check.Reading;
import dev.espalier.core.check.Writing;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The folder of a training run. It explains itself:
 *
 * <pre>{@code
 * recipe.toml       the recipe as run, all defaults written out
 * provenance.json   where the run came from
 * metrics.jsonl     one line for each evaluation
 * tensorboard/      the same for TensorBoard
 * checkpoints/      what an interrupted run goes on from
 * model.onnx        the trained model
 * pruned.onnx       what is left of it
 * faster.onnx       a wider model that is faster, where one of the requested size is not the fastest
 * faster.json       how large and how fast that is
 * model.json        what both take and say
 * findings.json     what the pruned model makes of the test part, sample by sample
 * result.json       what came out; written last
 * given-up.txt      why the training was given up, if it was
 * trainer.json      the process that trains here, while it does
 * report.html       all of that to look at
 * }</pre>
 *
 * <p>A run with several seeds has a folder {@code seed-N} like that for each, and beside them the recipe and a report.
 *
 * @param path where it is
 */
public record RunFolder(Path path) {
    private static final String SEED = "seed-";
    private static final String LAMBDA = "lambda-";
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

    /**
     * A place for a new run. Nothing is made.
     *
     * @param runs the folder that it shall be in
     * @param name what it is called, before the time
     * @return a folder that is not there, nor its {@link #log}, called after the second
     */
    public static RunFolder fresh(Path runs, String name) {
        LocalDateTime time = LocalDateTime.now(ZoneId.systemDefault());
        RunFolder folder = at(runs, name, time);
        while (Files.exists(folder.path()) || Files.exists(folder.log())) {
            time = time.plusSeconds(1);
            folder = at(runs, name, time);
        }
        return folder;
    }

    private static RunFolder at(Path runs, String name, LocalDateTime time) {
        return new RunFolder(runs.resolve(name + "-" + time.format(TIME)));
    }

    /**
     * What a training said that runs in the background. It is beside the folder, which must be empty when a training begins.
     *
     * @return the path of a text file
     */
    public Path log() {
        return path.resolveSibling(path.getFileName() + ".log");
    }

    /**
     * The recipe as run.
     *
     * @return the path of a TOML file
     */
    public Path recipe() {
        return path.resolve("recipe.toml");
    }

    /**
     * Where the run came from.
     *
     * @return the path of a JSON file
     */
    public Path provenanceFile() {
        return path.resolve("provenance.json");
    }

    /**
     * One line for each evaluation.
     *
     * @return the path of a file of JSON lines
     */
    public Path metricsFile() {
        return path.resolve("metrics.jsonl");
    }

    /**
     * How long the parts of the model take, for a penalty or a target in milliseconds.
     *
     * @return the file {@code prices.json}, a {@link PriceList}
     */
    public Path pricesFile() {
        return path.resolve("prices.json");
    }

    /**
     * The metrics for TensorBoard.
     *
     * @return the path of a folder
     */
    public Path tensorBoard() {
        return path.resolve("tensorboard");
    }

    /**
     * What an interrupted run goes on from.
     *
     * @return the path of a folder
     */
    public Path checkpoints() {
        return path.resolve("checkpoints");
    }

    /**
     * The trained model.
     *
     * @return the path of an ONNX file
     */
    public Path model() {
        return path.resolve("model.onnx");
    }

    /**
     * What is left of it.
     *
     * @return the path of an ONNX file
     */
    public Path pruned() {
        return path.resolve("pruned.onnx");
    }

    /**
     * A model that is wider than was requested, and faster.
     *
     * @return the file {@code faster.onnx}; there is none if nothing wider is faster
     */
    public Path fasterModel() {
        return path.resolve("faster.onnx");
    }

    /**
     * How large and how fast that model is.
     *
     * @return the file {@code faster.json}, a {@link Faster}
     */
    public Path fasterFile() {
        return path.resolve("faster.json");
    }

    /**
     * How large and how fast that model is.
     *
     * @return what was found; empty if there is no such model
     * @throws IOException if the file cannot be read
     */
    public Optional<Faster> faster() throws IOException {
        return Files.exists(fasterFile()) ? Optional.of(JsonFile.read(fasterFile(), Faster.class)) : Optional.empty();
    }

    /**
     * What the model takes and says, see {@link ModelCard}.
     *
     * @return the path of a JSON file
     */
    public Path card() {
        return path.resolve("model.json");
    }

    /**
     * What came out.
     *
     * @return the path of a JSON file
     */
    public Path resultFile() {
        return path.resolve("result.json");
    }

    /**
     * What the pruned model makes of the test part.
     *
     * @return the path of a JSON file
     */
    public Path findingsFile() {
        return path.resolve("findings.json");
    }

    /**
     * Why the training was given up.
     *
     * @return the path of a text file
     */
    public Path reasonFile() {
        return path.resolve("given-up.txt");
    }

    /**
     * The process that trains here.
     *
     * @return the path of a JSON file; it is there while the run is trained, and after a crash
     */
    public Path trainerFile() {
        return path.resolve("trainer.json");
    }

    /**
     * All to look at.
     *
     * @return the path of an HTML file
     */
    public Path report() {
        return path.resolve("report.html");
    }

    /**
     * The same without a penalty, to compare with.
     *
     * @return a folder in this one; it may not be there
     */
    public RunFolder baseline() {
        return new RunFolder(path.resolve("baseline"));
    }

    /**
     * The folder of one of several seeds.
     *
     * @param seed the seed
     * @return a folder in this one
     */
    public RunFolder seed(long seed) {
        return new RunFolder(path.resolve(SEED + seed));
    }

    /**
     * The runs in this folder.
     *
     * @return the folders of the seeds, by number; this folder alone if there are none
     * @throws IOException if the folder cannot be read
     */
    public List<RunFolder> runs() throws IOException {
        requireFolder();
        try (Stream<Path> entries = Files.list(path)) {
            List<RunFolder> seeds = entries.filter(
                            entry -> entry.getFileName().toString().matches(SEED + "-?\\d+"))
                    .filter(Files::isDirectory)
                    .sorted(Comparator.comparingLong(RunFolder::seedOf))
                    .map(RunFolder::new)
                    .toList();
            return seeds.isEmpty() ? List.of(this) : seeds;
        }
    }

    /**
     * The curve of a sweep.
     *
     * @return the path of an HTML file; it is there if this is a sweep's folder
     */
    public Path sweepReport() {
        return path.resolve("sweep.html");
    }

    /**
     * The folder of one λ of a sweep.
     *
     * @param lambda the λ, as people write it
     * @return a folder in this one
     */
    public RunFolder lambda(String lambda) {
        return new RunFolder(path.resolve(LAMBDA + lambda));
    }

    /**
     * The runs of a sweep, one for each λ.
     *
     * @return their folders, by name; none if this is no sweep's folder
     * @throws IOException if the folder cannot be read
     */
    public List<RunFolder> sweep() throws IOException {
        requireFolder();
        try (Stream<Path> entries = Files.list(path)) {
            return entries.filter(entry -> entry.getFileName().toString().startsWith(LAMBDA))
                    .filter(Files::isDirectory)
                    .sorted()
                    .map(RunFolder::new)
                    .toList();
        }
    }

    private void requireFolder() throws IOException {
        if (Files.notExists(path)) {
            throw new NoSuchFileException(path.toString());
        }
        if (!Files.isDirectory(path)) {
            throw new IllegalArgumentException(path + " is a file: give the folder of a run");
        }
    }

    private static long seedOf(Path folder) {
        return Long.parseLong(folder.getFileName().toString().substring(SEED.length()));
    }

    /**
     * Looks whether a run may begin here. Nothing is made: what fails before a training begins leaves nothing behind.
     *
     * @throws DirectoryNotEmptyException if something is in the folder
     * @throws IOException if the folder cannot be read, or could not be written to
     */
    public void requireFree() throws IOException {
        if (Files.isDirectory(path)) {
            try (Stream<Path> entries = Files.list(path)) {
                if (entries.findAny().isPresent()) {
                    throw new DirectoryNotEmptyException(path.toString());
                }
            }
        }
        requireWritable();
    }

    /**
     * Looks whether the folder could be written to, and made if it is not there. Nothing is made.
     *
     * @throws IOException if it could not
     */
    public void requireWritable() throws IOException {
        Path there = path.toAbsolutePath().normalize();
        while (!Files.exists(there)) {
            there = Objects.requireNonNull(there.getParent(), "a root is always there");
        }
        if (!Files.isDirectory(there)) {
            throw new FileSystemException(there.toString(), null, "it is no folder, so nothing can be written in it");
        }
        if (!Files.isWritable(there)) {
            throw new FileSystemException(there.toString(), null, "it is not allowed to write in this folder");
        }
    }

    /**
     * Reads where the run came from.
     *
     * @return the provenance
     * @throws IOException if the file cannot be read
     */
    public Provenance provenance() throws IOException {
        return JsonFile.read(provenanceFile(), Provenance.class);
    }

    /**
     * Writes where the run came from.
     *
     * @param provenance the provenance
     * @throws IOException if the file cannot be written
     */
    public void write(Provenance provenance) throws IOException {
        replace(provenanceFile(), Json.pretty(provenance));
    }

    /**
     * Reads what came out.
     *
     * @return the result; empty if the run is not finished
     * @throws IOException if the file cannot be read
     */
    public Optional<RunResult> result() throws IOException {
        return Files.exists(resultFile())
                ? Optional.of(JsonFile.read(resultFile(), RunResult.class))
                : Optional.empty();
    }

    /**
     * Writes what came out.
     *
     * @param result the result
     * @throws IOException if the file cannot be written
     */
    public void write(RunResult result) throws IOException {
        replace(resultFile(), Json.pretty(result));
    }

    /**
     * Reads what the pruned model makes of the test part.
     *
     * @return what was found; empty if the run is not finished, older, or of a task that tells nothing
     * @throws IOException if the file cannot be read
     */
    public Optional<Findings> findings() throws IOException {
        return Files.exists(findingsFile())
                ? Optional.of(JsonFile.read(findingsFile(), Findings.class))
                : Optional.empty();
    }

    /**
     * Writes what the pruned model makes of the test part.
     *
     * @param findings what was found
     * @throws IOException if the file cannot be written
     */
    public void write(Findings findings) throws IOException {
        replace(findingsFile(), Json.pretty(findings));
    }

    /**
     * Looks for the process that trains here.
     *
     * @return the process; empty if nobody does
     * @throws IOException if the file cannot be read
     */
    public Optional<ProcessHandle> trainer() throws IOException {
        return Trainer.in(trainerFile());
    }

    /**
     * Says that this process trains here. It must also say when it no longer does, by {@link #leave}.
     *
     * @throws IllegalArgumentException if another one does
     * @throws IOException if the file cannot be read or written
     */
    public void enter() throws IOException {
        requireNone(Trainer.enter(trainerFile()));
    }

    /**
     * Looks whether another process trains here.
     *
     * @throws IllegalArgumentException if one does
     * @throws IOException if the file cannot be read
     */
    public void requireNoOther() throws IOException {
        requireNone(trainer().filter(process -> !process.equals(ProcessHandle.current())));
    }

    private void requireNone(Optional<ProcessHandle> other) {
        if (other.isPresent()) {
            throw new IllegalArgumentException(
                    "process %d trains in %s right now: stop it first, by Ctrl-C there or kill %1$d"
                            .formatted(other.get().pid(), path));
        }
    }

    /**
     * Says that this process no longer trains here.
     *
     * @throws IOException if the file cannot be deleted
     */
    public void leave() throws IOException {
        Files.deleteIfExists(trainerFile());
    }

    /**
     * Reads why the training was given up.
     *
     * @return the reason, as a sentence; empty if it was not
     * @throws IOException if the file cannot be read
     */
    public Optional<String> reason() throws IOException {
        return Files.exists(reasonFile())
                ? Optional.of(Reading.text(reasonFile()).strip())
                : Optional.empty();
    }

    /**
     * Writes why the training is given up.
     *
     * @param reason a sentence
     * @throws IOException if the file cannot be written
     */
    public void giveUp(String reason) throws IOException {
        Writing.folder(path);
        replace(reasonFile(), reason + "\n");
    }

    /**
     * Reads the metrics. A last line that was cut off by a crash is left out.
     *
     * @return the lines so far; none if there is no file
     * @throws IOException if the file cannot be read
     */
    public List<Metrics> metrics() throws IOException {
        return JsonFile.lines(metricsFile(), Metrics.class);
    }

    /**
     * Adds a line to the metrics.
     *
     * @param metrics how the training stands
     * @throws IOException if the file cannot be written
     */
    public void append(Metrics metrics) throws IOException {
        JsonFile.append(metricsFile(), metrics);
    }

    /**
     * Cuts off metrics that a resumed run is going to write again.
     *
     * @param lines how many stay
     * @return those
     * @throws IOException if the file cannot be read or written, or has fewer lines
     */
    public List<Metrics> keepMetrics(int lines) throws IOException {
        List<Metrics> all = metrics();
        if (all.size() < lines) {
            throw new IOException(
                    "%s has %d lines but the checkpoint was made after %d: put the missing ones back, or start anew"
                            .formatted(metricsFile(), all.size(), lines));
        }
        List<Metrics> kept = all.subList(0, lines);
        replace(metricsFile(), kept.stream().map(line -> Json.line(line) + "\n").collect(Collectors.joining()));
        return List.copyOf(kept);
    }

    /**
     * Writes a text file so that a crash leaves the old one or the new one, whole.
     *
     * @param file the file; replaced if it exists
     * @param text what it shall hold
     * @throws IOException if it cannot be written; then the old one is still there
     */
    public static void replace(Path file, String text) throws IOException {
        Writing.to(file, () -> Writing.whole(file, text));
    }
}
