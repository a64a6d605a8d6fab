package dev.espalier.core.prox;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.numeric.Norm;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.tensor.TensorView;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The solutions of 50 digits in {@code reference/prox.jsonl}, made by the script beside it. */
class ReferenceTest {

    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Reference(
            String name,
            Penalty penalty,
            double[] x,
            double[] d,
            double stepSize,
            Branch branch,
            double theta,
            double[] z,
            boolean tie) {

        private static Reference of(JsonNode node) {
            double lambda = node.get("lambda").doubleValue();
            return new Reference(
                    node.get("name").textValue(),
                    node.get("penalty").textValue().equals("group-lasso")
                            ? new GroupLasso(lambda, GroupWeight.NONE)
                            : new GroupMcp(lambda, node.get("beta").doubleValue(), GroupWeight.NONE),
                    numbers(node.get("x")),
                    numbers(node.get("d")),
                    node.get("alpha").doubleValue(),
                    Branch.valueOf(node.get("branch").textValue().toUpperCase(Locale.ROOT)),
                    Double.parseDouble(node.get("theta").textValue()),
                    numbers(node.get("z")),
                    node.path("tie").booleanValue());
        }

        private static double[] numbers(JsonNode array) {
            return StreamSupport.stream(array.spliterator(), false)
                    .mapToDouble(node -> Double.parseDouble(node.asText()))
                    .toArray();
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static List<Reference> references() throws IOException {
        ObjectMapper json = new ObjectMapper();
        List<Reference> references = new ArrayList<>();
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(
                Objects.requireNonNull(ReferenceTest.class.getResourceAsStream("/reference/prox.jsonl")),
                StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                references.add(Reference.of(json.readTree(line)));
            }
        }
        return references;
    }

    @Test
    void thereAreHundredsOfCases() throws IOException {
        assertTrue(references().size() >= 400, () -> "the reference file is cut short");
    }

    @ParameterizedTest
    @MethodSource("references")
    void everyRootSolverIsExactInDouble(Reference reference) {
        for (Solver solver : Cases.ROOT_SOLVERS) {
            double[] z = new double[reference.x().length];
            Outcome outcome = new WeightedProx(solver)
                    .apply(
                            reference.penalty().profileOfSize(z.length),
                            reference.x(),
                            reference.d(),
                            reference.stepSize(),
                            z);
            boolean subnormal = Arrays.stream(reference.z()).anyMatch(value -> Math.abs(value) < Double.MIN_NORMAL);
            assertTrue(outcome.converged() || subnormal, solver::toString);
            if (reference.tie() && outcome.branch() == Branch.ZEROED) {
                continue; // zero and x are equally good
            }
            assertEquals(reference.branch(), outcome.branch(), solver::toString);
            // A subnormal number cannot be met more closely than its last bit.
            double allowed = 1e-13 * Norm.of(reference.x()) + Math.sqrt(z.length) * Double.MIN_VALUE;
            assertTrue(Cases.distance(z, reference.z()) <= allowed, () -> solver + " found " + Arrays.toString(z));
            assertEquals(reference.theta(), outcome.theta(), allowed, solver::toString);
        }
    }

    /** The cases that float32 can hold. */
    static Stream<Reference> floatReferences() throws IOException {
        return references().stream()
                .filter(reference -> DoubleStream.concat(Arrays.stream(reference.x()), Arrays.stream(reference.d()))
                        .map(Math::abs)
                        .allMatch(value -> value == 0 || (value >= Float.MIN_NORMAL && value <= Float.MAX_VALUE)));
    }

    @ParameterizedTest
    @MethodSource("floatReferences")
    void weightsStoredInSinglePrecisionAreExactInSinglePrecision(Reference reference) {
        float[] x = rounded(reference.x());
        float[] d = rounded(reference.d());
        Regularizer regularizer = new Regularizer(reference.penalty(), AxisGroups.along(0, 1, x.length));
        Summary summary = regularizer.apply(
                WeightedProx.EXACT,
                List.of(TensorView.of(x, 1, x.length)),
                new Metric(List.of(TensorView.of(d, 1, d.length)), reference.stepSize()));

        // Against the same in double, from the rounded numbers: only the last rounding is allowed.
        double[] exact = new double[x.length];
        Outcome outcome = WeightedProx.EXACT.apply(
                reference.penalty().profileOfSize(x.length),
                widened(rounded(reference.x())),
                widened(d),
                reference.stepSize(),
                exact);
        assertEquals(Summary.EMPTY.plus(outcome), summary);
        assertTrue(Arrays.equals(rounded(exact), x), () -> Arrays.toString(x));

        // Against the reference: rounding the input may turn a branch only where the case lies on its border.
        String family = reference.name().replaceFirst("/.*", "");
        if (!family.contains("-near-")) {
            assertEquals(reference.branch(), outcome.branch());
        }
        if (!family.equals("mcp-near-tie") && !reference.tie()) {
            double distance = Cases.distance(widened(x), reference.z());
            assertTrue(distance <= 1e-6 * Norm.of(reference.x()), () -> "error %.2g".formatted(distance));
        }
    }

    private static float[] rounded(double[] values) {
        float[] rounded = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            rounded[i] = (float) values[i];
        }
        return rounded;
    }

    private static double[] widened(float[] values) {
        double[] widened = new double[values.length];
        Arrays.setAll(widened, i -> values[i]);
        return widened;
    }
}
