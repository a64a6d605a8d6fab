package dev.espalier.djl;

import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.util.Pair;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A parameter of a model, with the name that {@link Block#getParameters()} gives it and the layer that it lies in.
 *
 * @param name unique in the model
 * @param parameter the parameter
 * @param layer the block that holds it directly
 */
record ModelParameter(String name, Parameter parameter, Block layer) {

    /** All parameters of a model. One that several layers share is listed once, under its first name. */
    static List<ModelParameter> of(Block model) {
        List<ModelParameter> found = new ArrayList<>();
        collect("", model, new HashSet<>(), found);
        return found;
    }

    private static void collect(String prefix, Block block, Set<String> seen, List<ModelParameter> found) {
        for (Pair<String, Parameter> pair : block.getDirectParameters()) {
            if (seen.add(pair.getValue().getId())) {
                found.add(new ModelParameter(prefix + pair.getKey(), pair.getValue(), block));
            }
        }
        for (Pair<String, Block> child : block.getChildren()) {
            collect(prefix + child.getKey() + "_", child.getValue(), seen, found);
        }
    }

    boolean trained() {
        return parameter.requiresGradient();
    }

    long[] shape() {
        if (!parameter.isInitialized()) {
            throw new IllegalStateException("parameter " + name
                    + " has no shape yet: initialise the model first, with trainer.initialize(shape) or"
                    + " block.initialize(manager, DataType.FLOAT32, shape)");
        }
        return parameter.getArray().getShape().getShape();
    }

    dev.espalier.core.step.Parameter described() {
        return dev.espalier.core.step.Parameter.of(name, shape());
    }
}
