package dev.espalier.train.task;

import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.pass.FreeBatch;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Dimension;
import dev.espalier.graph.type.Shape;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A model held to what a task wants. */
final class Fitting {
    private final Signature wanted;
    private final Graph model;
    private final String what;
    private final String mend;

    Fitting(Signature wanted, Graph model, String what, String mend) {
        this.wanted = wanted;
        this.model = model;
        this.what = what;
        this.mend = mend;
    }

    Fitted fit() {
        SequencedMap<Signature.Input, Graph.Input> inputs = inputs();
        Graph free = withInputs(inputs);
        SequencedMap<String, String> inputNames = new LinkedHashMap<>();
        inputs.forEach((input, given) -> inputNames.put(input.name(), given.name()));
        return new Fitted(free, inputNames, outputs(free));
    }

    Graph withInputs() {
        return withInputs(inputs());
    }

    private SequencedMap<Signature.Input, Graph.Input> inputs() {
        SequencedMap<Signature.Input, Graph.Input> found =
                pair(wanted.inputs(), Signature.Input::name, model.inputs(), this::usualName, Fitting::takes);
        List<String> taken = model.inputs().stream()
                .map(input -> input.name() + " " + input.type())
                .toList();
        Set<Graph.Input> hungry = new LinkedHashSet<>(model.inputs());
        hungry.removeAll(found.values());
        List<Signature.Input> left = wanted.inputs().stream()
                .filter(input -> input.required() && !found.containsKey(input))
                .toList();
        require(
                hungry.isEmpty() && left.isEmpty(),
                "it has the inputs %s, but %s gives %s: export it with inputs of these names and shapes, or choose other data"
                        .formatted(taken, wanted.data(), wanted.inputs()));
        found.forEach(this::requireTakes);
        return found;
    }

    /**
     * What the task calls an input of tokens that the model calls otherwise, where that is clear: exporters say input_mask or
     * segment_ids for what most call attention_mask and token_type_ids.
     */
    private String usualName(Graph.Input input) {
        Optional<String> role = role(input);
        boolean clear = role.isPresent()
                && wanted.inputs().stream().noneMatch(own -> own.name().equals(input.name()))
                && model.inputs().stream().noneMatch(other -> other.name().equals(role.get()))
                && model.inputs().stream()
                                .filter(other -> role(other).equals(role))
                                .count()
                        == 1;
        return clear ? role.get() : input.name();
    }

    private static Optional<String> role(Graph.Input input) {
        String name = input.name().toLowerCase(Locale.ROOT);
        if (input.type().data().isFloat() || input.type().shape().rank() != 2 || name.contains("position")) {
            return Optional.empty();
        }
        return Optional.of(
                name.contains("mask")
                        ? "attention_mask"
                        : name.contains("type") || name.contains("segment") ? "token_type_ids" : "input_ids");
    }

    private void requireTakes(Signature.Input input, Graph.Input given) {
        require(
                holds(given, input),
                "its input %s holds %s, but %s of %s are %s: export it with such an input"
                        .formatted(
                                given.name(),
                                given.type().data().name().toLowerCase(Locale.ROOT),
                                input.name(),
                                wanted.data(),
                                input.type().name().toLowerCase(Locale.ROOT)));
        require(
                takes(input, given),
                "its input %s is %s, but a batch of %s is %s: export it for such samples, or choose other data"
                        .formatted(given.name(), given.type().shape(), wanted.data(), input.batched()));
    }

    /** Whether its numbers can be the data's: ids of 32 bits are made of those of 64 by {@link Fitted#feed}. */
    private static boolean holds(Graph.Input given, Signature.Input input) {
        DataType held = given.type().data();
        return held == input.type() || (held == DataType.INT32 && input.type() == DataType.INT64);
    }

    /** Whether samples fit, whatever the model says of the batch and of lengths that differ. */
    private static boolean takes(Signature.Input input, Graph.Input given) {
        Shape declared = given.type().shape();
        Shape samples = input.batched();
        boolean fits = holds(given, input) && declared.rank() == samples.rank();
        for (int axis = 1; fits && axis < samples.rank(); axis++) {
            Dimension length = declared.get(axis);
            fits = !length.isKnown() || !samples.get(axis).isKnown() || length.equals(samples.get(axis));
        }
        return fits;
    }

    private Graph withInputs(SequencedMap<Signature.Input, Graph.Input> found) {
        SequencedMap<String, Shape> shapes = new LinkedHashMap<>();
        found.forEach((input, given) -> shapes.put(given.name(), input.batched()));
        List<Graph.Input> free = model.inputs().stream()
                .map(given -> new Graph.Input(
                        given.name(),
                        given.type()
                                .with(shapes.getOrDefault(
                                        given.name(), given.type().shape()))))
                .toList();
        if (free.equals(model.inputs())) {
            return model;
        }
        try {
            return FreeBatch.of(model, free);
        } catch (GraphException impossible) {
            throw problem(
                    "it cannot take %s as its inputs, which it declares as %s: export it with a free batch axis (%s)"
                            .formatted(describe(free), describe(model.inputs()), impossible.getMessage()),
                    impossible);
        }
    }

    private static String describe(List<Graph.Input> inputs) {
        return inputs.stream()
                .map(input -> input.name() + " " + input.type().shape())
                .collect(Collectors.joining(", "));
    }

    private SequencedMap<String, String> outputs(Graph free) {
        SequencedMap<Signature.Output, String> found = pair(
                wanted.outputs(),
                Signature.Output::name,
                free.outputs(),
                name -> name,
                (output, name) -> free.shape(name).equals(output.batched()));
        SequencedMap<String, String> names = new LinkedHashMap<>();
        for (Signature.Output output : wanted.outputs()) {
            String name = found.get(output);
            if (name == null) {
                throw problem(
                        "it has the outputs %s, but %s needs %s: export it with one of that name or shape, or %s"
                                .formatted(
                                        free.outputs().stream()
                                                .map(each -> each + " " + free.shape(each))
                                                .toList(),
                                        wanted.data(),
                                        output,
                                        mend),
                        null);
            }
            requireSays(free.shape(name), name, output);
            names.put(output.name(), name);
        }
        return names;
    }

    private void requireSays(Shape shape, String name, Signature.Output output) {
        require(
                shape.rank() != output.batched().rank() || !shape.get(0).isKnown(),
                "its output %s is %s whatever the batch: its batch size is fixed inside; export it with a free batch axis"
                        .formatted(name, shape));
        require(
                shape.equals(output.batched()),
                "its output %s is %s, but %s needs %s: %s, or choose other data"
                        .formatted(name, shape, wanted.data(), output.batched(), mend));
    }

    /** Who is who: by name; then the only ones that are left; then those for which there is only one that fits. */
    private static <W, G> SequencedMap<W, G> pair(
            List<W> wanted,
            Function<W, String> wantedName,
            List<G> given,
            Function<G, String> givenName,
            BiPredicate<W, G> fits) {
        SequencedMap<W, G> found = new LinkedHashMap<>();
        for (W want : wanted) {
            given.stream()
                    .filter(one -> givenName.apply(one).equals(wantedName.apply(want)))
                    .findFirst()
                    .ifPresent(one -> found.put(want, one));
        }
        List<W> open = without(wanted, found.keySet());
        List<G> free = without(given, found.values());
        if (open.size() == 1 && free.size() == 1) {
            found.put(open.getFirst(), free.getFirst());
            return found;
        }
        for (W want : open) {
            List<G> candidates =
                    free.stream().filter(one -> fits.test(want, one)).toList();
            if (candidates.size() == 1
                    && open.stream()
                                    .filter(other -> fits.test(other, candidates.getFirst()))
                                    .count()
                            == 1) {
                found.put(want, candidates.getFirst());
            }
        }
        return found;
    }

    private static <T> List<T> without(List<T> all, Collection<T> some) {
        List<T> rest = new ArrayList<>(all);
        rest.removeAll(some);
        return rest;
    }

    private void require(boolean fits, String problem) {
        if (!fits) {
            throw problem(problem, null);
        }
    }

    private IllegalArgumentException problem(String problem, @Nullable Exception cause) {
        return new IllegalArgumentException(what + " does not fit: " + problem, cause);
    }
}
