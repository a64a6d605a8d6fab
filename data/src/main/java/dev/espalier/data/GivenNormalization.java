package dev.espalier.data;

import dev.espalier.settings.Values;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** What {@code data.mean} and {@code data.std} say: a model that was trained before wants its pixels as they were then. */
public final class GivenNormalization {
    private GivenNormalization() {}

    /**
     * Requires the two keys to fit each other.
     *
     * @param values the section's values
     * @throws IllegalArgumentException if they do not
     */
    public static void check(Values values) {
        List<Double> mean = values.of(DataSection.MEAN);
        List<Double> deviation = values.of(DataSection.STD);
        if (mean.size() != deviation.size()) {
            throw new IllegalArgumentException(
                    "data.mean has %d numbers and data.std has %d: each needs one for each channel, or one for all of them"
                            .formatted(mean.size(), deviation.size()));
        }
        if (!mean.isEmpty() && !values.of(DataSection.NORMALIZE)) {
            throw new IllegalArgumentException(
                    "data.normalize = false and data.mean = %s: leave one of them out".formatted(mean));
        }
    }

    /**
     * {@return the normalisation that is asked for; empty if none is}
     *
     * @param values the section's values
     * @param image what is normalised
     * @throws IllegalArgumentException if the image has another number of channels
     */
    public static Optional<Normalization> of(Values values, Field.Dense image) {
        List<Double> mean = values.of(DataSection.MEAN);
        if (mean.isEmpty()) {
            return Optional.empty();
        }
        if (mean.size() != 1 && mean.size() != image.statistics()) {
            throw new IllegalArgumentException(
                    "data.mean and data.std have %d numbers, but %s has %d channels: give one for each, or one for all of them"
                            .formatted(mean.size(), image.name(), image.statistics()));
        }
        return Optional.of(new Normalization(
                each(mean, image.statistics()), each(values.of(DataSection.STD), image.statistics())));
    }

    private static List<Double> each(List<Double> numbers, int count) {
        return numbers.size() == count ? numbers : Collections.nCopies(count, numbers.getFirst());
    }
}
