package dev.espalier.recipe;

import dev.espalier.graph.model.ResNet34;
import dev.espalier.recipe.ModelRecipe.Kind;
import java.util.List;

/** The keys of the section {@code model}. */
final class ModelKeys {
    private static final Key<Kind> KIND =
            Key.choice("model.kind", Kind.class, "which model; `own` is one that a Java program makes");
    static final Key<Integer> WIDTH = Key.whole(
                    "model.width", "channels of the first stage; each stage has twice as many as the one before")
            .in(Range.atLeast(1))
            .otherwise(ResNet34.WIDTH)
            .only(Kind.RESNET34);
    static final Key<List<Integer>> CHANNELS = Key.wholes(
                    "model.channels", "output channels of each convolution; every second one halves the image")
            .in(Range.sizes())
            .otherwise(List.of(32, 32, 64, 64))
            .only(Kind.SMALL_CNN);
    private static final Key<Boolean> BATCH_NORM = Key.flag(
                    "model.batch_norm", "whether a batch normalisation follows each convolution")
            .otherwise(true)
            .only(Kind.SMALL_CNN);
    static final Key<List<Integer>> HIDDEN = Key.wholes("model.hidden", "width of each hidden layer")
            .in(Range.sizes())
            .otherwise(List.of(256, 128))
            .only(Kind.MLP);
    static final Key<String> CHECKPOINT = Key.text(
                    "model.checkpoint",
                    "a folder with config.json, model.safetensors and the vocabulary, relative to where the program is started")
            .in(Range.notBlank())
            .only(Kind.BERT)
            .changeable();
    static final Key<String> FILE = Key.text(
                    "model.file",
                    "the ONNX file whose weights training starts from, relative to where the program is started")
            .in(Range.notBlank())
            .only(Kind.ONNX)
            .changeable();

    static final Section<ModelRecipe> SECTION = new Section<>(
            "model",
            List.of(KIND, WIDTH, CHANNELS, BATCH_NORM, HIDDEN, CHECKPOINT, FILE),
            ModelKeys::from,
            ModelKeys::values);

    private ModelKeys() {}

    private static ModelRecipe from(Values values) {
        return switch (values.of(KIND)) {
            case VGG16 -> new ModelRecipe.Vgg16();
            case RESNET34 -> new ModelRecipe.ResNet34(values.of(WIDTH));
            case SMALL_CNN -> new ModelRecipe.SmallCnn(values.of(CHANNELS), values.of(BATCH_NORM));
            case MLP -> new ModelRecipe.Mlp(values.of(HIDDEN));
            case BERT -> new ModelRecipe.Bert(values.of(CHECKPOINT));
            case ONNX -> new ModelRecipe.Onnx(values.of(FILE));
            case OWN -> new ModelRecipe.Own();
        };
    }

    private static Values values(ModelRecipe model) {
        Values values = new Values().with(KIND, model.kind());
        return switch (model) {
            case ModelRecipe.Vgg16 _, ModelRecipe.Own _ -> values;
            case ModelRecipe.ResNet34(int width) -> values.with(WIDTH, width);
            case ModelRecipe.SmallCnn cnn ->
                values.with(CHANNELS, cnn.channels()).with(BATCH_NORM, cnn.batchNorm());
            case ModelRecipe.Mlp perceptron -> values.with(HIDDEN, perceptron.hidden());
            case ModelRecipe.Bert bert -> values.with(CHECKPOINT, bert.checkpoint());
            case ModelRecipe.Onnx onnx -> values.with(FILE, onnx.file());
        };
    }
}
