package dev.espalier.cli;

import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.Dataset;
import dev.espalier.data.LoadedData;
import dev.espalier.graph.Graph;
import dev.espalier.train.inputs.DeclaredInputs;
import dev.espalier.train.inputs.InputsGuess;
import dev.espalier.train.inputs.TrainedEncoding;
import dev.espalier.train.run.ModelInputs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * What models are compared on, as {@code --inputs} says it.
 *
 * @param what a word for it
 * @param settings values of keys of {@code [data]}
 * @param rows how many samples at most; 0 for all
 */
record ComparedInputs(String what, List<String> settings, int rows) {
    /** Numbers of any kind that fit. */
    static final String RANDOM = "random";

    /** What to say of them. */
    static final String WORTH =
            "The inputs are random numbers: that tells whether both models compute nearly the same function, but nothing of what people will ask them.";

    /** So many random samples, if nobody says. */
    private static final int RANDOM_ROWS = 64;

    /** Of every free axis of random inputs but the first. */
    private static final long RANDOM_LENGTH = 32;

    private static final long RANDOM_SEED = 1;

    /**
     * Reads them.
     *
     * @param model the model that they are for
     * @param file its file
     * @param context who is told, and where the tokenizer is
     * @param notes takes what a user should know of them
     */
    ModelInputs read(Graph model, Path file, Context context, Consumer<String> notes) throws IOException {
        if (what.equals(RANDOM)) {
            return ModelInputs.random(model, rows == 0 ? RANDOM_ROWS : rows, RANDOM_LENGTH, RANDOM_SEED);
        }
        Graph inTraining = DeclaredInputs.inTraining(model);
        InputsGuess guess = InputsGuess.of(what, file, inTraining, settings);
        guess.notes().forEach(notes);
        Context declared = new Context(context.progress(), context.tokenizer(), () -> DeclaredInputs.of(inTraining));
        LoadedData data = TrainedEncoding.of(DataSection.load(guess.values(), declared), inTraining);
        return ModelInputs.of(some(data.test()), data.encoding(), model, file.toString());
    }

    /** At equal distances: files are often sorted. */
    private Dataset some(Dataset part) {
        return rows == 0 || rows >= part.size()
                ? part
                : part.rows(IntStream.range(0, rows)
                        .map(i -> (int) ((long) i * part.size() / rows))
                        .toArray());
    }
}
