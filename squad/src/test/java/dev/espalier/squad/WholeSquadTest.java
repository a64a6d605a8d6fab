package dev.espalier.squad;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The real data, where there is some. */
final class WholeSquadTest {
    private static final String VARIABLE = "ESPALIER_SQUAD";
    private static final String REASON = VARIABLE + " names no folder with train-v1.1.json and dev-v1.1.json";

    private static Path folder = Path.of("");

    @BeforeAll
    static void findData() {
        String data = System.getenv(VARIABLE);
        assumeTrue(data != null, REASON);
        folder = Path.of(String.valueOf(data));
    }

    private static List<Question> questions(Squad squad) {
        return squad.paragraphs().stream()
                .flatMap(paragraph -> paragraph.questions().stream())
                .toList();
    }

    private static List<String> answers(List<Question> questions, int answer) {
        return questions.stream()
                .map(question -> question.answers()
                        .get(Math.min(answer, question.answers().size() - 1))
                        .text())
                .toList();
    }

    @Test
    void answersThatPeopleGaveHaveAllPoints() throws IOException {
        List<Question> questions = questions(Squad.read(folder.resolve("dev-v1.1.json")));
        assertEquals(10570, questions.size());
        assertEquals(new SquadScores(1, 1, 10570), SquadScores.of(questions, answers(questions, 0)));
        // One of the others is nothing but an article, and so has no word in common with any.
        SquadScores others = SquadScores.of(questions, answers(questions, 1));
        assertEquals(1, others.exactMatch());
        assertEquals(1, others.f1(), 1.5 / 10570);
    }

    @Test
    void answersToOtherQuestionsHaveFew() throws IOException {
        List<Question> questions = questions(Squad.read(folder.resolve("dev-v1.1.json")));
        List<String> answers = new ArrayList<>(answers(questions, 0));
        Collections.rotate(answers, 1);
        SquadScores scores = SquadScores.of(questions, answers);
        assertTrue(scores.exactMatch() < 0.05 && scores.f1() < 0.1, scores::toString);
    }

    /** With a small vocabulary nearly every letter is a token, so that there are many windows on each text. */
    @Test
    void answersFoundByTheirTokensAreTheAnswersAndThoseShiftedByATokenAreNot() throws IOException {
        Squad squad = Squad.read(folder.resolve("dev-v1.1.json"));
        Windows windows = new Windows(squad, Tiny.TOKENIZER, new WindowPlan(384, 128, 128));
        assertEquals(0, windows.mapping().lost());
        assertEquals(0, windows.mapping().moved());
        assertTrue(windows.all().size() > 2 * windows.questionCount());
        SquadScores right = SquadScores.of(questions(squad), labelled(windows, 0));
        assertTrue(right.exactMatch() > 0.97, right::toString);
        SquadScores shifted = SquadScores.of(questions(squad), labelled(windows, 1));
        assertTrue(shifted.exactMatch() < 0.1, shifted::toString);
    }

    /** The text of each question's label, or of what is so many tokens further on. */
    private static List<String> labelled(Windows windows, int shift) {
        List<String> texts = new ArrayList<>(Collections.nCopies(windows.questionCount(), ""));
        for (Window window : windows.all()) {
            int start = window.start() - window.textPosition() + shift;
            int end = Math.min(window.end() - window.textPosition() + shift, window.to() - window.from() - 1);
            if (window.start() > 0 && start <= end) {
                AnswerSpan span = windows.span(window, new TokenPair(start, end, 0));
                texts.set(window.question(), windows.context(window.question()).substring(span.from(), span.to()));
            }
        }
        return texts;
    }

    @Test
    void trainingDataIsReadWhole() throws IOException {
        Squad squad = Squad.read(folder.resolve("train-v1.1.json"));
        assertEquals(87599, squad.questionCount());
        int[] unknown = IntStream.range(0, squad.paragraphs().size())
                .filter(number -> squad.paragraphs().get(number).questions().stream()
                        .anyMatch(question -> question.answers()
                                        .getFirst()
                                        .locateIn(squad.paragraphs().get(number).context())
                                < 0))
                .toArray();
        assertEquals(0, unknown.length);
    }
}
