package dev.espalier.train.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Field;
import dev.espalier.data.Outline;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Layers;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.SmallCnn;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Foreign;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.MatMul;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Reshape;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Shape;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import dev.espalier.settings.Form;
import dev.espalier.settings.Values;
import dev.espalier.train.task.Fitted;
import dev.espalier.train.task.Signature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ModelKindTest {
    private static final Weights WEIGHTS = Weights.seeded(1);
    private static final Signature DIGITS = signature("digits", 10, new Field.Image("image", 1, 8, 8));
    private static final Signature TABLE = signature("table.csv", 4, new Field.Numbers("features", List.of(3)));

    @TempDir
    static Path folder;

    private static Signature signature(String data, int classes, Field... inputs) {
        return new Signature(
                data,
                Signature.inputsOf(List.of(inputs)),
                List.of(new Signature.Output("logits", Shape.of(classes), new Signature.Meaning.Classes())));
    }

    private static Values model(String... settings) {
        return new Form("section", List.of(ModelSection.SECTION), List.of())
                .parse("[model]", "", List.of(settings))
                .section(ModelSection.SECTION);
    }

    private static Graph build(Values model, Signature wanted) throws IOException {
        return build(model, wanted, WEIGHTS);
    }

    private static Graph build(Values model, Signature wanted, Weights weights) throws IOException {
        return ModelSection.KINDS.of(model).build(model, wanted, weights, _ -> {});
    }

    private static List<String> notes(Values model, Signature wanted) throws IOException {
        List<String> notes = new ArrayList<>();
        ModelSection.build(model, wanted, WEIGHTS, notes::add);
        return notes;
    }

    private static Values write(Graph graph, String... settings) throws IOException {
        Path file = Files.createTempFile(folder, "model", ".onnx");
        OnnxWriter.write(graph, file);
        List<String> all = new ArrayList<>(List.of("model.kind=onnx", "model.file=" + file));
        all.addAll(List.of(settings));
        return model(all.toArray(String[]::new));
    }

    private static void assertRefused(Values model, Signature wanted, String... parts) {
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> build(model, wanted))
                .getMessage());
        for (String part : parts) {
            assertTrue(message.contains(part), () -> "expected '" + part + "' in: " + message);
        }
    }

    @Test
    void buildersFitShapeAndClasses() throws IOException {
        Graph cnn = build(model("model.kind=small-cnn", "model.channels=[4,6]", "model.batch_norm=false"), DIGITS);
        assertEquals(Shape.of("batch", 1, 8, 8), cnn.shape("image"));
        assertEquals(Shape.of("batch", 10), cnn.shape("logits"));
        assertEquals(Shape.of(6, 4, 3, 3), cnn.shape("features.1.conv.weight"));
        assertTrue(cnn.initializers().containsKey("features.0.conv.bias"));
        Graph resNet = build(model("model.kind=resnet34", "model.width=2"), DIGITS);
        assertEquals(Shape.of("batch", 10), resNet.shape("logits"));
        assertEquals(Shape.of(2, 1, 3, 3), resNet.shape("stem.conv.weight"));
        assertEquals(Shape.of(16, 8, 3, 3), resNet.shape("stages.3.0.conv1.weight"));
        Graph mlp = build(model("model.kind=mlp", "model.hidden=[5]"), DIGITS);
        assertEquals(Shape.of(5, 64), mlp.shape("hidden.0.weight"));
        Graph small = build(model("model.kind=mlp", "model.hidden=[5]"), TABLE);
        assertEquals(Shape.of("batch", 3), small.shape("features"));
        assertEquals(Shape.of("batch", 4), small.shape("logits"));
    }

    @Test
    void weightsAreThoseOfTheSeed() throws IOException {
        Values recipe = model("model.kind=mlp", "model.hidden=[5]");
        Tensor one = Objects.requireNonNull(build(recipe, TABLE).tensor("hidden.0.weight"));
        Tensor other =
                Objects.requireNonNull(build(recipe, TABLE, Weights.seeded(2)).tensor("hidden.0.weight"));
        assertTrue(one.sameAs(
                Objects.requireNonNull(Mlp.ofVectors(4, 3, List.of(5), WEIGHTS).tensor("hidden.0.weight"))));
        assertTrue(!one.sameAs(other));
    }

    @Test
    void convolutionsStartAsTheRecipeSays() throws IOException {
        Signature images = signature("cifar10", 10, new Field.Image("image", 3, 32, 32));
        for (String kind : List.of("vgg16", "resnet34", "small-cnn")) {
            // Normal numbers go beyond 1/√fan_in, uniform ones do not.
            assertTrue(largestOfFan(build(model("model.kind=" + kind), images)) > 1.5, kind);
            double torch = largestOfFan(build(model("model.kind=" + kind, "model.initialization=torch"), images));
            assertTrue(torch <= 1 && torch > 0.9, kind + ": " + torch);
        }
    }

    /** The largest weight of a model's convolutions, with {@code 1/√fan_in} as 1. */
    private static double largestOfFan(Graph graph) {
        double largest = 0;
        for (Tensor tensor : graph.tensors(Initializer.Kind.PARAMETER).values()) {
            if (tensor.rank() == 4) {
                double root = Math.sqrt((double) tensor.size() / tensor.shape()[0]);
                for (float weight : tensor.toFloats()) {
                    largest = Math.max(largest, Math.abs(weight) * root);
                }
            }
        }
        return largest;
    }

    @Test
    void modelsThatDoNotFitTheDataAreRefused() {
        assertRefused(model("model.kind=small-cnn"), TABLE, "small-cnn", "a sample of table.csv is [3]", "mlp");
        assertRefused(model("model.kind=resnet34"), TABLE, "resnet34");
        assertRefused(model("model.kind=vgg16"), DIGITS, "VGG-16", "32");
        assertRefused(model("model.kind=own"), DIGITS, "model.kind = own", "small-cnn");
        Signature two = signature("pairs", 2, new Field.Numbers("a", List.of(3)), new Field.Numbers("b", List.of(3)));
        assertRefused(model("model.kind=mlp"), two, "mlp reads one tensor", "a [batch × 3], b [batch × 3]", "onnx");
        assertThrows(
                NoSuchFileException.class, () -> build(model("model.kind=bert", "model.checkpoint=nowhere"), DIGITS));
    }

    /** What is known of data before a file is opened is enough to tell a model that cannot read it. */
    @Test
    void misfitsAreKnownBeforeAFileIsOpened() {
        Outline small = new Outline.Image(1, 8, 8);
        Outline large = new Outline.Image(3, 32, 32);
        Outline vector = new Outline.Vector();
        Outline tokens = new Outline.Tokens();
        Outline unknown = new Outline.Unknown();
        assertFits("vgg16", large, unknown);
        assertFits("resnet34", small, large, unknown);
        assertFits("small-cnn", small, large, unknown);
        assertFits("mlp", small, large, vector, unknown);
        assertFits("bert", tokens, unknown);
        assertFits("onnx", small, large, vector, tokens, unknown);
        assertFits("own", small, large, vector, tokens, unknown);
    }

    private static void assertFits(String kind, Outline... fitting) {
        List<Outline> all = List.of(
                new Outline.Image(1, 8, 8),
                new Outline.Image(3, 32, 32),
                new Outline.Vector(),
                new Outline.Tokens(),
                new Outline.Unknown());
        ModelKind model = ModelSection.KINDS.find(kind).orElseThrow();
        for (Outline outline : all) {
            assertEquals(
                    List.of(fitting).contains(outline),
                    model.misfit(outline).isEmpty(),
                    () -> kind + " and " + outline);
        }
    }

    /** Data is of single precision; weights are written as the file has them. */
    @Test
    void aFileOfHalfPrecisionIsFedWithSinglePrecision() throws IOException {
        GraphBuilder builder = new GraphBuilder("half");
        Value x = builder.input("x", DataType.FLOAT16, "batch", 3);
        Value weight = builder.parameter(
                "weight",
                Tensor.of(new float[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 3, 4)
                        .cast(DataType.FLOAT16));
        Graph read = build(write(builder.outputs(builder.add("y", new MatMul(), x, weight))), TABLE);
        assertEquals(DataType.FLOAT32, read.inputs().getFirst().type().data());
        assertEquals(DataType.FLOAT32, read.fact(read.outputs().getFirst()).data());
        assertEquals(
                DataType.FLOAT16, Objects.requireNonNull(read.tensor("weight")).type());
    }

    /** It rounds what flows through it, so that it is not held to the file; who trains it is told. */
    @Test
    void anInt8FileIsTrainedAsTheFloatModelThatItStandsFor() throws IOException {
        GraphBuilder builder = new GraphBuilder("int8");
        Value x = builder.input("x", DataType.FLOAT32, "batch", 3);
        TensorType codes = new TensorType(DataType.INT8, Shape.of(3, 4));
        TensorType scale = new TensorType(DataType.FLOAT32, Shape.of(1));
        Foreign layer = new Foreign(
                "com.microsoft",
                "DynamicQuantizeMatMul",
                new TreeMap<>(Map.of("com.microsoft", 1)),
                new Foreign.Attributes(new byte[0]),
                List.of(),
                List.of(
                        Optional.of(new TensorType(DataType.FLOAT32, Shape.of("batch", 3))),
                        Optional.of(codes),
                        Optional.of(scale)),
                List.of(Optional.of(new TensorType(DataType.FLOAT32, Shape.of("batch", 4)))));
        Value y = builder.add(
                "y",
                layer,
                x,
                builder.constant("weight_quantized", Tensor.computeLongs(DataType.INT8, new long[] {3, 4}, i -> i - 6)),
                builder.constant("scale", Tensor.of(new float[] {0.5f}, 1)));
        Values file = write(builder.outputs(y));
        Tensor weight = Objects.requireNonNull(build(file, TABLE).tensor("weight"));
        assertEquals(-3, weight.getDouble(0));
        assertTrue(notes(file, TABLE).toString().contains("int8 model, read as float32: 1 weight"));
    }

    @Test
    void aFileKeepsItsWeights() throws IOException {
        Graph written = SmallCnn.build(new ImageOptions(10, 1, 8), List.of(3, 4), true, Weights.seeded(9));
        Graph read = build(write(written), DIGITS);
        assertEquals(Shape.of("batch", 10), read.shape(read.outputs().getFirst()));
        assertTrue(Objects.requireNonNull(read.tensor("features.0.conv.weight"))
                .sameAs(Objects.requireNonNull(written.tensor("features.0.conv.weight"))));
    }

    @Test
    void aFixedBatchAndFreeLengthsAreMadeToFit() throws IOException {
        Graph free = SmallCnn.build(new ImageOptions(10, 1, 8), List.of(3, 4), true, WEIGHTS);
        Graph read = build(write(free.withDimensions(Map.of("batch", 1L))), DIGITS);
        Tensor images = Tensor.compute(DataType.FLOAT32, new long[] {3, 1, 8, 8}, i -> i % 7);
        Map<String, Tensor> expected = Evaluator.run(free, Map.of("image", images));
        Map<String, Tensor> actual = Evaluator.run(read, Map.of("image", images));
        assertTrue(Objects.requireNonNull(expected.get("logits")).sameAs(Objects.requireNonNull(actual.get("logits"))));

        GraphBuilder builder = new GraphBuilder("any size");
        Layers layers = new Layers(builder, WEIGHTS);
        Value image = builder.input("image", DataType.FLOAT32, "n", 1, "h", "w");
        Value mean = layers.flatten("flat", layers.globalAverage("mean", layers.convolution("conv", image, 2, 3, 1)));
        Graph sized = build(write(builder.outputs(layers.linear("out", mean, 10))), DIGITS);
        assertEquals(Shape.of("batch", 1, 8, 8), sized.shape("image"));
        assertEquals(Shape.of("batch", 10), sized.shape("out"));
    }

    /** A graph of one input {@code [batch, 1, 8, 8]} whose batch is written into its reshapes. */
    private static Graph fixedInside(long batch, long... shape) {
        GraphBuilder builder = new GraphBuilder("fixed");
        Layers layers = new Layers(builder, WEIGHTS);
        Value image = builder.input("image", DataType.FLOAT32, batch, 1, 8, 8);
        Value split = builder.add(
                "split", Reshape.DEFAULT, image, builder.constant("halves", Tensor.of(new long[] {2 * batch, 32}, 2)));
        Value relu = layers.relu("relu", split);
        Value flat =
                builder.add("join", Reshape.DEFAULT, relu, builder.constant("shape", Tensor.of(shape, shape.length)));
        return builder.outputs(layers.linear("out", flat, 10));
    }

    /** Each sample is answered as it would be alone. */
    @Test
    void aBatchThatIsFixedInsideIsFreed() throws IOException {
        for (Graph fixed : List.of(fixedInside(1, 1, 64), fixedInside(1, 1, -1), fixedInside(3, 3, 64))) {
            long batch = fixed.shape("image").get(0).value();
            Values model = write(fixed);
            Graph free = build(model, DIGITS);
            assertEquals(Shape.of("batch", 10), free.shape("out"));
            Tensor images = Tensor.compute(DataType.FLOAT32, new long[] {2 * batch, 1, 8, 8}, i -> i % 7 - 3);
            Tensor all = Objects.requireNonNull(
                    Evaluator.run(free, Map.of("image", images)).get("out"));
            for (int part = 0; part < 2; part++) {
                long first = part * batch;
                Tensor some = Tensor.compute(
                        DataType.FLOAT32, new long[] {batch, 1, 8, 8}, i -> images.getDouble(first * 64 + i));
                Tensor alone = Objects.requireNonNull(
                        Evaluator.run(fixed, Map.of("image", some)).get("out"));
                for (long i = 0; i < alone.size(); i++) {
                    assertEquals(alone.getDouble(i), all.getDouble(first * 10 + i), 1e-6);
                }
            }
            String note = notes(model, DIGITS).getFirst();
            assertTrue(note.contains("input image, fixed to " + batch + ", is free now"), note);
        }
    }

    /** A sum over all samples of a batch is no answer for each. */
    @Test
    void aBatchThatCannotBeFreedIsRefused() throws IOException {
        GraphBuilder builder = new GraphBuilder("sum");
        Value image = builder.input("image", DataType.FLOAT32, 1, 1, 8, 8);
        Value sum = builder.add("sum", new Reduce(Reduce.Function.SUM, List.of(0L, 1L), false), image);
        Graph fixed = builder.outputs(new Layers(builder, WEIGHTS).linear("out", sum, 10));
        assertRefused(write(fixed), DIGITS, "model.file = ", "free batch axis");
    }

    /** What the new layer reads, and what is said of it. */
    private static void assertNewHead(Graph graph, Signature wanted, String features, String note) throws IOException {
        Values model = write(graph, "model.head=new");
        Graph changed = build(model, wanted);
        assertEquals(List.of("logits"), changed.outputs());
        assertEquals(wanted.outputs().getFirst().batched(), changed.shape("logits"));
        Node head = Objects.requireNonNull(changed.producer("logits"));
        assertTrue(changed.initializers().containsKey("head.weight"));
        assertTrue(
                changed.nodes().stream()
                        .anyMatch(node ->
                                node.inputs().contains(features) && node.name().startsWith("head")),
                features);
        assertTrue(changed.nodes().stream().noneMatch(node -> node.operator() instanceof Softmax));
        String said = notes(model, wanted).getLast();
        assertTrue(said.contains(note), said);
        // What was there keeps its weights.
        changed.tensors(Initializer.Kind.PARAMETER).forEach((name, tensor) -> {
            if (!name.startsWith("head.")) {
                assertTrue(tensor.sameAs(Objects.requireNonNull(graph.tensor(name))), name);
            }
        });
        assertTrue(
                Objects.requireNonNull(build(model, wanted).tensor("head.weight"))
                        .sameAs(Objects.requireNonNull(changed.tensor("head.weight"))),
                "the seed decides");
        assertEquals("head", head.name());
        assertFalse(ModelSection.KINDS.of(model).isReady(model));
        assertFalse(ModelSection.KINDS.of(model).isTrained(model));
    }

    @Test
    void otherClassesGetANewHeadWhereverTheOldOneIs() throws IOException {
        Signature three = signature("three", 3, new Field.Image("image", 1, 8, 8));
        Graph gemm = SmallCnn.build(new ImageOptions(10, 1, 8), List.of(3, 4), true, WEIGHTS);
        assertRefused(write(gemm), three, "[batch × 10]", "needs [batch × 3]", "model.head = \"new\"");
        Node old = Objects.requireNonNull(gemm.producer("logits"));
        assertNewHead(gemm, three, old.input(0), "node " + old.name() + " (Gemm), the last layer, is replaced by head");

        GraphBuilder builder = new GraphBuilder("matmul");
        Layers layers = new Layers(builder, WEIGHTS);
        Value image = builder.input("image", DataType.FLOAT32, 1, 1, 8, 8);
        Value hidden = layers.relu("relu", layers.flatten("flat", image));
        Value scores = layers.dense("scores", hidden, 10);
        assertNewHead(
                builder.outputs(builder.add("softmax", new Softmax(-1, false), scores)),
                three,
                "relu",
                "scores.product (MatMul)");

        builder = new GraphBuilder("conv");
        layers = new Layers(builder, WEIGHTS);
        image = builder.input("image", DataType.FLOAT32, "n", 1, 8, 8);
        Value map = layers.relu("trunk", layers.convolution("conv", image, 5, 3, 1));
        Value classes = layers.relu("relu", layers.convolution("classes", map, 10, 1, 1));
        Value mean = layers.globalAverage("mean", classes);
        assertNewHead(builder.outputs(layers.flatten("flat", mean)), three, "trunk", "classes (Conv)");
    }

    @Test
    void featuresGetAHeadBehindThem() throws IOException {
        Signature three = signature("three", 3, new Field.Image("image", 1, 8, 8));
        GraphBuilder builder = new GraphBuilder("features");
        Layers layers = new Layers(builder, WEIGHTS);
        Value image = builder.input("image", DataType.FLOAT32, "n", 1, 8, 8);
        Value map = layers.relu("trunk", layers.convolution("conv", image, 5, 3, 1));
        assertNewHead(builder.outputs(map), three, "trunk", "reads the 5 features of trunk");

        builder = new GraphBuilder("tokens");
        Value ids = builder.input("input_ids", DataType.INT64, "n", "t");
        builder.input("attention_mask", DataType.INT64, "n", "t");
        Value table = builder.parameter("table", Tensor.compute(DataType.FLOAT32, new long[] {9, 4}, i -> i));
        Graph embedding = builder.outputs(builder.add("last_hidden_state", new Gather(0), table, ids));
        Signature texts = new Signature(
                "texts",
                Signature.inputsOf(List.of(
                        new Field.Tokens("input_ids", 8, 0),
                        new Field.Tokens("attention_mask", 8, 0),
                        new Field.Tokens("token_type_ids", 8, 0))),
                three.outputs());
        assertNewHead(embedding, texts, "last_hidden_state", "reads the 4 features of last_hidden_state");
        // What fills up a batch changes nothing.
        Graph changed = build(write(embedding, "model.head=new"), texts);
        Tensor alone = said(changed, new long[] {1, 2}, new long[] {1, 1});
        Tensor filled = said(changed, new long[] {1, 2, 0, 0}, new long[] {1, 1, 0, 0});
        for (int i = 0; i < 3; i++) {
            assertEquals(alone.getDouble(i), filled.getDouble(i), 1e-6);
        }
    }

    private static Tensor said(Graph model, long[] ids, long[] mask) {
        return Objects.requireNonNull(Evaluator.run(
                        model,
                        Map.of(
                                "input_ids", Tensor.of(ids, 1, ids.length),
                                "attention_mask", Tensor.of(mask, 1, mask.length)))
                .get("logits"));
    }

    @Test
    void aTokenizerIsBesideTheFileOrWhereTheRecipeSays() {
        ModelKind onnx = ModelSection.KINDS.find("onnx").orElseThrow();
        Path file = folder.resolve("model.onnx");
        assertEquals(
                Optional.of(folder.toAbsolutePath()), onnx.tokenizer(model("model.kind=onnx", "model.file=" + file)));
        assertEquals(
                Optional.of(Path.of("words/tokenizer.json")),
                onnx.tokenizer(model("model.kind=onnx", "model.file=" + file, "model.tokenizer=words/tokenizer.json")));
    }

    @Test
    void aModelWithoutFeaturesHasNoNewHead() throws IOException {
        GraphBuilder builder = new GraphBuilder("sum");
        Value image = builder.input("image", DataType.FLOAT32, "n", 1, 8, 8);
        Value sum = builder.add("sum", new Reduce(Reduce.Function.SUM, List.of(1L, 2L, 3L), false), image);
        assertRefused(
                write(builder.outputs(sum), "model.head=new"),
                DIGITS,
                "model.head = new finds no layer to replace",
                "its output sum is made by sum (ReduceSum)");
    }

    @Test
    void filesThatDoNotFitAreRefused() throws IOException {
        Values vectors = write(Mlp.ofVectors(4, 3, List.of(5), WEIGHTS));
        assertEquals(Shape.of("batch", 4), build(vectors, TABLE).shape("logits"));
        assertRefused(vectors, DIGITS, "features", "[batch × 3]", "[batch × 1 × 8 × 8]", "digits");
        assertRefused(
                write(SmallCnn.build(new ImageOptions(7, 1, 8), List.of(3), true, WEIGHTS)),
                DIGITS,
                "[batch × 7]",
                "[batch × 10]");
        assertRefused(
                write(SmallCnn.build(new ImageOptions(10, 3, 8), List.of(3), true, WEIGHTS)), DIGITS, "3 × 8 × 8");
        assertThrows(
                NoSuchFileException.class, () -> build(model("model.kind=onnx", "model.file=nowhere.onnx"), DIGITS));
    }

    @Test
    void filesWithOtherInputsOrOutputsAreRefused() throws IOException {
        GraphBuilder two = new GraphBuilder("two");
        Layers twoLayers = new Layers(two, WEIGHTS);
        Value a = two.input("a", DataType.FLOAT32, "batch", 4);
        Value b = two.input("b", DataType.FLOAT32, "batch", 4);
        assertRefused(
                write(two.outputs(twoLayers.add("sum", a, b))),
                TABLE,
                "inputs [a float32[batch × 4], b float32[batch × 4]]");

        GraphBuilder doubles = new GraphBuilder("doubles");
        Value x = doubles.input("x", DataType.FLOAT64, "batch", 4);
        Graph tanh = doubles.outputs(doubles.add("tanh", new Unary(Unary.Function.TANH), x));
        assertRefused(write(tanh), TABLE, "float64", "float32");

        Graph mlp = Mlp.ofVectors(5, 3, List.of(5), WEIGHTS);
        Graph more =
                new Graph("more", mlp.inputs(), mlp.initializers(), mlp.nodes(), List.of("hidden.0.relu", "hidden.0"));
        assertRefused(
                write(more),
                signature("table.csv", 5, new Field.Numbers("features", List.of(3))),
                "outputs [hidden.0.relu [batch × 5], hidden.0 [batch × 5]]",
                "logits [batch × 5]");
    }

    /** Names first, then what is left, then shapes; what nobody asks for is left alone. */
    @Test
    void inputsAndOutputsAreFoundByNameOrShape() {
        GraphBuilder builder = new GraphBuilder("two");
        Layers layers = new Layers(builder, WEIGHTS);
        Value wide = builder.input("wide", DataType.FLOAT32, 1, 5);
        Value narrow = builder.input("narrow", DataType.FLOAT32, 1, 3);
        Value sum = layers.add("sum", layers.linear("left", wide, 4), layers.linear("right", narrow, 4));
        Graph model = builder.outputs(sum, layers.linear("last", sum, 2));
        Signature wanted =
                signature("pairs", 2, new Field.Numbers("b", List.of(3)), new Field.Numbers("a", List.of(5)));
        Fitted fitted = wanted.fit(model, "the model");
        assertEquals(Map.of("a", "wide", "b", "narrow"), fitted.inputs());
        assertEquals(Map.of("logits", "last"), fitted.outputs());
        assertEquals(Shape.of("batch", 2), fitted.model().shape("last"));
        Tensor five = Tensor.compute(DataType.FLOAT32, new long[] {2, 5}, i -> i);
        Tensor three = Tensor.compute(DataType.FLOAT32, new long[] {2, 3}, i -> i);
        Map<String, Tensor> said =
                fitted.named(fed -> Evaluator.run(fitted.model(), fed)).apply(Map.of("a", five, "b", three));
        assertEquals(Set.of("logits"), said.keySet());
        assertThrows(IllegalArgumentException.class, () -> fitted.feed(Map.of("a", five)));
    }

    @Test
    void whatIsNotRequiredMayBeMissing() {
        Graph mlp = Mlp.ofVectors(4, 3, List.of(5), WEIGHTS);
        Signature.Input more = new Signature.Input("more", DataType.FLOAT32, Shape.of(9), false);
        List<Signature.Input> inputs = new ArrayList<>(TABLE.inputs());
        inputs.add(more);
        Fitted fitted = new Signature("table.csv", inputs, TABLE.outputs()).fit(mlp, "the model");
        assertEquals(Map.of("features", "features"), fitted.inputs());
        assertSame(mlp, fitted.model());
        inputs.set(1, new Signature.Input("more", DataType.FLOAT32, Shape.of(9), true));
        String message = String.valueOf(assertThrows(
                        IllegalArgumentException.class,
                        () -> new Signature("table.csv", inputs, TABLE.outputs()).fit(mlp, "the model"))
                .getMessage());
        assertTrue(message.contains("the inputs [features float32[batch × 3]]"), message);
        assertTrue(message.contains("more [batch × 9]"), message);
    }
}
