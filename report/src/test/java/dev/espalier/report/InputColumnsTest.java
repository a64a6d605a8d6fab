package dev.espalier.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.ColumnEncoding;
import dev.espalier.data.Encoding;
import dev.espalier.data.Field;
import dev.espalier.data.Normalization;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.model.Layers;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which columns a pruned model reads. */
final class InputColumnsTest {
    /** A number, a category of three values, a number: five numbers for the model. */
    private static final Encoding ENCODING = new Encoding(
            List.of(new ColumnEncoding.Joined(
                    "features",
                    List.of(
                            scaled("size"),
                            new ColumnEncoding.OneHot(new Field.Category("district", List.of("x", "y", "z"))),
                            scaled("age")))),
            List.of());

    private static final Map<String, String> NAMES = Map.of("features", "features");

    private static ColumnEncoding scaled(String name) {
        return new ColumnEncoding.Scaled(new Field.Numbers(name), Normalization.none(1), 0);
    }

    /** A perceptron with ones in the first layer, but zeros for some inputs; only the first hidden unit is read. */
    private static Graph pruned(Set<Integer> zeros, boolean firstUnitReadsAll) {
        Graph model = Mlp.ofVectors(2, 5, List.of(4), Weights.seeded(1));
        Tensor first = Objects.requireNonNull(model.tensor("hidden.0.weight"));
        Tensor last = Objects.requireNonNull(model.tensor("classifier.weight"));
        Graph sparse = model.withTensors(Map.of(
                "hidden.0.weight",
                Tensor.compute(
                        DataType.FLOAT32,
                        first.shape(),
                        i -> zeros.contains((int) (i % 5)) || (!firstUnitReadsAll && i < 5 && i % 5 == 4) ? 0 : 1),
                "classifier.weight",
                Tensor.compute(DataType.FLOAT32, last.shape(), i -> i % 4 == 0 ? 1 : 0)));
        return Pruner.plan(sparse, PruneOptions.DEFAULT).apply();
    }

    @Test
    void aCategoryIsOneColumn() {
        InputColumns columns = InputColumns.of(ENCODING, NAMES, pruned(Set.of(0, 2), true));
        assertEquals(
                List.of("size", "district", "age"),
                columns.columns().stream().map(InputColumns.Column::name).toList());
        assertEquals(List.of("size"), columns.dropped());
        assertEquals(Math.sqrt(2), columns.columns().get(1).norm(), 1e-6, "two values, one unit that is read");
        assertEquals(1, columns.columns().get(2).norm(), 1e-6);
        assertEquals(List.of("district", "age", "size"), columns.ranked());
        String html = columns.toHtml().markup();
        assertTrue(html.contains("reads 2 of 3 columns"), html);
        assertTrue(html.contains("none: it may be left out"), html);
    }

    /** What only dead units read is not read. */
    @Test
    void whatDeadUnitsReadDoesNotCount() {
        assertEquals(
                List.of("age"),
                InputColumns.of(ENCODING, NAMES, pruned(Set.of(), false)).dropped());
        assertEquals(
                List.of(),
                InputColumns.of(ENCODING, NAMES, pruned(Set.of(), true)).dropped());
    }

    @Test
    void whereSomethingElseThanALayerReadsThemNothingIsSaid() {
        GraphBuilder graph = new GraphBuilder("wrapped");
        Layers layers = new Layers(graph, Weights.seeded(1));
        Graph model = graph.outputs(layers.linear(
                "classifier", layers.relu("relu", graph.input("features", DataType.FLOAT32, "batch", 5)), 2, "logits"));
        assertEquals(InputColumns.NONE, InputColumns.of(ENCODING, NAMES, model));
        assertTrue(InputColumns.NONE.toHtml().isEmpty());
    }

    @Test
    void numbersWithoutNamesHaveTheirPlaces() {
        Encoding plain =
                new Encoding(List.of(new ColumnEncoding.Plain(new Field.Numbers("features", List.of(5)))), List.of());
        InputColumns columns = InputColumns.of(plain, NAMES, pruned(Set.of(1, 3), true));
        assertEquals(List.of("features[1]", "features[3]"), columns.dropped());
        assertFalse(columns.toHtml().isEmpty());
    }
}
