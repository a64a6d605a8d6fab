package dev.espalier.squad;

import dev.espalier.core.check.Check;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What a model's answers are worth: means over all questions.
 *
 * @param exactMatch the share of answers that are equal to one that people gave, from 0 to 1
 * @param f1 the mean overlap with the nearest answer that people gave, from 0 to 1
 * @param questions how many were asked
 */
record SquadScores(double exactMatch, double f1, int questions) {
    /**
     * Scores answers.
     *
     * @param questions the questions, at least one
     * @param answers an answer to each; empty if there is none
     * @return their scores
     */
    public static SquadScores of(List<Question> questions, List<String> answers) {
        Check.atLeast("number of questions", questions.size(), 1);
        Check.sameSize("answers", answers.size(), "questions", questions.size());
        double exactMatch = 0;
        double f1 = 0;
        for (int i = 0; i < questions.size(); i++) {
            AnswerScore score = AnswerScore.of(answers.get(i), questions.get(i));
            exactMatch += score.exactMatch();
            f1 += score.f1();
        }
        return new SquadScores(exactMatch / questions.size(), f1 / questions.size(), questions.size());
    }

    /**
     * Scores what was read: each question's likeliest answer.
     *
     * @param windows what was read
     * @param reading what came out
     * @return the scores
     */
    public static SquadScores of(Windows windows, AnswerReader.Reading reading) {
        int count = windows.questionCount();
        return of(IntStream.range(0, count).mapToObj(windows::question).toList(), answers(windows, reading));
    }

    /**
     * Each question's likeliest answer.
     *
     * @param windows what was read
     * @param reading what came out
     * @return a text for each question; empty if there is none
     */
    static List<String> answers(Windows windows, AnswerReader.Reading reading) {
        return IntStream.range(0, windows.questionCount())
                .mapToObj(number ->
                        text(windows.context(number), reading.answers().get(number)))
                .toList();
    }

    private static String text(String context, List<AnswerSpan> spans) {
        return spans.isEmpty()
                ? ""
                : context.substring(spans.getFirst().from(), spans.getFirst().to());
    }
}
