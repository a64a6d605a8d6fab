package dev.espalier.squad;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.espalier.core.check.Writing;
import dev.espalier.text.JsonPlace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The JSON of SQuAD 1.1: articles of paragraphs of questions of answers. */
final class SquadFile {
    private final Set<String> ids = new HashSet<>();

    private SquadFile() {}

    static Squad read(Path file) throws IOException {
        JsonPlace root = JsonPlace.read(file);
        Squad squad = new SquadFile().paragraphs(root);
        if (squad.questionCount() == 0) {
            throw root.problem("has no questions: SQuAD 1.1 has them in data[…].paragraphs[…].qas");
        }
        return squad;
    }

    private Squad paragraphs(JsonPlace root) throws IOException {
        List<Paragraph> paragraphs = new ArrayList<>();
        for (JsonPlace article : root.elements("data")) {
            String title = article.has("title") ? article.text("title") : "";
            for (JsonPlace paragraph : article.elements("paragraphs")) {
                paragraphs.add(paragraph(title, paragraph));
            }
        }
        // A text that nobody asks about teaches nothing.
        paragraphs.removeIf(paragraph -> paragraph.questions().isEmpty());
        return new Squad(paragraphs);
    }

    private Paragraph paragraph(String title, JsonPlace paragraph) throws IOException {
        String context = paragraph.text("context");
        List<Question> questions = new ArrayList<>();
        for (JsonPlace question : paragraph.elements("qas")) {
            questions.add(question(context, question));
        }
        return new Paragraph(title, context, questions);
    }

    private Question question(String context, JsonPlace question) throws IOException {
        String id = question.text("id");
        if (!ids.add(id)) {
            throw question.problem("has the id " + id + ", which another question has too");
        }
        List<Answer> answers = new ArrayList<>();
        for (JsonPlace answer : question.elements("answers")) {
            answers.add(new Answer(answer.text("text"), index(context, answer.whole("answer_start"))));
        }
        if (answers.isEmpty()) {
            throw question.problem(
                    "has no answer: questions without one are of SQuAD 2.0, but only SQuAD 1.1 can be read");
        }
        return new Question(id, question.text("question"), answers);
    }

    static void write(Squad squad, Path file) throws IOException {
        ObjectNode root = JsonNodeFactory.instance.objectNode().put("version", "1.1");
        ArrayNode articles = root.putArray("data");
        for (Paragraph paragraph : squad.paragraphs()) {
            JsonNode last = articles.path(articles.size() - 1);
            ArrayNode paragraphs = last.path("title").asText().equals(paragraph.title()) && !articles.isEmpty()
                    ? (ArrayNode) last.path("paragraphs")
                    : articles.addObject().put("title", paragraph.title()).putArray("paragraphs");
            write(paragraph, paragraphs.addObject());
        }
        Writing.to(file, () -> Files.writeString(file, root.toPrettyString() + "\n"));
    }

    private static void write(Paragraph paragraph, ObjectNode node) {
        String context = paragraph.context();
        ArrayNode questions = node.put("context", context).putArray("qas");
        for (Question question : paragraph.questions()) {
            ArrayNode answers = questions
                    .addObject()
                    .put("id", question.id())
                    .put("question", question.text())
                    .putArray("answers");
            for (Answer answer : question.answers()) {
                int start = answer.start() < 0 ? -1 : context.codePointCount(0, answer.start());
                answers.addObject().put("answer_start", start).put("text", answer.text());
            }
        }
    }

    /** SQuAD counts code points, Java counts UTF-16 units. */
    private static int index(String context, int codePoints) {
        boolean inside = codePoints >= 0 && codePoints <= context.codePointCount(0, context.length());
        return inside ? context.offsetByCodePoints(0, codePoints) : -1;
    }
}
