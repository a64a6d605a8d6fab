package dev.espalier.squad;

import dev.espalier.data.DataSection;
import dev.espalier.settings.Values;
import dev.espalier.text.UnknownTokens;
import dev.espalier.text.WordPiece;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * The questions of a run.
 *
 * @param train what the model learns from
 * @param validation what it is watched by while it learns; the test part itself, if the recipe sets nothing aside
 * @param test what it is judged by in the end
 */
record QuestionData(Windows train, Windows validation, Windows test) {
    /**
     * Loads what a recipe names. First both parts are limited, then validation is cut off the training part, by whole texts.
     *
     * @param values the values of {@code [data]}
     * @param tokenizer the model's
     * @return all of it, in memory
     * @throws IOException if a file cannot be read, or is not what it should be
     * @throws IllegalArgumentException if the tokenizer knows too few of the words; the message says what to do
     */
    public static QuestionData load(Values values, WordPiece tokenizer) throws IOException {
        WindowPlan plan = SquadData.windows(values);
        Squad train = limited(Squad.read(SquadData.trainFile(values)), values.of(DataSection.TRAIN_LIMIT));
        Windows test = new Windows(
                limited(Squad.read(SquadData.testFile(values)), values.of(DataSection.TEST_LIMIT)), tokenizer, plan);
        double fraction = values.of(DataSection.VALIDATION_FRACTION);
        QuestionData data;
        if (fraction == 0) {
            data = new QuestionData(new Windows(train, tokenizer, plan), test, test);
        } else {
            Squad.Split split = train.holdOut(fraction, values.of(DataSection.SPLIT_SEED));
            data = new QuestionData(
                    new Windows(split.kept(), tokenizer, plan), new Windows(split.held(), tokenizer, plan), test);
        }
        double largest = values.of(UnknownTokens.LARGEST);
        data.unknown().forEach((part, unknown) -> unknown.requireAtMost(largest, part));
        return data;
    }

    /** What the vocabulary does not know of each part, by the part's name. */
    SequencedMap<String, UnknownTokens> unknown() {
        SequencedMap<String, UnknownTokens> parts = new LinkedHashMap<>();
        parts.put("train", train.unknown());
        if (validation != test) {
            parts.put("validation", validation.unknown());
        }
        parts.put("test", test.unknown());
        return parts;
    }

    private static Squad limited(Squad squad, int limit) {
        return limit == 0 ? squad : squad.atMost(limit);
    }
}
