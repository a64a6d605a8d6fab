package dev.espalier.train.task;

import dev.espalier.data.ColumnEncoding;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import dev.espalier.train.journal.ModelCard;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What a model takes and says, as notes in it: they are in the metadata of ONNX files, and stay when they are pruned or converted.
 * The card is JSON; beside it are the names that whoever serves the model needs most, a name in a line, so that a program
 * without a parser reads them too:
 *
 * <pre>{@code
 * espalier.card              the whole card
 * espalier.classes           the classes, in the order of the numbers that the model says
 * espalier.columns           the columns of the table that it takes, in order
 * espalier.categories.NAME   what the column NAME can be: the model takes the place in this list, from 0
 * espalier.dates.NAME        that the column NAME is a date: the model takes days since 1970-01-01; UTC if values have an offset and
 *                            are brought to UTC, else local
 * }</pre>
 */
public final class CardNote {
    private static final String CARD = "espalier.card";
    private static final String CLASSES = "espalier.classes";
    private static final String COLUMNS = "espalier.columns";
    private static final String CATEGORIES = "espalier.categories.";
    private static final String DATES = "espalier.dates.";

    private CardNote() {}

    /**
     * Notes them.
     *
     * @param model a model that takes raw inputs
     * @param encoding how rows become its inputs and targets
     * @param wanted what it was trained to say
     * @param fitted the model's names for that
     * @return the model with the notes
     */
    static Graph note(Graph model, Encoding encoding, Signature wanted, Fitted fitted) {
        ModelCard card = card(model, encoding, wanted, fitted);
        Map<String, String> metadata = new LinkedHashMap<>(model.metadata());
        metadata.put(CARD, card.toJson());
        card.outputs().stream()
                .filter(output -> output.kind().equals(kind(new Signature.Meaning.Classes()))
                        && !output.names().isEmpty())
                .findFirst()
                .ifPresent(output -> metadata.put(CLASSES, lines(output.names())));
        List<ModelCard.Column> columns = card.inputs().stream()
                .flatMap(input -> input.columns().stream())
                .toList();
        if (!columns.isEmpty()) {
            metadata.put(
                    COLUMNS, lines(columns.stream().map(ModelCard.Column::name).toList()));
        }
        columns.stream()
                .filter(column -> !column.categories().isEmpty())
                .forEach(column -> metadata.put(CATEGORIES + column.name(), lines(column.categories())));
        columns.stream()
                .filter(column -> !column.dates().isEmpty())
                .forEach(column -> metadata.put(DATES + column.name(), column.dates()));
        return model.withMetadata(metadata);
    }

    /** A name with a line break in it would be two. */
    private static String lines(List<String> names) {
        return String.join(
                "\n", names.stream().map(name -> name.replaceAll("\\R", " ")).toList());
    }

    /**
     * Reads the card.
     *
     * @param model a model
     * @return what was noted; empty if nothing was
     * @throws GraphException if the note cannot be understood
     */
    public static Optional<ModelCard> of(Graph model) {
        String text = model.metadata().get(CARD);
        try {
            return Optional.ofNullable(text).map(ModelCard::parse);
        } catch (IllegalArgumentException unknown) {
            throw new GraphException(
                    "the model's metadata has %s = %s, which cannot be read (%s): remove it from the file"
                            .formatted(CARD, text, unknown.getMessage()));
        }
    }

    private static ModelCard card(Graph model, Encoding encoding, Signature wanted, Fitted fitted) {
        List<ModelCard.Input> inputs = new ArrayList<>();
        for (Graph.Input input : model.inputs()) {
            Optional<ColumnEncoding> known = encoding.inputs().stream()
                    .filter(column ->
                            input.name().equals(fitted.inputs().get(column.to().name())))
                    .findFirst();
            inputs.add(new ModelCard.Input(
                    input.name(),
                    input.type().data().name().toLowerCase(Locale.ROOT),
                    lengths(input.type().shape()),
                    known.map(CardNote::meaning).orElse("as in training"),
                    known.map(CardNote::columns).orElse(List.of())));
        }
        List<ModelCard.Output> outputs = new ArrayList<>();
        for (Signature.Output output : wanted.outputs()) {
            Optional<ColumnEncoding> target = target(encoding, wanted, output);
            outputs.add(new ModelCard.Output(
                    fitted.output(output.name()),
                    lengths(output.batched()),
                    kind(output.meaning()),
                    meaning(output.meaning()),
                    target.filter(said -> said.from().size() == 1)
                            .map(said -> said.from().getFirst().name())
                            .orElse(""),
                    target.map(said -> names(said, output)).orElse(List.of())));
        }
        String version = CardNote.class.getPackage().getImplementationVersion();
        return new ModelCard(ModelCard.FORMAT, Objects.requireNonNullElse(version, "unknown"), inputs, outputs);
    }

    private static List<String> lengths(Shape shape) {
        return shape.dimensions().stream().map(Dimension::toString).toList();
    }

    private static String meaning(ColumnEncoding encoding) {
        if (encoding instanceof ColumnEncoding.Outside(ColumnEncoding own) && own.to() instanceof Field.Dense) {
            return "as who made the model wants it: nothing is encoded within";
        }
        return switch (encoding.raw().to()) {
            case Field.Image _ -> "an image, channel by channel, each row by row: pixels from 0, black, to 255, white";
            case Field.Category _ -> "a category: its place among its values, from 0";
            case Field.Tokens tokens ->
                tokens.texts().isEmpty()
                        ? "token ids"
                        : "tokens of %s, made by the tokenizer beside the model"
                                .formatted(String.join(" and ", tokens.texts()));
            case Field.Date _ -> "a date: days since 1970-01-01, the time as their fraction; NaN where it is missing";
            case Field.Numbers _
            when encoding instanceof ColumnEncoding.Arranged ->
                "an image, row by row, the channels of a pixel together: from 0, black, to 255, white";
            case Field.Numbers _ ->
                encoding instanceof ColumnEncoding.Joined
                        ? "rows of a table: numbers in their own units, NaN where one is missing; of a category its place in the list,"
                                + " from 0, or NaN if it is none of them; of a date its days since 1970-01-01, the time as their fraction"
                        : "numbers in their own units, NaN where one is missing";
        };
    }

    private static List<ModelCard.Column> columns(ColumnEncoding encoding) {
        return switch (encoding.from().getFirst()) {
            case Field.Category category when encoding.from().size() == 1 -> List.of(column(category));
            case Field.Date date when encoding.from().size() == 1 -> List.of(column(date));
            case Field _
            when encoding instanceof ColumnEncoding.Joined ->
                encoding.from().stream().map(CardNote::column).toList();
            case Field _ -> List.of();
        };
    }

    private static ModelCard.Column column(Field field) {
        return switch (field) {
            case Field.Category category -> new ModelCard.Column(category.name(), category.values());
            case Field.Date date -> new ModelCard.Column(date.name(), List.of(), date.zoned() ? "UTC" : "local");
            case Field.Numbers _, Field.Image _, Field.Tokens _ -> new ModelCard.Column(field.name(), List.of());
        };
    }

    /** The target that an output is about: that of its name, or the only one. */
    private static Optional<ColumnEncoding> target(Encoding encoding, Signature wanted, Signature.Output output) {
        return encoding.targets().stream()
                .filter(target -> target.to().name().equals(output.name())
                        || (encoding.targets().size() == 1 && wanted.outputs().size() == 1))
                .findFirst();
    }

    private static List<String> names(ColumnEncoding target, Signature.Output output) {
        if (target.to() instanceof Field.Category classes) {
            return classes.values();
        }
        List<String> columns = target.from().stream().map(Field::name).toList();
        return output.sample().rank() == 1 && output.sample().get(0).is(columns.size()) ? columns : List.of();
    }

    private static String kind(Signature.Meaning meaning) {
        return switch (meaning) {
            case Signature.Meaning.Classes _ -> "classes";
            case Signature.Meaning.Labels _ -> "labels";
            case Signature.Meaning.Quantities _ -> "numbers";
        };
    }

    private static String meaning(Signature.Meaning meaning) {
        return switch (meaning) {
            case Signature.Meaning.Classes _ ->
                "a number for each class: the largest is the likeliest, and a softmax along the last axis makes probabilities";
            case Signature.Meaning.Labels _ ->
                "a number for each label: above 0 is yes, and a sigmoid makes a probability";
            case Signature.Meaning.Quantities _ -> "numbers in the unit of the labels";
        };
    }
}
