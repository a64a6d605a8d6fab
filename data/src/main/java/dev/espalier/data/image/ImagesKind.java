package dev.espalier.data.image;

import dev.espalier.data.Column;
import dev.espalier.data.Columns;
import dev.espalier.data.Context;
import dev.espalier.data.DataException;
import dev.espalier.data.DataSection;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import dev.espalier.data.Outline;
import dev.espalier.data.Parts;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * {@code images}: PNG and JPEG images in one folder for each class: {@code train/CLASS/…} and {@code test/CLASS/…} in
 * {@code data.dir}, or {@code CLASS/…} to be cut by seed. Without labels, all images below a folder, however deep.
 *
 * <p>Every image is resized (filtered, so that shrinking does not alias); 1 channel makes it grey, 3 make it coloured, and
 * transparency is ignored. All are decoded once, by several threads, so that what is broken is known before training begins. They
 * are kept as bytes if they fit into {@code data.memory}; otherwise they are decoded again whenever a batch needs them.
 */
public final class ImagesKind extends LabelledImages {
    /** {@code data.size}. */
    public static final Key<Integer> SIZE = Key.whole("data.size", "height and width that images are brought to")
            .in(Range.atLeast(1))
            .withDefault(32);
    /** {@code data.width}. */
    public static final Key<Integer> WIDTH = Key.whole(
                    "data.width", "the width that images are brought to, where it is not `size`; 0 for squares")
            .in(Range.atLeast(0))
            .withDefault(0);
    /** {@code data.channels}. */
    public static final Key<Integer> CHANNELS = Key.whole(
                    "data.channels", "what images are brought to: 1 for grey, 3 for colour")
            .in(new Range<>("1 or 3", value -> value == 1 || value == 3))
            .withDefault(3);
    /** {@code data.skip_broken}. */
    public static final Key<Boolean> SKIP_BROKEN = Key.flag(
                    "data.skip_broken", "whether files that cannot be decoded are left out; otherwise they are refused")
            .withDefault(false);
    /** {@code data.memory}. */
    public static final Key<Integer> MEMORY = Key.whole(
                    "data.memory",
                    "megabytes that decoded images may take, or they are decoded again for every batch; 0 for half of Java's memory")
            .in(Range.atLeast(0))
            .withDefault(0)
            .changeable();

    private static final long MEGABYTE = 1_000_000;
    /** A message is read by people. */
    private static final int MOST_NAMED = 100;

    /** Called by the service loader. */
    public ImagesKind() {}

    @Override
    public String name() {
        return "images";
    }

    @Override
    public String meaning() {
        return "image files, in one folder for each class, or without classes";
    }

    @Override
    public List<Key<?>> keys() {
        List<Key<?>> keys = new ArrayList<>(List.of(DataSection.DIR));
        keys.addAll(super.keys());
        keys.addAll(
                List.of(SIZE, WIDTH, CHANNELS, DataSection.LABELLED, DataSection.TEST_FRACTION, SKIP_BROKEN, MEMORY));
        return keys;
    }

    @Override
    public Outline outline(Values values) {
        return values.of(DataSection.CHANNELS_LAST)
                ? new Outline.Unknown()
                : new Outline.Image(values.of(CHANNELS), values.of(SIZE), width(values));
    }

    private static int width(Values values) {
        return values.of(WIDTH) == 0 ? values.of(SIZE) : values.of(WIDTH);
    }

    @Override
    public Parts open(Values values, Context context) throws IOException {
        Path folder = Path.of(values.of(DataSection.DIR));
        if (!Files.isDirectory(folder)) {
            throw DataException.in(
                    folder,
                    DataSection.isLabelled(values)
                            ? "no such folder: expected one with a folder of images for each class"
                            : "no such folder: expected one with images");
        }
        List<String> notes = new ArrayList<>();
        Path train = folder.resolve("train");
        Path test = folder.resolve("test");
        if (!DataSection.isLabelled(values)) {
            boolean parted = Files.isDirectory(train) && Files.isDirectory(test);
            List<Dataset> parts = read(
                    parted
                            ? List.of(
                                    Listing.below(name(folder) + " train", train),
                                    Listing.below(name(folder) + " test", test))
                            : List.of(Listing.below(name(folder), folder)),
                    values,
                    context,
                    notes);
            return new Parts(parts.getFirst(), parted ? Optional.of(parts.get(1)) : Optional.empty(), notes);
        }
        if (Files.isDirectory(train) && Files.isDirectory(test)) {
            List<String> classes = classes(train, notes);
            requireKnown(test, classes);
            Listing learned = Listing.of(name(folder) + " train", train, classes);
            Listing judged = Listing.of(name(folder) + " test", test, classes);
            judged.emptyClasses()
                    .forEach(name -> notes.add("there is no test image of class %s in %s".formatted(name, test)));
            List<Dataset> parts = read(List.of(learned, judged), values, context, notes);
            return new Parts(parts.get(0), Optional.of(parts.get(1)), notes);
        }
        if (Files.isDirectory(train) || Files.isDirectory(test)) {
            throw DataException.in(
                    folder, "only one of the folders train and test: expected both, or a folder for each class");
        }
        Listing all = Listing.of(name(folder), folder, classes(folder, notes));
        List<Dataset> parts = read(List.of(all), values, context, notes);
        return new Parts(parts.getFirst(), Optional.empty(), notes);
    }

    private static String name(Path folder) {
        return String.valueOf(folder.toAbsolutePath().normalize().getFileName());
    }

    /** The folders that have images in them; one without is no class that could be learned. */
    private static List<String> classes(Path folder, List<String> notes) throws IOException {
        List<String> names = new ArrayList<>();
        for (Path entry : list(folder, Files::isDirectory)) {
            if (images(entry).isEmpty()) {
                notes.add("%s has no images (files that end with %s): it is no class"
                        .formatted(entry, String.join(", ", ImageDecoder.ENDINGS)));
            } else {
                names.add(name(entry));
            }
        }
        if (names.size() < 2) {
            throw DataException.in(
                    folder,
                    "the class folders with images (files that end with %s) are %s: there must be 2 or more"
                            .formatted(String.join(", ", ImageDecoder.ENDINGS), names));
        }
        return names;
    }

    private static void requireKnown(Path test, List<String> classes) throws IOException {
        TreeSet<String> strange = new TreeSet<>();
        for (Path entry : list(test, Files::isDirectory)) {
            if (!classes.contains(name(entry)) && !images(entry).isEmpty()) {
                strange.add(name(entry));
            }
        }
        if (!strange.isEmpty()) {
            throw DataException.in(
                    test, "the classes %s do not occur in the training part, which has %s".formatted(strange, classes));
        }
        for (String name : classes) {
            if (!Files.isDirectory(test.resolve(name))) {
                throw DataException.in(test.resolve(name), "no such folder, but the training part has this class");
            }
        }
    }

    /** Sorted by name, since folders list their files in any order. What is hidden is none of ours. */
    private static List<Path> list(Path folder, Predicate<Path> wanted) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(entry -> !name(entry).startsWith("."))
                    .filter(wanted)
                    .sorted((one, other) -> name(one).compareTo(name(other)))
                    .toList();
        }
    }

    /** The images of a folder, sorted by name. */
    static List<Path> images(Path folder) throws IOException {
        return list(folder, ImagesKind::isImage);
    }

    private static boolean isImage(Path file) {
        String name = name(file).toLowerCase(Locale.ROOT);
        return Files.isRegularFile(file) && ImageDecoder.ENDINGS.stream().anyMatch(name::endsWith);
    }

    /** A file and the class that it is of; −1 if there are no classes. */
    private record Entry(Path file, int label) {}

    /** The files of a part, class by class; without labels there are no classes. */
    private record Listing(String name, List<String> classes, List<Entry> entries) {
        static Listing of(String name, Path folder, List<String> classes) throws IOException {
            List<Entry> entries = new ArrayList<>();
            for (int label = 0; label < classes.size(); label++) {
                for (Path file : images(folder.resolve(classes.get(label)))) {
                    entries.add(new Entry(file, label));
                }
            }
            if (entries.isEmpty()) {
                throw DataException.in(folder, "no images: expected files that end with " + ImageDecoder.ENDINGS);
            }
            return new Listing(name, classes, entries);
        }

        /** All images below a folder, in the order of their paths. What is hidden is none of ours. */
        static Listing below(String name, Path folder) throws IOException {
            List<Entry> entries = new ArrayList<>();
            Deque<Path> open = new ArrayDeque<>(List.of(folder));
            while (!open.isEmpty()) {
                Path next = open.pop();
                images(next).forEach(file -> entries.add(new Entry(file, -1)));
                list(next, Files::isDirectory).reversed().forEach(open::push);
            }
            if (entries.isEmpty()) {
                throw DataException.in(
                        folder, "no images below it: expected files that end with " + ImageDecoder.ENDINGS);
            }
            return new Listing(name, List.of(), entries);
        }

        List<String> emptyClasses() {
            return IntStream.range(0, classes.size())
                    .filter(label -> entries.stream().noneMatch(entry -> entry.label == label))
                    .mapToObj(classes::get)
                    .toList();
        }
    }

    /** Decodes all files of all parts, so that everything that is broken is told at once. */
    private static List<Dataset> read(List<Listing> listings, Values values, Context context, List<String> notes)
            throws IOException {
        Field.Image field = new Field.Image(IMAGE, values.of(CHANNELS), values.of(SIZE), width(values));
        List<Entry> all =
                listings.stream().flatMap(listing -> listing.entries.stream()).toList();
        long needed = (long) all.size() * field.size();
        long budget = budget(values);
        boolean keep = needed <= budget;
        if (!keep) {
            notes.add(
                    "%,d images take %,d MB, more than the %,d MB they may: they are decoded again for every batch (data.memory)"
                            .formatted(all.size(), needed / MEGABYTE, budget / MEGABYTE));
        }
        Decoding decoding = new Decoding(field, context.progress(), all.size());
        byte[][] bytes = decoding.run(all, keep);
        if (!decoding.broken.isEmpty()) {
            String told = told(decoding.broken);
            if (!values.of(SKIP_BROKEN)) {
                throw DataException.in(
                        Path.of(values.of(DataSection.DIR)),
                        told + "\nmend or remove them, or set data.skip_broken = true to leave them out");
            }
            notes.add(told + "\nthey are left out (data.skip_broken)");
        }
        List<Dataset> parts = new ArrayList<>();
        int from = 0;
        for (Listing listing : listings) {
            int to = from + listing.entries.size();
            int[] sound = IntStream.range(from, to)
                    .filter(i -> !decoding.broken.containsKey(all.get(i).file))
                    .toArray();
            if (sound.length == 0) {
                throw DataException.in(
                        Path.of(values.of(DataSection.DIR)), "no image of " + listing.name + " is sound");
            }
            int[] labels = IntStream.of(sound).map(i -> all.get(i).label).toArray();
            Column.Numbers images = keep
                    ? Columns.images(
                            field,
                            IntStream.of(sound).mapToObj(i -> bytes[i]).toArray(byte[][]::new),
                            ImageDecoder.WHITE)
                    : lazy(
                            field,
                            IntStream.of(sound).mapToObj(i -> all.get(i).file).toList());
            parts.add(dataset(listing.name, images, listing.classes, labels));
            from = to;
        }
        return parts;
    }

    private static long budget(Values values) {
        int megabytes = values.of(MEMORY);
        return megabytes == 0 ? Runtime.getRuntime().maxMemory() / 2 : megabytes * MEGABYTE;
    }

    private static String told(Map<Path, String> broken) {
        String shown = broken.values().stream()
                .limit(MOST_NAMED)
                .map(problem -> "\n  " + problem)
                .collect(Collectors.joining());
        String rest = broken.size() > MOST_NAMED ? "\n  and %,d more".formatted(broken.size() - MOST_NAMED) : "";
        return "%,d images cannot be read:".formatted(broken.size()) + shown + rest;
    }

    private static Column.Numbers lazy(Field.Image field, List<Path> files) {
        float[] intensities = Columns.intensities(ImageDecoder.WHITE);
        return Columns.numbers(field, (row, target, offset) -> {
            try {
                Columns.copy(ImageDecoder.decode(files.get(row), field), intensities, target, offset);
            } catch (IOException problem) {
                throw new UncheckedIOException(problem);
            }
        });
    }

    /** Decodes files on all processors, counts, and collects what is broken. */
    private static final class Decoding {
        private final Field.Image field;
        private final Context.Progress progress;
        private final int total;
        private final Map<Path, String> broken = new TreeMap<>();
        private int done;

        Decoding(Field.Image field, Context.Progress progress, int total) {
            this.field = field;
            this.progress = progress;
            this.total = total;
        }

        /** The bytes of each file; empty where it is broken, or nothing is kept. */
        byte[][] run(List<Entry> entries, boolean keep) {
            byte[][] bytes = new byte[entries.size()][0];
            IntStream.range(0, entries.size()).parallel().forEach(i -> {
                Path file = entries.get(i).file;
                try {
                    byte[] decoded = ImageDecoder.decode(file, field);
                    if (keep) {
                        bytes[i] = decoded;
                    }
                    count();
                } catch (IOException problem) {
                    count(file, problem);
                }
            });
            return bytes;
        }

        private synchronized void count(Path file, IOException problem) {
            broken.put(file, problem instanceof DataException known ? known.getMessage() : file + ": " + problem);
            count();
        }

        private synchronized void count() {
            done++;
            progress.at("images", done, total);
        }
    }
}
