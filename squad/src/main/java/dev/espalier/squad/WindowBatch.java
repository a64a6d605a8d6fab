package dev.espalier.squad;

import dev.espalier.graph.model.Bert;
import dev.espalier.graph.type.Tensor;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.ToIntFunction;

/**
 * Some windows as tensors.
 *
 * @param windows the windows, one for each row
 * @param inputs {@code input_ids}, {@code attention_mask} and {@code token_type_ids}, all whole numbers {@code [batch,
 *     tokens]}
 */
record WindowBatch(List<Window> windows, SequencedMap<String, Tensor> inputs) {
    /** Takes copies. */
    public WindowBatch {
        windows = List.copyOf(windows);
        inputs = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(inputs));
    }

    /**
     * The number of windows.
     *
     * @return at least 1
     */
    public int size() {
        return windows.size();
    }

    /**
     * Where the answers start and where they end.
     *
     * @return two tensors of whole numbers, {@code [batch]}; −1 where nobody knows
     */
    public List<Tensor> labels() {
        return List.of(column(Window::start), column(Window::end));
    }

    private Tensor column(ToIntFunction<Window> value) {
        return Tensor.of(windows.stream().mapToLong(value::applyAsInt).toArray(), size());
    }

    /** Which tokens are a window's own. */
    static Tensor mask(Map<String, Tensor> inputs) {
        Tensor mask = inputs.get(Bert.ATTENTION_MASK);
        if (mask == null) {
            throw new IllegalArgumentException(
                    "inputs has %s: there must be %s".formatted(inputs.keySet(), Bert.ATTENTION_MASK));
        }
        return mask;
    }

    /** {@code [batch, tokens]}. */
    long[] shape() {
        return mask(inputs).shape();
    }
}
