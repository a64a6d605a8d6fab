package dev.espalier.data;

import dev.espalier.settings.Kind;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.util.Optional;

/**
 * A kind of data: {@code data.kind} by name, its own keys, and what it makes of their values.
 *
 * <p>Kinds are services. Somebody else's is a public class with a constructor without arguments, whose name stands in a file
 * {@code META-INF/services/dev.espalier.data.DataKind}; nothing of ours has to know it.
 */
public interface DataKind extends Kind {
    /**
     * What is known before a file is opened.
     *
     * @param values the section's values
     * @return the outline of the inputs
     */
    default Outline outline(Values values) {
        return new Outline.Unknown();
    }

    /**
     * The kind of task that it is for, where its targets do not tell: a category to be said is usually classified, and numbers
     * are estimated, but a span of a text is neither.
     *
     * @param values the section's values
     * @return the name of a kind of task; empty if the targets tell
     */
    default Optional<String> task(Values values) {
        return Optional.empty();
    }

    /**
     * Opens the data.
     *
     * @param values the section's values
     * @param context who is told, and what the model has
     * @return what is there; the order of the rows must be the same each time
     * @throws IOException if a file cannot be read, or is not what it should be
     */
    Parts open(Values values, Context context) throws IOException;

    /**
     * {@return what is done at random to a training row, each time anew}
     *
     * @param values the section's values
     */
    default Augmentation augmentation(Values values) {
        return Augmentation.NONE;
    }

    /**
     * Learns how rows become a model's inputs.
     *
     * @param values the section's values
     * @param train what is left to learn from, after limits and validation: what is to judge a model must be unseen
     * @return the encoding; by default rows are left as they are
     */
    default Encoding encoding(Values values, Dataset train) {
        return Encoding.plain(train);
    }

    /**
     * Opens the data and cuts it, as all kinds do: see {@link LoadedData#cut}. Only a kind whose samples are no rows, such as
     * questions with several windows each, needs a way of its own.
     *
     * @param values the section's values
     * @param context who is told, and what the model has
     * @return the parts of a run
     * @throws IOException if a file cannot be read, or is not what it should be
     */
    default LoadedData load(Values values, Context context) throws IOException {
        return LoadedData.cut(this, values, open(values, context));
    }
}
