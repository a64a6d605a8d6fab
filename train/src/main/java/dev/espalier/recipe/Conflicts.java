package dev.espalier.recipe;

import dev.espalier.graph.model.Vgg16;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What two sections of a recipe cannot both want. A section that is null, because it is wrong by itself, is in no conflict. */
final class Conflicts {
    private static final String SQUAD_NEEDS =
            "squad needs a model with a tokenizer; set model.kind to bert, and model.checkpoint to its folder";

    private final List<Conflict> found = new ArrayList<>();

    private Conflicts() {}

    /**
     * A conflict.
     *
     * @param path the key to change, rather than the other
     * @param message what is wrong, and what would be right
     */
    record Conflict(String path, String message) {}

    static List<Conflict> between(
            @Nullable DataRecipe data,
            @Nullable ModelRecipe model,
            @Nullable MethodRecipe method,
            @Nullable PenaltyRecipe penalty,
            @Nullable GroupRecipe groups,
            @Nullable ScheduleRecipe schedule,
            @Nullable PhaseRecipe phases,
            @Nullable TargetRecipe target,
            @Nullable TrainingRecipe training) {
        Conflicts conflicts = new Conflicts();
        if (data != null && model != null) {
            conflicts.dataAndModel(data.source(), model);
        }
        if (method != null && penalty != null) {
            conflicts.methodAndPenalty(method, penalty);
        }
        if (method != null && penalty != null && groups != null) {
            conflicts.methodPenaltyAndGroups(method, penalty, groups);
        }
        if (schedule != null && phases != null && training != null) {
            conflicts.scheduleAndFirstPhase(schedule, phases, training);
        }
        if (method != null && phases != null) {
            conflicts.methodAndPhases(method, phases);
        }
        if (method != null && penalty != null && target != null && target.kind() != TargetRecipe.Kind.NONE) {
            conflicts.methodPenaltyAndTarget(method, penalty, target);
        }
        return List.copyOf(conflicts.found);
    }

    private void dataAndModel(DataRecipe.Source source, ModelRecipe model) {
        String kinds = "model.kind = %s and data.kind = %s do not fit: "
                .formatted(ValueType.Choice.label(model.kind()), ValueType.Choice.label(source.kind()));
        switch (model) {
            case ModelRecipe.Bert _ ->
                require(source instanceof DataRecipe.Squad, "model.kind", kinds + "bert reads squad");
            case ModelRecipe.Vgg16 _ ->
                require(
                        isImages(source) && size(source) >= Vgg16.LEAST_SIZE,
                        "model.kind",
                        kinds + "vgg16 reads images of at least 32×32, such as cifar10");
            case ModelRecipe.ResNet34 _, ModelRecipe.SmallCnn _ ->
                require(
                        isImages(source),
                        "model.kind",
                        kinds + "it reads images: digits, cifar10, mnist, fashion-mnist or images");
            case ModelRecipe.Mlp _, ModelRecipe.Onnx _ ->
                require(!(source instanceof DataRecipe.Squad), "model.kind", kinds + SQUAD_NEEDS);
            case ModelRecipe.Own _ -> {}
        }
    }

    private static boolean isImages(DataRecipe.Source source) {
        return size(source) > 0;
    }

    /** Height and width; 0 for what is no image. */
    private static int size(DataRecipe.Source source) {
        return switch (source) {
            case DataRecipe.Digits _ -> 8;
            case DataRecipe.Cifar10 _ -> 32;
            case DataRecipe.Mnist _, DataRecipe.FashionMnist _ -> 28;
            case DataRecipe.Images images -> images.size();
            case DataRecipe.Csv _, DataRecipe.Squad _ -> 0;
        };
    }

    private void methodAndPenalty(MethodRecipe method, PenaltyRecipe penalty) {
        require(
                method.kind() == MethodRecipe.Kind.BASELINE || penalty.penalty().isPresent(),
                "penalty.kind",
                "method.kind = %s needs a penalty: set penalty.kind to group-lasso or group-mcp, or method.kind to baseline"
                        .formatted(ValueType.Choice.label(method.kind())));
    }

    private void methodPenaltyAndGroups(MethodRecipe method, PenaltyRecipe penalty, GroupRecipe groups) {
        require(
                method.kind() == MethodRecipe.Kind.BASELINE
                        || groups.join() != GroupRecipe.Join.NESTED
                        || penalty instanceof PenaltyRecipe.Nested,
                PenaltyKeys.KIND.path(),
                "penalty.kind = %s and groups.join = nested do not fit: groups within groups need a penalty that nests; set penalty.kind to nested-lasso, or groups.join to joint"
                        .formatted(ValueType.Choice.label(penalty.kind())));
    }

    private void scheduleAndFirstPhase(ScheduleRecipe schedule, PhaseRecipe phases, TrainingRecipe training) {
        boolean warmUpPhase = phases.warmUpEpochs() > 0;
        int epochs = warmUpPhase ? phases.warmUpEpochs() : training.epochs();
        require(
                schedule.warmUp() <= epochs,
                "schedule.warm_up",
                "schedule.warm_up = %s must be at most %s = %d"
                        .formatted(
                                schedule.warmUp(),
                                warmUpPhase ? PhaseRecipe.WARM_UP_EPOCHS : "training.epochs",
                                epochs));
    }

    private void methodAndPhases(MethodRecipe method, PhaseRecipe phases) {
        boolean baseline = method.kind() == MethodRecipe.Kind.BASELINE;
        require(
                !baseline || phases.warmUpEpochs() == 0,
                PhaseRecipe.WARM_UP_EPOCHS.path(),
                "phases.warm_up_epochs = %d must be 0 for method.kind = baseline: it has no penalty all along; raise training.epochs instead"
                        .formatted(phases.warmUpEpochs()));
        require(
                !baseline || phases.healEpochs() == 0,
                PhaseRecipe.HEAL_EPOCHS.path(),
                "phases.heal_epochs = %d must be 0 for method.kind = baseline: it has no zeros to hold; raise training.epochs instead"
                        .formatted(phases.healEpochs()));
    }

    private void methodPenaltyAndTarget(MethodRecipe method, PenaltyRecipe penalty, TargetRecipe target) {
        String kind = ValueType.Choice.label(target.kind());
        require(
                method.kind() == MethodRecipe.Kind.PROXIMAL,
                TargetRecipe.KIND.path(),
                "target.kind = %s and method.kind = %s do not fit: only proximal makes zeros during training; set target.kind to none"
                        .formatted(kind, ValueType.Choice.label(method.kind())));
        require(
                method.kind() != MethodRecipe.Kind.PROXIMAL || penalty.penalty().isEmpty() || penalty.lambda() > 0,
                PenaltyKeys.LAMBDA.path(),
                "penalty.lambda = %s must be above 0 for target.kind = %s: it is where λ starts from"
                        .formatted(penalty.lambda(), kind));
    }

    private void require(boolean fits, String path, String message) {
        if (!fits) {
            found.add(new Conflict(path, message));
        }
    }
}
