package dev.espalier.squad;

import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Values;
import dev.espalier.train.task.Materials;
import dev.espalier.train.task.Task;
import dev.espalier.train.task.TaskKind;
import java.io.IOException;
import java.util.List;

/** {@code task.kind = "answering"}. */
public final class AnsweringKind implements TaskKind {
    private static final String NAME = "answering";

    private static final Key<Integer> BEST = Key.whole(
                    "task.best", "how many of the likeliest starts and ends are combined")
            .in(Range.atLeast(1))
            .withDefault(AnswerSearch.DEFAULT.best());
    private static final Key<Integer> ANSWER_LENGTH = Key.whole(
                    "task.answer_length", "tokens that an answer has at most")
            .in(Range.atLeast(1))
            .withDefault(AnswerSearch.DEFAULT.answerLength());

    /** Called by the service loader. */
    public AnsweringKind() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String meaning() {
        return "which piece of a text answers a question?";
    }

    @Override
    public List<Key<?>> keys() {
        return List.of(BEST, ANSWER_LENGTH);
    }

    @Override
    public Task open(Values values, Materials materials) throws IOException {
        if (!SquadData.isKindOf(materials.dataValues())) {
            throw new IllegalArgumentException(
                    "task.kind = answering and data.kind = %s do not fit: set data.kind to squad"
                            .formatted(materials.dataValues().kind()));
        }
        return Answering.of(materials, search(values));
    }

    /**
     * How answers are found.
     *
     * @param task the values of {@code [task]}, of any kind
     * @return what they say; the default if the task is left to the data
     */
    public static AnswerSearch search(Values task) {
        return task.kind().equals(NAME)
                ? new AnswerSearch(task.of(BEST), task.of(ANSWER_LENGTH))
                : AnswerSearch.DEFAULT;
    }
}
