package dev.espalier.torture.file.reader;

import dev.espalier.graph.model.Bert;
import dev.espalier.graph.model.BertConfig;
import dev.espalier.graph.model.HuggingFace;
import dev.espalier.graph.model.Weights;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The {@code config.json} of a BERT checkpoint, beside sound weights. */
public final class ConfigTarget extends SingleFile {
    private static final BertConfig SMALL =
            new BertConfig(11, 4, 1, 2, 6, 8, 2, 1e-12, 0.1, 0.1, BertConfig.Activation.GELU);

    /** Called by the service loader. */
    public ConfigTarget() {
        super("config", Structure.TEXT, "config.json");
    }

    @Override
    public List<byte[]> seeds(Path folder) throws IOException {
        prepare(folder);
        return List.of(Files.readAllBytes(folder.resolve("config.json")));
    }

    @Override
    public void prepare(Path folder) throws IOException {
        HuggingFace.save(folder, Bert.questionAnswering(SMALL, Weights.seeded(1)), SMALL);
    }

    @Override
    public List<String> words() {
        return List.of(
                "\"gelu\"",
                "\"gelu_new\"",
                "\"relu\"",
                "\"distilbert\"",
                "\"bert\"",
                "\"absolute\"",
                "\"position_embedding_type\"");
    }

    @Override
    void read(Path file) throws IOException {
        HuggingFace.read(file.resolveSibling(""), 1);
        HuggingFace.readClassification(file.resolveSibling(""), 3, Weights.seeded(1));
    }
}
