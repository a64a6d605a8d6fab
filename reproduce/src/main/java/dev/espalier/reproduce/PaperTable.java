package dev.espalier.reproduce;

import static dev.espalier.reproduce.PaperRow.Figure.ACCURACY;
import static dev.espalier.reproduce.PaperRow.Figure.EXACT_MATCH;
import static dev.espalier.reproduce.PaperRow.Figure.F1;
import static dev.espalier.reproduce.PaperRow.Figure.GROUP_SPARSITY;
import static dev.espalier.reproduce.PaperRow.Figure.GROUP_SPARSITY_WITH_EMBEDDINGS;

import dev.espalier.reproduce.PaperRow.Figure;
import java.util.List;
import java.util.stream.Stream;

/**
 * The paper's tables of trained models, with the numbers that it prints; behind them our own way with the same models. How a row is trained stands in its recipe; here is only
 * what a run at small scale, a matter of seconds, has instead: other data, a smaller model, few epochs, and as there are a
 * hundred times fewer steps, a λ that is as much larger.
 */
enum PaperTable {
    /** VGG-16 on CIFAR-10. */
    VGG16(
            "VGG-16 on CIFAR-10",
            "a small convolutional network on 8×8 digits",
            List.of(GROUP_SPARSITY, ACCURACY),
            Small.DIGITS,
            List.of(
                    "model.kind=small-cnn",
                    "model.channels=[16,16,32,32]",
                    "optimizer.rate=3e-3",
                    "schedule.every=4",
                    "training.epochs=10",
                    "training.batch_size=64",
                    "training.seeds=[1]"),
            List.of(
                    PaperRow.of("Baseline", "vgg16-cifar10-baseline")
                            .with(ACCURACY, 90.76, 0.29)
                            .program(),
                    PaperRow.of(
                                    "ℓ1/ℓ2",
                                    "vgg16-cifar10-lasso-subgradient",
                                    "method.threshold=3e-4",
                                    "penalty.lambda=0.03")
                            .with(GROUP_SPARSITY, 20.74, 0.30)
                            .with(ACCURACY, 89.53, 0.43)
                            .program("groups", "inverse-groups"),
                    PaperRow.of("ℓ1/ℓ2 + prox.", "vgg16-cifar10-lasso-proximal", "penalty.lambda=0.03")
                            .with(GROUP_SPARSITY, 22.03, 0.33)
                            .with(ACCURACY, 89.55, 0.14)
                            .program(),
                    PaperRow.of(
                                    "Group MCP",
                                    "vgg16-cifar10-mcp-subgradient",
                                    "method.threshold=3e-4",
                                    "penalty.lambda=0.03",
                                    "penalty.beta=20")
                            .with(GROUP_SPARSITY, 20.93, 0.30)
                            .with(ACCURACY, 89.59, 0.30)
                            .program("groups", "inverse-groups"),
                    PaperRow.of(
                                    "Group MCP + prox.",
                                    "vgg16-cifar10-mcp-proximal",
                                    "penalty.lambda=0.03",
                                    "penalty.beta=20")
                            .with(GROUP_SPARSITY, 22.63, 0.15)
                            .with(ACCURACY, 89.80, 0.06)
                            .program())),

    /** BERT on SQuAD. */
    BERT(
            "BERT on SQuAD 1.1",
            "a tiny BERT on questions made on the spot",
            List.of(GROUP_SPARSITY, GROUP_SPARSITY_WITH_EMBEDDINGS, EXACT_MATCH, F1),
            Small.QUESTIONS,
            List.of("training.epochs=8"),
            List.of(
                    PaperRow.of("Baseline", "bert-squad-baseline")
                            .with(EXACT_MATCH, 81.01)
                            .with(F1, 88.27)
                            .program(),
                    PaperRow.of("ℓ1/ℓ2, λ = 1e-5", "bert-squad-lasso-1e-5", "penalty.lambda=4e-4")
                            .with(GROUP_SPARSITY, 84.34)
                            .with(EXACT_MATCH, 72.29)
                            .with(F1, 81.96)
                            .program(),
                    PaperRow.of("ℓ1/ℓ2, λ = 2e-5", "bert-squad-lasso-2e-5", "penalty.lambda=8e-4")
                            .with(GROUP_SPARSITY, 76.14)
                            .with(EXACT_MATCH, 66.16)
                            .with(F1, 77.50)
                            .program(),
                    PaperRow.of(
                                    "Group MCP, λ = 5e-5, β = 8e2",
                                    "bert-squad-mcp-5e-5",
                                    "penalty.lambda=6e-4",
                                    "penalty.beta=300")
                            .with(GROUP_SPARSITY, 81.49)
                            .with(EXACT_MATCH, 75.40)
                            .with(F1, 84.50)
                            .program(),
                    PaperRow.of(
                                    "Group MCP, λ = 1e-4, β = 4e2",
                                    "bert-squad-mcp-1e-4",
                                    "penalty.lambda=1e-3",
                                    "penalty.beta=200")
                            .with(GROUP_SPARSITY, 61.33)
                            .with(EXACT_MATCH, 69.47)
                            .with(F1, 79.95)
                            .program())),

    /** ResNet-34 on CIFAR-10. */
    RESNET34(
            "ResNet-34 on CIFAR-10",
            "a thin ResNet-34 on 8×8 digits",
            List.of(GROUP_SPARSITY, ACCURACY),
            Small.DIGITS,
            List.of(
                    "model.width=4",
                    "optimizer.rate=5e-3",
                    "schedule.milestones=[6]",
                    "training.epochs=8",
                    "training.batch_size=64"),
            List.of(
                    PaperRow.of("Baseline", "resnet34-cifar10-baseline")
                            .with(GROUP_SPARSITY, 44.90)
                            .with(ACCURACY, 93.39)
                            .program(),
                    PaperRow.of("ℓ1/ℓ2", "resnet34-cifar10-lasso", "penalty.lambda=0.01")
                            .with(GROUP_SPARSITY, 32.64)
                            .with(ACCURACY, 93.11)
                            .program(),
                    PaperRow.of("Group MCP", "resnet34-cifar10-mcp", "penalty.lambda=0.01", "penalty.beta=20")
                            .with(GROUP_SPARSITY, 31.04)
                            .with(ACCURACY, 93.45)
                            .program())),

    /** Our own way with VGG-16, beside the paper's best row. */
    BEST_VGG16(
            "VGG-16 on CIFAR-10, the best that we know",
            "a small convolutional network on 8×8 digits",
            List.of(GROUP_SPARSITY, ACCURACY),
            Small.DIGITS_BY_CHOICE,
            List.of("model.kind=small-cnn", "model.channels=[16,16,32,32]"),
            List.of(PaperRow.of("By choice", "vgg16-cifar10-best")
                    .with(GROUP_SPARSITY, 22.63, 0.15)
                    .with(ACCURACY, 89.80, 0.06))),

    /** Our own way with BERT, beside the paper's row that has fewest groups left. */
    BEST_BERT(
            "BERT on SQuAD 1.1, the best that we know",
            "a tiny BERT on questions made on the spot",
            List.of(GROUP_SPARSITY, EXACT_MATCH, F1),
            Small.QUESTIONS,
            List.of("phases.warm_up_epochs=6", "phases.heal_epochs=4", "training.epochs=4"),
            List.of(PaperRow.of("By choice", "bert-squad-best")
                    .with(GROUP_SPARSITY, 61.33)
                    .with(EXACT_MATCH, 69.47)
                    .with(F1, 79.95))),

    /** Our own way with ResNet-34, beside the paper's best row. */
    BEST_RESNET34(
            "ResNet-34 on CIFAR-10, the best that we know",
            "a thin ResNet-34 on 8×8 digits",
            List.of(GROUP_SPARSITY, ACCURACY),
            Small.DIGITS_BY_CHOICE,
            List.of("model.width=4"),
            List.of(PaperRow.of("By choice", "resnet34-cifar10-best")
                    .with(GROUP_SPARSITY, 31.04)
                    .with(ACCURACY, 93.45)));

    private final String title;
    private final String smallTitle;

    @SuppressWarnings("ImmutableEnumChecker") // a copy that cannot be changed
    private final List<Figure> figures;

    @SuppressWarnings("ImmutableEnumChecker") // likewise
    private final List<PaperRow> rows;

    /** What tables have in common at small scale. */
    private static final class Small {
        static final List<String> DIGITS = List.of("data.kind=digits", "data.padding=0", "data.flip=false");
        static final List<String> DIGITS_BY_CHOICE = Stream.concat(
                        DIGITS.stream(),
                        Stream.of(
                                "data.cutout=0",
                                "phases.warm_up_epochs=4",
                                "phases.heal_epochs=6",
                                "target.share=0.4",
                                "training.epochs=4",
                                "training.batch_size=64",
                                "training.seeds=[1]"))
                .toList();
        static final List<String> QUESTIONS = List.of(
                "data.length=64",
                "data.stride=16",
                "data.question_length=16",
                "optimizer.rate=3e-3",
                "training.batch_size=16");
    }

    PaperTable(
            String title,
            String smallTitle,
            List<Figure> figures,
            List<String> common,
            List<String> own,
            List<PaperRow> rows) {
        this.title = title;
        this.smallTitle = smallTitle;
        this.figures = List.copyOf(figures);
        List<String> small = Stream.concat(common.stream(), own.stream()).toList();
        this.rows = rows.stream().map(row -> row.atSmallScale(small)).toList();
    }

    /** What is trained at full scale. */
    String title() {
        return title;
    }

    /** What is trained at small scale. */
    String smallTitle() {
        return smallTitle;
    }

    /** Whether its models answer questions. */
    boolean asksQuestions() {
        return figures.contains(F1);
    }

    /** The table's columns. */
    List<Figure> figures() {
        return figures;
    }

    /** The table's rows, as the paper has them. */
    List<PaperRow> rows() {
        return rows;
    }

    /** The rows as the paper's text has them, and then as its program does. */
    List<PaperRow> allRows() {
        return Stream.concat(rows.stream(), rows.stream().flatMap(row -> row.programRows().stream()))
                .toList();
    }

    /** The row that follows a recipe. */
    PaperRow row(String recipe) {
        return allRows().stream()
                .filter(row -> row.recipe().equals(recipe))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no row follows " + recipe));
    }
}
