package dev.espalier.train.task;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** What each class counts in a loss. */
public sealed interface ClassWeights {
    /** All the same. */
    record Equal() implements ClassWeights {}

    /** As much as it is rare in the training part, so that all classes together count the same. */
    record Balanced() implements ClassWeights {}

    /**
     * As somebody says.
     *
     * @param weights one for each class, in the order of the data's classes; all above 0
     */
    record Given(List<Double> weights) implements ClassWeights {
        /** Copies the list. */
        public Given {
            weights = List.copyOf(weights);
        }
    }

    /**
     * The weights of some classes.
     *
     * @param names what the classes are called
     * @param balanced those that make rare classes count as much as others
     * @return one for each class; none for equal ones
     * @throws IllegalArgumentException if there are more or fewer weights than classes
     */
    default List<Double> of(List<String> names, List<Double> balanced) {
        return switch (this) {
            case Equal _ -> List.of();
            case Balanced _ -> balanced;
            case Given(List<Double> weights) -> {
                if (weights.size() != names.size()) {
                    throw new IllegalArgumentException(
                            "task.class_weights has %d numbers, but there are %d classes, %s: give one for each, in this order"
                                    .formatted(weights.size(), names.size(), shortened(names)));
                }
                yield weights;
            }
        };
    }

    private static List<String> shortened(List<String> names) {
        List<String> few = new ArrayList<>(names.subList(0, Math.min(10, names.size())));
        few.addAll(Collections.nCopies(names.size() > few.size() ? 1 : 0, "…"));
        return few;
    }
}
