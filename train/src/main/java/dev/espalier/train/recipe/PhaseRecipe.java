package dev.espalier.train.recipe;

import dev.espalier.settings.Conflict;
import dev.espalier.settings.Form;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Section;
import dev.espalier.settings.Settings;
import dev.espalier.settings.Values;
import dev.espalier.train.model.ModelSection;
import dev.espalier.train.task.TaskSection;
import java.util.ArrayList;
import java.util.List;

/**
 * What comes before and after the training with a penalty.
 *
 * @param warmUpEpochs epochs without penalty before; 0 for none
 * @param warmUpRate their learning rate; 0 for the optimizer's
 * @param healEpochs epochs after, without penalty and with the zero groups held; 0 for none
 * @param healRate their learning rate; 0 for the optimizer's
 */
public record PhaseRecipe(int warmUpEpochs, double warmUpRate, int healEpochs, double healRate) {

    static final Key<Integer> WARM_UP_EPOCHS = Key.whole(
                    "phases.warm_up_epochs", "epochs without penalty before `training.epochs`")
            .in(Range.atLeast(0))
            .withDefault(0);
    private static final Key<Double> WARM_UP_RATE = Key.decimal(
                    "phases.warm_up_rate", "the learning rate that their schedule starts from; 0 for `optimizer.rate`")
            .in(Range.notNegative())
            .withDefault(0.0);
    private static final Key<Integer> HEAL_EPOCHS = Key.whole(
                    "phases.heal_epochs",
                    "epochs after `training.epochs`, without penalty; groups that are zero, or below"
                            + " `method.threshold`, stay zero")
            .in(Range.atLeast(0))
            .withDefault(0);
    private static final Key<Double> HEAL_RATE = Key.decimal(
                    "phases.heal_rate", "the learning rate that their schedule starts from; 0 for `optimizer.rate`")
            .in(Range.notNegative())
            .withDefault(0.0);

    static final Section SECTION = Section.of("phases", List.of(WARM_UP_EPOCHS, WARM_UP_RATE, HEAL_EPOCHS, HEAL_RATE));

    /** Phases differ in what becomes of the penalty: without one there is nothing to tell apart. */
    static final Form.Check NEED_A_PENALTY =
            new Form.Check(List.of(SECTION, MethodRecipe.SECTION), PhaseRecipe::withoutPenalty);

    /** A teacher must have learned something. */
    static final Form.Check TEACH_WHAT_WAS_LEARNED =
            new Form.Check(List.of(TaskSection.SECTION, ModelSection.SECTION, SECTION), PhaseRecipe::untaught);

    private static List<Conflict> untaught(Settings recipe) {
        Values task = recipe.section(TaskSection.SECTION);
        Values model = recipe.section(ModelSection.SECTION);
        List<Conflict> conflicts = new ArrayList<>(TaskSection.twoTeachers(task));
        conflicts.addAll(Conflict.unless(
                !TaskSection.startTeaches(task)
                        || of(recipe.section(SECTION)).warmUpEpochs > 0
                        || ModelSection.KINDS.of(model).isReady(model),
                WARM_UP_EPOCHS.path(),
                WARM_UP_EPOCHS
                        + " = 0 leaves task.start_teaches nothing to teach: the model has not been trained by then;"
                        + " give it some epochs"));
        return conflicts;
    }

    private static List<Conflict> withoutPenalty(Settings recipe) {
        MethodRecipe method = MethodRecipe.of(recipe.section(MethodRecipe.SECTION));
        PhaseRecipe phases = of(recipe.section(SECTION));
        String mustBe = " = %d must be 0 for method.kind = " + method.kind().name();
        List<Conflict> conflicts = new ArrayList<>(Conflict.unless(
                method.kind().penalizes() || phases.warmUpEpochs == 0,
                WARM_UP_EPOCHS.path(),
                WARM_UP_EPOCHS + mustBe.formatted(phases.warmUpEpochs)
                        + ": it has no penalty all along; raise training.epochs instead"));
        conflicts.addAll(Conflict.unless(
                method.kind().penalizes() || phases.healEpochs == 0,
                HEAL_EPOCHS.path(),
                HEAL_EPOCHS + mustBe.formatted(phases.healEpochs)
                        + ": it has no zeros to hold; raise training.epochs instead"));
        return conflicts;
    }

    static PhaseRecipe of(Values values) {
        return new PhaseRecipe(
                values.of(WARM_UP_EPOCHS), values.of(WARM_UP_RATE), values.of(HEAL_EPOCHS), values.of(HEAL_RATE));
    }
}
