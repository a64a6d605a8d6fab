package dev.espalier.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.core.Linear;
import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.JointGroups;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class BlockGroupsTest {
    private static final String CONVOLUTION = "01Conv2d_weight";
    private static final String DEPTHWISE = "04Conv2d_weight";
    private static final String LINEAR = "06Linear_weight";

    private final TestModel convolutions = TestModel.ofConvolutions();
    private final TestModel perceptron = TestModel.ofPerceptron();

    @AfterEach
    void close() {
        convolutions.close();
        perceptron.close();
    }

    @Test
    void parametersHaveTheNamesThatDjlGivesThem() {
        assertEquals(
                convolutions.block().getParameters().keys(),
                ModelParameter.of(convolutions.block()).stream()
                        .map(ModelParameter::name)
                        .toList());
    }

    @Test
    void byDefaultChannelsAndRowsAreGroups() {
        assertEquals(
                Map.of(CONVOLUTION, new AxisGroups(4, 3, 9), LINEAR, new AxisGroups(2, 36, 1)),
                penalised(BlockGroups.DEFAULT, convolutions));
        List<String> all = BlockGroups.DEFAULT.assign(convolutions.block()).stream()
                .map(assignment -> assignment.parameters().getFirst().name())
                .toList();
        assertTrue(all.contains("02BatchNorm_gamma") && all.contains(DEPTHWISE), all::toString);
        assertTrue(all.stream().noneMatch(name -> name.contains("running")), "running statistics are not trained");
    }

    @Test
    void rulesGoByLayer() {
        assertEquals(
                Map.of(LINEAR, new AxisGroups(1, 2, 36)),
                penalised(BlockGroups.NONE.neurons().of(Linear.class), convolutions));
        assertEquals(
                Map.of(CONVOLUTION, new AxisGroups(1, 4, 27), DEPTHWISE, new AxisGroups(1, 4, 4)),
                penalised(BlockGroups.NONE.neurons().of(Conv2d.class), convolutions));
    }

    @Test
    void rulesGoByName() {
        assertEquals(
                Map.of(TestModel.SECOND, new AxisGroups(3, 5, 1), "01Linear_bias", new AxisGroups(1, 5, 1)),
                penalised(
                        BlockGroups.NONE
                                .rows()
                                .named(TestModel.SECOND)
                                .singles()
                                .named("01Linear_bias"),
                        perceptron));
    }

    @Test
    void rulesGoByPatternAndLeaveBiasesAlone() {
        assertEquals(
                Map.of(TestModel.FIRST, new AxisGroups(5, 6, 1), TestModel.SECOND, new AxisGroups(3, 5, 1)),
                penalised(BlockGroups.NONE.along(1).matching(Pattern.compile("Linear")), perceptron));
        assertEquals(
                Map.of(TestModel.SECOND, new AxisGroups(1, 15, 1)),
                penalised(BlockGroups.NONE.singles().matching(Pattern.compile("^03")), perceptron));
    }

    @Test
    void theLastRuleThatFitsDecides() {
        assertEquals(
                Map.of(TestModel.SECOND, new AxisGroups(3, 5, 1)),
                penalised(BlockGroups.DEFAULT.exclude().named(TestModel.FIRST), perceptron));
        assertEquals(
                Map.of(TestModel.FIRST, new AxisGroups(1, 5, 6), TestModel.SECOND, new AxisGroups(3, 5, 1)),
                penalised(BlockGroups.DEFAULT.neurons().named(TestModel.FIRST), perceptron));
    }

    @Test
    void groupsMaySpanParameters() {
        Groups joint = new JointGroups(List.of(new AxisGroups(1, 5, 6), new AxisGroups(1, 5, 1)));
        assertEquals(
                Map.of(TestModel.FIRST + "+01Linear_bias", joint),
                penalised(BlockGroups.NONE.joint(0, TestModel.FIRST, "01Linear_bias"), perceptron));
    }

    @Test
    void frozenParametersAreLeftOut() {
        perceptron.parameter(TestModel.FIRST).freeze(true);
        assertEquals(Map.of(TestModel.SECOND, new AxisGroups(3, 5, 1)), penalised(BlockGroups.DEFAULT, perceptron));
        perceptron.block().freezeParameters(true);
        assertMessage(BlockGroups.DEFAULT, perceptron, "no parameters to train");
    }

    @Test
    void slipsAreNamed() {
        assertMessage(BlockGroups.NONE.rows().named("fc"), perceptron, "[fc]");
        assertMessage(BlockGroups.NONE.rows().matching(Pattern.compile("conv")), perceptron, "the pattern conv");
        assertMessage(BlockGroups.NONE.along(2).of(Linear.class), perceptron, "axis = 2 is out of range");
        assertMessage(BlockGroups.NONE.rows().named("01Linear_bias"), perceptron, "axis = 1 is out of range");
        assertMessage(BlockGroups.NONE.joint(0, TestModel.FIRST, TestModel.SECOND), perceptron, "same number");
        assertMessage(
                BlockGroups.NONE
                        .joint(0, TestModel.FIRST, "01Linear_bias")
                        .exclude()
                        .named("01Linear_bias"),
                perceptron,
                "a later rule decides on [01Linear_bias]");
        assertMessage(BlockGroups.NONE.channels().named(DEPTHWISE), convolutions, "4 channels in 4 groups");
        assertMessage(
                BlockGroups.NONE.channels().matching(Pattern.compile("Conv")), convolutions, "4 channels in 4 groups");
        assertThrows(IllegalArgumentException.class, () -> BlockGroups.NONE.along(-1));
        String uninitialised = String.valueOf(
                assertThrows(IllegalStateException.class, () -> BlockGroups.DEFAULT.assign(TestModel.perceptron()))
                        .getMessage());
        assertTrue(uninitialised.contains("initialise the model first"), uninitialised);
    }

    @Test
    void aSharedParameterIsListedOnce() {
        Linear shared = Linear.builder().setUnits(6).build();
        var block = new SequentialBlock().add(shared).add(shared);
        try (TestModel model = new TestModel(block, new Shape(1, 6))) {
            assertEquals(4, model.block().getParameters().size());
            assertEquals(2, ModelParameter.of(model.block()).size());
            assertEquals(
                    Parameter.Type.WEIGHT,
                    ModelParameter.of(model.block()).getFirst().parameter().getType());
        }
    }

    private static void assertMessage(BlockGroups rules, TestModel model, String part) {
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> rules.assign(model.block()))
                .getMessage());
        assertTrue(message.contains(part), message);
    }

    private static Map<String, Groups> penalised(BlockGroups rules, TestModel model) {
        Map<String, Groups> penalised = new LinkedHashMap<>();
        for (BlockGroups.Assignment assignment : rules.assign(model.block())) {
            if (assignment.groups() != null) {
                penalised.put(
                        String.join(
                                "+",
                                assignment.parameters().stream()
                                        .map(ModelParameter::name)
                                        .toList()),
                        assignment.groups());
            }
        }
        return penalised;
    }
}
