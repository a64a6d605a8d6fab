package dev.espalier.data;

import dev.espalier.settings.Values;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** What {@code data.mean}, {@code data.std} and {@code data.white} say: a model that was trained before wants its pixels as they were then. */
public final class GivenNormalization {
    private GivenNormalization() {}

    /**
     * Requires the keys to fit each other.
     *
     * @param values the section's values
     * @throws IllegalArgumentException if they do not
     */
    public static void check(Values values) {
        List<Double> mean = values.of(DataSection.MEAN);
        List<Double> deviation = values.of(DataSection.STD);
        double white = white(values);
        if (Stream.concat(mean.stream(), deviation.stream()).anyMatch(number -> number > white)) {
            throw new IllegalArgumentException(
                    "data.mean = %s and data.std = %s must be from 0 to data.white = %s: for pixels from 0 to 255 set data.white to 255"
                            .formatted(mean, deviation, DataSection.WHITE.print(white)));
        }
        if (mean.size() != deviation.size()) {
            throw new IllegalArgumentException(
                    "data.mean has %d numbers and data.std has %d: each needs one for each channel, or one for all of them"
                            .formatted(mean.size(), deviation.size()));
        }
        if (white != 1 && mean.isEmpty() && values.of(DataSection.NORMALIZE)) {
            throw new IllegalArgumentException(
                    "data.white = %s says nothing where data.normalize = true measures means and deviations: give data.mean and data.std, or set data.normalize = false"
                            .formatted(DataSection.WHITE.print(white)));
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
        double white = white(values);
        if (mean.isEmpty()) {
            // What is measured brings every scale to the same.
            return values.of(DataSection.NORMALIZE)
                    ? Optional.empty()
                    : Optional.of(new Normalization(
                            Collections.nCopies(image.statistics(), 0.0),
                            Collections.nCopies(image.statistics(), 1 / white)));
        }
        if (mean.size() != 1 && mean.size() != image.statistics()) {
            throw new IllegalArgumentException(
                    "data.mean and data.std have %d numbers, but %s has %d channels: give one for each, or one for all of them"
                            .formatted(mean.size(), image.name(), image.statistics()));
        }
        return Optional.of(new Normalization(
                each(mean, white, image.statistics()), each(values.of(DataSection.STD), white, image.statistics())));
    }

    /** A kind of somebody else's may not have the key. */
    private static double white(Values values) {
        return values.has(DataSection.WHITE) ? values.of(DataSection.WHITE) : 1;
    }

    /** In units of intensities, which go from 0 to 1. */
    private static List<Double> each(List<Double> numbers, double white, int count) {
        List<Double> units = numbers.stream().map(number -> number / white).toList();
        return units.size() == count ? units : Collections.nCopies(count, units.getFirst());
    }
}
