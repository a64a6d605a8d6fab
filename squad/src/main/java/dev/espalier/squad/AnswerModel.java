package dev.espalier.squad;

import dev.espalier.graph.type.Tensor;
import java.util.Map;

/** A model that can be asked where answers start and end. */
@FunctionalInterface
public interface AnswerModel {
    /**
     * Asks it.
     *
     * @param inputs {@code input_ids}, {@code attention_mask} and {@code token_type_ids}, all {@code [batch, tokens]}
     * @return {@code start_logits} and {@code end_logits}, both {@code [batch, tokens]}, and maybe others
     */
    Map<String, Tensor> predict(Map<String, Tensor> inputs);
}
