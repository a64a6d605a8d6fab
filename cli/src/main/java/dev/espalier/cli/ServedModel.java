package dev.espalier.cli;

import dev.espalier.data.Dataset;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.image.ImageFiles;
import dev.espalier.data.table.CsvRows;
import dev.espalier.graph.Graph;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.train.journal.ModelCard;
import dev.espalier.train.task.CardNote;
import dev.espalier.train.task.EncodingNote;
import dev.espalier.train.task.RawInputs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A trained model that knows what it takes and says.
 *
 * @param file the ONNX file
 * @param graph what was read of it
 * @param encoding what is inside of it, in front of the model
 * @param names the file's names for the encoding's inputs
 * @param card what it takes and says
 */
record ServedModel(Path file, Graph graph, Encoding encoding, Map<String, String> names, ModelCard card) {
    /** Some rows, each with a word that says where it stands. */
    record Rows(Dataset dataset, String placeName, List<String> places) {}

    /** Reads an ONNX file, or the better one of a run's folder. */
    static ServedModel read(Path model) throws IOException {
        Path file = AnsweringModel.locate(model);
        Graph graph = OnnxReader.read(file).graph();
        return new ServedModel(
                file,
                graph,
                EncodingNote.of(graph).orElseThrow(() -> unknown(file)),
                RawInputs.names(graph).orElseThrow(() -> unknown(file)),
                CardNote.of(graph).orElseThrow(() -> unknown(file)));
    }

    private static IllegalArgumentException unknown(Path file) {
        return new IllegalArgumentException(
                "%s does not say what it takes: give a model.onnx or pruned.onnx that espalier train wrote, or train it anew with"
                                .formatted(file)
                        + " this version (model.kind = \"onnx\" and model.file = \"" + file + "\" go on from it)");
    }

    /** What it takes, if that is one image. */
    private boolean isImages() {
        return encoding.inputs().size() == 1 && encoding.inputs().getFirst().to() instanceof Field.Image;
    }

    private Field.Image image() {
        return (Field.Image) encoding.inputs().getFirst().to();
    }

    /** Reads what it is to say something of. */
    Rows rows(List<Path> files, CsvOptions csv) throws IOException {
        requireFiles();
        if (isImages()) {
            return new Rows(
                    ImageFiles.of(files, image()),
                    "file",
                    files.stream().map(Path::toString).toList());
        }
        if (files.size() > 1) {
            throw new IllegalArgumentException(
                    "%d files: a table is one; ask for one after the other".formatted(files.size()));
        }
        CsvRows.Rows rows = csv.rows(files.getFirst()).read(encoding, false);
        return new Rows(
                rows.dataset(),
                "line",
                rows.lines().stream().map(String::valueOf).toList());
    }

    /** Reads rows with what should be said of them. */
    Dataset labelled(Path path, CsvOptions csv) throws IOException {
        requireFiles();
        if (!isImages()) {
            return csv.rows(path).read(encoding, true).dataset();
        }
        if (encoding.targetFields().size() == 1
                && encoding.targetFields().getFirst() instanceof Field.Category classes) {
            return ImageFiles.labelled(path, image(), classes);
        }
        throw new IllegalArgumentException(
                "%s says %s of images: only for classes can labels be read, from the names of folders"
                        .formatted(file, encoding.targetFields()));
    }

    private void requireFiles() {
        List<Field> strange = new ArrayList<>();
        encoding.inputs().stream()
                .flatMap(input -> input.from().stream())
                .filter(field ->
                        field instanceof Field.Tokens || (field instanceof Field.Dense dense && dense.size() > 1))
                .forEach(strange::add);
        if (!strange.isEmpty() && !isImages()) {
            throw new IllegalArgumentException(
                    "%s takes %s, and only tables of numbers and categories, and images, are read here: feed it with ONNX Runtime"
                            .formatted(file, strange));
        }
    }
}
