package dev.espalier.cli;

import dev.espalier.data.Column;
import dev.espalier.data.Dataset;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.image.ImageFiles;
import dev.espalier.data.table.ServedRows;
import dev.espalier.graph.Graph;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.text.TokenizedTexts;
import dev.espalier.text.WordPiece;
import dev.espalier.train.journal.ModelCard;
import dev.espalier.train.run.TrainingListener;
import dev.espalier.train.task.CardNote;
import dev.espalier.train.task.EncodingNote;
import dev.espalier.train.task.RawInputs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

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
    Rows rows(List<Path> files, InputOptions options, TrainingListener listener) throws IOException {
        requireFiles();
        files.forEach(InputOptions::requireNamed);
        if (isImages()) {
            return new Rows(
                    ImageFiles.of(files, image(), listener::onReading),
                    "file",
                    files.stream().map(Path::toString).toList());
        }
        if (files.size() > 1) {
            throw new IllegalArgumentException(
                    "%d files: a table is one; ask for one after the other".formatted(files.size()));
        }
        ServedRows rows = options.rows(files.getFirst(), listener::onReading);
        ServedRows.Rows read = rows.read(encoding, false, tokenization(options, listener));
        read.notes().forEach(listener::onNote);
        return new Rows(
                read.dataset(),
                rows.cells().placeWord(),
                read.places().stream().map(String::valueOf).toList());
    }

    /** Reads rows with what should be said of them. */
    Dataset labelled(Path path, InputOptions options, TrainingListener listener) throws IOException {
        requireFiles();
        InputOptions.requireNamed(path);
        if (!isImages()) {
            ServedRows.Rows read =
                    options.rows(path, listener::onReading).read(encoding, true, tokenization(options, listener));
            read.notes().forEach(listener::onNote);
            return read.dataset();
        }
        if (encoding.targetFields().size() == 1
                && encoding.targetFields().getFirst() instanceof Field.Category classes) {
            return ImageFiles.labelled(path, image(), classes, listener::onReading);
        }
        throw new IllegalArgumentException(
                "%s says %s of images: only for classes can labels be read, from the names of folders"
                        .formatted(file, encoding.targetFields()));
    }

    /** How texts become tokens: as when it was trained. */
    private ServedRows.Tokenization tokenization(InputOptions options, TrainingListener listener) {
        return table -> {
            Field.Tokens ids = (Field.Tokens) encoding.inputs().getFirst().to();
            Path place = options.tokenizer(file);
            String input = Objects.requireNonNullElse(names.get(ids.name()), ids.name());
            try (WordPiece tokenizer = AnsweringModel.tokenizer(place, file, graph, input)) {
                TokenizedTexts made =
                        TokenizedTexts.of(table, table.heads().size(), tokenizer, ids, listener::onReading);
                AnswerCommand.warning(made.unknown()).ifPresent(listener::onNote);
                List<Field> fields = made.columns().stream().map(Column::field).toList();
                if (!fields.equals(encoding.inputFields())) {
                    throw new IllegalArgumentException(
                            "the tokenizer in %s makes %s, and %s was trained on %s: give the one that it was trained with, with --tokenizer DIR"
                                    .formatted(place, fields, file, encoding.inputFields()));
                }
                return made.columns();
            }
        };
    }

    private void requireFiles() {
        if (isImages() || !ServedRows.texts(encoding).isEmpty()) {
            return;
        }
        List<Field> strange = new ArrayList<>();
        encoding.inputs().stream()
                .flatMap(input -> input.from().stream())
                .filter(field ->
                        field instanceof Field.Tokens || (field instanceof Field.Dense dense && dense.size() > 1))
                .forEach(strange::add);
        if (!strange.isEmpty()) {
            throw new IllegalArgumentException(
                    "%s takes %s, and only tables of numbers and categories, texts whose columns it names, and images are read here: feed it with ONNX Runtime, or train it anew if an older version wrote it"
                            .formatted(file, strange));
        }
    }
}
