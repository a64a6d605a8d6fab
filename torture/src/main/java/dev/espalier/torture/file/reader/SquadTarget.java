package dev.espalier.torture.file.reader;

import dev.espalier.squad.Answer;
import dev.espalier.squad.Paragraph;
import dev.espalier.squad.Question;
import dev.espalier.squad.Squad;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Questions in the JSON of SQuAD. */
public final class SquadTarget extends SingleFile {
    /** Called by the service loader. */
    public SquadTarget() {
        super("squad", Structure.TEXT, "squad.json");
    }

    @Override
    public List<byte[]> seeds(Path folder) throws IOException {
        Path file = folder.resolve("seed");
        new Squad(List.of(
                        new Paragraph(
                                "t", "The cat sat.", List.of(new Question("1", "Who?", List.of(new Answer("cat", 4))))),
                        new Paragraph(
                                "u",
                                "\ud83d\ude00 on a mat",
                                List.of(new Question(
                                        "2", "Where?", List.of(new Answer("mat", 8), new Answer("a", -1)))))))
                .write(file);
        return List.of(Files.readAllBytes(file));
    }

    @Override
    void read(Path file) throws IOException {
        Squad squad = Squad.read(file);
        squad.holdOut(0.5, 1);
        squad.write(file.resolveSibling("again.json"));
    }
}
