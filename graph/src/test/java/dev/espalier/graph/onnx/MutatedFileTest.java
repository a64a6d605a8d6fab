package dev.espalier.graph.onnx;

import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import ai.onnx.proto.OnnxMl.ModelProto;
import dev.espalier.graph.Graph;
import dev.espalier.graph.GraphException;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.Pruner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Models that were changed by chance go through all that is done with a file: read, grouped, pruned. Whatever is wrong with
 * them is explained. The properties {@code espalier.mutations} and {@code espalier.seed} ask for more of them.
 */
class MutatedFileTest {
    private static final int COUNT = Integer.getInteger("espalier.mutations", 3000);
    private static final int FIRST = Integer.getInteger("espalier.seed", 0);
    private static final Duration SOON = Duration.ofSeconds(60).plus(Duration.ofMillis(100L * COUNT));

    /** Larger files take longer and say no more. */
    private static final long LARGEST = 200_000;

    private static List<ModelProto> models() throws Exception {
        Path exports = Path.of(Objects.requireNonNull(MutatedFileTest.class.getResource("/exports"))
                .toURI());
        List<ModelProto> models = new ArrayList<>(List.of(ModelProto.parseFrom(HostileFileTest.model())));
        try (Stream<Path> files = Files.list(exports)) {
            for (Path file : files.sorted().toList()) {
                if (file.toString().endsWith(".onnx") && Files.size(file) < LARGEST) {
                    models.add(ModelProto.parseFrom(Files.readAllBytes(file)));
                }
            }
        }
        return models;
    }

    @Test
    void whateverIsWrongWithAFileIsExplained() throws Exception {
        List<ModelProto> models = models();
        assertTrue(models.size() > 5, "only " + models.size() + " models");
        List<String> operators = models.stream()
                .flatMap(model -> model.getGraph().getNodeList().stream())
                .map(node -> node.getOpType())
                .distinct()
                .sorted()
                .toList();
        assertTimeoutPreemptively(SOON, () -> {
            int survived = 0;
            for (int seed = FIRST; seed < FIRST + COUNT; seed++) {
                Random random = new Random(seed);
                ModelProto model = models.get(random.nextInt(models.size()));
                byte[] mutated = new Mutations(random, operators).mutate(model);
                survived += survives(mutated, "seed " + seed) ? 1 : 0;
            }
            assertTrue(survived > COUNT / 20, "only " + survived + " were models after all");
        });
    }

    private static boolean survives(byte[] bytes, String replay) {
        try {
            Graph graph = OnnxReader.read(bytes).graph();
            GroupRules.everything().derive(graph);
            Pruner.plan(graph, PruneOptions.DEFAULT).apply();
            return true;
        } catch (IOException | GraphException explained) {
            String message = explained.getMessage();
            assertTrue(message != null && !message.isBlank(), replay);
            return false;
        } catch (RuntimeException | Error escaped) {
            return fail(replay, escaped);
        }
    }
}
