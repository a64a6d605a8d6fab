package dev.espalier.training;

import dev.espalier.data.SampleShape;
import dev.espalier.graph.Graph;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.ResNet34;
import dev.espalier.graph.model.SmallCnn;
import dev.espalier.graph.model.Vgg16;
import dev.espalier.graph.model.Weights;
import dev.espalier.recipe.ModelRecipe;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;

/** Models that fit the data. */
public final class Models {
    private Models() {}

    /**
     * What builds the model of a recipe from the weights that it starts from, for samples of the data's shape and with one
     * output for each of its classes. The model has one input {@code [batch, …]} and one output {@code [batch, classes]},
     * of logits, and takes batches of any size. A model from an ONNX file starts from the file's own weights.
     *
     * @param recipe which model
     * @param data what it is trained with
     * @return from weights to the model
     * @throws IOException if the recipe's ONNX file cannot be read
     * @throws IllegalArgumentException if the model does not fit the data
     */
    public static Function<Weights, Graph> builder(ModelRecipe recipe, LabelledData data) throws IOException {
        return switch (recipe) {
            case ModelRecipe.Vgg16 _ -> {
                ImageOptions images = images("vgg16", data);
                yield weights -> Vgg16.build(images, weights);
            }
            case ModelRecipe.ResNet34(int width) -> {
                ImageOptions images = images("resnet34", data);
                yield weights -> ResNet34.build(images, width, weights);
            }
            case ModelRecipe.SmallCnn(List<Integer> channels, boolean batchNorm) -> {
                ImageOptions images = images("small-cnn", data);
                yield weights -> SmallCnn.build(images, channels, batchNorm, weights);
            }
            case ModelRecipe.Mlp(List<Integer> hidden) -> mlp(hidden, data);
            case ModelRecipe.Onnx(String file) -> {
                Graph model = ClassifierFile.read(Path.of(file), data);
                yield _ -> model;
            }
            case ModelRecipe.Own _ ->
                throw new IllegalArgumentException(
                        "model.kind = own is a model that a Java program makes, and gives to a Classification itself:"
                                + " choose vgg16, resnet34, small-cnn, mlp or onnx");
            case ModelRecipe.Bert _ ->
                throw new IllegalArgumentException("model.kind = bert has no classes, it is for data.kind = squad:"
                        + " choose vgg16, resnet34, small-cnn, mlp or onnx");
        };
    }

    /**
     * The model of a recipe.
     *
     * @param recipe which model
     * @param data what it is trained with
     * @param weights what it starts from
     * @return the model
     * @throws IOException if the recipe's ONNX file cannot be read
     * @throws IllegalArgumentException if the model does not fit the data
     */
    public static Graph build(ModelRecipe recipe, LabelledData data, Weights weights) throws IOException {
        return builder(recipe, data).apply(weights);
    }

    private static Function<Weights, Graph> mlp(List<Integer> hidden, LabelledData data) {
        return switch (data.shape()) {
            case SampleShape.Vector(int length) -> weights -> Mlp.ofVectors(data.classes(), length, hidden, weights);
            case SampleShape.Image image -> {
                ImageOptions images = options(image, data);
                yield weights -> Mlp.ofImages(images, hidden, weights);
            }
        };
    }

    private static ImageOptions images(String kind, LabelledData data) {
        return switch (data.shape()) {
            case SampleShape.Image image -> options(image, data);
            case SampleShape.Vector(int length) ->
                throw new IllegalArgumentException(
                        "model.kind = %s reads images, but %s holds vectors of %d numbers: choose mlp or onnx"
                                .formatted(kind, data.train().name(), length));
        };
    }

    private static ImageOptions options(SampleShape.Image image, LabelledData data) {
        return new ImageOptions(data.classes(), image.channels(), image.height(), image.width());
    }
}
