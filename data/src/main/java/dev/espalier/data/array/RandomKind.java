package dev.espalier.data.array;

import dev.espalier.data.Column;
import dev.espalier.data.Columns;
import dev.espalier.data.Context;
import dev.espalier.data.DataKind;
import dev.espalier.data.DataSection;
import dev.espalier.data.Dataset;
import dev.espalier.data.Draws;
import dev.espalier.data.Field;
import dev.espalier.data.ModelInput;
import dev.espalier.data.Parts;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * {@code random}: noise for whatever the model's file declares that it takes, to try a training out. Fractions are normally
 * distributed, whole numbers are places in the table that they are looked up in, and others are 1, as a mask that hides nothing.
 */
public final class RandomKind implements DataKind {
    private static final Key<Integer> ROWS = Key.whole("data.rows", "how many rows are drawn")
            .in(Range.atLeast(2))
            .withDefault(1000);
    private static final Key<Long> SEED =
            Key.longWhole("data.seed", "what they depend on").withDefault(1L);

    /** Called by the service loader. */
    public RandomKind() {}

    @Override
    public String name() {
        return "random";
    }

    @Override
    public String meaning() {
        return "noise for any model from an ONNX file, to try a training out";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(ROWS, SEED, DataSection.TEST_FRACTION);
    }

    @Override
    public Parts open(Values values, Context context) {
        List<ModelInput> declared = context.inputs().get();
        if (declared.isEmpty()) {
            throw new IllegalArgumentException(
                    "data.kind = random draws what a model's file says that it takes: set model.kind to onnx, or data.kind to something else");
        }
        List<Column> columns = new ArrayList<>();
        for (ModelInput input : declared) {
            columns.add(column(input, values.of(SEED), columns.size()));
        }
        return new Parts(
                new Dataset("random inputs", values.of(ROWS), columns, List.of()),
                Optional.empty(),
                List.of(
                        "the inputs are drawn at random: what a model learns or forgets on noise says little of what it does on real inputs; good enough to see that all runs"));
    }

    private static Column column(ModelInput input, long seed, int number) {
        int rank = input.type().shape().rank();
        if (rank == 0) {
            throw refused(input, "it has no axis of samples; make a constant of it in the file");
        }
        if (input.type().data().isFloat()) {
            Field.Numbers field = new Field.Numbers(input.name(), input.sample());
            return Columns.numbers(field, (row, target, offset) -> {
                Draws draws = new Draws(seed, number, row);
                for (int i = 0; i < field.size(); i++) {
                    target[offset + i] = (float) draws.gaussian();
                }
            });
        }
        int places = (int) Math.min(Integer.MAX_VALUE, input.places().orElse(0));
        if (rank == 2 && input.isWhole()) {
            int length = input.sample().getFirst();
            return Columns.sequences(
                    new Field.Tokens(input.name(), length, 0, List.of(), true),
                    row -> ids(length, places, seed, number, row));
        }
        if (rank == 1 && input.isWhole() && places > 0) {
            return new Column.Categories() {
                private final Field.Category field = new Field.Category(input.name(), Columns.numbered(places));

                @Override
                public Field.Category field() {
                    return field;
                }

                @Override
                public int read(int row) {
                    return new Draws(seed, number, row).below(places);
                }
            };
        }
        throw refused(
                input,
                "only fractions, token ids and places in tables are drawn; give arrays, with data.kind = \"npy\"");
    }

    private static int[] ids(int length, int places, long seed, int number, int row) {
        Draws draws = new Draws(seed, number, row);
        int[] ids = new int[length];
        Arrays.setAll(ids, _ -> places == 0 ? 1 : draws.below(places));
        return ids;
    }

    private static IllegalArgumentException refused(ModelInput input, String reason) {
        return new IllegalArgumentException(
                "data.kind = random cannot draw the model's input %s: %s".formatted(input, reason));
    }
}
