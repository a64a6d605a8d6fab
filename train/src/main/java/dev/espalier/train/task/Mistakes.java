package dev.espalier.train.task;

import dev.espalier.data.Column;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Findings.Glimpse;
import java.math.BigDecimal;
import java.math.MathContext;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The worst mistakes so far. What is not among them is forgotten at once. */
final class Mistakes {
    /** No picture is wider or higher. */
    private static final int SIDE = 96;

    /** What tokens were made of has no name that people know. */
    private static final String TEXT = "text";

    /** Of more numbers in one column, the first are shown. */
    private static final int MOST_NUMBERS = 8;

    /** A single-precision number of days tells times of this century apart to three minutes. */
    private static final int SHOWN_MINUTES = 5;

    private static final int MINUTES_PER_DAY = 1440;

    /** Of more columns, the first are shown. */
    private static final int MOST_COLUMNS = 100;

    private static final MathContext DIGITS = new MathContext(6);

    /** The worst last; among equals, what comes first. */
    private static final Comparator<Entry> BEST_FIRST = Comparator.<Entry>comparingDouble(
                    entry -> entry.miss().weight())
            .thenComparing(Comparator.comparingInt(Entry::row).reversed());

    private final PriorityQueue<Entry> worst = new PriorityQueue<>(BEST_FIRST);

    private record Entry(int row, Inspection.Miss miss) {}

    /** Notes one, by its row from 0. */
    void add(int row, Inspection.Miss miss) {
        worst.add(new Entry(row, miss));
        if (worst.size() > Findings.MOST_MISTAKES) {
            worst.remove();
        }
    }

    /** The worst first, with what there is to see of the rows. */
    List<Findings.Mistake> of(Dataset part) {
        return worst.stream()
                .sorted(BEST_FIRST.reversed())
                .map(entry -> new Findings.Mistake(
                        entry.row() + 1L,
                        glimpses(part, entry.row()),
                        entry.miss().truth().get(),
                        entry.miss().said().get(),
                        entry.miss().note().get()))
                .toList();
    }

    /** What there is to see of a row, from 0. */
    static List<Glimpse> glimpses(Dataset part, int row) {
        List<Glimpse> glimpses = new ArrayList<>();
        for (Column column :
                part.inputs().subList(0, Math.min(MOST_COLUMNS, part.inputs().size()))) {
            switch (column) {
                case Column.Numbers numbers -> glimpses.add(glimpse(numbers, row));
                case Column.Categories categories -> glimpses.add(glimpse(categories, row));
                case Column.Sequences sequences ->
                    sequences
                            .text(row)
                            .ifPresent(text -> glimpses.add(new Glimpse.Words(TEXT, Findings.shortened(text))));
            }
        }
        return glimpses;
    }

    private static Glimpse glimpse(Column.Categories column, int row) {
        int value = column.read(row);
        return new Glimpse.Words(
                column.field().name(), value < 0 ? "" : column.field().values().get(value));
    }

    private static Glimpse glimpse(Column.Numbers column, int row) {
        float[] values = new float[column.field().size()];
        column.read(row, values, 0);
        return switch (column.field()) {
            case Field.Image image -> picture(image, values);
            case Field.Numbers field -> new Glimpse.Words(field.name(), words(values));
            case Field.Date field -> new Glimpse.Words(field.name(), date(values[0]));
        };
    }

    /** A date, and a time to five minutes; nothing if it is missing. */
    static String date(float days) {
        if (Float.isNaN(days)) {
            return "";
        }
        double day = Math.floor(days);
        LocalDate date = LocalDate.ofEpochDay((long) day);
        int minutes = SHOWN_MINUTES * (int) Math.rint((days - day) * MINUTES_PER_DAY / SHOWN_MINUTES);
        return days == day ? date.toString() : date + " ≈" + LocalTime.MIN.plusMinutes(minutes);
    }

    private static String words(float[] values) {
        String first = IntStream.range(0, Math.min(values.length, MOST_NUMBERS))
                .mapToObj(i -> number(values[i]))
                .collect(Collectors.joining(", "));
        return values.length <= MOST_NUMBERS ? first : "%s, … (%d numbers)".formatted(first, values.length);
    }

    /** As people write it; nothing if it is missing. */
    static String number(double value) {
        if (Double.isNaN(value)) {
            return "";
        }
        if (Double.isInfinite(value)) {
            return value > 0 ? "∞" : "−∞";
        }
        BigDecimal rounded = new BigDecimal(value).round(DIGITS).stripTrailingZeros();
        return Math.abs(value) >= 1e-4 && Math.abs(value) < 1e9 ? rounded.toPlainString() : rounded.toString();
    }

    /** Of a large image, a pixel is the mean of several. */
    private static Glimpse picture(Field.Image image, float[] intensities) {
        double scale = Math.min(1, (double) SIDE / Math.max(image.height(), image.width()));
        int height = (int) Math.max(1, Math.round(scale * image.height()));
        int width = (int) Math.max(1, Math.round(scale * image.width()));
        int channels = image.channels() == 3 ? 3 : 1;
        byte[] pixels = new byte[channels * height * width];
        for (int i = 0; i < pixels.length; i++) {
            int channel = i / (height * width);
            int y = i / width % height;
            int x = i % width;
            pixels[i] = (byte) Math.round(255
                    * mean(
                            image,
                            intensities,
                            channel,
                            y * image.height() / height,
                            (y + 1) * image.height() / height,
                            x * image.width() / width,
                            (x + 1) * image.width() / width));
        }
        return new Glimpse.Picture(image.name(), channels, height, width, pixels);
    }

    private static double mean(
            Field.Image image, float[] intensities, int channel, int top, int bottom, int left, int right) {
        double sum = 0;
        for (int y = top; y < bottom; y++) {
            for (int x = left; x < right; x++) {
                sum += intensities[(channel * image.height() + y) * image.width() + x];
            }
        }
        return Math.clamp(sum / ((bottom - top) * (right - left)), 0, 1);
    }
}
