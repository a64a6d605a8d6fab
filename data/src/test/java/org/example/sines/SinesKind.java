package org.example.sines;

import dev.espalier.data.Column;
import dev.espalier.data.Columns;
import dev.espalier.data.Context;
import dev.espalier.data.DataKind;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import dev.espalier.data.Parts;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import java.util.List;
import java.util.Optional;

/** Waves of a frequency that is to be estimated. All that is needed to add a kind of data is in this file, and its name in another. */
public final class SinesKind implements DataKind {
    private static final Key<Integer> COUNT =
            Key.whole("data.count", "how many waves").in(Range.atLeast(10)).withDefault(50);
    private static final Key<Integer> LENGTH =
            Key.whole("data.length", "points of a wave").in(Range.atLeast(2)).withDefault(16);

    @Override
    public String name() {
        return "sines";
    }

    @Override
    public String meaning() {
        return "waves of a frequency that is to be estimated";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(COUNT, LENGTH);
    }

    @Override
    public Parts open(Values values, Context context) {
        Column.Numbers wave =
                Columns.numbers(new Field.Numbers("wave", List.of(values.of(LENGTH))), (row, target, offset) -> {
                    for (int i = 0; i < values.of(LENGTH); i++) {
                        target[offset + i] = (float) Math.sin(frequency(row) * i);
                    }
                });
        Column.Numbers frequency = Columns.numbers(
                new Field.Numbers("frequency", List.of(1)), (row, target, offset) -> target[offset] = frequency(row));
        Dataset all = new Dataset("sines", values.of(COUNT), List.of(wave), List.of(frequency));
        return new Parts(all, Optional.empty(), List.of(values.of(COUNT) + " waves"));
    }

    private static float frequency(int row) {
        return row * 0.01f;
    }
}
