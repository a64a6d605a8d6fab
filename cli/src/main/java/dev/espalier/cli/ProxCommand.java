package dev.espalier.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.PenaltyFamily;
import dev.espalier.core.prox.Outcome;
import dev.espalier.core.prox.Solver;
import dev.espalier.core.prox.WeightedProx;
import dev.espalier.settings.Nearest;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.Spec;

/** {@code espalier prox}: the weighted proximal operator on JSON lines. */
@Command(
        name = "prox",
        description = {
            "Evaluate the weighted proximal operator, one group per line.",
            "Reads JSON lines on standard input and prints one JSON line for each.",
        },
        modelTransformer = ProxCommand.Help.class)
final class ProxCommand implements Callable<Integer> {
    /** The keys of every line; a penalty's parameters come on top. */
    private static final List<String> KEYS = List.of("penalty", "x", "d", "alpha", "lambda", "solver", "dtype");

    /** What a line takes; apart, for every start of the program loads the command, and these take a while to load. */
    private static final class Lazy {
        static final ObjectMapper JSON = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
        static final List<PenaltyFamily> PENALTIES = PenaltyFamily.all();
        static final List<String> SOLVERS =
                Solver.all().stream().map(Solver::name).toList();
    }

    /** Says what a line holds, when it is asked: what penalties and solvers are called, they say themselves. */
    static final class Help implements IModelTransformer {
        @Override
        public CommandSpec transform(CommandSpec command) {
            command.usageMessage()
                    .footerHeading("%nInput:%n")
                    .sectionMap()
                    .put(UsageMessageSpec.SECTION_KEY_FOOTER, help -> {
                        command.usageMessage().footer(footer().toArray(String[]::new));
                        return help.footer();
                    });
            return command;
        }

        private static List<String> footer() {
            List<PenaltyFamily> known =
                    Lazy.PENALTIES.stream().filter(family -> !family.nests()).toList();
            List<String> lines = new ArrayList<>(List.of(
                    "  {\"penalty\": one of the names below, \"x\": [...], \"d\": [...], \"alpha\": ..., \"lambda\": ...,",
                    "   what the penalty needs besides, \"solver\": one of the names below (the first one if left out),",
                    "   \"dtype\": \"float64\" (default) or \"float32\"}",
                    "  lambda is taken as given, whatever the group's size. A key with the value null counts as absent;",
                    "  an unknown key is an error.",
                    "",
                    "Penalties:"));
            known.forEach(family -> lines.add("  \"%s\"%s: %s"
                    .formatted(
                            family.name(),
                            family.parameters().stream()
                                    .map(parameter -> ", \"%s\": ...".formatted(parameter.name()))
                                    .collect(Collectors.joining()),
                            family.meaning().replace("%", "%%"))));
            lines.addAll(
                    List.of(
                            "",
                            "Solvers:",
                            Lazy.SOLVERS.stream().map("\"%s\""::formatted).collect(Collectors.joining(", ", "  ", "")),
                            "",
                            "Output:",
                            "  {\"z\": [...], \"theta\": ..., \"branch\": \"zeroed\", \"shrunk\" or \"untouched\", \"iterations\": ...,",
                            "   \"residual\": ..., \"converged\": ...}, or {\"error\": \"...\"} for a line that cannot be read;",
                            "  the exit status is then 1.",
                            "",
                            "Example:",
                            "  echo '{\"penalty\":\"group-lasso\",\"x\":[3,4],\"d\":[1,2],\"alpha\":1,\"lambda\":1}' | espalier prox"));
            return lines;
        }
    }

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before call()
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        boolean allGood = true;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.isBlank()) {
                continue;
            }
            ObjectNode answer = Lazy.JSON.createObjectNode();
            try {
                answer(Lazy.JSON.readTree(line), answer);
            } catch (JsonProcessingException e) {
                answer.removeAll().put("error", "not a JSON object: " + e.getOriginalMessage());
            } catch (IllegalArgumentException e) {
                answer.removeAll().put("error", e.getMessage());
            }
            allGood &= !answer.has("error");
            out.println(answer);
        }
        out.flush();
        return allGood ? 0 : 1;
    }

    private static void answer(JsonNode group, ObjectNode answer) {
        if (!group.isObject()) {
            throw new IllegalArgumentException("not a JSON object: " + group);
        }
        PenaltyFamily family = family(group);
        requireKnownKeys(group, family);
        boolean single =
                choice(group, "dtype", List.of("float64", "float32"), true).equals("float32");
        double[] x = vector(group, "x", single);
        double[] d = vector(group, "d", single);
        double[] z = new double[x.length];
        Outcome outcome = new WeightedProx(solver(group))
                .apply(penalty(group, family).wholeOfSize(x.length), x, d, number(group, "alpha"), Double.NaN, z);
        ArrayNode values = answer.putArray("z");
        for (double value : z) {
            if (single) {
                values.add((float) value);
            } else {
                values.add(value);
            }
        }
        answer.put("theta", outcome.theta());
        answer.put("branch", outcome.branch().name().toLowerCase(Locale.ROOT));
        answer.put("iterations", outcome.iterations());
        answer.put("residual", outcome.residual());
        answer.put("converged", outcome.converged());
    }

    private static PenaltyFamily family(JsonNode group) {
        if (isAbsent(group, "penalty")) { // "penaltie" says more than that "penalty" is missing
            requireKnownKeys(group, null);
        }
        List<String> names = Lazy.PENALTIES.stream().map(PenaltyFamily::name).toList();
        PenaltyFamily family = Lazy.PENALTIES.get(names.indexOf(choice(group, "penalty", names, false)));
        if (family.nests()) {
            throw new IllegalArgumentException(
                    "\"penalty\" = \"%s\" is for groups within groups, and a line is one group by itself: take \"group-lasso\""
                            .formatted(family.name()));
        }
        return family;
    }

    /** A key of another penalty is unknown, too, unless its value is null. */
    private static void requireKnownKeys(JsonNode group, @Nullable PenaltyFamily family) {
        Set<String> known = new LinkedHashSet<>(KEYS);
        Set<String> others = new LinkedHashSet<>();
        for (PenaltyFamily other : Lazy.PENALTIES) {
            other.parameters()
                    .forEach(parameter ->
                            (family == null || other.equals(family) ? known : others).add(parameter.name()));
        }
        others.removeAll(known);
        for (Map.Entry<String, JsonNode> entry : group.properties()) {
            String key = entry.getKey();
            if (known.contains(key) || (others.contains(key) && entry.getValue().isNull())) {
                continue;
            }
            String message = "\"%s\" is no key of a line%s; "
                    .formatted(key, family == null ? "" : " with \"penalty\" = \"%s\"".formatted(family.name()));
            throw new IllegalArgumentException(message
                    + Nearest.path(key, known)
                            .map("the nearest is \"%s\""::formatted)
                            .orElseGet(() -> known.stream()
                                    .map("\"%s\""::formatted)
                                    .collect(Collectors.joining(", ", "the keys are ", ""))));
        }
    }

    private static Penalty penalty(JsonNode group, PenaltyFamily family) {
        Map<String, Double> numbers = new LinkedHashMap<>();
        family.parameters().forEach(parameter -> numbers.put(parameter.name(), number(group, parameter.name())));
        return family.member(number(group, "lambda"), GroupWeight.NONE, numbers);
    }

    private static Solver solver(JsonNode group) {
        return Solver.all().get(Lazy.SOLVERS.indexOf(choice(group, "solver", Lazy.SOLVERS, true)));
    }

    private static JsonNode required(JsonNode group, String key) {
        if (isAbsent(group, key)) {
            throw new IllegalArgumentException("\"" + key + "\" is missing");
        }
        return group.get(key);
    }

    private static boolean isAbsent(JsonNode group, String key) {
        return !group.hasNonNull(key);
    }

    private static double number(JsonNode group, String key) {
        JsonNode node = required(group, key);
        if (!node.isNumber()) {
            throw new IllegalArgumentException("\"" + key + "\" = " + node + " must be a number");
        }
        return node.doubleValue();
    }

    private static double[] vector(JsonNode group, String key, boolean single) {
        JsonNode node = required(group, key);
        if (!node.isArray()) {
            throw new IllegalArgumentException("\"" + key + "\" = " + node + " must be an array of numbers");
        }
        double[] values = new double[node.size()];
        for (int i = 0; i < values.length; i++) {
            JsonNode element = node.get(i);
            if (element == null || !element.isNumber()) {
                throw new IllegalArgumentException("\"%s\"[%d] = %s must be a number".formatted(key, i, element));
            }
            values[i] = single ? (float) element.doubleValue() : element.doubleValue();
        }
        return values;
    }

    /** The value of a key with a fixed set of answers, the first of which serves when the key is left out. */
    private static String choice(JsonNode group, String key, List<String> answers, boolean optional) {
        if (optional && isAbsent(group, key)) {
            return answers.getFirst();
        }
        JsonNode node = required(group, key);
        if (!answers.contains(node.asText())) {
            throw new IllegalArgumentException("\"%s\" = %s must be one of %s".formatted(key, node, answers));
        }
        return node.asText();
    }
}
