package dev.espalier.squad;

import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Findings.Glimpse;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** What a model answers wrongly, for the page on a run. */
final class WrongAnswers {
    /** So many characters of a text are shown in front of the right answer. */
    private static final int BEFORE = 200;

    private record Wrong(int number, String answer, double f1) {}

    private WrongAnswers() {}

    /**
     * Looks at the answers.
     *
     * @param windows what was asked
     * @param answers an answer to each question; empty if there is none
     * @param samples how many questions there are
     * @return what was found; the worst mistakes are those that have the least in common with what people said
     */
    static Findings findings(Windows windows, List<String> answers, Findings.Samples samples) {
        long exact = 0;
        long partly = 0;
        List<Wrong> wrong = new ArrayList<>();
        for (int number = 0; number < answers.size(); number++) {
            AnswerScore score = AnswerScore.of(answers.get(number), windows.question(number));
            if (score.exactMatch() == 1) {
                exact++;
            } else {
                partly += score.f1() > 0 ? 1 : 0;
                wrong.add(new Wrong(number, answers.get(number), score.f1()));
            }
        }
        return new Findings(
                samples,
                new Findings.Outcome.Answers(exact, partly, wrong.size() - partly),
                wrong.stream()
                        .sorted(Comparator.comparingDouble(Wrong::f1))
                        .limit(Findings.MOST_MISTAKES)
                        .map(one -> mistake(windows, one))
                        .toList());
    }

    private static Findings.Mistake mistake(Windows windows, Wrong wrong) {
        Question question = windows.question(wrong.number());
        return new Findings.Mistake(
                wrong.number() + 1L,
                List.of(
                        new Glimpse.Words("question", Findings.shortened(question.text())),
                        new Glimpse.Words("text", around(windows.context(wrong.number()), question))),
                question.answers().isEmpty()
                        ? "no answer"
                        : question.answers().getFirst().text(),
                wrong.answer().isEmpty() ? "nothing" : wrong.answer(),
                String.format(Locale.ROOT, "F1 of %.0f %%", 100 * wrong.f1()));
    }

    /** The right answer is to be seen. */
    private static String around(String context, Question question) {
        int answer =
                question.answers().isEmpty() ? 0 : question.answers().getFirst().locateIn(context);
        int from = Math.max(0, answer - BEFORE);
        return (from == 0 ? "" : "…") + Findings.shortened(context.substring(from));
    }
}
