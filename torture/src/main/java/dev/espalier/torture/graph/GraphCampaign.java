package dev.espalier.torture.graph;

import dev.espalier.engine.Device;
import dev.espalier.graph.Cost;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphPrinter;
import dev.espalier.graph.eval.Evaluator;
import dev.espalier.graph.prune.Equivalence;
import dev.espalier.graph.type.Tensor;
import dev.espalier.torture.Campaign;
import dev.espalier.torture.Effort;
import dev.espalier.torture.Figures;
import dev.espalier.torture.graph.Contest.Party;
import dev.espalier.torture.graph.Contest.Refused;
import dev.espalier.torture.graph.RandomGraph.Hidden;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Random models that are written, read, run, trained and pruned, and held against ONNX Runtime. */
public final class GraphCampaign implements Campaign {
    /** How ONNX Runtime names the operator that it does not take. */
    private static final Pattern OPERATOR = Pattern.compile("Op \\((\\w+)\\)|running (\\w+) node|for (\\w+)\\(\\d+\\)");

    /** Made by the service loader. */
    public GraphCampaign() {}

    @Override
    public String name() {
        return "graphs";
    }

    @Override
    public String description() {
        return "random models, read, run, trained, pruned, written otherwise, and compared with ONNX Runtime on the original";
    }

    @Override
    public Figures run(Effort effort) throws IOException, InterruptedException {
        Device.useThreads(1);
        Figures figures = effort.figures();
        figures.add("graphs", 0);
        figures.add("disagreements", 0);
        Path folder = Files.createTempDirectory("espalier-graphs-");
        try {
            effort.forEach(
                    (number, random) -> new Trial(number, random, figures, folder.resolve(number + ".onnx")).run());
        } finally {
            Files.deleteIfExists(folder);
        }
        return figures;
    }

    /** One model. */
    private record Trial(long number, RandomGenerator random, Figures figures, Path file) {

        void run() throws IOException {
            RandomGraph made;
            try {
                made = RandomGraph.of(random);
            } catch (RuntimeException mistake) {
                figures.fail("case " + number + ": no model could be drawn: " + stack(mistake));
                return;
            }
            Graph graph = made.graph();
            figures.add("graphs", 1);
            figures.add("nodes", graph.nodes().size());
            try (Contest contest = new Contest(graph, file)) {
                for (Party party : Party.values()) {
                    hold(contest, graph, party);
                }
                if (!made.hidden().isEmpty() && graph.foreign().isEmpty()) {
                    for (Metamorphosis metamorphosis : Metamorphosis.values()) {
                        Hidden hidden =
                                made.hidden().get(random.nextInt(made.hidden().size()));
                        transform(contest, graph, metamorphosis, hidden);
                    }
                }
            } catch (IllegalStateException refused) {
                if (!String.valueOf(refused.getMessage()).startsWith("ONNX Runtime")) {
                    disagree("crash", graph, stack(refused));
                    return;
                }
                Matcher operator = OPERATOR.matcher(String.valueOf(refused.getMessage()));
                figures.add("refused by ONNX Runtime", 1);
                figures.add(
                        "refused by ONNX Runtime: " + (operator.find() ? operator.group() : refused.getMessage()), 1);
            } catch (RuntimeException | StackOverflowError failure) {
                disagree("crash", graph, stack(failure));
            } finally {
                Files.deleteIfExists(file);
            }
        }

        private static String words(Enum<?> constant) {
            return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }

        private static String stack(Throwable failure) {
            StringBuilder text = new StringBuilder(failure.toString());
            for (int i = 0; i < Math.min(6, failure.getStackTrace().length); i++) {
                text.append("\n  at ").append(failure.getStackTrace()[i]);
            }
            return text.toString();
        }

        private void hold(Contest contest, Graph graph, Party party) {
            String name = words(party);
            try {
                Optional<String> problem = contest.problem(party);
                if (problem.isEmpty()) {
                    figures.add(name + ": agreed", 1);
                } else if (contest.isOnCliff()) {
                    figures.add(name + ": undecided, last digits tell", 1);
                } else {
                    Graph small = shrunk(graph, party);
                    disagree(name, small, problem.get());
                }
            } catch (Refused refused) {
                figures.add(name + ": refused, " + refused.getMessage(), 1);
            } catch (RuntimeException failure) {
                disagree(name, graph, stack(failure));
            }
        }

        private Graph shrunk(Graph graph, Party party) {
            for (Graph beginning : Contest.beginnings(graph)) {
                try (Contest contest = new Contest(beginning, file)) {
                    if (contest.problem(party).isPresent() && !contest.isOnCliff()) {
                        return beginning;
                    }
                } catch (IOException | RuntimeException _) {
                    // This one fails otherwise: the next may fail as the whole does.
                }
            }
            return graph;
        }

        private void transform(Contest contest, Graph graph, Metamorphosis metamorphosis, Hidden hidden) {
            String name = words(metamorphosis);
            try {
                Graph other = metamorphosis.apply(graph, hidden, random);
                for (Map<String, Tensor> inputs : contest.inputs()) {
                    Optional<String> problem = Equivalence.measure(graph, other, inputs, Evaluator::run)
                            .problem(Equivalence.tolerance(graph));
                    if (problem.isPresent()) {
                        if (contest.isOnCliff()) {
                            figures.add(name + ": undecided, last digits tell", 1);
                        } else {
                            disagree(name, other, problem.get());
                        }
                        return;
                    }
                }
                Graph pruned = Contest.pruned(graph);
                if (metamorphosis.isConstant(pruned, hidden)) {
                    figures.add(name + ": agreed, but sizes are not compared: a unit is constant", 1);
                    return;
                }
                long wanted = Cost.parameters(pruned);
                long found = Cost.parameters(Contest.pruned(other));
                if (wanted != found) {
                    disagree(
                            name,
                            other,
                            "pruned, it has " + found + " parameters, but as it was before " + wanted + ": "
                                    + hidden.weight());
                } else {
                    figures.add(name + ": agreed", 1);
                }
            } catch (Refused refused) {
                figures.add(name + ": refused, " + refused.getMessage(), 1);
            } catch (RuntimeException failure) {
                disagree(name, graph, stack(failure));
            }
        }

        private void disagree(String kind, Graph graph, String problem) {
            figures.add("disagreements", 1);
            figures.add(kind + ": disagreed", 1);
            TreeSet<String> operators = new TreeSet<>();
            graph.nodes().forEach(node -> operators.add(node.operator().label()));
            figures.fail("case " + number + ", " + kind + ": " + problem + "\n" + List.copyOf(operators) + "\n"
                    + GraphPrinter.table(graph));
        }
    }
}
