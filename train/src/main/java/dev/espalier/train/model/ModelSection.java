package dev.espalier.train.model;

import dev.espalier.data.DataSection;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.Weights;
import dev.espalier.settings.Conflict;
import dev.espalier.settings.Form;
import dev.espalier.settings.Kinds;
import dev.espalier.settings.Section;
import dev.espalier.settings.Settings;
import dev.espalier.settings.Values;
import dev.espalier.train.task.Signature;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Consumer;

/** The section {@code [model]} of a recipe: all kinds of models that are on the class path. */
public final class ModelSection {
    /** All kinds, our own and those of others. */
    public static final Kinds<ModelKind> KINDS = Kinds.found(ServiceLoader.load(ModelKind.class));

    /** The section. */
    public static final Section SECTION = Section.of(
            "model", "which model; `own` is one that a Java program makes", KINDS, Optional.empty(), List.of());

    /** A model that cannot read the data is told before a file is opened. */
    public static final Form.Check FITS_THE_DATA =
            new Form.Check(List.of(DataSection.SECTION, SECTION), ModelSection::misfit);

    private ModelSection() {}

    /**
     * The model that training starts from, which says what is wanted in its own unit.
     *
     * @param values the section's values
     * @param wanted what it is given and what it has to say
     * @param weights what tensors hold that have not been trained before
     * @param notes told what a user should know of the model, a sentence each
     * @return the model
     * @throws IOException if it cannot be read
     */
    public static Graph build(Values values, Signature wanted, Weights weights, Consumer<String> notes)
            throws IOException {
        ModelKind kind = KINDS.of(values);
        Graph model = kind.build(values, wanted, weights, notes);
        return kind.isTrained(values) ? model : wanted.inUnits(model);
    }

    private static List<Conflict> misfit(Settings recipe) {
        Values data = recipe.section(DataSection.SECTION);
        Values model = recipe.section(SECTION);
        return KINDS
                .of(model)
                .misfit(DataSection.KINDS.of(data).outline(data))
                .map(reason -> new Conflict(
                        "model.kind",
                        "model.kind = %s and data.kind = %s do not fit: %s"
                                .formatted(model.kind(), data.kind(), reason)))
                .stream()
                .toList();
    }
}
