package dev.espalier.torture.file.reader;

import dev.espalier.graph.Graph;
import dev.espalier.graph.Initializer;
import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.Mlp;
import dev.espalier.graph.model.SmallCnn;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.graph.prune.PruneOptions;
import dev.espalier.graph.prune.Pruner;
import dev.espalier.train.task.CardNote;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Models in ONNX files, with tensors beside them: read, grouped, pruned, written. The property {@code espalier.seeds} names a folder
 * of models, without external data, to start from besides our own.
 */
public final class OnnxTarget extends SingleFile {
    private static final String FILE = "model.onnx";
    private static final String LINK = "link.bin";
    private static final int SECRET = 0x5e5e5e5e;
    /** Larger files take longer and say no more. */
    private static final long LARGEST = 64_000;

    /** Called by the service loader. */
    public OnnxTarget() {
        super("onnx", Structure.MESSAGE, FILE);
    }

    @Override
    public int share() {
        return 12;
    }

    @Override
    public List<byte[]> seeds(Path folder) throws IOException {
        List<byte[]> seeds = new ArrayList<>();
        Weights weights = Weights.seeded(1);
        Graph cnn = SmallCnn.build(new ImageOptions(3, 1, 8), List.of(4, 4), true, weights);
        seeds.add(OnnxWriter.toBytes(GroupRules.everything().note(cnn), OnnxWriter.Options.DEFAULT));
        seeds.add(
                OnnxWriter.toBytes(Mlp.ofVectors(3, 4, List.of(5), weights), OnnxWriter.Options.DEFAULT.withOpset(13)));
        BertConfig small = new BertConfig(11, 4, 1, 2, 6, 8, 2, 1e-12, 0.1, 0.1, BertConfig.Activation.GELU);
        seeds.add(OnnxWriter.toBytes(Bert.questionAnswering(small, weights), OnnxWriter.Options.DEFAULT));
        seeds.add(OnnxWriter.toBytes(Bert.classification(small, 2, weights), OnnxWriter.Options.DEFAULT));
        writeExternal(folder);
        seeds.add(Files.readAllBytes(folder.resolve(FILE)));
        String more = System.getProperty("espalier.seeds");
        if (more != null) {
            try (Stream<Path> files = Files.list(Path.of(more))) {
                for (Path file : files.sorted().toList()) {
                    if (file.toString().endsWith(".onnx")
                            && !file.toString().contains("external")
                            && Files.size(file) < LARGEST) {
                        seeds.add(Files.readAllBytes(file));
                    }
                }
            }
        }
        return seeds;
    }

    private static void writeExternal(Path folder) throws IOException {
        Graph graph = Mlp.ofVectors(3, 16, List.of(20), Weights.seeded(2));
        OnnxWriter.write(graph, folder.resolve(FILE), OnnxWriter.Options.DEFAULT.withExternalData());
    }

    @Override
    public void prepare(Path folder) throws IOException {
        writeExternal(folder);
        Files.createSymbolicLink(folder.resolve(LINK), Path.of("..", "secret.bin"));
    }

    @Override
    public List<String> words() {
        return OnnxWords.ALL;
    }

    @Override
    public Memory memory() {
        return new Memory(64L << 20, 4000);
    }

    @Override
    void read(Path file) throws IOException {
        Graph graph = OnnxReader.read(file).graph();
        for (Initializer initializer : graph.initializers().values()) {
            long bytes = initializer.tensor().data().byteSize();
            if (bytes >= Integer.BYTES
                    && initializer.tensor().data().get(ValueLayout.JAVA_INT_UNALIGNED, 0) == SECRET) {
                throw new AssertionError("a file outside of the folder was read as " + initializer);
            }
        }
        CardNote.of(graph);
        GroupRules.of(graph).derive(graph);
        OnnxWriter.toBytes(Pruner.plan(graph, PruneOptions.DEFAULT).apply(), OnnxWriter.Options.DEFAULT);
    }
}
