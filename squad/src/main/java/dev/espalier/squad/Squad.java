package dev.espalier.squad;

import dev.espalier.core.check.Check;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * Texts and questions on them, as in SQuAD 1.1 (Rajpurkar, Zhang, Lopyrev and Liang, 2016): every question has an answer,
 * and the answer is a piece of the text.
 *
 * @param paragraphs the texts with their questions
 */
public record Squad(List<Paragraph> paragraphs) {
    /** Copies the list. */
    public Squad {
        paragraphs = List.copyOf(paragraphs);
    }

    /**
     * Reads the JSON of SQuAD 1.1.
     *
     * @param file the file
     * @return what it holds
     * @throws IOException if it cannot be read or is something else; the message names the file and the place in it
     */
    public static Squad read(Path file) throws IOException {
        return SquadFile.read(file);
    }

    /**
     * Writes the JSON of SQuAD 1.1. Neighbouring texts with the same title make an article.
     *
     * @param file the file; replaced if it exists
     * @throws IOException if it cannot be written
     */
    public void write(Path file) throws IOException {
        SquadFile.write(this, file);
    }

    /**
     * The number of questions on all texts.
     *
     * @return how many
     */
    public int questionCount() {
        return paragraphs.stream()
                .mapToInt(paragraph -> paragraph.questions().size())
                .sum();
    }

    /**
     * A smaller set. Its questions are taken at equal distances, so that they are on as many texts as may be.
     *
     * @param most how many questions to keep, at least 1
     * @return as many questions in the same order, or all if there are fewer
     */
    public Squad atMost(int most) {
        Check.atLeast("most", most, 1);
        long total = questionCount();
        if (most >= total) {
            return this;
        }
        List<Paragraph> kept = new ArrayList<>();
        long number = 0;
        for (Paragraph paragraph : paragraphs) {
            List<Question> questions = new ArrayList<>();
            for (Question question : paragraph.questions()) {
                // Of total numbers, exactly most step over a multiple of total / most.
                if (number * most / total < (number + 1) * most / total) {
                    questions.add(question);
                }
                number++;
            }
            if (!questions.isEmpty()) {
                kept.add(new Paragraph(paragraph.title(), paragraph.context(), questions));
            }
        }
        return new Squad(kept);
    }

    /**
     * Two parts.
     *
     * @param kept what is learned from
     * @param held what is held out
     */
    public record Split(Squad kept, Squad held) {}

    /**
     * Holds some texts out, with all their questions: nobody is judged by a text that was learned from. Both parts keep the
     * order.
     *
     * @param fraction how many of the texts, above 0 and below 1
     * @param seed what the draw depends on
     * @return two parts with at least one text each
     */
    public Split holdOut(double fraction, long seed) {
        if (!(fraction > 0 && fraction < 1)) {
            throw new IllegalArgumentException(
                    "fraction = " + fraction + " is out of range: it must be above 0 and below 1");
        }
        if (paragraphs.size() < 2) {
            throw new IllegalArgumentException(
                    "only %d text: there must be at least 2 to hold one out".formatted(paragraphs.size()));
        }
        List<Integer> order =
                new ArrayList<>(IntStream.range(0, paragraphs.size()).boxed().toList());
        Collections.shuffle(order, new Random(seed));
        int count = Math.clamp(Math.round(fraction * paragraphs.size()), 1, paragraphs.size() - 1);
        Set<Integer> held = new HashSet<>(order.subList(0, count));
        return new Split(part(number -> !held.contains(number)), part(held::contains));
    }

    private Squad part(IntPredicate chosen) {
        return new Squad(IntStream.range(0, paragraphs.size())
                .filter(chosen)
                .mapToObj(paragraphs::get)
                .toList());
    }
}
