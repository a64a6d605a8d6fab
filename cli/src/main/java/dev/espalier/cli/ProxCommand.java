package dev.espalier.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.espalier.penalty.GroupLasso;
import dev.espalier.penalty.GroupMcp;
import dev.espalier.penalty.GroupWeight;
import dev.espalier.penalty.Penalty;
import dev.espalier.prox.Outcome;
import dev.espalier.prox.Solver;
import dev.espalier.prox.WeightedProx;
import dev.espalier.root.Bisection;
import dev.espalier.root.NewtonRaphson;
import dev.espalier.root.Tolerance;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code espalier prox}: the weighted proximal operator on JSON lines. */
@Command(
        name = "prox",
        description = {
            "Evaluates the weighted proximal operator, one group a line.",
            "Reads JSON lines on standard input and prints one JSON line for each.",
        },
        footerHeading = "%nInput:%n",
        footer = {
            "  {\"penalty\": \"group-lasso\" or \"group-mcp\", \"x\": [...], \"d\": [...], \"alpha\": ..., \"lambda\": ...,",
            "   \"beta\": ... (group-mcp), \"solver\": \"reciprocal-newton\" (default), \"newton-raphson\",",
            "   \"bisection\" or \"adaprox\", \"dtype\": \"float64\" (default) or \"float32\"}",
            "  lambda is taken as given, whatever the group's size. Other keys are ignored.",
            "",
            "Output:",
            "  {\"z\": [...], \"theta\": ..., \"branch\": \"zeroed\", \"shrunk\" or \"untouched\", \"iterations\": ...,",
            "   \"residual\": ..., \"converged\": ...}, or {\"error\": \"...\"} for a line that cannot be read;",
            "  the exit status is then 1.",
            "",
            "Example:",
            "  echo '{\"penalty\":\"group-lasso\",\"x\":[3,4],\"d\":[1,2],\"alpha\":1,\"lambda\":1}' | espalier prox",
        })
final class ProxCommand implements Callable<Integer> {
    private static final ObjectMapper JSON = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    /** The solvers by name, the default first. */
    private static final Map<String, Solver> SOLVERS = solvers();

    private static Map<String, Solver> solvers() {
        Map<String, Solver> solvers = new LinkedHashMap<>();
        solvers.put("reciprocal-newton", Solver.DEFAULT);
        solvers.put("newton-raphson", new Solver.ByRoot(new NewtonRaphson(), Tolerance.EXACT));
        solvers.put("bisection", new Solver.ByRoot(new Bisection(), Tolerance.EXACT));
        solvers.put("adaprox", Solver.AdaProx.DEFAULT);
        return Collections.unmodifiableMap(solvers);
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
            ObjectNode answer = JSON.createObjectNode();
            try {
                answer(JSON.readTree(line), answer);
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
        boolean single =
                choice(group, "dtype", List.of("float64", "float32"), true).equals("float32");
        double[] x = vector(group, "x", single);
        double[] d = vector(group, "d", single);
        double lambda = number(group, "lambda");
        double[] z = new double[x.length];
        Penalty penalty = choice(group, "penalty", List.of("group-lasso", "group-mcp"), false)
                        .equals("group-lasso")
                ? new GroupLasso(lambda, GroupWeight.NONE)
                : new GroupMcp(lambda, number(group, "beta"), GroupWeight.NONE);
        Solver solver =
                Objects.requireNonNull(SOLVERS.get(choice(group, "solver", List.copyOf(SOLVERS.keySet()), true)));
        Outcome outcome =
                new WeightedProx(solver).apply(penalty.profileOfSize(x.length), x, d, number(group, "alpha"), z);
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

    private static JsonNode required(JsonNode group, String key) {
        JsonNode node = group.get(key);
        if (node == null || node.isNull()) {
            throw new IllegalArgumentException("\"" + key + "\" is missing");
        }
        return node;
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
        JsonNode node = optional ? group.get(key) : required(group, key);
        if (node == null || node.isNull()) {
            return answers.getFirst();
        }
        if (!answers.contains(node.asText())) {
            throw new IllegalArgumentException("\"%s\" = %s must be one of %s".formatted(key, node, answers));
        }
        return node.asText();
    }
}
