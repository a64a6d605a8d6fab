package dev.espalier.djl;

import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.convolutional.Convolution;
import ai.djl.nn.core.Linear;
import dev.espalier.core.check.Check;
import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.JointGroups;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which parameters of a model are penalised, and along which axis their groups lie.
 *
 * <p>Rules are read in order and the last one that fits a parameter decides, so that exceptions follow what they are
 * exceptions of:
 *
 * <pre>{@code
 * BlockGroups.DEFAULT.exclude().named("03Linear_weight")
 * BlockGroups.NONE.channels().of(Conv2d.class).neurons().matching(Pattern.compile("encoder.*weight"))
 * }</pre>
 *
 * <p>Names are those of {@link Block#getParameters()}. A parameter that no rule fits is free: it is trained without
 * penalty. So are frozen ones, which are not trained at all.
 *
 * @param rules the rules
 */
public record BlockGroups(List<Rule> rules) {

    /** No rule: nothing is penalised. */
    public static final BlockGroups NONE = new BlockGroups(List.of());

    /**
     * The input channels of every convolution and the inputs of every linear layer. Biases, norms and embeddings are free,
     * and so are convolutions that are split into groups of channels themselves.
     */
    public static final BlockGroups DEFAULT =
            NONE.channels().of(Convolution.class).rows().of(Linear.class);

    /** The axis of inputs, in the weights of convolutions (out, in, …) and linear layers (out, in). */
    private static final int INPUTS = 1;

    private static final int OUTPUTS = 0;

    /** Which parameters a rule fits. */
    public sealed interface ParameterSelector {

        /**
         * The weights (not biases) of all layers of a class.
         *
         * @param layer the class, or one that it extends
         */
        record OfLayer(Class<? extends Block> layer) implements ParameterSelector {}

        /**
         * Parameters of these names, whatever they are.
         *
         * @param names the names
         */
        record Named(List<String> names) implements ParameterSelector {
            /** Copies the names. */
            public Named {
                names = List.copyOf(names);
                Check.atLeast("number of names", names.size(), 1);
            }
        }

        /**
         * Weights (not biases) in whose name a pattern is found.
         *
         * @param pattern the pattern
         */
        record Matching(Pattern pattern) implements ParameterSelector {}
    }

    /** How the groups of a parameter lie. */
    public sealed interface Grouping {

        /**
         * One group for every place along an axis.
         *
         * @param axis the axis, from 0
         */
        record Along(int axis) implements Grouping {
            /** Checks the axis. */
            public Along {
                Check.atLeast("axis", axis, 0);
            }
        }

        /**
         * One group for every place along an axis, across all the parameters that the rule names.
         *
         * @param axis the axis, from 0; it must be of the same extent in all of them
         */
        record Joint(int axis) implements Grouping {
            /** Checks the axis. */
            public Joint {
                Check.atLeast("axis", axis, 0);
            }
        }

        /** Every weight is a group of its own. */
        record Single() implements Grouping {}

        /** No groups: the parameter is free. */
        record Free() implements Grouping {}
    }

    /**
     * One rule.
     *
     * @param selector which parameters it fits
     * @param grouping how their groups lie
     */
    public record Rule(ParameterSelector selector, Grouping grouping) {
        /** Checks that joint groups name their parameters. */
        public Rule {
            if (grouping instanceof Grouping.Joint && !(selector instanceof ParameterSelector.Named)) {
                throw new IllegalArgumentException(
                        "joint groups of " + selector + ": parameters that share groups must be named, in their order");
            }
        }
    }

    /** Copies the rules. */
    public BlockGroups {
        rules = List.copyOf(rules);
    }

    /** A grouping that waits for the parameters that it is for. */
    public final class Choice {
        private final Grouping grouping;

        private Choice(Grouping grouping) {
            this.grouping = grouping;
        }

        /**
         * For the weights of all layers of a class. Along axis 1, convolutions that are split into groups of channels, as
         * depthwise ones are, are passed over: they have no groups of input channels there.
         *
         * @param layer the class, such as {@code Conv2d.class}, or one that it extends
         * @return these rules and this one
         */
        public BlockGroups of(Class<? extends Block> layer) {
            return plus(new Rule(new ParameterSelector.OfLayer(layer), grouping));
        }

        /**
         * For parameters of these names. Every name must be one of the model's.
         *
         * @param names as {@link Block#getParameters()} has them
         * @return these rules and this one
         */
        public BlockGroups named(String... names) {
            return plus(new Rule(new ParameterSelector.Named(List.of(names)), grouping));
        }

        /**
         * For weights in whose name a pattern is found. It must be found in at least one.
         *
         * @param pattern the pattern
         * @return these rules and this one
         */
        public BlockGroups matching(Pattern pattern) {
            return plus(new Rule(new ParameterSelector.Matching(pattern), grouping));
        }
    }

    private BlockGroups plus(Rule rule) {
        List<Rule> more = new ArrayList<>(rules);
        more.add(rule);
        return new BlockGroups(more);
    }

    /**
     * Groups of input channels: all weights of a convolution that read one channel (axis 1).
     *
     * @return the choice of parameters
     */
    public Choice channels() {
        return along(INPUTS);
    }

    /**
     * Groups of inputs: all weights of a linear layer that leave one input. These are the rows of {@code x W}; DJL stores
     * the transpose, (out, in), so that the groups lie along axis 1.
     *
     * @return the choice of parameters
     */
    public Choice rows() {
        return along(INPUTS);
    }

    /**
     * Groups of outputs: the filters of a convolution or the neurons of a linear layer (axis 0).
     *
     * @return the choice of parameters
     */
    public Choice neurons() {
        return along(OUTPUTS);
    }

    /**
     * {@return one group for every place along an axis}
     *
     * @param axis the axis, from 0
     */
    public Choice along(int axis) {
        return new Choice(new Grouping.Along(axis));
    }

    /** {@return every weight a group of its own} */
    public Choice singles() {
        return new Choice(new Grouping.Single());
    }

    /**
     * No groups, whatever the rules before this one say.
     *
     * @return the choice of parameters
     */
    public Choice exclude() {
        return new Choice(new Grouping.Free());
    }

    /**
     * Groups that span parameters: a place along an axis of all of them is one group. Query, key and value of an attention
     * layer are the typical case. Only {@link BlockStepper} can step them.
     *
     * @param axis the axis, from 0; it must be of the same extent in all parameters
     * @param names the parameters, as {@link Block#getParameters()} has them
     * @return these rules and this one
     */
    public BlockGroups joint(int axis, String... names) {
        return new Choice(new Grouping.Joint(axis)).named(names);
    }

    /**
     * Parameters that are stepped as one.
     *
     * @param parameters one, or those of a joint rule
     * @param groups their groups; null if they are free
     */
    record Assignment(
            List<ModelParameter> parameters, @Nullable Groups groups) {}

    /** Applies the rules to a model that has been initialised. Frozen parameters are left out. */
    List<Assignment> assign(Block model) {
        List<ModelParameter> parameters = ModelParameter.of(model).stream()
                .filter(ModelParameter::trained)
                .toList();
        if (parameters.isEmpty()) {
            throw new IllegalArgumentException("the model has no parameters to train: all of "
                    + model.getParameters().keys() + " are frozen");
        }
        rules.forEach(rule -> requireUse(rule, parameters));
        List<Assignment> assignments = new ArrayList<>();
        Map<Rule, List<ModelParameter>> joint = new LinkedHashMap<>();
        for (ModelParameter parameter : parameters) {
            Rule rule = deciding(parameter).orElse(null);
            if (rule != null && rule.grouping() instanceof Grouping.Joint) {
                joint.computeIfAbsent(rule, none -> new ArrayList<>()).add(parameter);
            } else {
                assignments.add(new Assignment(List.of(parameter), rule == null ? null : groups(rule, parameter)));
            }
        }
        joint.forEach((rule, members) -> assignments.add(joined(rule, members)));
        return assignments;
    }

    /** A name or a pattern that fits nothing is a slip of the pen. A class may well be absent from a model. */
    private static void requireUse(Rule rule, List<ModelParameter> parameters) {
        List<String> names = parameters.stream().map(ModelParameter::name).toList();
        switch (rule.selector()) {
            case ParameterSelector.OfLayer _ -> {}
            case ParameterSelector.Named named -> {
                List<String> unknown = named.names().stream()
                        .filter(name -> !names.contains(name))
                        .toList();
                if (!unknown.isEmpty()) {
                    throw new IllegalArgumentException(
                            "group rule for %s: the model trains no such parameters, but %s".formatted(unknown, names));
                }
            }
            case ParameterSelector.Matching(Pattern pattern) -> {
                if (parameters.stream().noneMatch(parameter -> fits(rule.selector(), parameter))) {
                    throw new IllegalArgumentException(
                            "group rule for the pattern %s: it is not found in any weight among %s"
                                    .formatted(pattern, names));
                }
            }
        }
    }

    private Optional<Rule> deciding(ModelParameter parameter) {
        return rules.reversed().stream()
                .filter(rule -> fits(rule.selector(), parameter))
                .findFirst();
    }

    private static boolean fits(ParameterSelector selector, ModelParameter parameter) {
        boolean weight = parameter.parameter().getType() == Parameter.Type.WEIGHT;
        return switch (selector) {
            case ParameterSelector.OfLayer(Class<? extends Block> layer) ->
                weight && layer.isInstance(parameter.layer());
            case ParameterSelector.Named(List<String> names) -> names.contains(parameter.name());
            case ParameterSelector.Matching(Pattern pattern) ->
                weight && pattern.matcher(parameter.name()).find();
        };
    }

    private static @Nullable Groups groups(Rule rule, ModelParameter parameter) {
        return switch (rule.grouping()) {
            case Grouping.Along(int axis) -> splitsChannels(axis, rule, parameter) ? null : along(axis, parameter);
            case Grouping.Joint(int axis) -> along(axis, parameter);
            case Grouping.Single _ -> AxisGroups.single(parameter.shape());
            case Grouping.Free _ -> null;
        };
    }

    private static AxisGroups along(int axis, ModelParameter parameter) {
        long[] shape = parameter.shape();
        if (axis >= shape.length) {
            throw new IllegalArgumentException("group rule for %s: axis = %d is out of range: its shape is %s"
                    .formatted(parameter.name(), axis, parameter.parameter().getShape()));
        }
        return AxisGroups.along(axis, shape);
    }

    /**
     * Whether a convolution is split into groups of channels, as depthwise ones are. A place along its axis 1 is not one
     * input channel but one of every group, so that zeroing it would drop channels that have nothing to do with each other.
     */
    private static boolean splitsChannels(int axis, Rule rule, ModelParameter parameter) {
        if (axis != INPUTS
                || !(parameter.layer() instanceof Convolution convolution)
                || parameter.shape().length <= INPUTS) {
            return false;
        }
        long channels = convolution.getInputShapes()[0].get(INPUTS);
        long perGroup = parameter.shape()[INPUTS];
        if (channels == perGroup) {
            return false;
        }
        if (rule.selector() instanceof ParameterSelector.OfLayer) {
            return true;
        }
        throw new IllegalArgumentException(
                ("group rule for %s: it is a convolution of %d channels in %d groups, which has no"
                                + " groups of input channels along axis 1; use neurons() for its filters, or exclude() it")
                        .formatted(parameter.name(), channels, channels / perGroup));
    }

    private static Assignment joined(Rule rule, List<ModelParameter> members) {
        Set<String> found = members.stream().map(ModelParameter::name).collect(Collectors.toSet());
        List<String> names = ((ParameterSelector.Named) rule.selector()).names();
        List<String> taken =
                names.stream().filter(name -> !found.contains(name)).toList();
        if (!taken.isEmpty()) {
            throw new IllegalArgumentException(
                    "joint group rule for %s: a later rule decides on %s; name them in one rule only"
                            .formatted(names, taken));
        }
        List<ModelParameter> ordered = names.stream()
                .map(name -> members.stream()
                        .filter(member -> member.name().equals(name))
                        .findFirst()
                        .orElseThrow())
                .toList();
        int axis = ((Grouping.Joint) rule.grouping()).axis();
        return new Assignment(
                ordered,
                new JointGroups(
                        ordered.stream().map(member -> along(axis, member)).toList()));
    }
}
