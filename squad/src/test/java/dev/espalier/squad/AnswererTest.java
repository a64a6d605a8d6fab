package dev.espalier.squad;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

final class AnswererTest {
    private static final WindowPlan PLAN = new WindowPlan(30, 12, 8);

    @Test
    void answersAQuestionOnAText() {
        Squad squad = Tiny.squad();
        Oracle oracle = new Oracle(new Windows(squad, Tiny.TOKENIZER, PLAN), 9);
        Answerer answerer = new Answerer(Tiny.TOKENIZER, PLAN, new AnswerReader(oracle, new AnswerSearch(5, 30), 2));
        for (Paragraph paragraph : squad.paragraphs()) {
            for (Question question : paragraph.questions()) {
                List<AnswerCandidate> candidates = answerer.answer(question.text(), paragraph.context());
                AnswerCandidate best = candidates.getFirst();
                assertEquals(question.answers().getFirst().text(), best.text());
                assertEquals(best.text(), paragraph.context().substring(best.from(), best.to()));
                assertEquals(18, best.score());
                assertEquals(
                        1,
                        candidates.stream()
                                .mapToDouble(AnswerCandidate::probability)
                                .sum(),
                        1e-12);
                assertTrue(best.probability() > candidates.getLast().probability());
                assertEquals(5, candidates.size());
            }
        }
    }

    @Test
    void thereMustBeSomethingToRead() {
        Answerer answerer = new Answerer(
                Tiny.TOKENIZER,
                PLAN,
                new AnswerReader(
                        _ -> {
                            throw new AssertionError("nobody should ask");
                        },
                        new AnswerSearch(5, 30),
                        2));
        assertThrows(IllegalArgumentException.class, () -> answerer.answer(" ", "sea"));
        IllegalArgumentException error =
                assertThrows(IllegalArgumentException.class, () -> answerer.answer("sea", "\n"));
        assertTrue(String.valueOf(error.getMessage()).startsWith("context = "), error::getMessage);
    }
}
