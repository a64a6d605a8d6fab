package dev.espalier.torture.graph;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.ArgReduce;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.type.DataType;
import dev.espalier.torture.graph.Draft.Flow;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * A model made by chance, of any operators, with random shapes and with groups of weights that are zero.
 *
 * @param graph the model
 * @param hidden its layers whose units can be told apart only by their weights
 */
record RandomGraph(Graph graph, List<Hidden> hidden) {

    /** So many steps has a model at most; an operator or a block of layers each. */
    private static final int MOST_STEPS = 8;

    RandomGraph {
        hidden = List.copyOf(hidden);
    }

    /**
     * A hidden layer: in whatever order its units are, the model computes the same.
     *
     * @param weight the weights of the layer that makes the units
     * @param axis the axis of the layer's output along which they are
     * @param places all initializers that have numbers for each unit
     */
    record Hidden(String weight, int axis, List<Place> places) {
        Hidden {
            places = List.copyOf(places);
        }
    }

    /**
     * Where an initializer has the units of a layer.
     *
     * @param tensor its name
     * @param axis along which axis
     */
    record Place(String tensor, int axis) {}

    static RandomGraph of(RandomGenerator random) {
        Draft draft = new Draft(random);
        Blocks blocks = new Blocks(draft);
        OperatorSteps operators = new OperatorSteps(draft, blocks);
        int steps = draft.between(1, MOST_STEPS);
        Flow x = start(draft);
        List<Flow> seen = new ArrayList<>(List.of(x));
        for (int i = 0; i < steps; i++) {
            // Mostly a chain; now and then something goes on from further up.
            Flow from = draft.once(8) ? draft.pick(seen) : x;
            x = draft.once(3) ? blocks.any(from) : operators.any(from);
            seen.add(x);
        }
        List<Value> outputs = new ArrayList<>();
        outputs.add(
                draft.once(4) ? x.value() : blocks.layer(x, draft.between(1, 4)).value());
        if (draft.once(6)) {
            outputs.add(blocks.layer(draft.pick(seen), 2).value());
        }
        if (draft.once(10)) {
            outputs.add(choice(draft, x));
        }
        return new RandomGraph(draft.graph.outputs(outputs.toArray(Value[]::new)), draft.hidden);
    }

    /** An output that is no fraction. */
    private static Value choice(Draft draft, Flow x) {
        return draft.flip()
                ? draft.add("choice", new ArgReduce(draft.flip(), x.axis(), draft.flip()), x.value())
                : draft.binary(Binary.Function.GREATER, x.value(), draft.number(0.1));
    }

    private static Flow start(Draft draft) {
        Object batch = draft.once(3) ? (Object) (long) draft.between(1, 3) : "batch";
        return switch (draft.below(8)) {
            case 0, 1, 2 ->
                new Flow(
                        draft.graph.input("x", DataType.FLOAT32, batch, channels(draft), side(draft), side(draft)),
                        false);
            case 3 -> new Flow(draft.graph.input("x", DataType.FLOAT32, batch, channels(draft), length(draft)), false);
            case 4 ->
                new Flow(
                        draft.graph.input("x", DataType.FLOAT32, batch, channels(draft), 1L + draft.below(3), 3L, 2L),
                        false);
            case 5 -> new Flow(draft.graph.input("x", DataType.FLOAT32, batch, length(draft), channels(draft)), true);
            case 6 -> {
                Value places = draft.graph.input("x", DataType.INT64, batch, length(draft));
                Value table = draft.parameter("table", draft.weights(0, 1, 7, channels(draft)));
                yield new Flow(draft.add("embedding", new Gather(0), table, places), true);
            }
            default -> new Flow(draft.graph.input("x", DataType.FLOAT32, batch, channels(draft)), true);
        };
    }

    private static long channels(Draft draft) {
        return draft.once(6) ? 1 : draft.between(2, 7);
    }

    private static long side(Draft draft) {
        return draft.once(6) ? 1 : draft.between(3, 7);
    }

    private static Object length(Draft draft) {
        return draft.flip() ? "length" : (Object) (long) draft.between(3, 6);
    }
}
