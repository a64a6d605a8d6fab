package org.example.sines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.data.Batch;
import dev.espalier.data.BatchPlan;
import dev.espalier.data.BatchPosition;
import dev.espalier.data.Batches;
import dev.espalier.data.Context;
import dev.espalier.data.DataSection;
import dev.espalier.data.LoadedData;
import dev.espalier.graph.type.Tensor;
import dev.espalier.settings.SettingsException;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SinesKindTest {
    @Test
    void somebodyElsesKindIsFoundByNameAndHasAllThatOursHave() throws IOException {
        LoadedData data = DataSection.load(
                DataSection.read("data.kind=sines", "data.count=100", "data.validation_fraction=0.25"), Context.QUIET);
        assertEquals(20, data.test().size());
        assertEquals(20, data.validation().size());
        assertEquals(60, data.train().size());
        assertEquals(List.of("100 waves"), data.notes());
        int rows = 0;
        try (Batches batches = data.batches(BatchPlan.training(16, 1), BatchPosition.START, 1)) {
            while (batches.hasNext()) {
                Batch batch = batches.next();
                Tensor wave = batch.inputs().firstEntry().getValue();
                Tensor frequency = batch.targets().firstEntry().getValue();
                assertEquals("[%d, 16]".formatted(batch.size()), Arrays.toString(wave.shape()));
                for (int i = 0; i < batch.size(); i++) {
                    assertEquals(Math.sin(frequency.getDouble(i)), wave.getDouble(i * 16 + 1), 1e-6);
                }
                rows += batch.size();
            }
        }
        assertEquals(60, rows);
    }

    @Test
    void itsKeysAreChecked() {
        SettingsException refused =
                assertThrows(SettingsException.class, () -> DataSection.read("data.kind=sines", "data.count=3"));
        assertTrue(String.valueOf(refused.getMessage()).contains("at least 10"), refused::getMessage);
        assertThrows(SettingsException.class, () -> DataSection.read("data.kind=digits", "data.count=30"));
    }
}
