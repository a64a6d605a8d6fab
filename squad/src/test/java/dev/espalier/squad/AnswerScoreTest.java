package dev.espalier.squad;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

final class AnswerScoreTest {
    private static void assertScore(double exactMatch, double f1, String answer, String... right) {
        AnswerScore score = AnswerScore.of(answer, List.of(right));
        assertEquals(exactMatch, score.exactMatch(), answer);
        assertEquals(f1, score.f1(), 1e-15, answer);
    }

    @Test
    void capitalsPunctuationArticlesAndSpaceDoNotCount() {
        assertEquals("old tower", AnswerScore.normalize("  The \"Old\"\n tower!"));
        assertEquals("old tower", AnswerScore.normalize("an old, a tower (the)"));
        assertEquals("", AnswerScore.normalize("The ... a"));
    }

    @Test
    void articlesAreWholeWordsAndGoAfterPunctuation() {
        assertEquals("theatre area anna", AnswerScore.normalize("theatre area Anna"));
        // Without its hyphen it is a word of its own.
        assertEquals("thesea", AnswerScore.normalize("the-sea"));
        assertEquals("a1 a_b".replace("_", ""), AnswerScore.normalize("a1 a_b"));
    }

    @Test
    void textIsReadAsPythonReadsIt() {
        // Only punctuation of ASCII goes; a dash or a quotation mark of another kind is a character like any other, but
        // ends a word.
        assertEquals("1990–95 “sea”", AnswerScore.normalize("1990–95 “sea”"));
        assertEquals("– sea", AnswerScore.normalize("a–the sea"));
        // An accent that stands alone is no letter, one that is part of a letter is.
        assertEquals("\u0301 sea", AnswerScore.normalize("a\u0301 sea"));
        assertEquals("á sea", AnswerScore.normalize("á sea"));
        assertEquals("sea ship moon", AnswerScore.normalize("sea\u00a0ship\u2003\u001cmoon\u0085"));
        assertEquals("²a ⅷa 東a", AnswerScore.normalize("²a ⅷa 東a"));
    }

    @Test
    void f1IsTheHarmonicMeanOfPrecisionAndRecallOfWords() {
        assertScore(1, 1, "the river", "river");
        assertScore(0, 0, "tower", "river");
        // Precision 1/2, recall 1.
        assertScore(0, 2.0 / 3, "old river", "river");
        // Precision 2/3, recall 2/4.
        assertScore(0, 4.0 / 7, "old stone river", "big old stone tower");
        // The order does not count.
        assertScore(0, 1, "river old", "old river");
    }

    @Test
    void wordsCountAsOftenAsTheyOccur() {
        // One of the three is right: precision 1/3, recall 1/2.
        assertScore(0, 2.0 / 5, "sea sea sea", "sea ship");
        // Two are: precision 2/3, recall 2/2.
        assertScore(0, 4.0 / 5, "sea sea sea", "sea sea");
    }

    @Test
    void theBestOfAllAnswersCountsForEachScoreByItself() {
        assertScore(1, 1, "old river", "tower", "the old river", "river");
        assertScore(0, 2.0 / 3, "old river", "tower", "river");
    }

    @Test
    void withoutWordsThereIsNothingInCommon() {
        assertScore(0, 0, "", "river");
        assertScore(0, 0, "river", "the");
        // As in the official evaluation: equal, but without a common word.
        assertScore(1, 0, "a", "the");
    }

    @Test
    void scoresOfAllQuestionsAreMeans() {
        List<Question> questions = List.of(
                new Question("1", "?", List.of(new Answer("river", 0), new Answer("the old river", 0))),
                new Question("2", "?", List.of(new Answer("tower", 0))),
                new Question("3", "?", List.of(new Answer("sea", 0))));
        assertEquals(
                new SquadScores(1.0 / 3, (1 + 2.0 / 3) / 3, 3),
                SquadScores.of(questions, List.of("Old river.", "old tower", "")));
        assertThrows(IllegalArgumentException.class, () -> SquadScores.of(questions, List.of("one")));
        assertThrows(IllegalArgumentException.class, () -> SquadScores.of(List.of(), List.of()));
    }
}
