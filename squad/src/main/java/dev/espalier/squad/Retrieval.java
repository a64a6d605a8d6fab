package dev.espalier.squad;

import dev.espalier.core.check.Check;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Questions that must find the text that they were asked on, among all texts: what judges a model that makes vectors of texts. The texts
 * are ranked by the cosine between their vectors and the question's.
 *
 * @param texts what is found
 * @param questions what is looked for with
 * @param places for each question, the place of its own text
 * @param asked how many questions there are in all, if these are a sample of them
 */
public record Retrieval(List<String> texts, List<String> questions, List<Integer> places, int asked) {
    /** So far down a list people look. */
    private static final int LOOKED_AT = 10;

    /** What the draw of a sample depends on: every model is asked the same. */
    private static final long SEED = 1;

    /** Copies the lists. */
    public Retrieval {
        texts = List.copyOf(texts);
        questions = List.copyOf(questions);
        places = List.copyOf(places);
        Check.atLeast("the number of texts", texts.size(), 1);
        Check.atLeast("the number of questions", questions.size(), 1);
        Check.sameSize("places", places.size(), "questions", questions.size());
    }

    /**
     * What questions find.
     *
     * @param meanReciprocalRank the mean of {@code 1/rank} of the question's own text, or 0 where it is not among the first ten: MRR@10
     * @param first the share of questions whose own text comes first: recall@1
     * @param amongTen the share of those whose own text is among the first ten: recall@10
     */
    public record Score(double meanReciprocalRank, double first, double amongTen) {}

    /**
     * All texts and questions of a set.
     *
     * @param squad the set
     * @return every question with its text
     */
    public static Retrieval of(Squad squad) {
        List<String> questions = new ArrayList<>();
        List<Integer> places = new ArrayList<>();
        for (int place = 0; place < squad.paragraphs().size(); place++) {
            for (Question question : squad.paragraphs().get(place).questions()) {
                questions.add(question.text());
                places.add(place);
            }
        }
        return new Retrieval(
                squad.paragraphs().stream().map(Paragraph::context).toList(), questions, places, questions.size());
    }

    /**
     * Fewer questions, drawn always alike, against all texts.
     *
     * @param most how many questions to keep, at least 1
     * @return as many in the same order, or all if there are fewer
     */
    public Retrieval sample(int most) {
        Check.atLeast("most", most, 1);
        if (most >= questions.size()) {
            return this;
        }
        List<Integer> order =
                new ArrayList<>(IntStream.range(0, questions.size()).boxed().toList());
        Collections.shuffle(order, new Random(SEED));
        List<Integer> kept = order.subList(0, most).stream().sorted().toList();
        return new Retrieval(
                texts,
                kept.stream().map(questions::get).toList(),
                kept.stream().map(places::get).toList(),
                asked);
    }

    /**
     * Has every question look for its text.
     *
     * @param textVectors of the texts, each of length 1
     * @param questionVectors of the questions, each of length 1
     * @return what they find
     */
    public Score score(float[][] textVectors, float[][] questionVectors) {
        Check.sameSize("textVectors", textVectors.length, "texts", texts.size());
        Check.sameSize("questionVectors", questionVectors.length, "questions", questions.size());
        int[] ranks = IntStream.range(0, questions.size())
                .parallel()
                .map(question -> rank(textVectors, questionVectors[question], places.get(question)))
                .toArray();
        double reciprocals = 0;
        int first = 0;
        int amongTen = 0;
        for (int rank : ranks) {
            reciprocals += rank <= LOOKED_AT ? 1.0 / rank : 0;
            first += rank == 1 ? 1 : 0;
            amongTen += rank <= LOOKED_AT ? 1 : 0;
        }
        return new Score(reciprocals / ranks.length, (double) first / ranks.length, (double) amongTen / ranks.length);
    }

    /** From 1. A vector that holds no numbers finds nothing, and is found last. */
    private static int rank(float[][] texts, float[] question, int own) {
        float similarity = dot(texts[own], question);
        int rank = 1;
        for (int other = 0; other < texts.length; other++) {
            float found = dot(texts[other], question);
            // Of equals, what comes first.
            if (other != own && !(found < similarity || (found == similarity && other > own) || Float.isNaN(found))) {
                rank++;
            }
        }
        return Float.isNaN(similarity) ? texts.length + LOOKED_AT : rank;
    }

    /** Four sums at once: a processor waits for one. */
    private static float dot(float[] left, float[] right) {
        float first = 0;
        float second = 0;
        float third = 0;
        float fourth = 0;
        int i = 0;
        for (; i + 3 < left.length; i += 4) {
            first += left[i] * right[i];
            second += left[i + 1] * right[i + 1];
            third += left[i + 2] * right[i + 2];
            fourth += left[i + 3] * right[i + 3];
        }
        for (; i < left.length; i++) {
            first += left[i] * right[i];
        }
        return first + second + third + fourth;
    }
}
