package dev.espalier.train.inputs;

import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.LoadedData;
import dev.espalier.graph.Graph;
import dev.espalier.train.task.EncodingNote;
import java.util.List;
import java.util.Optional;

/** What a model that was trained here was given: its file has a note of it, and whatever becomes of the model must be given the same. */
public final class TrainedEncoding {
    private TrainedEncoding() {}

    /**
     * Data as a model was trained to be given it.
     *
     * @param data the data
     * @param model the model
     * @return the data with the encoding of the model's inputs that is noted in it; as it is if nothing is noted, or of other columns
     */
    public static LoadedData of(LoadedData data, Graph model) {
        Optional<Encoding> noted = EncodingNote.of(model);
        List<Field> columns = noted.stream()
                .flatMap(encoding -> encoding.inputs().stream())
                .flatMap(input -> input.from().stream())
                .toList();
        return noted.isPresent() && columns.equals(data.train().inputFields())
                ? data.withEncoding(
                        new Encoding(noted.get().inputs(), data.encoding().targets()))
                : data;
    }
}
