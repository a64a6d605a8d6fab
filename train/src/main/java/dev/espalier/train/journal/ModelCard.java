package dev.espalier.train.journal;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.util.List;
import java.util.Objects;

/**
 * What the file of a trained model takes and what it says, for people and programs: {@code model.json} beside the file, and a
 * note in it.
 *
 * @param format which version of this description it is; 1
 * @param espalier version of the program that trained the model
 * @param inputs what it takes
 * @param outputs what it says
 */
public record ModelCard(int format, String espalier, List<Input> inputs, List<Output> outputs) {
    /** The version of this description. */
    public static final int FORMAT = 1;

    /** Copies the lists. */
    public ModelCard {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
    }

    /**
     * Something that the model takes.
     *
     * @param name what the file calls it
     * @param type how its numbers are stored, such as {@code float32}
     * @param shape the lengths of its axes, or their names where they are free
     * @param meaning what the numbers are, in words
     * @param columns of a table, in the order of the last axis; none if it is no table
     */
    public record Input(String name, String type, List<String> shape, String meaning, List<Column> columns) {
        /** Copies the lists. */
        public Input {
            shape = List.copyOf(shape);
            columns = List.copyOf(columns);
        }
    }

    /**
     * A column of a table.
     *
     * @param name its name in the data
     * @param categories what it can be, if it is a category: the model takes the place in this list, from 0; none for a number
     * @param dates {@code local} or {@code UTC} if it is a date: the model takes days since 1970-01-01, of the date and time as
     *     written, or brought to UTC; empty if it is none
     */
    public record Column(String name, List<String> categories, String dates) {
        /** Copies the list. */
        public Column {
            categories = List.copyOf(categories);
            dates = Objects.requireNonNullElse(dates, ""); // null in what older versions wrote down
        }

        /**
         * A column of numbers or categories.
         *
         * @param name its name in the data
         * @param categories what it can be, if it is a category
         */
        public Column(String name, List<String> categories) {
            this(name, categories, "");
        }
    }

    /**
     * Something that the model says.
     *
     * @param name what the file calls it
     * @param shape the lengths of its axes, or their names where they are free; its numbers are float32
     * @param kind {@code classes}, {@code labels} or {@code numbers}
     * @param meaning what the numbers are, in words
     * @param target the column of the data that is said; empty if it is several
     * @param names what each number along the last axis is about: a class, a label, a column; none if nobody named them
     */
    public record Output(
            String name, List<String> shape, String kind, String meaning, String target, List<String> names) {
        /** Copies the lists. */
        public Output {
            shape = List.copyOf(shape);
            names = List.copyOf(names);
        }
    }

    /** {@return all of it as JSON in one line} */
    public String toJson() {
        return Json.line(this);
    }

    /**
     * Reads what {@link #toJson} wrote.
     *
     * @param json the text
     * @return an equal card
     * @throws IllegalArgumentException if it is no such text
     */
    public static ModelCard parse(String json) {
        try {
            return Json.parse(json, ModelCard.class);
        } catch (JsonProcessingException malformed) {
            throw new IllegalArgumentException("no card of a model: " + malformed.getOriginalMessage(), malformed);
        }
    }
}
