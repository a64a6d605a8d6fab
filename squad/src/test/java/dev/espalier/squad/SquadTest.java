package dev.espalier.squad;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SquadTest {
    @TempDir
    Path folder;

    private static List<String> ids(Squad squad) {
        return questions(squad).map(Question::id).toList();
    }

    private static Stream<Question> questions(Squad squad) {
        return squad.paragraphs().stream().flatMap(paragraph -> paragraph.questions().stream());
    }

    @Test
    void readsTextsQuestionsAndAnswers() {
        Squad squad = Tiny.squad();
        assertEquals(8, squad.questionCount());
        assertEquals(
                List.of("Towers", "Towers", "Names"),
                squad.paragraphs().stream().map(Paragraph::title).toList());
        assertEquals(
                new Question(
                        "tower-1",
                        "Where stands the tower?",
                        List.of(
                                new Answer("near the river", 21),
                                new Answer("near the river", 21),
                                new Answer("the river", 26))),
                squad.paragraphs().getFirst().questions().getFirst());
    }

    @Test
    void startsAreIndicesIntoTheStringAlsoBehindCharactersOfTwoUnits() {
        for (Paragraph paragraph : Tiny.squad().paragraphs()) {
            for (Question question : paragraph.questions()) {
                for (Answer answer : question.answers()) {
                    assertTrue(paragraph.context().startsWith(answer.text(), answer.start()), answer::toString);
                }
            }
        }
        assertTrue(Tiny.squad().paragraphs().getLast().context().contains("🎨"));
    }

    @Test
    void whatIsWrittenIsReadBackTheSame() throws IOException {
        Path file = folder.resolve("written.json");
        Tiny.squad().write(file);
        assertEquals(Tiny.squad(), Squad.read(file));
        assertEquals(2, Files.readString(file).split("\"title\"", -1).length - 1, "articles");
    }

    @Test
    void aStartOutsideOfTheTextIsNoIndex() throws IOException {
        for (int start : new int[] {-1, 5, Integer.MAX_VALUE}) {
            Squad squad = read(question("\"answers\": [{\"text\": \"x\", \"answer_start\": %d}]".formatted(start)));
            assertEquals(
                    -1,
                    questions(squad)
                            .findFirst()
                            .orElseThrow()
                            .answers()
                            .getFirst()
                            .start());
        }
    }

    private Squad read(String json) throws IOException {
        return Squad.read(Files.writeString(folder.resolve("squad.json"), json));
    }

    private static String question(String rest) {
        return "{\"data\": [{\"paragraphs\": [{\"context\": \"text\", \"qas\": [{\"id\": \"a\", \"question\": \"q\", %s}]}]}]}"
                .formatted(rest);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    {"data": [                                         | is no sound JSON
                    []                                                 | data is missing: it must be a list
                    {"data": 3}                                        | data is 3: it must be a list
                    {"data": []}                                       | has no questions
                    {"data": [{}]}                                     | data[0].paragraphs is missing: it must be a list
                    {"data": [{"paragraphs": [{}]}]}                   | data[0].paragraphs[0].context is missing: it must be a text
                    {"data": [{"paragraphs": [{"context": 1}]}]}       | data[0].paragraphs[0].context is 1: it must be a text
                    {"data": [{"paragraphs": [{"context": "", "qas": []}]}]}         | has no questions
                    {"data": [{"paragraphs": [{"context": "", "qas": [{}]}]}]}       | data[0].paragraphs[0].qas[0].id is missing: it must be a text
                    """)
    void saysWhatIsWrongAndWhere(String json, String problem) {
        IOException error = assertThrows(IOException.class, () -> read(json));
        String message = String.valueOf(error.getMessage());
        assertTrue(message.contains(problem), message);
        assertTrue(message.contains("squad.json"), message);
    }

    @Test
    void answersMustBeComplete() {
        for (List<String> each : List.of(
                List.of(
                        "\"answers\": []",
                        "data[0].paragraphs[0].qas[0] has no answer: questions without one are of SQuAD 2.0"),
                List.of(
                        "\"answers\": [{\"text\": \"x\"}]",
                        "qas[0].answers[0].answer_start is missing: it must be a whole number"),
                List.of(
                        "\"answers\": [{\"text\": \"x\", \"answer_start\": 1.5}]",
                        "answer_start is 1.5: it must be a whole number"),
                List.of(
                        "\"answers\": [{\"answer_start\": 1}]",
                        "qas[0].answers[0].text is missing: it must be a text"))) {
            IOException error = assertThrows(IOException.class, () -> read(question(each.getFirst())));
            assertTrue(String.valueOf(error.getMessage()).contains(each.getLast()), error::getMessage);
        }
    }

    @Test
    void anIdMustNotOccurTwice() {
        String twice = question("\"answers\": [{\"text\": \"x\", \"answer_start\": 0}]}, {\"id\": \"a\"");
        IOException error = assertThrows(IOException.class, () -> read(twice));
        assertTrue(String.valueOf(error.getMessage()).contains("qas[1] has the id a, which another question has too"));
    }

    @Test
    void aFileThatIsNotThereIsNamed() {
        IOException error = assertThrows(IOException.class, () -> Squad.read(folder.resolve("none.json")));
        assertTrue(String.valueOf(error.getMessage()).endsWith("none.json: there is no such file"), error::getMessage);
    }

    @Test
    void aSmallerSetHasAsManyQuestionsFromAllOver() {
        Squad squad = Tiny.squad();
        List<String> all = ids(squad);
        for (int most = 1; most < all.size(); most++) {
            List<String> kept = ids(squad.atMost(most));
            assertEquals(most, kept.size());
            assertEquals(all.stream().filter(kept::contains).toList(), kept);
        }
        assertSame(squad, squad.atMost(all.size()));
        assertEquals(3, squad.atMost(4).paragraphs().size());
        assertThrows(IllegalArgumentException.class, () -> squad.atMost(0));
    }

    @Test
    void textsAreHeldOutAsAWhole() {
        Squad many = new Squad(IntStream.range(0, 20)
                .mapToObj(i -> new Paragraph("", "text " + i, List.of(new Question("q" + i, "?", List.of()))))
                .toList());
        Set<Squad> seen = new HashSet<>();
        for (long seed = 0; seed < 5; seed++) {
            Squad.Split split = many.holdOut(0.25, seed);
            assertEquals(5, split.held().questionCount());
            List<String> held = ids(split.held());
            assertEquals(ids(many).stream().filter(held::contains).toList(), held);
            assertEquals(ids(many).stream().filter(id -> !held.contains(id)).toList(), ids(split.kept()));
            assertEquals(split, many.holdOut(0.25, seed));
            seen.add(split.held());
        }
        assertNotEquals(1, seen.size());
    }

    @Test
    void bothPartsHaveSomething() {
        Squad squad = Tiny.squad();
        assertEquals(1, squad.holdOut(0.001, 1).held().paragraphs().size());
        assertEquals(1, squad.holdOut(0.999, 1).kept().paragraphs().size());
        assertThrows(IllegalArgumentException.class, () -> squad.holdOut(0, 1));
        assertThrows(IllegalArgumentException.class, () -> squad.holdOut(1, 1));
        assertThrows(IllegalArgumentException.class, () -> squad.atMost(1).holdOut(0.5, 1));
    }
}
