package dev.espalier.graph.group;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.core.rule.UpdateRule;
import dev.espalier.core.schedule.LearningRate;
import dev.espalier.core.step.Optimizer;
import dev.espalier.core.step.Parameter;
import dev.espalier.core.step.ParameterSet;
import dev.espalier.core.step.StepOptions;
import dev.espalier.core.tensor.ElementType;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer.Kind;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Vgg16;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.op.Gather;
import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TrainingPlanTest {
    private static final Weights ONES = (name, start, shape) -> Tensor.compute(DataType.FLOAT32, shape, i -> 1);
    private static final LearningRate RATE = LearningRate.constant(0.1);
    private static final Penalty PENALTY = new GroupLasso(0.01);
    private static final Graph BERT = Bert.questionAnswering(
            new BertConfig(40, 16, 2, 2, 32, 12, 2, 1e-12, 0.1, 0.1, BertConfig.Activation.GELU), ONES);

    private static void requireEachOnce(Graph graph, List<ParameterSet> sets) {
        Set<String> seen = new HashSet<>();
        for (ParameterSet set : sets) {
            for (Parameter parameter : set.parameters()) {
                assertTrue(seen.add(parameter.name()), parameter.name());
                assertEquals(
                        Objects.requireNonNull(graph.tensor(parameter.name())).size(), parameter.size());
            }
        }
        assertEquals(graph.tensors(Kind.PARAMETER).keySet(), seen);
    }

    @Test
    void biasesAndNormsHaveNeitherPenaltyNorDecay() {
        Graph graph = Vgg16.build(ImageOptions.CIFAR10, ONES);
        List<ParameterSet> sets = TrainingPlan.of(PENALTY, RATE)
                .withWeightDecay(0.3)
                .parameterSets(graph, PaperRules.VGG16.derive(graph));
        requireEachOnce(graph, sets);
        int groups = 0;
        for (ParameterSet set : sets) {
            Regularizer regularizer = set.regularizer();
            boolean weight = set.name().endsWith("conv.weight") || set.name().equals("classifier.weight");
            assertEquals(weight, regularizer != null, set.name());
            assertEquals(weight ? 0.3 : 0, set.weightDecay(), set.name());
            assertFalse(set.frozen());
            groups += regularizer == null ? 0 : regularizer.groups().count();
        }
        assertEquals(4_227, groups);
        assertEquals("features.0.conv.weight", sets.getFirst().name());
    }

    @Test
    void biasesAndNormsDecayWhereAllDo() {
        Graph graph = Vgg16.build(ImageOptions.CIFAR10, ONES);
        new TrainingPlan(PENALTY, RATE, 0.3, TrainingPlan.Decayed.ALL, Selector.nothing())
                .parameterSets(graph, PaperRules.VGG16.derive(graph))
                .forEach(set -> assertEquals(0.3, set.weightDecay(), set.name()));
    }

    @Test
    void thePapersBertHasFrozenEmbeddings() {
        List<ParameterSet> sets = TrainingPlan.of(PENALTY, RATE)
                .withFrozen(PaperRules.BERT.frozen())
                .parameterSets(BERT, PaperRules.BERT.derive(BERT));
        requireEachOnce(BERT, sets);
        for (ParameterSet set : sets) {
            assertEquals(set.name().startsWith("bert.embeddings."), set.frozen(), set.name());
        }
        assertEquals(5, sets.stream().filter(ParameterSet::frozen).count());
    }

    @Test
    void tablesCanBeFrozenByWhatReadsThem() {
        List<ParameterSet> sets = TrainingPlan.dense(RATE)
                .withFrozen(Selector.operator(Gather.class))
                .parameterSets(BERT, PaperRules.BERT.derive(BERT));
        requireEachOnce(BERT, sets);
        assertEquals(3, sets.stream().filter(ParameterSet::frozen).count());
        sets.forEach(set -> assertNull(set.regularizer()));
    }

    @Test
    void jointGroupsAreOneSet() {
        ModelGroups groups = GroupRules.everything().joinConsumers().derive(BERT);
        List<ParameterSet> sets = TrainingPlan.of(PENALTY, RATE).parameterSets(BERT, groups);
        requireEachOnce(BERT, sets);
        ParameterSet joint = sets.stream()
                .filter(set -> set.parameters().size() == 3)
                .findFirst()
                .orElseThrow();
        assertNotNull(joint.regularizer());
        assertTrue(joint.name().contains("query.weight + bert.encoder.layer.0.attention.self.key.weight"));
    }

    @Test
    void whatIsFrozenIsNotPenalised() {
        ModelGroups groups = GroupRules.everything().derive(BERT);
        String query = "bert.encoder.layer.1.attention.self.query.weight";
        TrainingPlan plan = TrainingPlan.of(PENALTY, RATE).withFrozen(Selector.parameters(query));
        ParameterSet frozen = plan.parameterSets(BERT, groups).stream()
                .filter(set -> set.name().equals(query))
                .findFirst()
                .orElseThrow();
        assertTrue(frozen.frozen());
        assertNull(frozen.regularizer());
        ModelGroups joined = GroupRules.everything().joinConsumers().derive(BERT);
        IllegalArgumentException problem =
                assertThrows(IllegalArgumentException.class, () -> plan.parameterSets(BERT, joined));
        assertTrue(String.valueOf(problem.getMessage()).contains(query), problem.getMessage());
        TrainingPlan all = plan.withFrozen(Selector.parametersMatching(".*self\\.(query|key|value)\\.weight"));
        requireEachOnce(BERT, all.parameterSets(BERT, joined));
    }

    @Test
    void aFrozenNameThatTheModelDoesNotHaveIsAnError() {
        TrainingPlan plan = TrainingPlan.dense(RATE).withFrozen(Selector.parameters("embeddings"));
        ModelGroups groups = GroupRules.everything().derive(BERT);
        assertThrows(IllegalArgumentException.class, () -> plan.parameterSets(BERT, groups));
    }

    @Test
    void aPatternThatMatchesNothingIsAnErrorWithTheMend() {
        ModelGroups groups = GroupRules.everything().derive(BERT);
        assertTrue(message(".*embedings\\..*", groups).contains("the nearest are [bert.embeddings."));
        assertTrue(message("bert.embeddings*", groups).endsWith("is bert\\.embeddings.*"));
    }

    private static String message(String pattern, ModelGroups groups) {
        TrainingPlan plan = TrainingPlan.dense(RATE).withFrozen(Selector.parametersMatching(pattern));
        return String.valueOf(assertThrows(IllegalArgumentException.class, () -> plan.parameterSets(BERT, groups))
                .getMessage());
    }

    /** With a penalty beyond measure one step leaves nothing of what is penalised, and everything else as it was. */
    @Test
    void anOptimizerZeroesExactlyWhatIsPenalised() {
        ModelGroups groups = GroupRules.everything().joinConsumers().derive(BERT);
        List<ParameterSet> sets = TrainingPlan.of(new GroupLasso(1e6), RATE)
                .withFrozen(PaperRules.BERT.frozen())
                .parameterSets(BERT, groups);
        Map<String, TensorView> weights = new HashMap<>();
        Map<String, TensorView> gradients = new HashMap<>();
        BERT.tensors(Kind.PARAMETER).forEach((name, tensor) -> {
            MemorySegment memory = Arena.ofAuto().allocate(tensor.data().byteSize(), 64);
            weights.put(name, TensorView.of(memory.copyFrom(tensor.data()), ElementType.FLOAT32, tensor.shape()));
            MemorySegment zero = Arena.ofAuto().allocate(tensor.data().byteSize(), 64);
            gradients.put(name, TensorView.of(zero, ElementType.FLOAT32, tensor.shape()));
        });
        try (Optimizer optimizer = new Optimizer(new UpdateRule.Sgd(), sets, StepOptions.DEFAULT.withThreads(1))) {
            optimizer.step(weights, gradients);
        }
        Set<String> penalised = new HashSet<>();
        groups.layers().forEach(layer -> penalised.addAll(layer.parameters()));
        weights.forEach((name, view) -> {
            for (long i = 0; i < view.size(); i++) {
                assertEquals(penalised.contains(name) ? 0 : 1, view.get(i), name);
            }
        });
        Map<String, Tensor> trained = new HashMap<>();
        weights.forEach((name, view) -> trained.put(name, Tensor.of(DataType.FLOAT32, view.shape(), view.segment())));
        assertEquals(0, groups.groupsLeft(BERT.withTensors(trained)));
    }
}
