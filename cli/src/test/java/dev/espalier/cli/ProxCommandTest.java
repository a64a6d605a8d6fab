package dev.espalier.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code espalier prox}, from standard input to exit status. */
class ProxCommandTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static final String LASSO =
            "{\"penalty\":\"group-lasso\",\"x\":[3,4],\"d\":[1,1],\"alpha\":1,\"lambda\":1}";

    /** What the command answered, a line each, and its exit status. */
    private record Answers(List<JsonNode> lines, int exitStatus) {
        private JsonNode only() {
            assertEquals(1, lines.size(), lines::toString);
            return lines.getFirst();
        }

        private String error() {
            assertEquals(1, exitStatus);
            assertEquals(1, only().size(), () -> "more than an error: " + only());
            return only().get("error").textValue();
        }
    }

    private static Answers run(String... lines) {
        StringWriter out = new StringWriter();
        InputStream before = System.in;
        System.setIn(new ByteArrayInputStream(String.join("\n", lines).getBytes(StandardCharsets.UTF_8)));
        try {
            int exitStatus = Main.commandLine().setOut(new PrintWriter(out)).execute("prox");
            List<JsonNode> answers = new ArrayList<>();
            for (String line : out.toString().lines().toList()) {
                answers.add(JSON.readTree(line));
            }
            return new Answers(answers, exitStatus);
        } catch (JsonProcessingException e) {
            throw new AssertionError("not JSON: " + out, e);
        } finally {
            System.setIn(before);
        }
    }

    @Test
    void aGoodLineIsAnswered() {
        Answers answers = run(LASSO);
        assertEquals(0, answers.exitStatus());
        JsonNode answer = answers.only();
        assertEquals(2.4, answer.get("z").get(0).doubleValue(), 1e-15); // shrunk from norm 5 to norm 4
        assertEquals(3.2, answer.get("z").get(1).doubleValue(), 1e-15);
        assertEquals(2, answer.get("z").size());
        assertEquals(4, answer.get("theta").doubleValue(), 1e-15);
        assertEquals("shrunk", answer.get("branch").textValue());
        assertEquals(0, answer.get("iterations").intValue());
        assertEquals(0, answer.get("residual").doubleValue());
        assertTrue(
                answer.get("converged").isBoolean() && answer.get("converged").booleanValue());
    }

    @Test
    void lambdaIsTakenAsGivenWhateverTheSize() {
        JsonNode answer = run(LASSO.replace("\"lambda\":1}", "\"lambda\":5}")).only();
        assertEquals("zeroed", answer.get("branch").textValue()); // ‖x‖ = 5; with √2 it would be so at 3.6
        assertEquals(0, answer.get("theta").doubleValue());
        JsonNode above = run(LASSO.replace("\"lambda\":1}", "\"lambda\":4.9}")).only();
        assertEquals("shrunk", above.get("branch").textValue());
    }

    @Test
    void mcpTakesBeta() {
        String mcp = LASSO.replace("lasso", "mcp").replace("}", ",\"beta\":2}");
        JsonNode answer = run(mcp).only();
        assertEquals("untouched", answer.get("branch").textValue());
        assertEquals("[3.0,4.0]", answer.get("z").toString());
        assertEquals(
                "shrunk", run(mcp.replace(":2}", ":8}")).only().get("branch").textValue());
    }

    /** Single weights come off first, by ρλ; what is left is a group lasso of (1 − ρ)λ. */
    @Test
    void theSparseGroupLassoShrinksWeightsAndGroups() {
        String line = LASSO.replace("group-lasso", "sparse-group-lasso").replace("}", ",\"share\":0.25}");
        JsonNode answer = run(line).only();
        double[] soft = {2.75, 3.75};
        double norm = Math.hypot(soft[0], soft[1]);
        for (int i = 0; i < 2; i++) {
            assertEquals(soft[i] * (1 - 0.75 / norm), answer.get("z").get(i).doubleValue(), 1e-14);
        }
        JsonNode bare = run(line.replace("[3,4]", "[0.2,4]")).only();
        assertEquals(0, bare.get("z").get(0).doubleValue());
        assertEquals("shrunk", bare.get("branch").textValue());
    }

    /** A penalty that is no part of this program, but on its class path. */
    @Test
    void aPenaltyOfSomebodyElseIsKnownByItsName() {
        String capped = LASSO.replace("group-lasso", "capped-norm").replace("}", ",\"cap\":2}");
        assertEquals("[3.0,4.0]", run(capped).only().get("z").toString());
        JsonNode shrunk = run(capped.replace("[3,4]", "[0.9,1.2]")).only();
        assertEquals(0.5, shrunk.get("theta").doubleValue(), 1e-15);
        assertTrue(run(capped.replace(":2}", ":0}")).error().contains("cap = 0.0 is out of range"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"reciprocal-newton", "newton-raphson", "bisection", "adaprox"})
    void everySolverAnswersAlike(String solver) {
        String line = LASSO.replace("[1,1]", "[1,2]");
        JsonNode expected = run(line).only();
        Answers answers = run(line.replace("}", ",\"solver\":\"" + solver + "\"}"));
        assertEquals(0, answers.exitStatus());
        assertEquals(
                expected.get("theta").doubleValue(), answers.only().get("theta").doubleValue(), 1e-11);
        assertTrue(answers.only().get("iterations").intValue() > 0);
    }

    @Test
    void theDefaultSolverIsTheFastestOne() {
        String line = LASSO.replace("[1,1]", "[1,2]");
        assertEquals(
                run(line).lines(),
                run(line.replace("}", ",\"solver\":\"reciprocal-newton\"}")).lines());
        assertEquals(
                run(line).lines(), run(line.replace("}", ",\"solver\":null}")).lines());
    }

    @Test
    void adaProxSaysWhenItReachesItsLimit() {
        JsonNode answer = run(LASSO.replace("[1,1]", "[0.01,1]")
                        .replace("\"lambda\":1}", "\"lambda\":0.1,\"solver\":\"adaprox\"}"))
                .only();
        assertFalse(answer.get("converged").booleanValue());
        assertEquals(100, answer.get("iterations").intValue());
    }

    @Test
    void singlePrecisionRoundsInputAndOutput() {
        String line = LASSO.replace("[3,4]", "[0.1,0.7]").replace("\"lambda\":1}", "\"lambda\":0.01}");
        JsonNode single = run(line.replace("}", ",\"dtype\":\"float32\"}")).only();
        JsonNode twice = run(line.replace("}", ",\"dtype\":\"float64\"}")).only();
        assertEquals(run(line).lines(), List.of(twice));
        for (int i = 0; i < 2; i++) {
            double value = single.get("z").get(i).doubleValue();
            assertEquals(twice.get("z").get(i).doubleValue(), value, 1e-7);
            assertEquals(Float.toString((float) value), single.get("z").get(i).asText(), "printed as a float");
        }
        JsonNode untouched =
                run(line.replace("0.01}", "0,\"dtype\":\"float32\"}")).only();
        assertEquals("[0.1,0.7]", untouched.get("z").toString());
    }

    static Stream<Arguments> unknownKeys() {
        return Stream.of(
                arguments("\"sovler\":\"newton-raphson\"", "\"sovler\" is no key", "the nearest is \"solver\""),
                arguments("\"lamda\":2", "\"lamda\" is no key", "the nearest is \"lambda\""),
                arguments("\"Alpha\":2", "\"Alpha\" is no key", "the nearest is \"alpha\""),
                arguments("\"X\":[1,2]", "\"X\" is no key", "the nearest is \"x\""),
                arguments("\"sovler\":null", "\"sovler\" is no key", "the nearest is \"solver\""),
                arguments(
                        "\"comment\":\"a\"",
                        "\"comment\" is no key",
                        "the keys are \"penalty\", \"x\", \"d\", \"alpha\", \"lambda\", \"solver\", \"dtype\""),
                arguments("\"beta\":2", "\"beta\" is no key of a line", "\"penalty\" = \"group-lasso\""));
    }

    @ParameterizedTest
    @MethodSource("unknownKeys")
    void anUnknownKeyIsRefusedWithTheNearest(String field, String what, String nearest) {
        String error = run(LASSO.replace("}", "," + field + "}")).error();
        assertTrue(error.contains(what) && error.contains(nearest), error);
    }

    @Test
    void aMisspelledParameterOrPenaltyIsNamed() {
        String mcp = LASSO.replace("lasso", "mcp").replace("}", ",\"bta\":2}");
        assertTrue(run(mcp).error().contains("the nearest is \"beta\""));
        assertTrue(run(LASSO.replace("\"penalty\"", "\"penaltie\"")).error().contains("the nearest is \"penalty\""));
    }

    @Test
    void aKnownKeyWithNullCountsAsAbsent() {
        String nulls = LASSO.replace("}", ",\"solver\":null,\"dtype\":null,\"beta\":null,\"share\":null}");
        assertEquals(run(LASSO).lines(), run(nulls).lines());
        assertTrue(run(LASSO.replace("\"alpha\":1", "\"alpha\":null")).error().contains("\"alpha\" is missing"));
        assertTrue(run(LASSO.replace("\"group-lasso\"", "null")).error().contains("\"penalty\" is missing"));
    }

    @Test
    void blankLinesAreIgnored() {
        Answers answers = run("", LASSO, "  \t", LASSO, "");
        assertEquals(0, answers.exitStatus());
        assertEquals(2, answers.lines().size());
        assertEquals(answers.lines().getFirst(), answers.lines().getLast());
    }

    @Test
    void noInputIsNoFailure() {
        assertEquals(new Answers(List.of(), 0), run());
    }

    /** One bad line is answered in its place; the others are answered all the same. */
    @Test
    void badLinesKeepTheOrderAndSetTheExitStatus() {
        Answers answers = run(LASSO, "not json", LASSO, "[]", LASSO);
        assertEquals(1, answers.exitStatus());
        assertEquals(
                List.of(false, true, false, true, false),
                answers.lines().stream().map(line -> line.has("error")).toList());
        assertEquals(answers.lines().get(0), answers.lines().get(4));
    }

    static Stream<Arguments> badLines() {
        return Stream.of(
                arguments("not json", "not a JSON object"),
                arguments("[1]", "not a JSON object: [1]"),
                arguments("3", "not a JSON object: 3"),
                arguments("null", "not a JSON object: null"),
                arguments(LASSO.substring(0, 40), "not a JSON object"),
                arguments(LASSO + LASSO, "not a JSON object"),
                arguments(LASSO.replace("3,4", "NaN,4"), "NaN"),
                arguments(LASSO.replace("3,4", "Infinity,4"), "Infinity"),
                arguments(LASSO.replace("3,4", "1e400,4"), "x[0] = Infinity is out of range: it must be finite"),
                arguments(LASSO.replace("3,4", "-1e400,4"), "x[0] = -Infinity is out of range: it must be finite"),
                arguments(LASSO.replace("[1,1]", "[1,1e400]"), "d[1] = Infinity is out of range"),
                arguments(LASSO.replace("\"alpha\":1", "\"alpha\":1e400"), "alpha) = Infinity is out of range"),
                arguments(LASSO.replace("\"lambda\":1", "\"lambda\":1e400"), "lambda = Infinity is out of range"),
                arguments(LASSO.replace("3,4", "1e39,4").replace("}", ",\"dtype\":\"float32\"}"), "x[0] = Infinity"),
                arguments(LASSO.replace("[1,1]", "[1,1e-60]").replace("}", ",\"dtype\":\"float32\"}"), "d[1] = 0.0"),
                arguments(LASSO.replace("[1,1]", "[1,0]"), "d[1] = 0.0 is out of range: it must be finite and above 0"),
                arguments(LASSO.replace("[1,1]", "[1]"), "d has 1 elements but x has 2"),
                arguments(LASSO.replace("3,4", "").replace("[1,1]", "[]"), "number of weights in x = 0"),
                arguments(LASSO.replace("\"alpha\":1", "\"alpha\":-1"), "alpha) = -1.0 is out of range"),
                arguments(LASSO.replace("\"lambda\":1", "\"lambda\":-1"), "lambda = -1.0 is out of range"),
                arguments(LASSO.replace("lasso", "mcp"), "\"beta\" is missing"),
                arguments(LASSO.replace("lasso", "mcp").replace("}", ",\"beta\":0}"), "beta = 0.0 is out of range"),
                arguments(LASSO.replace("\"x\"", "\"y\""), "\"y\" is no key of a line"),
                arguments(LASSO.replace("\"d\"", "\"y\""), "\"y\" is no key of a line"),
                arguments(LASSO.replace("\"alpha\"", "\"y\""), "\"y\" is no key of a line"),
                arguments(LASSO.replace("\"lambda\"", "\"y\""), "\"y\" is no key of a line"),
                arguments(LASSO.replace("\"penalty\"", "\"y\""), "\"y\" is no key of a line"),
                arguments(LASSO.replace("[3,4]", "null"), "\"x\" is missing"),
                arguments(LASSO.replace("[3,4]", "3"), "\"x\" = 3 must be an array of numbers"),
                arguments(LASSO.replace("[3,4]", "\"3\""), "\"x\" = \"3\" must be an array of numbers"),
                arguments(LASSO.replace("[3,4]", "{\"a\":3,\"b\":4}"), "\"x\" = {\"a\":3,\"b\":4} must be an array"),
                arguments(LASSO.replace("3,4", "3,\"4\""), "\"x\"[1] = \"4\" must be a number"),
                arguments(LASSO.replace("3,4", "3,null"), "\"x\"[1] = null must be a number"),
                arguments(LASSO.replace("\"alpha\":1", "\"alpha\":\"1\""), "\"alpha\" = \"1\" must be a number"),
                arguments(LASSO.replace("group-lasso", "ridge"), "\"penalty\" = \"ridge\" must be one of ["),
                arguments(
                        LASSO.replace("group-lasso", "ridge"),
                        "group-lasso, group-mcp, group-scad, nested-lasso, sparse-group-lasso"),
                arguments(LASSO.replace("group-lasso", "sparse-group-lasso"), "\"share\" is missing"),
                arguments(
                        LASSO.replace("group-lasso", "sparse-group-lasso").replace("}", ",\"share\":2}"),
                        "share = 2.0 is out of range: it must be from 0 to 1"),
                arguments(
                        LASSO.replace("group-lasso", "nested-lasso").replace("}", ",\"share\":0.5}"),
                        "\"nested-lasso\" is for groups within groups"),
                arguments(
                        LASSO.replace("}", ",\"solver\":\"guess\"}"),
                        "\"solver\" = \"guess\" must be one of [reciprocal-newton, newton-raphson, bisection, adaprox]"),
                arguments(
                        LASSO.replace("}", ",\"dtype\":\"int8\"}"),
                        "\"dtype\" = \"int8\" must be one of [float64, float32]"));
    }

    @ParameterizedTest
    @MethodSource("badLines")
    void aBadLineIsToldWhatIsWrong(String line, String expected) {
        String error = run(line).error();
        assertTrue(error.contains(expected), () -> "\"%s\" is not in: %s".formatted(expected, error));
    }

    /** Numbers at the end of the range must still make JSON that others can read. */
    @Test
    void numbersAtTheEndOfTheRangeAreAnsweredInJson() {
        JsonNode answer =
                run(LASSO.replace("3,4", "1.7976931348623157e308,-1e308")).only();
        assertEquals("[1.7976931348623157E308,-1.0E308]", answer.get("z").toString());
        assertTrue(answer.get("theta").isNumber(), () -> "theta is " + answer.get("theta"));
    }

    @Test
    void helpNamesEverySolverAndEveryPenaltyOfOneGroup() {
        StringWriter out = new StringWriter();
        assertEquals(0, Main.commandLine().setOut(new PrintWriter(out)).execute("prox", "--help"));
        for (String word : List.of(
                "reciprocal-newton",
                "newton-raphson",
                "bisection",
                "adaprox",
                "float32",
                "\"group-mcp\", \"beta\": ...",
                "\"sparse-group-lasso\", \"share\": ...",
                "\"capped-norm\", \"cap\": ...: a norm that spares 100% of what is long")) {
            assertTrue(out.toString().contains(word), () -> word + " is not in: " + out);
        }
    }
}
