package dev.espalier.squad;

import dev.espalier.data.Context;
import dev.espalier.data.DataKind;
import dev.espalier.data.DataSection;
import dev.espalier.data.Outline;
import dev.espalier.data.Parts;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import dev.espalier.text.UnknownTokens;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** {@code data.kind = "squad"}: SQuAD 1.1. */
public final class SquadData implements DataKind {
    private static final String NAME = "squad";

    private static final Key<String> TRAIN_FILE = Key.text("data.train_file", "the training part's file in the folder")
            .in(Range.notBlank())
            .withDefault("train-v1.1.json");
    private static final Key<String> TEST_FILE = Key.text("data.test_file", "the test part's file in the folder")
            .in(Range.notBlank())
            .withDefault("dev-v1.1.json");
    private static final Key<Integer> LENGTH = Key.whole("data.length", "tokens in a window, question included")
            .in(Range.atLeast(8))
            .withDefault(WindowPlan.DEFAULT.length());
    private static final Key<Integer> STRIDE = Key.whole(
                    "data.stride", "tokens of the text that two windows in a row have in common")
            .in(Range.atLeast(0))
            .withDefault(WindowPlan.DEFAULT.stride());
    private static final Key<Integer> QUESTION_LENGTH = Key.whole(
                    "data.question_length",
                    "tokens that a question is cut to; with `stride` and three special tokens below `length`")
            .in(Range.atLeast(1))
            .withDefault(WindowPlan.DEFAULT.questionLength());
    /** Called by the service loader. */
    public SquadData() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String meaning() {
        return "SQuAD 1.1: questions, and answers that are parts of a text";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(DataSection.DIR, TRAIN_FILE, TEST_FILE, LENGTH, STRIDE, QUESTION_LENGTH, UnknownTokens.LARGEST);
    }

    @Override
    public void check(Values values) {
        int length = values.of(LENGTH);
        int stride = values.of(STRIDE);
        int questionLength = values.of(QUESTION_LENGTH);
        if ((long) stride + questionLength + WindowPlan.SPECIAL >= length) {
            throw new IllegalArgumentException("%s = %d, %s = %d and %d special tokens must add up to less than %s = %d"
                    .formatted(STRIDE, stride, QUESTION_LENGTH, questionLength, WindowPlan.SPECIAL, LENGTH, length));
        }
    }

    @Override
    public Outline outline(Values values) {
        return new Outline.Tokens();
    }

    @Override
    public Optional<String> task(Values values) {
        return Optional.of("answering");
    }

    /** A question has several windows, and answers are words: that is no table of rows. */
    @Override
    public Parts open(Values values, Context context) {
        throw new IllegalArgumentException(
                "data.kind = squad has answers instead of classes or numbers: set task.kind to answering, or choose other data");
    }

    /**
     * Whether a section is of this kind.
     *
     * @param values the values of {@code [data]}
     * @return true for {@code data.kind = "squad"}
     */
    public static boolean isKindOf(Values values) {
        return values.kind().equals(NAME);
    }

    /**
     * The file to learn from.
     *
     * @param values the values of {@code [data]}
     * @return the training part
     */
    public static Path trainFile(Values values) {
        return Path.of(values.of(DataSection.DIR), values.of(TRAIN_FILE));
    }

    /**
     * The file to be judged by.
     *
     * @param values the values of {@code [data]}
     * @return the test part
     */
    public static Path testFile(Values values) {
        return Path.of(values.of(DataSection.DIR), values.of(TEST_FILE));
    }

    /**
     * How texts are cut into windows.
     *
     * @param values the values of {@code [data]}
     * @return the plan
     */
    public static WindowPlan windows(Values values) {
        return new WindowPlan(values.of(LENGTH), values.of(STRIDE), values.of(QUESTION_LENGTH));
    }
}
