package dev.espalier.text;

import dev.espalier.core.check.Check;
import dev.espalier.data.Field;
import dev.espalier.data.ModelInput;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * How many tokens rows have.
 *
 * @param most how many are read at most, special ones included
 * @param fixed how many the model takes, neither more nor less: shorter rows are filled up; empty if rows are as long as their texts
 * @param buckets whether rows of like length make batches
 * @param places how many tokens the model has embeddings of; empty if nobody knows
 */
record TokenLengths(int most, OptionalInt fixed, boolean buckets, OptionalLong places) {
    /** Checks the lengths. */
    TokenLengths {
        Check.atLeast("the most tokens", most, 4);
    }

    /** As rows were that a model was trained with. */
    static TokenLengths as(Field.Tokens field) {
        return new TokenLengths(
                field.most(),
                field.fixed() ? OptionalInt.of(field.most()) : OptionalInt.empty(),
                false,
                OptionalLong.empty());
    }

    /** For a model that declares inputs. */
    static TokenLengths of(int most, boolean buckets, List<ModelInput> inputs) {
        List<ModelInput> sequences =
                inputs.stream().filter(ModelInput::isSequence).toList();
        OptionalInt fixed = sequences.stream()
                .map(input -> input.type().shape().get(1))
                .filter(length -> length.isKnown())
                .mapToInt(length -> Math.toIntExact(length.value()))
                .min();
        // Those of tokens are more than those of the two texts of a pair.
        OptionalLong places = sequences.stream()
                .flatMapToLong(input -> input.places().stream())
                .max();
        return new TokenLengths(Math.min(most, fixed.orElse(most)), fixed, buckets && fixed.isEmpty(), places);
    }

    /** What is said of columns. */
    int width() {
        return fixed.orElse(most);
    }
}
