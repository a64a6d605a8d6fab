package dev.espalier.data.array;

import dev.espalier.data.Augmentation;
import dev.espalier.data.Column;
import dev.espalier.data.ColumnEncoding;
import dev.espalier.data.Columns;
import dev.espalier.data.Context;
import dev.espalier.data.DataException;
import dev.espalier.data.DataKind;
import dev.espalier.data.DataSection;
import dev.espalier.data.Dataset;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.GivenNormalization;
import dev.espalier.data.ModelInput;
import dev.espalier.data.NamedInput;
import dev.espalier.data.Normalization;
import dev.espalier.data.Parts;
import dev.espalier.graph.type.DataType;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * {@code npy}: arrays that NumPy saved, the first axis of which is that of rows: the {@code .npy} files of a folder, which are read
 * where they are, or those in an {@code .npz} file, which are held in memory.
 *
 * <p>Each input array is an input of the model, in single precision; but whole numbers stay such where the model's file declares them:
 * token ids {@code [rows, tokens]}, or places in a table {@code [rows]}. A target array of whole numbers, one a row, is a class; others are numbers. Where there
 * are arrays of the same names with {@code test} in place of {@code train}, they are the test part.
 */
public final class NpyKind implements DataKind {
    /** What the axes of an input's row are. */
    public enum Layout {
        /** Nothing in particular. */
        NUMBERS,
        /** Height and width of a grey image. */
        HW,
        /** Channels, height and width of an image. */
        CHW,
        /** Height, width and channels of an image. */
        HWC
    }

    /** {@code data.path}. */
    public static final Key<String> PATH = Key.location(
                    "data.path",
                    "an .npz file, a folder of .npy files, or one .npy file, relative to where the program is started")
            .in(Range.notBlank())
            .changeable();
    /** {@code data.inputs}. */
    public static final Key<List<String>> INPUTS = Key.someTexts(
                    "data.inputs",
                    "the arrays that a model is given; \"name = array\" where the model has another name for it; if empty, x_train, or those that are called as the model's inputs, or the only one")
            .in(new Range<>("all different", names -> names.stream().distinct().count() == names.size()))
            .withDefault(List.of());
    /** {@code data.targets}. */
    public static final Key<List<String>> TARGETS = Key.someTexts("data.targets", "the arrays that it is to say")
            .in(Range.distinct())
            .withDefault(List.of("y_train"));
    /** {@code data.test_inputs}. */
    public static final Key<List<String>> TEST_INPUTS = Key.texts(
                    "data.test_inputs",
                    "the same of the test part; if empty, those with test in place of train, or some rows are held out")
            .withDefault(List.of());
    /** {@code data.test_targets}. */
    public static final Key<List<String>> TEST_TARGETS = Key.texts(
                    "data.test_targets", "the same of the test part; needed where data.test_inputs is set")
            .withDefault(List.of());
    /** {@code data.layout}. */
    public static final Key<Layout> LAYOUT = Key.choice(
                    "data.layout",
                    Layout.class,
                    "what the axes of an input's row are: any numbers, or an image's height, width and channels; bytes of an image are divided by 255")
            .withDefault(Layout.NUMBERS);

    /** What the inputs are usually called. */
    private static final String USUAL = "x_train";

    private static final int WHITE = 255;

    /** Called by the service loader. */
    public NpyKind() {}

    @Override
    public String name() {
        return "npy";
    }

    @Override
    public String meaning() {
        return "arrays that NumPy saved, .npy or .npz";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(
                PATH,
                INPUTS,
                TARGETS,
                TEST_INPUTS,
                TEST_TARGETS,
                DataSection.LABELLED,
                LAYOUT,
                DataSection.LABEL_TYPE,
                DataSection.NORMALIZE,
                DataSection.MEAN,
                DataSection.STD,
                DataSection.WHITE,
                DataSection.PADDING,
                DataSection.FLIP,
                DataSection.CUTOUT,
                DataSection.TEST_FRACTION);
    }

    @Override
    public void check(Values values) {
        if (!values.of(INPUTS).isEmpty()) {
            requirePairs(values.of(TEST_INPUTS), inputs(values.of(INPUTS)));
        }
        requirePairs("data.test_targets", values.of(TEST_TARGETS), "data.targets", targets(values));
        if (!values.of(DataSection.LABELLED)
                && (!TARGETS.defaultValue().equals(Optional.of(values.of(TARGETS)))
                        || !values.of(TEST_TARGETS).isEmpty())) {
            throw new IllegalArgumentException(
                    "data.labelled = false, and data.targets or data.test_targets is set: leave one of them out");
        }
        if (values.of(DataSection.LABELLED)
                && values.of(TEST_INPUTS).isEmpty() != values.of(TEST_TARGETS).isEmpty()) {
            throw new IllegalArgumentException("data.test_inputs and data.test_targets must be set both, or neither");
        }
        GivenNormalization.check(values);
        if (values.of(LAYOUT) == Layout.NUMBERS
                && (!values.of(DataSection.MEAN).isEmpty() || values.of(DataSection.WHITE) != 1)) {
            throw new IllegalArgumentException(
                    "data.mean, data.std and data.white are for images: set data.layout to hw, chw or hwc");
        }
        if (values.of(LAYOUT) == Layout.NUMBERS
                && DataSection.imageAugmentation(values).changes()) {
            throw new IllegalArgumentException(
                    "data.padding, data.flip and data.cutout are for images: set data.layout to hw, chw or hwc");
        }
    }

    private static void requirePairs(List<String> test, List<NamedInput> inputs) {
        requirePairs(
                "data.test_inputs",
                test,
                "data.inputs",
                inputs.stream().map(input -> input.sources().getFirst()).toList());
    }

    private static void requirePairs(String testKey, List<String> test, String key, List<String> train) {
        if (!test.isEmpty() && test.size() != train.size()) {
            throw new IllegalArgumentException("%s has %d names, but %s has %d: there must be one for each"
                    .formatted(testKey, test.size(), key, train.size()));
        }
    }

    @Override
    public Augmentation augmentation(Values values) {
        return values.of(LAYOUT) == Layout.NUMBERS ? Augmentation.NONE : DataSection.imageAugmentation(values);
    }

    @Override
    public Parts open(Values values, Context context) throws IOException {
        Path path = Path.of(values.of(PATH));
        if (!Files.exists(path)) {
            throw DataException.in(
                    path, "no such file or folder: give an .npz file, a folder of .npy files, or one .npy file");
        }
        NpyStore store = new NpyStore(path);
        List<String> notes = new ArrayList<>();
        List<NamedInput> inputs = inputs(values, store, context);
        requirePairs(values.of(TEST_INPUTS), inputs);
        List<String> arrays =
                inputs.stream().map(input -> input.sources().getFirst()).toList();
        Reading train = new Reading(values, context, inputs, store.read(arrays), store.read(targets(values)));
        List<Field> targets = train.targetFields(notes);
        Dataset learned = train.dataset(name(path) + " train", targets);
        List<String> testInputs = test(arrays, values.of(TEST_INPUTS), store);
        List<String> testTargets = test(targets(values), values.of(TEST_TARGETS), store);
        if (testInputs.isEmpty() || testTargets.size() < targets.size()) {
            return new Parts(learned.named(name(path)), Optional.empty(), notes);
        }
        Reading test = new Reading(values, context, inputs, store.read(testInputs), store.read(testTargets));
        return new Parts(learned, Optional.of(test.dataset(name(path) + " test", targets)), notes);
    }

    private static List<NamedInput> inputs(List<String> texts) {
        return texts.stream()
                .map(text -> {
                    NamedInput input = NamedInput.parse(text);
                    if (input.sources().size() > 1) {
                        throw new IllegalArgumentException(
                                "'%s' in data.inputs: an input is one array; list them one by one".formatted(text));
                    }
                    return input;
                })
                .toList();
    }

    /** The arrays that the model is given: as somebody says, or as they are called. */
    private static List<NamedInput> inputs(Values values, NpyStore store, Context context) throws IOException {
        if (!values.of(INPUTS).isEmpty()) {
            return inputs(values.of(INPUTS));
        }
        if (store.has(USUAL)) {
            return inputs(List.of(USUAL));
        }
        List<ModelInput> declared = context.inputs().get();
        List<String> names = declared.stream().map(ModelInput::name).toList();
        if (!names.isEmpty() && names.stream().allMatch(store::has)) {
            return names.stream()
                    .map(name -> new NamedInput(Optional.of(name), List.of(name)))
                    .toList();
        }
        List<String> left = new ArrayList<>(store.names());
        left.removeAll(targets(values).stream().map(NpyStore::fileName).toList());
        if (left.size() == 1 && names.size() <= 1) {
            return List.of(new NamedInput(names.stream().findFirst(), left));
        }
        throw DataException.in(
                Path.of(values.of(PATH)),
                "which of the arrays %s are inputs%s? Name them so, or list them in data.inputs as \"name = array\""
                        .formatted(store.names(), declared.isEmpty() ? "" : " of the model, which takes " + declared));
    }

    private static List<String> targets(Values values) {
        return values.of(DataSection.LABELLED) ? values.of(TARGETS) : List.of();
    }

    private static String name(Path path) {
        return String.valueOf(path.toAbsolutePath().normalize().getFileName());
    }

    /** The names of the test part's arrays; none if not all are there. */
    private static List<String> test(List<String> train, List<String> named, NpyStore store) {
        if (!named.isEmpty()) {
            return named;
        }
        List<String> usual =
                train.stream().map(name -> name.replace("train", "test")).toList();
        boolean there = usual.stream().allMatch(name -> !train.contains(name) && store.has(name));
        return there ? usual : List.of();
    }

    @Override
    public Encoding encoding(Values values, Dataset train) {
        List<ColumnEncoding> inputs = new ArrayList<>();
        for (Column column : train.inputs()) {
            if (!(column instanceof Column.Numbers numbers)) {
                inputs.add(plain(column));
                continue;
            }
            Normalization by = GivenNormalization.of(values, numbers.field())
                    .orElseGet(() -> Normalization.of(numbers, train.size()));
            inputs.add(new ColumnEncoding.Scaled(numbers.field(), by, 0));
        }
        List<ColumnEncoding> targets = new ArrayList<>();
        for (Column column : train.targets()) {
            targets.add(column instanceof Column.Numbers numbers ? measured(numbers, train.size()) : plain(column));
        }
        return new Encoding(inputs, targets);
    }

    private static ColumnEncoding plain(Column column) {
        return new ColumnEncoding.Plain(column.field());
    }

    /** In its own unit; a single number is a vector of one, as a model says it. */
    private static ColumnEncoding measured(Column.Numbers column, int rows) {
        ColumnEncoding measured = new ColumnEncoding.Measured(column.field(), Normalization.of(column, rows));
        return column.field().shape().isEmpty()
                ? new ColumnEncoding.Joined(column.field().name(), List.of(measured))
                : measured;
    }

    /** The arrays of one part, by the names that the fields of both parts have. */
    private static final class Reading {
        private final Values values;
        private final Context context;
        private final List<NamedInput> named;
        private final Map<String, NpyArray> inputs;
        private final Map<String, NpyArray> targets;
        private final List<String> names;
        private final int rows;

        Reading(
                Values values,
                Context context,
                List<NamedInput> named,
                Map<String, NpyArray> inputs,
                Map<String, NpyArray> targets)
                throws IOException {
            this.values = values;
            this.context = context;
            this.named = named;
            this.inputs = inputs;
            this.targets = targets;
            this.names = NpyKind.targets(values);
            NpyArray first = inputs.values().iterator().next();
            this.rows = first.rows();
            for (Map<String, NpyArray> part : List.of(inputs, targets)) {
                for (NpyArray array : part.values()) {
                    if (array.rows() != rows) {
                        throw DataException.in(
                                array.place(), "%,d rows, but %s has %,d".formatted(array.rows(), first.place(), rows));
                    }
                    array.requireFinite();
                }
            }
        }

        /** What a model calls it, whichever part it is of. */
        private static String fieldName(String array) {
            String name = array.endsWith(NpyStore.ENDING)
                    ? array.substring(0, array.length() - NpyStore.ENDING.length())
                    : array;
            String without = name.replaceFirst("_train$|^train_", "");
            return without.isEmpty() ? name : without;
        }

        List<Field> targetFields(List<String> notes) throws DataException {
            List<Field> fields = new ArrayList<>();
            List<NpyArray> arrays = List.copyOf(targets.values());
            for (int i = 0; i < arrays.size(); i++) {
                fields.add(target(fieldName(names.get(i)), arrays.get(i), notes));
            }
            return fields;
        }

        private Field target(String name, NpyArray array, List<String> notes) throws DataException {
            boolean single = array.rowShape().stream().allMatch(length -> length == 1);
            boolean category = switch (values.of(DataSection.LABEL_TYPE)) {
                case AUTO -> single && !array.type().isFloat();
                case CATEGORY -> true;
                case NUMBER -> false;
            };
            if (!category) {
                return new Field.Numbers(name, single ? List.of() : array.rowShape());
            }
            if (!single) {
                throw DataException.in(
                        array.place(),
                        "a row is %s: a class must be one number; set data.label_type to number"
                                .formatted(array.rowShape()));
            }
            for (int row = 0; row < rows; row++) {
                if (array.number(row) != Math.rint(array.number(row))) {
                    throw DataException.in(
                            array.place(),
                            "row %,d is %s: classes must be whole numbers; set data.label_type to number"
                                    .formatted(row, array.number(row)));
                }
            }
            List<String> classes = LongStream.range(0, rows)
                    .map(array::whole)
                    .distinct()
                    .sorted()
                    .mapToObj(Long::toString)
                    .toList();
            if (classes.size() < 2) {
                throw DataException.in(
                        array.place(), "all labels are %s: there must be 2 classes or more".formatted(classes));
            }
            if (classes.size() > rows / 2) {
                notes.add(
                        "%s has %,d classes in %,d rows: if it is a number to be estimated, set data.label_type = \"%s\""
                                .formatted(array.place(), classes.size(), rows, "number"));
            }
            return new Field.Category(name, classes);
        }

        Dataset dataset(String name, List<Field> targetFields) throws DataException {
            List<Column> inputColumns = new ArrayList<>();
            List<NpyArray> arrays = List.copyOf(inputs.values());
            for (int i = 0; i < arrays.size(); i++) {
                inputColumns.add(input(
                        named.get(i)
                                .name()
                                .orElse(fieldName(named.get(i).sources().getFirst())),
                        arrays.get(i)));
            }
            List<Column> targetColumns = new ArrayList<>();
            arrays = List.copyOf(targets.values());
            for (int i = 0; i < arrays.size(); i++) {
                targetColumns.add(target(targetFields.get(i), arrays.get(i)));
            }
            return new Dataset(name, rows, inputColumns, targetColumns);
        }

        private static Column target(Field field, NpyArray array) throws DataException {
            return switch (field) {
                case Field.Category category -> {
                    Map<String, Integer> classes = new HashMap<>();
                    category.values().forEach(value -> classes.put(value, classes.size()));
                    int[] codes = new int[array.rows()];
                    for (int row = 0; row < codes.length; row++) {
                        String value = Long.toString(array.whole(row));
                        codes[row] = classes.getOrDefault(value, -1);
                        if (codes[row] < 0) {
                            throw DataException.in(
                                    array.place(),
                                    "row %,d: the class %s does not occur in the training part, which has %s"
                                            .formatted(row, value, category.values()));
                        }
                    }
                    yield Columns.categories(category, codes);
                }
                case Field.Dense dense -> numbers(dense, array);
                case Field.Tokens tokens -> throw new IllegalStateException(tokens + " is no array");
            };
        }

        private static Column.Numbers numbers(Field.Dense field, NpyArray array) {
            int size = field.size();
            return Columns.numbers(field, (row, target, offset) -> array.copy((long) row * size, size, target, offset));
        }

        private Column input(String name, NpyArray array) throws DataException {
            List<Integer> shape = array.rowShape();
            Layout layout = values.of(LAYOUT);
            Optional<ModelInput> declared = layout == Layout.NUMBERS ? declared(name, array) : Optional.empty();
            if (declared.isPresent()) {
                return WholeNumbers.of(name, array, declared.get());
            }
            int rank = switch (layout) {
                case NUMBERS -> shape.size();
                case HW -> 2;
                case CHW, HWC -> 3;
            };
            if (shape.size() != rank) {
                throw DataException.in(
                        array.place(),
                        "a row is %s, but data.layout = %s has %d axes"
                                .formatted(shape, layout.name().toLowerCase(Locale.ROOT), rank));
            }
            return switch (layout) {
                case NUMBERS -> numbers(new Field.Numbers(name, shape), array);
                case HW -> image(new Field.Image(name, 1, shape.get(0), shape.get(1)), array, false);
                case CHW -> image(new Field.Image(name, shape.get(0), shape.get(1), shape.get(2)), array, false);
                case HWC -> image(new Field.Image(name, shape.get(2), shape.get(0), shape.get(1)), array, true);
            };
        }

        /** The model's input of this name, or its only one, if both hold whole numbers. */
        private Optional<ModelInput> declared(String name, NpyArray array) {
            if (array.type().isFloat()) {
                return Optional.empty();
            }
            List<ModelInput> all = context.inputs().get();
            return all.stream()
                    .filter(input -> input.name().equals(name) || (all.size() == 1 && inputs.size() == 1))
                    .filter(ModelInput::isWhole)
                    .findFirst();
        }

        private static Column image(Field.Image field, NpyArray array, boolean channelsLast) {
            int size = field.size();
            float white = array.type() == DataType.UINT8 ? WHITE : 1;
            int pixels = field.height() * field.width();
            return Columns.numbers(field, (row, target, offset) -> {
                long from = (long) row * size;
                for (int i = 0; i < size; i++) {
                    int at = channelsLast ? i % pixels * field.channels() + i / pixels : i;
                    target[offset + i] = array.number(from + at) / white;
                }
            });
        }
    }
}
