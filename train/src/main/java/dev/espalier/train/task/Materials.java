package dev.espalier.train.task;

import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.LabelType;
import dev.espalier.data.LoadedData;
import dev.espalier.settings.Values;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a task is made of: the data, a model to be asked for, and what a recipe says of batches. */
public final class Materials {
    private final Values dataValues;
    private final Context context;
    private final ModelSource model;
    private final Batching batching;
    private @Nullable LoadedData loaded;

    /**
     * Takes all of it.
     *
     * @param dataValues the values of {@code [data]}
     * @param context who is told while data is read, and the model's tokenizer
     * @param model makes the model
     * @param batching how samples make batches
     */
    public Materials(Values dataValues, Context context, ModelSource model, Batching batching) {
        this.dataValues = dataValues;
        this.context = context;
        this.model = model;
        this.batching = batching;
    }

    /**
     * Takes data that is loaded already.
     *
     * @param dataValues the values of {@code [data]}
     * @param data the data
     * @param model makes the model
     * @param batching how samples make batches
     */
    public Materials(Values dataValues, LoadedData data, ModelSource model, Batching batching) {
        this(dataValues, Context.QUIET, model, batching);
        loaded = data;
    }

    /**
     * What the recipe says of the data.
     *
     * @return the values of {@code [data]}
     */
    public Values dataValues() {
        return dataValues;
    }

    /**
     * The data, which is loaded when it is first asked for.
     *
     * @return the parts of a run
     * @throws IOException if a file cannot be read, or is not what it should be
     */
    public LoadedData data() throws IOException {
        return data(LabelType.AUTO);
    }

    /**
     * The same for a task that knows what labels are: then they need not look like it, and nobody has to say it twice.
     *
     * @param labels what they are, unless {@code data.label_type} says something else
     * @return the parts of a run
     * @throws IOException if a file cannot be read, or is not what it should be
     */
    public synchronized LoadedData data(LabelType labels) throws IOException {
        if (loaded == null) {
            boolean open =
                    dataValues.has(DataSection.LABEL_TYPE) && dataValues.of(DataSection.LABEL_TYPE) == LabelType.AUTO;
            loaded = DataSection.load(open ? dataValues.with(DataSection.LABEL_TYPE, labels) : dataValues, context);
        }
        return loaded;
    }

    /**
     * Makes the model.
     *
     * @return who can be asked for one
     */
    public ModelSource model() {
        return model;
    }

    /**
     * The model's folder with its tokenizer.
     *
     * @return the folder; empty if the model has none
     */
    public Optional<Path> tokenizer() {
        return context.tokenizer();
    }

    /** {@return who is told while something takes long before training begins} */
    public Context.Progress progress() {
        return context.progress();
    }

    /** {@return how samples make batches} */
    public Batching batching() {
        return batching;
    }
}
