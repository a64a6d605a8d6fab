package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.graph.model.ImageOptions;
import dev.espalier.graph.model.SmallCnn;
import dev.espalier.graph.model.Weights;
import dev.espalier.graph.onnx.OnnxWriter;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.task.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TasksTest {
    /** A PNG of one pixel. */
    private static final String PIXEL =
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    @TempDir
    Path folder;

    /** A user sees how far the images are, and what became of the model's last layer; the latter once, however many seeds there are. */
    @Test
    void whoListensIsToldOfTheDataAndOfTheModel() throws IOException {
        for (String name : List.of("left", "right")) {
            Path place = Files.createDirectories(folder.resolve("images").resolve(name));
            for (int i = 0; i < 6; i++) {
                Files.write(place.resolve(i + ".png"), Base64.getDecoder().decode(PIXEL));
            }
        }
        Path file = folder.resolve("ten.onnx");
        OnnxWriter.write(SmallCnn.build(new ImageOptions(10, 1, 8), List.of(3), true, Weights.seeded(1)), file);
        Recipe recipe =
                Recipe.parse("images.toml", """
                [data]
                kind = "images"
                dir = "?"
                size = 8
                channels = 1
                [model]
                kind = "onnx"
                file = "?"
                head = "new"
                [method]
                kind = "baseline"
                [optimizer]
                rate = 1e-2
                [training]
                prune_for = "size"
                epochs = 1
                batch_size = 4
                """, List.of("data.dir=" + folder.resolve("images"), "model.file=" + file));
        List<String> read = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        Task task = Tasks.of(recipe, new TrainingListener() {
            @Override
            public void onReading(String what, long done, long total) {
                read.add("%d of %d %s".formatted(done, total, what));
            }

            @Override
            public void onNote(String text) {
                notes.add(text);
            }
        });
        assertEquals("12 of 12 images", read.getLast());
        task.model(Weights.seeded(1));
        task.model(Weights.seeded(2));
        assertEquals(1, notes.size(), notes::toString);
        assertTrue(notes.getFirst().contains("the last layer, is replaced by head"), notes::toString);
    }
}
