package dev.espalier.blocks;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.internal.NDArrayEx;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Tensor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A graph that grows while blocks work on its arrays, which hold no numbers: they write down what is done to them. */
final class Trace {
    private static final String BATCH = "batch";

    /** What can be written down, by name and parameters. */
    private static final Map<String, Method> OPERATIONS = Arrays.stream(TracedArray.class.getDeclaredMethods())
            .filter(method -> Modifier.isPublic(method.getModifiers()))
            .collect(Collectors.toUnmodifiableMap(Trace::signature, method -> method));

    private final GraphBuilder graph = new GraphBuilder("block");
    private final IdentityHashMap<NDArray, Value> values = new IdentityHashMap<>();
    private final Map<String, Value> initializers = new HashMap<>();
    private final Set<String> names = new HashSet<>();
    private final Weights weights;
    private final long batch;

    /**
     * An empty one.
     *
     * @param weights what the block brings along
     * @param batch what its arrays say is the length of the batch, which the graph leaves open
     */
    Trace(Weights weights, long batch) {
        this.weights = weights;
        this.batch = batch;
        names.addAll(weights.names());
    }

    NDArray input(ai.djl.ndarray.types.DataType data, long... lengths) {
        DataType stored = switch (data) {
            case FLOAT32, INT32, INT64 -> DataType.valueOf(data.name());
            default ->
                throw new IllegalArgumentException(
                        "inputs are stored as " + data + ": it must be FLOAT32, INT32 or INT64");
        };
        Object[] shape =
                Stream.concat(Stream.of(BATCH), LongStream.of(lengths).boxed()).toArray();
        return array(graph.input(unique("input"), stored, shape));
    }

    Graph outputs(NDList arrays) {
        return graph.outputs(arrays.stream().map(this::value).toArray(Value[]::new));
    }

    /** An array that stands for a tensor of the graph. It is its own {@link NDArrayEx}. */
    NDArray array(Value value) {
        TracedArray operations = new TracedArray(this, value);
        NDArray array = (NDArray) Proxy.newProxyInstance(
                NDArray.class.getClassLoader(),
                new Class<?>[] {NDArray.class, NDArrayEx.class},
                (proxy, method, given) -> answer(operations, proxy, method, given));
        values.put(array, value);
        return array;
    }

    private static @Nullable Object answer(
            TracedArray operations, Object proxy, Method method, Object @Nullable [] given) throws Throwable {
        if (method.getDeclaringClass() == Object.class) {
            return switch (method.getName()) {
                case "equals" -> proxy == Objects.requireNonNull(given)[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> operations.toString();
            };
        }
        if (method.getReturnType() == NDArrayEx.class || method.getName().equals("getArray")) {
            return proxy;
        }
        Method operation = OPERATIONS.get(signature(method));
        if (operation != null) {
            try {
                return operation.invoke(operations, given);
            } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
            }
        }
        if (method.isDefault()) { // says what it does by other operations
            return InvocationHandler.invokeDefault(proxy, method, given);
        }
        throw new IllegalArgumentException(
                "it calls " + signature(method) + " of an array, for which there is no operator"
                        + " here: say it by what layers, activations and pooling do, by +, -, *, / and by the shape,"
                        + " or leave the block out of the graph");
    }

    static String signature(Method method) {
        return Arrays.stream(method.getParameterTypes())
                .map(Class::getSimpleName)
                .collect(Collectors.joining(", ", method.getName() + "(", ")"));
    }

    Value value(NDArray array) {
        Value value = values.get(array);
        return value == null ? weight(array) : value;
    }

    private Value weight(NDArray array) {
        Initializer copy = weights.copy(array);
        return initializers.computeIfAbsent(
                weights.name(array),
                name -> copy.kind() == Initializer.Kind.BUFFER
                        ? graph.buffer(name, copy.tensor())
                        : graph.parameter(name, copy.tensor()));
    }

    /** A matrix of weights with rows as columns. */
    Value transposed(NDArray array) {
        Tensor matrix = weights.copy(array).tensor();
        long[] shape = {matrix.shape()[1], matrix.shape()[0]};
        return initializers.computeIfAbsent(
                weights.name(array) + "_transposed",
                name -> graph.parameter(
                        name,
                        Tensor.compute(
                                matrix.type(), shape, i -> matrix.getDouble(i % shape[1] * shape[0] + i / shape[1]))));
    }

    Value constant(String name, Tensor contents) {
        return graph.constant(unique(name), contents);
    }

    DataType data(Value value) {
        return graph.data(value);
    }

    /** The length of an axis, as blocks are told it. */
    long length(Dimension axis) {
        return axis.with(Map.of(BATCH, batch)).value();
    }

    boolean isBatch(long length) {
        return length == batch;
    }

    Value add(Operator operator, Value... from) {
        return graph.add(unique(operator.label()), operator, from);
    }

    /** A node that is called like the layer whose weights it reads; what the layer does without is null. */
    Value layer(NDArray weight, Operator operator, @Nullable Value... from) {
        String name = weights.name(weight);
        int end = name.lastIndexOf('_');
        return graph.add(
                unique(end < 0 ? operator.label() : name.substring(0, end)),
                operator,
                Stream.of(from).filter(Objects::nonNull).toArray(Value[]::new));
    }

    private String unique(String name) {
        String unique = name;
        for (int count = 2; !names.add(unique); count++) {
            unique = name + "_" + count;
        }
        return unique;
    }
}
