package org.example.meteors;

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
import java.util.Random;

/**
 * {@code data.kind = "meteors"}: nights with a clear or cloudy sky, more or less moon and eight numbers that do not matter, and how many
 * meteors were seen. They are made up; a kind that reads files does so in {@link #open}.
 */
public final class MeteorData implements DataKind {
    private static final int NUMBERS = 10;
    private static final Key<Integer> NIGHTS = Key.whole("data.nights", "how many nights were counted in")
            .in(Range.atLeast(10))
            .withDefault(800);

    /** Called by the service loader. */
    public MeteorData() {}

    @Override
    public String name() {
        return "meteors";
    }

    @Override
    public String meaning() {
        return "how many meteors were seen in some nights";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(NIGHTS);
    }

    @Override
    public Optional<String> task(Values values) {
        return Optional.of("counting");
    }

    @Override
    public Parts open(Values values, Context context) {
        Random random = new Random(12);
        int nights = values.of(NIGHTS);
        float[][] sky = new float[nights][NUMBERS];
        float[][] seen = new float[nights][1];
        for (int night = 0; night < nights; night++) {
            for (int i = 0; i < NUMBERS; i++) {
                sky[night][i] = (float) random.nextGaussian();
            }
            seen[night][0] = poisson(Math.exp(1 + sky[night][0] - 0.5 * sky[night][1]), random);
        }
        Dataset all = new Dataset(
                name(),
                nights,
                List.of(Columns.numbers(new Field.Numbers("sky", List.of(NUMBERS)), sky)),
                List.of(Columns.numbers(new Field.Numbers("seen", List.of(1)), seen)));
        return new Parts(all, Optional.empty(), List.of());
    }

    /** How many events there are until their waiting times, each exponential, add up to 1. */
    private static int poisson(double rate, Random random) {
        int count = 0;
        for (double time = random.nextExponential(); time < rate; time += random.nextExponential()) {
            count++;
        }
        return count;
    }
}
