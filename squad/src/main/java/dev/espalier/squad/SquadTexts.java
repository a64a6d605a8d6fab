package dev.espalier.squad;

import dev.espalier.data.table.CellFile;
import dev.espalier.data.table.CellFormat;
import dev.espalier.data.table.TextLines;
import dev.espalier.text.JsonPlace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The texts of a SQuAD file, {@code .json}: all paragraphs and questions, each once, for whom texts are enough. */
public final class SquadTexts implements CellFormat {
    /** Called by the service loader. */
    public SquadTexts() {}

    @Override
    public boolean reads(Path file) {
        return file.toString().toLowerCase(Locale.ROOT).endsWith(".json");
    }

    @Override
    public CellFile open(Path file) {
        return new Texts(file);
    }

    private record Texts(Path file) implements CellFile {
        @Override
        public String placeWord() {
            return "text";
        }

        @Override
        public List<String> columns() {
            return List.of(TextLines.TEXT);
        }

        @Override
        public void forEach(List<String> wanted, Visitor visitor) throws IOException {
            if (!wanted.equals(columns())) {
                throw new IllegalArgumentException(
                        "%s has paragraphs and questions, one text a row, and %s are needed: give a table with these columns, .csv, .tsv or .jsonl"
                                .formatted(file, wanted));
            }
            Set<String> texts = new LinkedHashSet<>();
            for (JsonPlace article : JsonPlace.read(file).elements("data")) {
                for (JsonPlace paragraph : article.elements("paragraphs")) {
                    texts.add(paragraph.text("context").strip());
                    for (JsonPlace question : paragraph.elements("qas")) {
                        texts.add(question.text("question").strip());
                    }
                }
            }
            long place = 0;
            for (String text : texts) {
                place++;
                if (!text.isEmpty()) {
                    visitor.row(place, List.of(text));
                }
            }
        }
    }
}
