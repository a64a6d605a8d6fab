package dev.espalier.blocks;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.training.ParameterStore;
import ai.djl.util.Pair;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.type.Tensor;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The weights of a block: what they are called, and copies of their numbers. Blocks get the arrays themselves from it, on
 * whatever device they are.
 */
final class Weights extends ParameterStore {
    private final IdentityHashMap<NDArray, Pair<String, Parameter>> parameters = new IdentityHashMap<>();
    private final Map<String, Initializer> copies = new HashMap<>();

    Weights(Block block) {
        for (Pair<String, Parameter> parameter : block.getParameters()) {
            parameters.putIfAbsent(parameter.getValue().getArray(), parameter);
        }
    }

    @Override
    public @Nullable NDArray getValue(@Nullable Parameter parameter, Device device, boolean training) {
        return parameter == null ? null : parameter.getArray();
    }

    List<String> names() {
        return parameters.values().stream().map(Pair::getKey).toList();
    }

    String name(@Nullable NDArray array) {
        return find(array).getKey();
    }

    /** The numbers of an array, and what training does with them. */
    Initializer copy(NDArray array) {
        Pair<String, Parameter> parameter = find(array);
        return copies.computeIfAbsent(parameter.getKey(), name -> {
            if (array.getDataType() != DataType.FLOAT32) {
                throw new IllegalArgumentException(
                        "its parameter " + name + " is stored as " + array.getDataType() + ": it must be FLOAT32");
            }
            Tensor tensor = Tensor.of(array.toFloatArray(), array.getShape().getShape());
            return new Initializer(tensor, kind(parameter.getValue().getType()));
        });
    }

    private Pair<String, Parameter> find(@Nullable NDArray array) {
        Pair<String, Parameter> parameter = array == null ? null : parameters.get(array);
        if (parameter == null) {
            throw new IllegalArgumentException("it computes with an array that is neither made of its inputs nor a"
                    + " parameter: make it one (AbstractBlock.addParameter), or a further input");
        }
        return parameter;
    }

    private static Initializer.Kind kind(Parameter.Type type) {
        return switch (type) {
            case RUNNING_MEAN, RUNNING_VAR -> Initializer.Kind.BUFFER;
            case WEIGHT, BIAS, GAMMA, BETA, OTHER -> Initializer.Kind.PARAMETER;
        };
    }
}
