package dev.espalier.squad;

import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A model that knows all answers by heart, and recognises windows by their tokens. */
final class Oracle implements AnswerModel {
    private final Map<List<Long>, Window> windows = new HashMap<>();
    private final float sure;
    final List<List<Long>> shapes = new ArrayList<>();

    Oracle(Windows known, double sure) {
        this.sure = (float) sure;
        for (Window window : known.all()) {
            WindowBatch batch = known.batch(List.of(window));
            windows.put(row(ids(batch.inputs()), 0), window);
        }
    }

    private static Tensor ids(Map<String, Tensor> inputs) {
        return Objects.requireNonNull(inputs.get("input_ids"));
    }

    /** A row without what it is filled up with. */
    private static List<Long> row(Tensor ids, int row) {
        int length = (int) ids.shape()[1];
        return Arrays.stream(ids.toLongs(), row * length, (row + 1) * length)
                .filter(id -> id != 0)
                .boxed()
                .toList();
    }

    @Override
    public Map<String, Tensor> predict(Map<String, Tensor> inputs) {
        Tensor ids = ids(inputs);
        int length = (int) ids.shape()[1];
        shapes.add(Arrays.stream(ids.shape()).boxed().toList());
        float[] starts = new float[(int) ids.size()];
        float[] ends = new float[starts.length];
        for (int row = 0; row < ids.shape()[0]; row++) {
            Window window = Objects.requireNonNull(windows.get(row(ids, row)), "a window that nobody knows");
            starts[row * length + window.start()] = sure;
            ends[row * length + window.end()] = sure;
        }
        return Map.of("start_logits", Tensor.of(starts, ids.shape()), "end_logits", Tensor.of(ends, ids.shape()));
    }
}
