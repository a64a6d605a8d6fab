package dev.espalier.train.run;

import dev.espalier.core.group.Groups;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.Coefficients;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * What the optimizer is about to do: the proximal problem of every group, in double precision. For looking at: nothing of it is
 * computed unless somebody asks, and nobody may change what it shows. What it tells holds until the step is done; after
 * that, it tells of the next.
 */
public final class StepView {
    private final UpdateRule rule;
    private final Optimizer optimizer;
    private final Reading weights;
    private final Reading gradients;

    /** Lets the processor read tensors. Off the CPU that is a copy, which is made when somebody looks, and of nothing else. */
    @FunctionalInterface
    interface Reading {
        /**
         * Reads.
         *
         * @param names which tensors are needed; others may come with them
         * @return the tensors by name
         */
        Map<String, TensorView> of(Set<String> names);
    }

    StepView(UpdateRule rule, Optimizer optimizer, Reading weights, Reading gradients) {
        this.rule = rule;
        this.optimizer = optimizer;
        this.weights = weights;
        this.gradients = gradients;
    }

    /**
     * The proximal problem of a group: {@code argmin_z ½ Σ d_i (z_i − u_i/d_i)² + α h(z)}.
     *
     * @param before the group's weights before the step
     * @param u D times the candidate, {@code u = D x − α m}
     * @param d the metric's diagonal
     * @param stepSize α
     */
    @SuppressWarnings("ArrayRecordComponent") // made for one look; nobody compares these records
    public record GroupProblem(double[] before, double[] u, double[] d, double stepSize) {
        /**
         * The candidate after the gradient step.
         *
         * @return {@code u_i / d_i}
         */
        public double[] candidate() {
            double[] x = new double[u.length];
            for (int i = 0; i < x.length; i++) {
                x[i] = u[i] / d[i];
            }
            return x;
        }
    }

    /**
     * The problems of a set of parameters that bears a penalty.
     *
     * @param regularizer the penalty and its groups
     * @param problem from the number of a group to its problem; may be called from several threads
     */
    public record PenalisedSet(Regularizer regularizer, Function<Integer, GroupProblem> problem) {}

    /**
     * Which step is about to be done.
     *
     * @return from 1; skipped ones are not counted
     */
    public long step() {
        return optimizer.steps() + 1;
    }

    /**
     * The sets of parameters that bear a penalty in this step.
     *
     * @return their problems
     */
    public List<PenalisedSet> penalised() {
        List<ParameterSet> sets = optimizer.sets().stream()
                .filter(set -> set.regularizer() != null && !set.frozen())
                .toList();
        Set<String> names = sets.stream()
                .flatMap(set -> set.parameters().stream())
                .map(Parameter::name)
                .collect(Collectors.toCollection(LinkedHashSet::new));
        Seen seen = new Seen(weights.of(names), gradients.of(names), new Moments(optimizer));
        List<PenalisedSet> penalised = new ArrayList<>();
        for (ParameterSet set : sets) {
            Regularizer regularizer = Objects.requireNonNull(set.regularizer());
            penalised.add(new PenalisedSet(regularizer, problems(set, regularizer, seen)));
        }
        return penalised;
    }

    /** What the problems of a step are made of. */
    private record Seen(Map<String, TensorView> weights, Map<String, TensorView> gradients, Moments moments) {}

    private Function<Integer, GroupProblem> problems(ParameterSet set, Regularizer regularizer, Seen seen) {
        Groups groups = regularizer.groups();
        Coefficients numbers = rule.at(step());
        double stepSize = set.learningRate().at(optimizer.allSteps());
        double kept = 1 - stepSize * set.weightDecay();
        List<TensorView> setWeights = views(set, parameter -> find(seen.weights(), parameter));
        List<TensorView> setGradients = views(set, parameter -> find(seen.gradients(), parameter));
        Optional<List<TensorView>> first =
                rule.hasFirstMoment() ? Optional.of(views(set, seen.moments()::first)) : Optional.empty();
        Optional<List<TensorView>> second =
                rule.hasSecondMoment() ? Optional.of(views(set, seen.moments()::second)) : Optional.empty();
        double[] floors = metricFloors(setGradients, second, numbers);
        return group -> {
            double[] before = groups.gather(group, setWeights);
            double[] g = groups.gather(group, setGradients);
            Supplier<double[]> none = () -> new double[g.length];
            double[] m = first.map(views -> groups.gather(group, views)).orElseGet(none);
            double[] v = second.map(views -> groups.gather(group, views)).orElseGet(none);
            double[] u = new double[g.length];
            double[] d = new double[g.length];
            int[] next = {0};
            groups.forEach(group, (tensor, _) -> {
                int i = next[0]++;
                double direction = numbers.scaleFirst() * (numbers.keepFirst() * m[i] + numbers.addFirst() * g[i]);
                d[i] = Math.max(metric(numbers, v[i], g[i]), floors[tensor]);
                u[i] = d[i] * (kept * before[i]) - stepSize * direction;
            });
            return new GroupProblem(before, u, d, stepSize);
        };
    }

    /** The metric's entry of a weight, without a floor. */
    private static double metric(Coefficients numbers, double second, double gradient) {
        double square = numbers.keepSecond() * second + numbers.addSecond() * gradient * gradient;
        return Math.sqrt(numbers.scaleSecond() * square + numbers.innerEpsilon()) + numbers.outerEpsilon();
    }

    /** What the metric of every tensor is not below: a share of its mean. */
    private double[] metricFloors(
            List<TensorView> setGradients, Optional<List<TensorView>> second, Coefficients numbers) {
        double share = optimizer.options().metricFloor();
        double[] floors = new double[setGradients.size()];
        for (int tensor = 0; tensor < floors.length && share > 0; tensor++) {
            TensorView g = setGradients.get(tensor);
            double sum = 0;
            for (long i = 0; i < g.size(); i++) {
                sum += metric(
                        numbers, second.isPresent() ? second.get().get(tensor).get(i) : 0, g.get(i));
            }
            floors[tensor] = share * sum / g.size();
        }
        return floors;
    }

    private static List<TensorView> views(ParameterSet set, Function<Parameter, TensorView> view) {
        return set.parameters().stream().map(view).toList();
    }

    private static TensorView find(Map<String, TensorView> views, Parameter parameter) {
        return Objects.requireNonNull(views.get(parameter.name()), parameter.name());
    }

    /** The optimizer's moments, by what {@link Optimizer#state} calls them. */
    private record Moments(Map<String, MemorySegment> state) {
        Moments(Optimizer optimizer) {
            this(optimizer.state());
        }

        TensorView first(Parameter parameter) {
            return view("first/", parameter);
        }

        TensorView second(Parameter parameter) {
            return view("second/", parameter);
        }

        private TensorView view(String moment, Parameter parameter) {
            String name = moment + parameter.name();
            return TensorView.of(Objects.requireNonNull(state.get(name), name), ElementType.FLOAT32, parameter.size());
        }
    }
}
