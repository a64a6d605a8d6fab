package dev.espalier.torture.file.reader;

import dev.espalier.train.journal.ModelCard;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The card that a model's file carries. */
public final class CardTarget extends SingleFile {
    /** Called by the service loader. */
    public CardTarget() {
        super("card", Structure.TEXT, "card.json");
    }

    @Override
    public List<byte[]> seeds(Path folder) {
        ModelCard card = new ModelCard(
                ModelCard.FORMAT,
                "1",
                List.of(new ModelCard.Input(
                        "x", "float32", List.of("N", "2"), "rows", List.of(new ModelCard.Column("a", List.of("b"))))),
                List.of(new ModelCard.Output("y", List.of("N"), "classes", "m", "t", List.of("a"))));
        return List.of(bytes(card.toJson()));
    }

    @Override
    void read(Path file) throws IOException {
        ModelCard card = ModelCard.parse(new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
        card.inputs().forEach(input -> input.columns().forEach(column -> look(column.categories())));
        card.outputs().forEach(output -> look(output.names()));
        card.toJson();
    }
}
