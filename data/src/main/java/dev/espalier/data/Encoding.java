package dev.espalier.data;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.ArrayList;
import java.util.List;

/**
 * What was learned about data: how its columns, in this order, become a model's inputs and targets, with means and deviations,
 * categories, names of labels. A value: what was learned from the same rows is equal and prints equal text, which reads back.
 * It is applied row by row, as late as possible, and belongs to a model as its weights do: whoever asks the model later has rows,
 * not tensors.
 *
 * @param inputs what the model is given
 * @param targets what it is to say
 */
public record Encoding(List<ColumnEncoding> inputs, List<ColumnEncoding> targets) {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    /** Copies the lists. */
    public Encoding {
        inputs = List.copyOf(inputs);
        targets = List.copyOf(targets);
    }

    /**
     * Leaves all columns as they are.
     *
     * @param dataset what has the columns
     * @return the encoding
     */
    public static Encoding plain(Dataset dataset) {
        return new Encoding(plain(dataset.inputFields()), plain(dataset.targetFields()));
    }

    /**
     * Leaves columns as they are.
     *
     * @param fields what they hold
     * @return an encoding for each
     */
    public static List<ColumnEncoding> plain(List<Field> fields) {
        return fields.stream().<ColumnEncoding>map(ColumnEncoding.Plain::new).toList();
    }

    /**
     * What the model is given.
     *
     * @return the fields that come out, in order
     */
    public List<Field> inputFields() {
        return inputs.stream().map(ColumnEncoding::to).toList();
    }

    /**
     * What the model is to say.
     *
     * @return the fields that come out, in order
     */
    public List<Field> targetFields() {
        return targets.stream().map(ColumnEncoding::to).toList();
    }

    /** {@return what makes of the same columns what the file of a trained model takes, which has this encoding inside} */
    public Encoding raw() {
        return new Encoding(inputs.stream().map(ColumnEncoding::raw).toList(), targets);
    }

    /**
     * {@return the same for the file of a model that others made, which takes encoded inputs: nothing of it goes into the file}
     */
    public Encoding outside() {
        return new Encoding(
                inputs.stream()
                        .map(input ->
                                input instanceof ColumnEncoding.Outside ? input : new ColumnEncoding.Outside(input))
                        .toList(),
                targets);
    }

    /**
     * Encodes a data set, row by row when they are read.
     *
     * @param dataset what has the columns that this was learned from
     * @return the data set as the model sees it
     */
    public Dataset apply(Dataset dataset) {
        return new Dataset(
                dataset.name(),
                dataset.size(),
                applied(dataset, inputs, dataset.inputs()),
                applied(dataset, targets, dataset.targets()),
                dataset.block());
    }

    private static List<Column> applied(Dataset dataset, List<ColumnEncoding> encodings, List<Column> columns) {
        List<Field> expected =
                encodings.stream().flatMap(encoding -> encoding.from().stream()).toList();
        if (!expected.equals(Dataset.fields(columns))) {
            throw new IllegalArgumentException("%s has the columns %s, but the encoding is for %s"
                    .formatted(dataset.name(), Dataset.fields(columns), expected));
        }
        return apply(encodings, columns);
    }

    /** Each encoding on as many columns as it is made of, one after the other. */
    static List<Column> apply(List<ColumnEncoding> encodings, List<Column> columns) {
        List<Column> encoded = new ArrayList<>();
        int at = 0;
        for (ColumnEncoding encoding : encodings) {
            int count = encoding.from().size();
            encoded.add(encoding.apply(columns.subList(at, at + count)));
            at += count;
        }
        return encoded;
    }

    /**
     * As text.
     *
     * @return JSON in one line
     */
    public String toJson() {
        try {
            return JSON.writeValueAsString(this);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("an encoding that JSON cannot hold", impossible);
        }
    }

    /**
     * Reads what {@link #toJson} wrote.
     *
     * @param json the text
     * @return an equal encoding
     * @throws IllegalArgumentException if it is no such text
     */
    public static Encoding parse(String json) {
        try {
            return JSON.readValue(json, Encoding.class);
        } catch (JsonProcessingException malformed) {
            throw new IllegalArgumentException("no encoding of data: " + malformed.getOriginalMessage(), malformed);
        }
    }
}
