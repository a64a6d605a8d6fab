package dev.espalier.graph.objective;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphBuilder;
import dev.espalier.graph.Node;
import dev.espalier.graph.Value;
import dev.espalier.graph.op.ArgReduce;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Elementwise.Cast;
import dev.espalier.graph.op.Elementwise.Unary;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.op.GatherElements;
import dev.espalier.graph.op.Operator;
import dev.espalier.graph.op.Reduce;
import dev.espalier.graph.op.Softmax;
import dev.espalier.graph.op.Squeeze;
import dev.espalier.graph.op.Unsqueeze;
import dev.espalier.graph.op.Where;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import dev.espalier.graph.type.TensorType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;

/** Arithmetic on tensors, written down as nodes of a graph. Numbers are single precision unless they say otherwise. */
public final class Formula {
    private final GraphBuilder builder;
    private final Graph model;
    private final boolean alone;
    private final Map<String, Value> read;
    private final String aim;
    private int nodes;

    Formula(GraphBuilder builder, Graph model, boolean alone) {
        this(builder, model, alone, new HashMap<>(), "");
    }

    private Formula(GraphBuilder builder, Graph model, boolean alone, Map<String, Value> read, String aim) {
        this.builder = builder;
        this.model = model;
        this.alone = alone;
        this.read = read;
        this.aim = aim;
    }

    /**
     * The same for other targets: what is written with it is compared with those of another name.
     *
     * @param prefix what the names of these targets begin with; no other formula of the same graph has it
     * @return a formula on the same model
     */
    public Formula aimedAt(String prefix) {
        return new Formula(builder, model, alone, read, aim + prefix);
    }

    GraphBuilder builder() {
        return builder;
    }

    /**
     * A tensor of the model.
     *
     * @param tensor its name: an output or an input, mostly; any other too
     * @return the tensor, in single precision if it holds fractions
     */
    public Value model(String tensor) {
        return read.computeIfAbsent(tensor, this::tensor);
    }

    /**
     * Whether a tensor can be read. Where the objective is alone with what a model said, only inputs and outputs can.
     *
     * @param tensor its name
     * @return true for whatever the model has, if it is there
     */
    public boolean reaches(String tensor) {
        return !alone
                || model.isOutput(tensor)
                || model.inputs().stream().anyMatch(input -> input.name().equals(tensor));
    }

    private Value tensor(String name) {
        TensorType type = model.fact(name).type();
        Value value = alone
                ? builder.input(name, type.data(), type.shape().dimensions().toArray())
                : builder.value(name);
        return type.data().isFloat() && type.data() != DataType.FLOAT32 ? cast(value, DataType.FLOAT32) : value;
    }

    /**
     * The model's outputs.
     *
     * @return their names, in order
     */
    public List<String> outputs() {
        return model.outputs();
    }

    /**
     * What the model is compared with: an input of the graph.
     *
     * @param name the target's name, behind the prefix of {@link #aimedAt}, if there is one; its input is called
     *     {@link Objective#input}
     * @param data how its numbers are stored
     * @param shape for each axis a whole number, the name of a symbol, or a dimension
     * @return the tensor
     */
    public Value target(String name, DataType data, Object... shape) {
        return builder.input(Objective.input(aim + name), data, shape);
    }

    /**
     * Another model, which is given what the model is given and never changes: a teacher.
     *
     * @param name what to call it; no other has that name
     * @param other the other model, as it is for inference; its inputs are among the model's
     * @return from the names of its tensors to the tensors
     */
    public Function<String, Value> include(String name, Graph other) {
        Map<String, Value> known = new HashMap<>();
        other.inputs().forEach(input -> known.put(input.name(), model(input.name())));
        UnaryOperator<String> named = tensor -> Objective.PREFIX + aim + name + "/" + tensor;
        other.initializers()
                .forEach((tensor, initializer) ->
                        known.put(tensor, builder.constant(named.apply(tensor), initializer.tensor())));
        for (Node node : other.nodes()) {
            List<Value> made = builder.addAll(new Node(
                    named.apply(node.name()),
                    node.operator(),
                    node.inputs().stream()
                            .map(input -> input.isEmpty()
                                    ? input
                                    : found(known, input).name())
                            .toList(),
                    node.outputs().stream().map(named).toList()));
            for (int i = 0; i < made.size(); i++) {
                known.put(node.outputs().get(i), made.get(i));
            }
        }
        return tensor -> found(known, tensor);
    }

    private static Value found(Map<String, Value> known, String tensor) {
        Value value = known.get(tensor);
        if (value == null) {
            throw new IllegalArgumentException("there is no tensor " + tensor);
        }
        return value;
    }

    /**
     * Any operator.
     *
     * @param operator what is done
     * @param inputs to what
     * @return its first output
     */
    public Value apply(Operator operator, Value... inputs) {
        return builder.add(next(operator.label()), operator, inputs);
    }

    private String next(String label) {
        nodes++;
        return Objective.PREFIX + "node/" + aim + label + nodes;
    }

    /**
     * {@return a number}
     *
     * @param value the number
     */
    public Value number(double value) {
        return constant(Tensor.scalar(DataType.FLOAT32, value));
    }

    /**
     * Known numbers.
     *
     * @param contents the numbers
     * @return the tensor
     */
    public Value constant(Tensor contents) {
        return builder.constant(next("constant"), contents);
    }

    /**
     * The sum, element by element.
     *
     * @param left one
     * @param right the other
     * @return {@code left + right}
     */
    public Value plus(Value left, Value right) {
        return binary(Binary.Function.ADD, left, right);
    }

    /**
     * The difference, element by element.
     *
     * @param left one
     * @param right the other
     * @return {@code left − right}
     */
    public Value minus(Value left, Value right) {
        return binary(Binary.Function.SUBTRACT, left, right);
    }

    /**
     * The product, element by element.
     *
     * @param left one
     * @param right the other
     * @return {@code left · right}
     */
    public Value times(Value left, Value right) {
        return binary(Binary.Function.MULTIPLY, left, right);
    }

    /**
     * The quotient, element by element.
     *
     * @param left one
     * @param right the other
     * @return {@code left / right}
     */
    public Value divide(Value left, Value right) {
        return binary(Binary.Function.DIVIDE, left, right);
    }

    /**
     * Whether elements are equal.
     *
     * @param left one
     * @param right the other
     * @return 1 where they are, 0 elsewhere
     */
    public Value equal(Value left, Value right) {
        return cast(binary(Binary.Function.EQUAL, left, right), DataType.FLOAT32);
    }

    /**
     * Whether elements are larger.
     *
     * @param left one
     * @param right the other
     * @return 1 where {@code left > right}, 0 elsewhere
     */
    public Value greater(Value left, Value right) {
        return cast(binary(Binary.Function.GREATER, left, right), DataType.FLOAT32);
    }

    private Value binary(Binary.Function function, Value left, Value right) {
        return apply(new Binary(function), left, right);
    }

    /**
     * {@return a choice, element by element}
     *
     * @param condition where it is not zero, {@code yes} is taken
     * @param yes one
     * @param no the other
     */
    public Value where(Value condition, Value yes, Value no) {
        return apply(new Where(), cast(condition, DataType.BOOL), yes, no);
    }

    /**
     * The opposite.
     *
     * @param value a tensor
     * @return {@code −value}
     */
    public Value negative(Value value) {
        return unary(Unary.Function.NEGATIVE, value);
    }

    /**
     * The absolute value.
     *
     * @param value a tensor
     * @return {@code |value|}
     */
    public Value absolute(Value value) {
        return unary(Unary.Function.ABS, value);
    }

    /**
     * The square.
     *
     * @param value a tensor
     * @return {@code value²}
     */
    public Value square(Value value) {
        return times(value, value);
    }

    /**
     * What is above zero.
     *
     * @param value a tensor
     * @return {@code max(0, value)}
     */
    public Value positivePart(Value value) {
        return unary(Unary.Function.RELU, value);
    }

    /**
     * The exponential.
     *
     * @param value a tensor
     * @return {@code exp(value)}
     */
    public Value exponential(Value value) {
        return unary(Unary.Function.EXP, value);
    }

    /**
     * The natural logarithm.
     *
     * @param value a tensor of numbers above 0
     * @return {@code ln(value)}
     */
    public Value logarithm(Value value) {
        return unary(Unary.Function.LOG, value);
    }

    /**
     * The square root.
     *
     * @param value a tensor of numbers that are not negative
     * @return {@code √value}
     */
    public Value root(Value value) {
        return unary(Unary.Function.SQRT, value);
    }

    /**
     * The smooth positive part.
     *
     * @param value a tensor
     * @return {@code ln(1 + exp(value))}
     */
    public Value softplus(Value value) {
        return unary(Unary.Function.SOFTPLUS, value);
    }

    private Value unary(Unary.Function function, Value value) {
        return apply(new Unary(function), value);
    }

    /**
     * {@return the same numbers, stored otherwise}
     *
     * @param value a tensor
     * @param data how
     */
    public Value cast(Value value, DataType data) {
        return builder.data(value) == data ? value : apply(new Cast(data), value);
    }

    /**
     * What makes a probability of a logit.
     *
     * @param value a tensor
     * @return {@code 1 / (1 + exp(−value))}
     */
    public Value sigmoid(Value value) {
        return unary(Unary.Function.SIGMOID, value);
    }

    /**
     * Probabilities.
     *
     * @param logits a tensor
     * @param axis along which they add up to 1
     * @return the tensor
     */
    public Value softmax(Value logits, long axis) {
        return apply(new Softmax(axis, false), logits);
    }

    /**
     * {@return the logarithm of a softmax}
     *
     * @param logits a tensor
     * @param axis along which the exponentials add up to 1
     */
    public Value logSoftmax(Value logits, long axis) {
        return apply(new Softmax(axis, true), logits);
    }

    /**
     * Takes one element of each row.
     *
     * @param rows {@code [batch, n]}
     * @param indices {@code [batch]}, whole numbers from 0
     * @return {@code [batch]}
     */
    public Value pick(Value rows, Value indices) {
        Value column = apply(new GatherElements(1), rows, column(indices));
        return apply(new Squeeze(List.of(1L)), column);
    }

    /**
     * A list as the only column of a matrix.
     *
     * @param list {@code [batch]}
     * @return {@code [batch, 1]}
     */
    public Value column(Value list) {
        return apply(new Unsqueeze(List.of(1L)), list);
    }

    /**
     * Takes elements of a list.
     *
     * @param list {@code [n]}
     * @param indices whole numbers from 0, of any shape
     * @return the elements, in the shape of the indices
     */
    public Value take(Value list, Value indices) {
        return apply(new Gather(0), list, indices);
    }

    /**
     * Where the largest element of each row is.
     *
     * @param rows {@code [batch, …, n]}
     * @return {@code [batch, …]}, whole numbers from 0
     */
    public Value argMax(Value rows) {
        return apply(new ArgReduce(true, rows.shape().rank() - 1, false), rows);
    }

    /**
     * The mean over all elements.
     *
     * @param value a tensor
     * @return a single number
     */
    public Value mean(Value value) {
        return apply(new Reduce(Reduce.Function.MEAN, List.of(), false), value);
    }

    /**
     * The mean over all that belongs to a sample.
     *
     * @param value {@code [batch, …]}
     * @return {@code [batch]}
     */
    public Value meanOfEach(Value value) {
        List<Long> axes = LongStream.range(1, value.shape().rank()).boxed().toList();
        return axes.isEmpty() ? value : apply(new Reduce(Reduce.Function.MEAN, axes, false), value);
    }

    /**
     * The sum over all elements.
     *
     * @param value a tensor
     * @return a single number
     */
    public Value sum(Value value) {
        return apply(new Reduce(Reduce.Function.SUM, List.of(), false), value);
    }

    /**
     * {@return the sum along one axis}
     *
     * @param value a tensor
     * @param axis the axis, which goes
     */
    public Value sum(Value value, long axis) {
        return apply(new Reduce(Reduce.Function.SUM, List.of(axis), false), value);
    }
}
