package dev.espalier.train.inputs;

import dev.espalier.data.DataException;
import dev.espalier.data.DataSection;
import dev.espalier.data.ModelInput;
import dev.espalier.data.table.CellFile;
import dev.espalier.graph.Graph;
import dev.espalier.graph.type.Dimension;
import dev.espalier.settings.Form;
import dev.espalier.settings.Values;
import dev.espalier.train.task.EncodingNote;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * From what somebody has, a file or a folder, to settings of data for a model that others made: by the ending, by what is in a folder,
 * and by what the model declares that it takes. Nothing is normalised that the model's makers do not say: it was trained on what it gets.
 * What a training of ours has noted in the model, {@link TrainedEncoding} sees to.
 *
 * @param settings such as {@code data.kind=images}, {@code data.dir=pictures}
 * @param notes what a user should know of them, a sentence each
 */
public record InputsGuess(List<String> settings, List<String> notes) {
    /** What can be given, for messages and helps. */
    public static final String TAKES =
            "a folder of images; an .npz file, a folder of .npy files or one of them; .csv, .tsv, .jsonl, .parquet or .json; a .txt file"
                    + " with a text in a line; a recipe, or another .toml file with a section [data]; random, or another kind of data by its name";

    /** Longer texts are read by few models that learn from them, and cost what they bring. */
    private static final int MOST_TOKENS = 256;

    private static final List<String> IMAGES = List.of(".png", ".jpg", ".jpeg");
    private static final List<String> TEXTS = List.of(".txt", ".jsonl", ".ndjson", ".json");
    private static final List<String> TABLES = List.of(".csv", ".tsv");
    private static final List<String> ARRAYS = List.of(".npy", ".npz");
    private static final String PARQUET = ".parquet";

    /** Copies the lists. */
    public InputsGuess {
        settings = List.copyOf(settings);
        notes = List.copyOf(notes);
    }

    /**
     * Makes settings.
     *
     * @param what what somebody has: see {@link #TAKES}
     * @param model the model's file; what its makers wrote about its inputs lies beside it
     * @param graph the model, as it is in training
     * @param given settings that hold in any case, such as {@code data.size=224}
     * @return settings for {@link DataSection#read}, those that were given last
     * @throws IOException if it cannot be read, or is nothing that the model takes; the message says what it takes
     */
    public static InputsGuess of(String what, Path model, Graph graph, List<String> given) throws IOException {
        return new Guessing(what, model, graph, DeclaredInputs.of(graph), given).guess();
    }

    /** {@return the section of these settings} */
    public Values values() {
        return DataSection.read(settings.toArray(String[]::new));
    }

    private static final class Guessing {
        private final String what;
        private final Path model;
        private final Graph graph;
        private final List<ModelInput> inputs;
        private final List<String> given;
        private final SequencedMap<String, String> settings = new LinkedHashMap<>();
        private final List<String> notes = new ArrayList<>();

        Guessing(String what, Path model, Graph graph, List<ModelInput> inputs, List<String> given) {
            this.what = what;
            this.model = model;
            this.graph = graph;
            this.inputs = inputs;
            this.given = given;
        }

        InputsGuess guess() throws IOException {
            Path path = Path.of(what);
            if (DataSection.KINDS.names().contains(what)) {
                kind(what); // data often lies in a folder of its own name; that one is called ./NAME
            } else if (Files.isDirectory(path)) {
                folder(path);
            } else if (Files.exists(path)) {
                file(path);
            } else {
                throw DataException.in(path, "no such file or folder: give " + TAKES);
            }
            List<String> all = new ArrayList<>();
            settings.forEach((key, value) -> all.add(key + "=" + value));
            all.addAll(given);
            return new InputsGuess(all, notes);
        }

        private boolean isGiven(String key) {
            return given.stream().anyMatch(setting -> setting.startsWith(key + "="));
        }

        private Optional<String> given(String key) {
            return given.stream()
                    .filter(setting -> setting.startsWith(key + "="))
                    .map(setting -> setting.substring(key.length() + 1))
                    .reduce((_, last) -> last);
        }

        private void set(String key, Object value) {
            if (!isGiven(key)) {
                settings.put(key, String.valueOf(value));
            }
        }

        private void set(String key, List<String> texts) {
            set(key, (Object) texts.stream()
                    .map(text -> '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"')
                    .toList()
                    .toString());
        }

        /** A kind without labels. */
        private void begin(String kind, String key, Path path) {
            set("data.kind", kind);
            set(key, path);
            set("data.labelled", false);
        }

        private void asItIs() {
            if (!isGiven("data.mean")) {
                set("data.normalize", false);
            }
        }

        /** An indicator would be an input that a model does not have which others made. */
        private void refuseMissing() {
            if (EncodingNote.of(graph).isEmpty()) {
                set("data.missing", "refuse");
            }
        }

        private void kind(String name) throws IOException {
            set("data.kind", name);
            if (name.equals("images")) {
                set("data.labelled", false);
            }
            List<String> keys = DataSection.SECTION.keys(name).stream()
                    .map(key -> key.path())
                    .toList();
            if (keys.contains(DataSection.WHITE.path()) && keys.contains(DataSection.CHANNELS_LAST.path())) {
                images(keys.contains("data.size"));
            } else if (keys.contains(DataSection.NORMALIZE.path())) {
                asItIs();
            }
        }

        private void folder(Path folder) throws IOException {
            if (has(folder, 1, name -> name.endsWith(".npy"))) {
                arrays(folder);
            } else if (Files.exists(folder.resolve("train.csv")) || Files.exists(folder.resolve("train.csv.gz"))) {
                Path train = Files.exists(folder.resolve("train.csv"))
                        ? folder.resolve("train.csv")
                        : folder.resolve("train.csv.gz");
                if (readsTexts()) {
                    texts(folder, train);
                } else {
                    table(folder, train);
                }
            } else if (has(folder, Integer.MAX_VALUE, name -> IMAGES.stream().anyMatch(name::endsWith))) {
                begin("images", "data.dir", folder);
                images(true);
            } else {
                throw DataException.in(
                        folder,
                        "nothing in it that a model could be given: expected images (%s), .npy files or train.csv; the model takes %s"
                                .formatted(String.join(", ", IMAGES), inputs));
            }
        }

        private static boolean has(Path folder, int depth, Predicate<String> wanted) throws IOException {
            try (Stream<Path> files = Files.walk(folder, depth)) {
                return files.filter(Files::isRegularFile)
                        .map(file -> String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT))
                        .anyMatch(wanted);
            }
        }

        private void file(Path file) throws IOException {
            String name = file.toString().toLowerCase(Locale.ROOT).replaceFirst("\\.gz$", "");
            if (name.endsWith(".toml")) {
                Form.part("section", DataSection.SECTION)
                        .read(file, given)
                        .texts()
                        .forEach(settings::put);
            } else if (ARRAYS.stream().anyMatch(name::endsWith)) {
                arrays(file);
            } else if (readsTexts()
                    && Stream.of(TEXTS, TABLES, List.of(PARQUET))
                            .flatMap(List::stream)
                            .anyMatch(name::endsWith)) {
                texts(file, file);
            } else if (TABLES.stream().anyMatch(name::endsWith)) {
                table(file, file);
            } else if (name.endsWith(PARQUET) || name.endsWith(".json") || name.endsWith(".jsonl")) {
                if (!DataSection.KINDS.names().contains("table")) {
                    throw DataException.in(
                            file,
                            "read by the module table, which is not on the class path: depend on dev.espalier:espalier-table, or give a CSV file");
                }
                begin("table", "data.path", file);
                asItIs();
                refuseMissing();
            } else {
                throw DataException.in(
                        file, "nothing that this model can be given, which takes %s: give %s".formatted(inputs, TAKES));
            }
        }

        /** Whether whole numbers are looked up in a large table, token by token. */
        private boolean readsTexts() {
            return inputs.stream()
                    .anyMatch(input -> input.isSequence() && input.places().orElse(0) > 2);
        }

        private void arrays(Path path) {
            begin("npy", "data.path", path);
            asItIs();
        }

        private void texts(Path path, Path file) throws IOException {
            begin("text", "data.path", path);
            List<String> columns = cells(file).columns();
            if (columns.size() > 2 && !isGiven("data.columns") && !isGiven("data.ignore")) {
                if (!columns.contains("text")) {
                    throw DataException.in(
                            file,
                            "it has the columns %s: name that of the texts, or two that are read as a pair, in data.columns"
                                    .formatted(columns));
                }
                set("data.columns", List.of("text"));
            }
            set("data.length", Math.min(MOST_TOKENS, positions()));
            set("data.buckets", true);
        }

        /** How many tokens have embeddings of their positions, as far as names tell. */
        private int positions() {
            return graph.initializers().entrySet().stream()
                    .filter(entry -> entry.getKey().toLowerCase(Locale.ROOT).contains("position"))
                    .map(entry -> entry.getValue().tensor().shape())
                    .filter(shape -> shape.length == 2 && shape[0] >= 4)
                    .mapToInt(shape -> (int) Math.min(MOST_TOKENS, shape[0]))
                    .min()
                    .orElse(MOST_TOKENS);
        }

        private CellFile cells(Path file) {
            return CellFile.of(
                    file,
                    !given("data.header").equals(Optional.of("false")),
                    given("data.delimiter")
                            .map(text ->
                                    text.replace("\"", "").replace("\\t", "\t").charAt(0)));
        }

        private void table(Path path, Path file) throws IOException {
            begin("csv", "data.path", path);
            asItIs();
            refuseMissing();
            if (file.toString()
                    .toLowerCase(Locale.ROOT)
                    .replaceFirst("\\.gz$", "")
                    .endsWith(".tsv")) {
                set("data.delimiter", "\"\\t\"");
            }
            List<String> columns = cells(file).columns();
            List<String> names = inputs.stream().map(ModelInput::name).toList();
            boolean chosen = isGiven("data.columns") || isGiven("data.ignore") || isGiven("data.inputs");
            if (inputs.size() > 1 && columns.containsAll(names)) {
                set(
                        "data.inputs",
                        names.stream().map(name -> name + " = " + name).toList());
            } else if (inputs.size() > 1 && !isGiven("data.inputs")) {
                throw DataException.in(
                        file,
                        "it has the columns %s, but the model takes %s: name columns as the inputs, or set data.inputs = [\"name = column, column\", …]"
                                .formatted(columns, inputs));
            } else if (!chosen && inputs.size() == 1) {
                requireColumns(file, columns, inputs.getFirst());
            }
        }

        private static void requireColumns(Path file, List<String> columns, ModelInput input) throws DataException {
            int rank = input.type().shape().rank();
            Dimension wanted = rank == 2 ? input.type().shape().get(1) : Dimension.of(-1);
            if (rank != 2 || (wanted.isKnown() && !wanted.is(columns.size()))) {
                throw DataException.in(
                        file,
                        "it has %d columns, %s, but the model takes %s: %s"
                                .formatted(
                                        columns.size(),
                                        columns,
                                        input,
                                        rank == 2
                                                ? "choose %s of them with data.columns, or leave some out with data.ignore"
                                                        .formatted(wanted)
                                                : "give arrays of this shape, .npy"));
            }
        }

        /** How pixels become what the model takes: by its shape, by what its makers say, or as they are. */
        private void images(boolean sized) throws IOException {
            List<ModelInput> pictures = inputs.stream()
                    .filter(input -> input.type().shape().rank() == 4)
                    .toList();
            if (inputs.size() != 1 || pictures.isEmpty()) {
                throw new IllegalArgumentException(
                        "%s are images, but %s takes %s: expected one input of four axes, [batch, channels, height, width] or [batch, height, width, channels]"
                                .formatted(what, model, inputs));
            }
            Optional<ImagePreparation> said = ImagePreparation.beside(model);
            PictureShape shape = PictureShape.of(pictures.getFirst());
            if (shape.channelsLast()) {
                set("data.channels_last", true);
            }
            if (sized) {
                set("data.channels", shape.channels());
                size(shape, said);
            }
            if (said.isPresent()) {
                said.get().settings().forEach((key, value) -> {
                    if (!(key.equals("data.normalize") && isGiven("data.mean"))) {
                        set(key, value);
                    }
                });
                notes.addAll(said.get().notes());
            } else if (!isGiven("data.mean") && !isGiven("data.normalize")) {
                asItIs();
                if (!isGiven("data.white") && EncodingNote.of(graph).isEmpty()) {
                    notes.add(
                            "there is no %s beside %s: pixels go from 0 to 1, as they are. If the model was trained otherwise, set data.mean and data.std, or data.white to 255"
                                    .formatted(ImagePreparation.FILE, model));
                }
            }
        }

        private void size(PictureShape shape, Optional<ImagePreparation> said) {
            Optional<Integer> height = shape.height().or(() -> said.flatMap(ImagePreparation::height));
            Optional<Integer> width = shape.width().or(() -> said.flatMap(ImagePreparation::width));
            if (height.isEmpty() && !isGiven("data.size")) {
                throw new IllegalArgumentException(
                        "%s takes images of any height, %s: set data.size, such as data.size=%s"
                                .formatted(
                                        model,
                                        shape.input(),
                                        shape.input().sample().get(shape.channelsLast() ? 0 : 1)));
            }
            height.ifPresent(pixels -> set("data.size", pixels));
            if (width.isPresent() && !width.equals(height)) {
                set("data.width", width.get());
            } else if (width.isEmpty() && height.isPresent() && !isGiven("data.width")) {
                throw new IllegalArgumentException(
                        "%s takes images of the height %d and any width, %s: set data.width, such as data.width=%d"
                                .formatted(model, height.get(), shape.input(), 4 * height.get()));
            }
        }
    }

    /** Which axes of an input are those of an image. */
    private record PictureShape(
            ModelInput input, int channels, Optional<Integer> height, Optional<Integer> width, boolean channelsLast) {
        static PictureShape of(ModelInput input) {
            List<Dimension> axes = input.type().shape().dimensions();
            boolean first = isChannels(axes.get(1));
            boolean last = !first && isChannels(axes.get(3));
            if (!first && !last && axes.get(1).isKnown() && axes.get(3).isKnown()) {
                throw new IllegalArgumentException(
                        "images have 1 channel or 3, but the model takes %s: give arrays, .npy".formatted(input));
            }
            Dimension channels = axes.get(last ? 3 : 1);
            return new PictureShape(
                    input,
                    channels.isKnown() ? Math.toIntExact(channels.value()) : 3,
                    length(axes.get(last ? 1 : 2)),
                    length(axes.get(last ? 2 : 3)),
                    last);
        }

        private static boolean isChannels(Dimension length) {
            return length.is(1) || length.is(3);
        }

        private static Optional<Integer> length(Dimension length) {
            return length.isKnown() ? Optional.of(Math.toIntExact(length.value())) : Optional.empty();
        }
    }
}
