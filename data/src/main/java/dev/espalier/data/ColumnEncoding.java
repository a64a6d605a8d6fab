package dev.espalier.data;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.espalier.core.check.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** How one input or target of a model is made of columns of the data. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind")
@JsonSubTypes({
    @JsonSubTypes.Type(value = ColumnEncoding.Plain.class, name = "plain"),
    @JsonSubTypes.Type(value = ColumnEncoding.Scaled.class, name = "scaled"),
    @JsonSubTypes.Type(value = ColumnEncoding.Measured.class, name = "measured"),
    @JsonSubTypes.Type(value = ColumnEncoding.Calendar.class, name = "calendar"),
    @JsonSubTypes.Type(value = ColumnEncoding.Indicated.class, name = "indicated"),
    @JsonSubTypes.Type(value = ColumnEncoding.OneHot.class, name = "one-hot"),
    @JsonSubTypes.Type(value = ColumnEncoding.Pixels.class, name = "pixels"),
    @JsonSubTypes.Type(value = ColumnEncoding.Index.class, name = "index"),
    @JsonSubTypes.Type(value = ColumnEncoding.Tokenized.class, name = "tokenized"),
    @JsonSubTypes.Type(value = ColumnEncoding.Joined.class, name = "joined"),
    @JsonSubTypes.Type(value = ColumnEncoding.Arranged.class, name = "arranged"),
    @JsonSubTypes.Type(value = ColumnEncoding.Outside.class, name = "outside")
})
public sealed interface ColumnEncoding {
    /**
     * What it is made of.
     *
     * @return the fields of the data set's next columns, in order
     */
    List<Field> from();

    /**
     * What comes out.
     *
     * @return what the model is given, or is to say
     */
    Field to();

    /**
     * Encodes, row by row when they are asked for.
     *
     * @param columns of the fields that it is made of
     * @return the column that comes out
     */
    Column apply(List<Column> columns);

    /**
     * The same columns as people have them: what the file of a trained model takes, which has the encoding inside. Numbers are in
     * their own units, and NaN where they are missing; the pixels of an image go from 0 to 255; a category is its place among its
     * values.
     *
     * @return an encoding of the same columns, under the same name
     */
    ColumnEncoding raw();

    /**
     * The means and deviations of numbers that come out as they are, for a task that learns in units of its own.
     *
     * @return as many as the numbers that come out have statistics; 0 and 1 where nothing was measured
     */
    default Normalization statistics() {
        return Normalization.none(to() instanceof Field.Dense dense ? dense.statistics() : 1);
    }

    /**
     * A column as it is.
     *
     * @param field what it holds
     */
    record Plain(Field field) implements ColumnEncoding {
        @Override
        public List<Field> from() {
            return List.of(field);
        }

        @Override
        public Field to() {
            return field;
        }

        @Override
        public ColumnEncoding raw() {
            return field instanceof Field.Image image ? new Pixels(image) : this;
        }

        @Override
        public Column apply(List<Column> columns) {
            return columns.getFirst();
        }
    }

    /**
     * Numbers or images, shifted and scaled.
     *
     * @param field what they are
     * @param normalization means and deviations
     * @param missing what stands in for a missing number, before it is shifted and scaled
     */
    record Scaled(Field.Dense field, Normalization normalization, double missing) implements ColumnEncoding {
        /** Checks the sizes. */
        public Scaled {
            Check.sameSize("the normalization", normalization.mean().size(), field.toString(), field.statistics());
            Check.finite("missing", missing);
        }

        @Override
        public List<Field> from() {
            return List.of(field);
        }

        @Override
        public Field to() {
            return field;
        }

        @Override
        public ColumnEncoding raw() {
            return new Plain(field).raw();
        }

        @Override
        public Column apply(List<Column> columns) {
            Column.Numbers raw = (Column.Numbers) columns.getFirst();
            float[] means = floats(normalization.mean());
            float[] deviations = floats(normalization.deviation());
            int run = field.size() / means.length;
            return Columns.numbers(field, (row, target, offset) -> {
                raw.read(row, target, offset);
                for (int i = 0, at = offset; i < means.length; i++) {
                    for (int end = at + run; at < end; at++) {
                        float value = Float.isNaN(target[at]) ? (float) missing : target[at];
                        target[at] = (value - means[i]) / deviations[i];
                    }
                }
            });
        }

        private static float[] floats(List<Double> values) {
            float[] floats = new float[values.size()];
            for (int i = 0; i < floats.length; i++) {
                floats[i] = values.get(i).floatValue();
            }
            return floats;
        }
    }

    /**
     * Numbers as they are, whose means and deviations are known: a target stays in its own unit.
     *
     * @param field what they are
     * @param statistics what was measured
     */
    record Measured(Field.Dense field, Normalization statistics) implements ColumnEncoding {
        @Override
        public List<Field> from() {
            return List.of(field);
        }

        @Override
        public Field to() {
            return field;
        }

        @Override
        public ColumnEncoding raw() {
            return this;
        }

        @Override
        public Column apply(List<Column> columns) {
            return columns.getFirst();
        }
    }

    /**
     * A date as its days, shifted and scaled, and as sine and cosine of its place in each {@link Cycle}; those are 0 where it is
     * missing.
     *
     * @param days the date and its normalization
     * @param cycles periods, in order, such as the day of the week
     */
    record Calendar(Scaled days, List<Cycle> cycles) implements ColumnEncoding {
        /** Copies the list. */
        public Calendar {
            if (!(days.field() instanceof Field.Date)) {
                throw new IllegalArgumentException("%s has no calendar: it is no date".formatted(days.field()));
            }
            cycles = List.copyOf(cycles);
        }

        /** Something that comes again, so that its end is near its beginning. */
        public enum Cycle {
            /** The hour, with minutes as its fraction, from midnight. */
            DAY(1, 0, false),
            /** The day of the week, from Monday. */
            WEEK(7, 3, true),
            /** The month, with days as its fraction: the day of a year of 365.2425 days, from 1 January. */
            YEAR(365.2425f, 0, true);

            private final float length;
            private final float shift;
            private final boolean wholeDays;

            Cycle(float length, float shift, boolean wholeDays) {
                this.length = length;
                this.shift = shift;
                this.wholeDays = wholeDays;
            }

            /** {@return how many days it has} */
            public float length() {
                return length;
            }

            /** {@return whether the time of the day does not count} */
            public boolean wholeDays() {
                return wholeDays;
            }

            /** {@return what makes an angle of a day} */
            public float scale() {
                return (float) (2 * Math.PI / length);
            }

            /**
             * {@return the angle of 1970-01-01}
             *
             * @param cosine whether its sine is to be the cosine of the place
             */
            public float offset(boolean cosine) {
                return (float) (2 * Math.PI * shift / length + (cosine ? Math.PI / 2 : 0));
            }

            /** Sine or cosine, by the same single-precision steps as the file of a model. */
            private float of(float days, boolean cosine) {
                float day = wholeDays ? (float) Math.floor(days) : days;
                float place = day - (float) Math.floor(day / length) * length;
                return (float) Math.sin(place * scale() + offset(cosine));
            }
        }

        @Override
        public List<Field> from() {
            return days.from();
        }

        @Override
        public Field.Numbers to() {
            return new Field.Numbers(days.field().name(), List.of(1 + 2 * cycles.size()));
        }

        @Override
        public ColumnEncoding raw() {
            return new Plain(days.field());
        }

        @Override
        public Column apply(List<Column> columns) {
            Column.Numbers raw = (Column.Numbers) columns.getFirst();
            Column.Numbers scaled = (Column.Numbers) days.apply(columns);
            return Columns.numbers(to(), (row, target, offset) -> {
                raw.read(row, target, offset);
                float date = target[offset];
                scaled.read(row, target, offset);
                int at = offset;
                for (Cycle cycle : cycles) {
                    target[++at] = Float.isNaN(date) ? 0 : cycle.of(date, false);
                    target[++at] = Float.isNaN(date) ? 0 : cycle.of(date, true);
                }
            });
        }
    }

    /**
     * A number or a date, and behind it an indicator: 1 where it is missing, else 0.
     *
     * @param encoding encoding of the single column
     */
    record Indicated(ColumnEncoding encoding) implements ColumnEncoding {
        /** Checks that it is one number. */
        public Indicated {
            if (encoding.from().size() != 1
                    || !(encoding.from().getFirst() instanceof Field.Dense dense && dense.size() == 1)
                    || !(encoding.to() instanceof Field.Dense)) {
                throw new IllegalArgumentException("%s is not one number".formatted(encoding.from()));
            }
        }

        private Field.Dense encoded() {
            return (Field.Dense) encoding.to();
        }

        @Override
        public List<Field> from() {
            return encoding.from();
        }

        @Override
        public Field.Numbers to() {
            return new Field.Numbers(encoded().name(), List.of(encoded().size() + 1));
        }

        @Override
        public ColumnEncoding raw() {
            return encoding.raw();
        }

        @Override
        public Column apply(List<Column> columns) {
            Column.Numbers raw = (Column.Numbers) columns.getFirst();
            Column.Numbers encoded = (Column.Numbers) encoding.apply(columns);
            return Columns.numbers(to(), (row, target, offset) -> {
                raw.read(row, target, offset);
                float missing = Float.isNaN(target[offset]) ? 1 : 0;
                encoded.read(row, target, offset);
                target[offset + encoded.field().size()] = missing;
            });
        }
    }

    /**
     * A category as numbers, one for each of its values: 1 for the one that it is and 0 for the others; all 0 if it is none.
     *
     * @param field the category
     */
    record OneHot(Field.Category field) implements ColumnEncoding {
        @Override
        public List<Field> from() {
            return List.of(field);
        }

        @Override
        public Field.Numbers to() {
            return new Field.Numbers(field.name(), List.of(field.values().size()));
        }

        @Override
        public ColumnEncoding raw() {
            return new Plain(field);
        }

        @Override
        public Column apply(List<Column> columns) {
            Column.Categories raw = (Column.Categories) columns.getFirst();
            int width = field.values().size();
            return Columns.numbers(to(), (row, target, offset) -> {
                Arrays.fill(target, offset, offset + width, 0);
                int value = raw.read(row);
                if (value >= 0) {
                    target[offset + value] = 1;
                }
            });
        }
    }

    /**
     * An image whose pixels go from 0 to 255, as files have them.
     *
     * @param field the image, whose intensities go from 0 to 1
     */
    record Pixels(Field.Image field) implements ColumnEncoding {
        /** What stands for an intensity of 1. */
        public static final int WHITE = 255;

        @Override
        public List<Field> from() {
            return List.of(field);
        }

        @Override
        public Field to() {
            return field;
        }

        @Override
        public ColumnEncoding raw() {
            return this;
        }

        @Override
        public Column apply(List<Column> columns) {
            Column.Numbers intensities = (Column.Numbers) columns.getFirst();
            return Columns.numbers(field, (row, target, offset) -> {
                intensities.read(row, target, offset);
                for (int i = offset; i < offset + field.size(); i++) {
                    target[i] *= WHITE;
                }
            });
        }
    }

    /**
     * A category as one number: its place among its values, from 0; NaN if it is none of them.
     *
     * @param field the category
     */
    record Index(Field.Category field) implements ColumnEncoding {
        @Override
        public List<Field> from() {
            return List.of(field);
        }

        @Override
        public Field.Numbers to() {
            return new Field.Numbers(field.name());
        }

        @Override
        public ColumnEncoding raw() {
            return this;
        }

        @Override
        public Column apply(List<Column> columns) {
            Column.Categories categories = (Column.Categories) columns.getFirst();
            return Columns.numbers(to(), (row, target, offset) -> {
                int value = categories.read(row);
                target[offset] = value < 0 ? Float.NaN : value;
            });
        }
    }

    /**
     * Token ids as they are, and what made them of a text.
     *
     * @param field what they are
     * @param tokenizer the tokenizer's file, beside the model
     */
    record Tokenized(Field.Tokens field, String tokenizer) implements ColumnEncoding {
        @Override
        public List<Field> from() {
            return List.of(field);
        }

        @Override
        public Field to() {
            return field;
        }

        @Override
        public ColumnEncoding raw() {
            return this;
        }

        @Override
        public Column apply(List<Column> columns) {
            return columns.getFirst();
        }
    }

    /**
     * Several columns, one behind the other, as one vector: a table.
     *
     * @param name what to call the vector
     * @param parts what becomes of each; all must come out as numbers
     */
    record Joined(String name, List<ColumnEncoding> parts) implements ColumnEncoding {
        /** Checks that all parts are numbers. */
        public Joined {
            parts = List.copyOf(parts);
            Check.atLeast("the number of columns of " + name, parts.size(), 1);
            for (ColumnEncoding part : parts) {
                if (!(part.to() instanceof Field.Dense)) {
                    throw new IllegalArgumentException(
                            "%s cannot be joined to %s: it is no numbers".formatted(part.to(), name));
                }
            }
        }

        @Override
        public List<Field> from() {
            return parts.stream().flatMap(part -> part.from().stream()).toList();
        }

        @Override
        public Field.Numbers to() {
            return new Field.Numbers(
                    name,
                    List.of(parts.stream()
                            .mapToInt(part -> ((Field.Dense) part.to()).size())
                            .sum()));
        }

        @Override
        public Joined raw() {
            return new Joined(
                    name,
                    parts.stream()
                            .map(part ->
                                    part instanceof OneHot(Field.Category category) ? new Index(category) : part.raw())
                            .toList());
        }

        @Override
        public Column apply(List<Column> columns) {
            Column.Numbers[] encoded = Encoding.apply(parts, columns).stream()
                    .map(Column.Numbers.class::cast)
                    .toArray(Column.Numbers[]::new);
            return Columns.numbers(to(), (row, target, offset) -> {
                int at = offset;
                for (Column.Numbers part : encoded) {
                    part.read(row, target, at);
                    at += part.field().size();
                }
            });
        }

        @Override
        public Normalization statistics() {
            List<Double> means = new ArrayList<>();
            List<Double> deviations = new ArrayList<>();
            for (ColumnEncoding part : parts) {
                means.addAll(part.statistics().mean());
                deviations.addAll(part.statistics().deviation());
            }
            return new Normalization(means, deviations);
        }
    }

    /**
     * An image whose channels are in another order.
     *
     * @param image what else becomes of it
     * @param channelsLast whether the channels of a pixel stand beside each other: height, width, channels
     * @param reversed whether the last channel comes first: blue, green, red
     */
    record Arranged(ColumnEncoding image, boolean channelsLast, boolean reversed) implements ColumnEncoding {
        /** Checks that it is an image. */
        public Arranged {
            if (!(image.to() instanceof Field.Image)) {
                throw new IllegalArgumentException("%s has no channels: it is no image".formatted(image.to()));
            }
        }

        private Field.Image field() {
            return (Field.Image) image.to();
        }

        @Override
        public List<Field> from() {
            return image.from();
        }

        @Override
        public Field.Dense to() {
            Field.Image field = field();
            return channelsLast
                    ? new Field.Numbers(field.name(), List.of(field.height(), field.width(), field.channels()))
                    : field;
        }

        @Override
        public ColumnEncoding raw() {
            return new Arranged(image.raw(), channelsLast, reversed);
        }

        @Override
        public Column apply(List<Column> columns) {
            Column.Numbers planes = (Column.Numbers) image.apply(columns);
            int channels = field().channels();
            int pixels = field().height() * field().width();
            return Columns.numbers(to(), (row, target, offset) -> {
                float[] values = new float[channels * pixels];
                planes.read(row, values, 0);
                for (int channel = 0; channel < channels; channel++) {
                    int place = reversed ? channels - 1 - channel : channel;
                    for (int pixel = 0; pixel < pixels; pixel++) {
                        int at = channelsLast ? pixel * channels + place : place * pixels + pixel;
                        target[offset + at] = values[channel * pixels + pixel];
                    }
                }
            });
        }
    }

    /**
     * What stays outside of a model's file: who made the model wants its inputs encoded, and so does what becomes of it.
     *
     * @param encoding what the file is fed with
     */
    record Outside(ColumnEncoding encoding) implements ColumnEncoding {
        @Override
        public List<Field> from() {
            return encoding.from();
        }

        @Override
        public Field to() {
            return encoding.to();
        }

        @Override
        public ColumnEncoding raw() {
            return this;
        }

        @Override
        public Column apply(List<Column> columns) {
            return encoding.apply(columns);
        }

        @Override
        public Normalization statistics() {
            return encoding.statistics();
        }
    }
}
