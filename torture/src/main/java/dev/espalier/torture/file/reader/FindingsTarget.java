package dev.espalier.torture.file.reader;

import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.JsonFile;
import dev.espalier.train.journal.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** What was found on the test part. */
public final class FindingsTarget extends RunFile {
    /** Called by the service loader. */
    public FindingsTarget() {
        super("findings", RunFolder::findingsFile);
    }

    @Override
    public List<byte[]> seeds(Path folder) {
        Findings.Samples samples = new Findings.Samples(10, 0, 5);
        Findings.Mistake mistake = new Findings.Mistake(
                1,
                List.of(
                        new Findings.Glimpse.Words("x", "1"),
                        new Findings.Glimpse.Picture("p", 1, 1, 2, new byte[] {1, 2})),
                "a",
                "b",
                "surely");
        Findings.Outcome classes = new Findings.Outcome.Classes(
                List.of(new Findings.Tally("a", 5, 2, 3, 2), new Findings.Tally("b", 5, 3, 2, 2)),
                List.of(new Findings.Confusion(0, 1, 1)));
        Findings.Outcome quantities = new Findings.Outcome.Quantities(
                List.of(new Findings.Quantity(
                        "q",
                        0.1,
                        0.2,
                        0.3,
                        new Findings.Histogram(0, 1, List.of(1L, 2L)),
                        List.of(1.0, 2.0),
                        List.of(1.5, 2.5))),
                1);
        return List.of(
                bytes(JsonFile.text(new Findings(samples, classes, List.of(mistake)))),
                bytes(JsonFile.text(new Findings(samples, quantities, List.of()))));
    }

    @Override
    void read(RunFolder run) throws IOException {
        Findings findings = run.findings().orElseThrow();
        findings.samples().train();
        for (Findings.Mistake mistake : findings.mistakes()) {
            mistake.inputs().forEach(Findings.Glimpse::name);
        }
        JsonFile.text(findings);
    }
}
