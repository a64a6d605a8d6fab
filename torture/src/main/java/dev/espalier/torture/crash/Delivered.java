package dev.espalier.torture.crash;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a training or a study left, by the names of its files: of most all that is in them, of some without what depends on the clock, and of
 * pages and logs only that they are there.
 *
 * @param files what stands for a file's contents, by its name within the folder
 */
record Delivered(SortedMap<String, String> files) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Keys that tell of the clock, or of how fast this machine is just now. */
    private static final String CLOCK = ".*(second|latency|milli|started).*";

    /** Files that are all about the clock: pages show it, and a checkpoint holds how long it took. */
    private static final String TIMED = ".*(\\.html|\\.state|\\.log|provenance\\.json)";

    /** What nobody misses: the name of a process that has ended, and TensorBoard's copy of the metrics, which is never forced to disk. */
    private static final String NO_MATTER = "(.*/)?(trainer\\.json|driver\\.json|.*tfevents.*)";

    static Delivered in(Path folder) throws IOException {
        SortedMap<String, String> files = new TreeMap<>();
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                String name = folder.relativize(file).toString();
                if (!name.matches(NO_MATTER)) {
                    // How many old checkpoints there are is no matter either.
                    files.put(name.replaceAll("step-\\d+", "step"), contents(file));
                }
            }
        }
        return new Delivered(files);
    }

    private static String contents(Path file) throws IOException {
        String name = file.getFileName().toString();
        if (name.matches(TIMED)) {
            return Files.size(file) > 0 ? "something" : "nothing";
        }
        if (name.endsWith(".json") || name.endsWith(".jsonl")) {
            return lines(file);
        }
        return digest(Files.readAllBytes(file));
    }

    private static String lines(Path file) throws IOException {
        String text = Files.readString(file);
        List<String> each = file.toString().endsWith(".jsonl") ? text.lines().toList() : List.of(text);
        List<String> timeless = new ArrayList<>();
        for (String line : each) {
            timeless.add(timeless(JSON.readTree(line)).toString());
        }
        return digest(String.join("\n", timeless).getBytes(StandardCharsets.UTF_8));
    }

    private static JsonNode timeless(JsonNode node) {
        if (node instanceof ObjectNode object) {
            Set<String> clocks = object.properties().stream()
                    .map(Map.Entry::getKey)
                    .filter(key -> key.matches(CLOCK))
                    .collect(Collectors.toSet());
            object.remove(clocks);
        }
        node.forEach(Delivered::timeless);
        return node;
    }

    private static String digest(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every Java has SHA-256", impossible);
        }
    }

    /**
     * How another differs.
     *
     * @param other the other
     * @return names of files, each with what is the matter; none if the two are equal
     */
    List<String> differences(Delivered other) {
        Set<String> names = new TreeSet<>(files.keySet());
        names.addAll(other.files.keySet());
        List<String> differences = new ArrayList<>();
        for (String name : names) {
            if (!files.containsKey(name)) {
                differences.add(name + " is there and should not be");
            } else if (!other.files.containsKey(name)) {
                differences.add(name + " is missing");
            } else if (!files.get(name).equals(other.files.get(name))) {
                differences.add(name + " is another");
            }
        }
        return differences;
    }
}
