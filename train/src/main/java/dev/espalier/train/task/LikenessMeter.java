package dev.espalier.train.task;

import dev.espalier.graph.type.Tensor;
import dev.espalier.train.journal.FidelityFigure;
import dev.espalier.train.journal.FidelityFigure.Measure;
import dev.espalier.train.journal.Findings;
import dev.espalier.train.journal.Findings.Cosines;
import dev.espalier.train.journal.Findings.Deviant;
import dev.espalier.train.journal.Findings.Histogram;
import dev.espalier.train.journal.Findings.Likeness;
import dev.espalier.train.journal.Findings.NotFinite;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Compares one output of two models. Samples with numbers that are not finite are counted, and left out of all else. */
final class LikenessMeter {
    /** Cosines are counted in so many stretches. */
    private static final int STRETCHES = 41;

    /** Of all cosines, so many are below what is told as low. */
    private static final double LOW = 0.01;

    /** Cosines are no more exact: numbers of single precision were added up. */
    private static final double EXACT = 1e-6;

    /** What is less likely than this is as good as impossible; its logarithm is still a number. */
    private static final double IMPOSSIBLE = 1e-30;

    /** Of more numbers, the first are told. */
    private static final int TOLD = 4;

    private final String output;
    private final OutputMeaning meaning;
    private final Optional<String> mask;
    private final FloatList cosines = new FloatList();
    private final FloatList tokenCosines = new FloatList();
    private final MeanOutput mean = new MeanOutput();
    private final MeanOutput meanToken = new MeanOutput();
    private final ClassCounts classes = new ClassCounts();
    private Optional<TopAgreement> top = Optional.empty();
    private final List<Long> notFiniteRows = new ArrayList<>();
    private final PriorityQueue<Entry> worst = new PriorityQueue<>(
            Comparator.comparingDouble(Entry::badness).thenComparing(Entry::row, Comparator.reverseOrder()));
    private long notFiniteOriginal;
    private long notFiniteSmaller;
    private long positions;
    private double divergence;
    private double squaredDifferences;
    private double largestDifference;

    private record Entry(double badness, long row, double cosine, double difference, String original, String smaller) {}

    /** A growing list of numbers: boxed ones would be four times as large. */
    private static final class FloatList {
        private float[] values = new float[64];
        private int size;

        void add(double value) {
            if (size == values.length) {
                values = Arrays.copyOf(values, 2 * size);
            }
            values[size++] = (float) value;
        }

        float[] sorted() {
            float[] sorted = Arrays.copyOf(values, size);
            Arrays.sort(sorted);
            return sorted;
        }
    }

    /**
     * Both answers to one sample, without the positions that are padding.
     *
     * @param original what the original says, position by position
     * @param smaller what the smaller model says
     * @param size how many numbers a position has
     */
    @SuppressWarnings("ArrayRecordComponent") // looked at once, never compared
    private record Pair(float[] original, float[] smaller, int size) {
        int positions() {
            return size == 0 ? 0 : original.length / size;
        }
    }

    /**
     * Nothing compared yet.
     *
     * @param output what the output is called
     * @param meaning what it means
     * @param mask the input that says which positions are there; empty if all are
     */
    LikenessMeter(String output, OutputMeaning meaning, Optional<String> mask) {
        this.output = output;
        this.meaning = meaning;
        this.mask = mask;
    }

    /** Compares the samples of a batch, the first of which is a row from 0. */
    void add(Map<String, Tensor> inputs, Tensor original, Tensor smaller, int size, long firstRow) {
        if (!Arrays.equals(original.shape(), smaller.shape())) {
            throw new IllegalArgumentException(
                    "output %s is %s of the original, but %s of the smaller model: they must be alike"
                            .formatted(output, Arrays.toString(original.shape()), Arrays.toString(smaller.shape())));
        }
        if (size > 1 && (original.rank() == 0 || original.shape()[0] != size)) {
            throw new IllegalArgumentException(
                    "output %s is %s for %d samples, so nobody knows which of its numbers belong to which: compare one sample at a time (--batch-size 1)"
                            .formatted(output, Arrays.toString(original.shape()), size));
        }
        float[] left = original.toFloats();
        float[] right = smaller.toFloats();
        int perSample = left.length / size;
        int perPosition = original.rank() < 2 ? perSample : (int) original.shape()[original.rank() - 1];
        Optional<Tensor> there = mask.flatMap(input -> Optional.ofNullable(inputs.get(input)));
        for (int sample = 0; sample < size; sample++) {
            Pair pair = new Pair(
                    kept(left, sample, perSample, perPosition, there, size),
                    kept(right, sample, perSample, perPosition, there, size),
                    perPosition);
            if (pair.positions() > 0) {
                add(pair, firstRow + sample);
            }
        }
    }

    /** The numbers of a sample, without padding. A mask that does not fit is none. */
    private static float[] kept(
            float[] all, int sample, int perSample, int perPosition, Optional<Tensor> mask, int size) {
        float[] own = Arrays.copyOfRange(all, sample * perSample, (sample + 1) * perSample);
        int count = perPosition == 0 ? 0 : perSample / perPosition;
        if (mask.isEmpty() || mask.get().size() != (long) count * size) {
            return own;
        }
        int kept = 0;
        for (int position = 0; position < count; position++) {
            if (mask.get().getDouble((long) sample * count + position) != 0) {
                System.arraycopy(own, position * perPosition, own, kept * perPosition, perPosition);
                kept++;
            }
        }
        return Arrays.copyOf(own, kept * perPosition);
    }

    private void add(Pair pair, long row) {
        boolean isFiniteOriginal = isFinite(pair.original());
        boolean isFiniteSmaller = isFinite(pair.smaller());
        notFiniteOriginal += isFiniteOriginal ? 0 : 1;
        notFiniteSmaller += isFiniteSmaller ? 0 : 1;
        if (!isFiniteOriginal || !isFiniteSmaller) {
            if (notFiniteRows.size() < Findings.MOST_DEVIANTS) {
                notFiniteRows.add(row + 1);
            }
            return;
        }
        double squares = 0;
        double largest = 0;
        for (int i = 0; i < pair.original().length; i++) {
            double difference = (double) pair.smaller()[i] - pair.original()[i];
            squares += difference * difference;
            largest = Math.max(largest, Math.abs(difference));
        }
        squaredDifferences += squares;
        largestDifference = Math.max(largestDifference, largest);
        double cosine = switch (meaning) {
            case OutputMeaning.Tokens _ -> tokens(pair);
            case OutputMeaning.Classes _,
                    OutputMeaning.Embedding _,
                    OutputMeaning.Scores _,
                    OutputMeaning.Numbers _ -> {
                mean.add(pair.original(), pair.size());
                yield cosine(pair.original(), pair.smaller(), 0, pair.original().length);
            }
        };
        cosines.add(cosine);
        double badness = switch (meaning) {
            case OutputMeaning.Classes(boolean probabilities) -> classes(pair, probabilities);
            case OutputMeaning.Embedding _, OutputMeaning.Tokens _ -> 1 - cosine;
            case OutputMeaning.Scores _ -> scores(pair, squares);
            case OutputMeaning.Numbers _ -> squares / pair.original().length;
        };
        if (badness > 0) {
            keep(pair, badness, row, cosine, largest);
        }
    }

    private static boolean isFinite(float[] values) {
        for (float value : values) {
            if (!Float.isFinite(value)) {
                return false;
            }
        }
        return true;
    }

    /** Between the means over the tokens; notes those of the tokens themselves. */
    private double tokens(Pair pair) {
        float[] left = new float[pair.size()];
        float[] right = new float[pair.size()];
        for (int position = 0; position < pair.positions(); position++) {
            int from = position * pair.size();
            tokenCosines.add(cosine(pair.original(), pair.smaller(), from, from + pair.size()));
            meanToken.add(Arrays.copyOfRange(pair.original(), from, from + pair.size()), pair.size());
        }
        for (int i = 0; i < pair.original().length; i++) {
            left[i % pair.size()] += pair.original()[i] / pair.positions();
            right[i % pair.size()] += pair.smaller()[i] / pair.positions();
        }
        mean.add(left, pair.size());
        return cosine(left, right, 0, pair.size());
    }

    /** Notes which scores are above one half, and which are the highest. */
    private double scores(Pair pair, double squares) {
        int[] original = new int[pair.original().length];
        int[] smaller = new int[original.length];
        for (int i = 0; i < original.length; i++) {
            original[i] = pair.original()[i] > 0.5 ? 1 : 0;
            smaller[i] = pair.smaller()[i] > 0.5 ? 1 : 0;
            top(1).add(pair.original(), pair.smaller(), i);
        }
        classes.add(original, smaller);
        return squares / original.length;
    }

    private TopAgreement top(int width) {
        TopAgreement agreement = top.orElseGet(() -> new TopAgreement(width));
        top = Optional.of(agreement);
        return agreement;
    }

    /** Two zeros are alike; a zero and something else have nothing in common. */
    private static double cosine(float[] left, float[] right, int from, int to) {
        double product = 0;
        double leftSquares = 0;
        double rightSquares = 0;
        for (int i = from; i < to; i++) {
            product += (double) left[i] * right[i];
            leftSquares += (double) left[i] * left[i];
            rightSquares += (double) right[i] * right[i];
        }
        if (leftSquares == 0 || rightSquares == 0) {
            return leftSquares == rightSquares ? 1 : 0;
        }
        return Math.clamp(product / Math.sqrt(leftSquares) / Math.sqrt(rightSquares), -1, 1);
    }

    /** The mean divergence of a sample's positions; notes on how many both agree. */
    private double classes(Pair pair, boolean probabilities) {
        double sum = 0;
        int[] original = new int[pair.positions()];
        int[] smaller = new int[original.length];
        for (int position = 0; position < original.length; position++) {
            int from = position * pair.size();
            int to = from + pair.size();
            original[position] = likeliest(pair.original(), from, to);
            smaller[position] = likeliest(pair.smaller(), from, to);
            double[] left = logarithms(pair.original(), from, to, probabilities);
            double[] right = logarithms(pair.smaller(), from, to, probabilities);
            for (int i = 0; i < left.length; i++) {
                sum += Math.exp(left[i]) * (left[i] - right[i]);
            }
            top(pair.size()).add(floats(left), floats(right), 0);
        }
        classes.add(original, smaller);
        positions += original.length;
        divergence += sum;
        return Math.max(0, sum / pair.positions());
    }

    private static float[] floats(double[] values) {
        float[] floats = new float[values.length];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }

    private static int likeliest(float[] values, int from, int to) {
        int best = from;
        for (int i = from; i < to; i++) {
            best = values[i] > values[best] ? i : best;
        }
        return best - from;
    }

    /** Logarithms of probabilities, which add up to 1. */
    private static double[] logarithms(float[] values, int from, int to, boolean probabilities) {
        double[] logits = new double[to - from];
        for (int i = 0; i < logits.length; i++) {
            logits[i] = probabilities ? Math.log(Math.max(values[from + i], IMPOSSIBLE)) : values[from + i];
        }
        double largest = Arrays.stream(logits).max().orElse(0);
        double all = largest
                + Math.log(Arrays.stream(logits)
                        .map(logit -> Math.exp(logit - largest))
                        .sum());
        for (int i = 0; i < logits.length; i++) {
            logits[i] -= all;
        }
        return logits;
    }

    private void keep(Pair pair, double badness, long row, double cosine, double difference) {
        if (worst.size() == Findings.MOST_DEVIANTS) {
            Entry best = worst.element();
            if (badness <= best.badness()) {
                return;
            }
            worst.remove();
        }
        worst.add(new Entry(
                badness, row + 1, cosine, difference, words(pair, pair.original()), words(pair, pair.smaller())));
    }

    /** What people can read of an answer: a class with its probability, a few numbers, nothing of a vector. */
    private String words(Pair pair, float[] answer) {
        return switch (meaning) {
            case OutputMeaning.Classes(boolean probabilities) -> {
                int best = likeliest(answer, 0, pair.size());
                double share = Math.exp(logarithms(answer, 0, pair.size(), probabilities)[best]);
                yield pair.positions() > 1 ? "" : String.format(Locale.ROOT, "class %d (%.0f %%)", best, 100 * share);
            }
            case OutputMeaning.Scores _, OutputMeaning.Numbers _ -> {
                String told = IntStream.range(0, Math.min(TOLD, answer.length))
                        .mapToObj(i -> Mistakes.number(answer[i]))
                        .collect(Collectors.joining(", "));
                yield answer.length > TOLD ? told + ", …" : told;
            }
            case OutputMeaning.Embedding _, OutputMeaning.Tokens _ -> "";
        };
    }

    Likeness likeness() {
        boolean hasClasses = meaning instanceof OutputMeaning.Classes && positions > 0;
        float[] sorted = cosines.sorted();
        Cosines cosine = summary(sorted);
        Cosines tokenCosine = summary(tokenCosines.sorted());
        MeanOutput numbers = meaning instanceof OutputMeaning.Tokens ? meanToken : mean;
        double explained = 1 - share(squaredDifferences, numbers.aroundColumns());
        return new Likeness(
                output,
                meaning.name().word(),
                sorted.length,
                new NotFinite(notFiniteOriginal, notFiniteSmaller, notFiniteRows),
                sorted.length == 0 ? List.of() : figures(cosine, tokenCosine, explained),
                cosine,
                tokenCosine,
                hasClasses ? classes.agreement().fidelity() : Double.NaN,
                hasClasses ? classes.wholeAgreement().fidelity() : Double.NaN,
                hasClasses ? divergence / positions : Double.NaN,
                explained,
                Math.sqrt(share(squaredDifferences, numbers.aroundZero())),
                largestDifference,
                histogram(sorted),
                worst.stream()
                        .sorted(worst.comparator().reversed())
                        .map(entry -> new Deviant(
                                entry.row(), entry.cosine(), entry.difference(), entry.original(), entry.smaller()))
                        .toList());
    }

    /** All figures, the one that tells most first. */
    private List<FidelityFigure> figures(Cosines cosine, Cosines tokenCosine, double explained) {
        FidelityFigure direction = new FidelityFigure(Measure.COSINE, cosine.mean(), mean.cosine());
        FidelityFigure r2 = new FidelityFigure(Measure.R2, explained, mean.explained());
        return switch (meaning) {
            case OutputMeaning.Classes _ -> {
                // Of one class alone, only the ranking of the others can tell anything.
                Optional<FidelityFigure> ranked =
                        classes.isRare() ? top.flatMap(all -> all.of(classes.mostFrequent(), false)) : Optional.empty();
                yield classes.classes() > 1
                        ? join(classes.figures(), ranked.stream().toList(), List.of(direction, r2))
                        : join(ranked.stream().toList(), classes.figures(), List.of(direction, r2));
            }
            case OutputMeaning.Scores _ -> {
                List<FidelityFigure> ranked =
                        top.flatMap(all -> all.of(0, true)).stream().toList();
                yield classes.isRare()
                        ? join(ranked, List.of(r2, direction), classes.figures())
                        : join(List.of(r2, direction), classes.figures(), ranked);
            }
            case OutputMeaning.Embedding _ -> List.of(direction, r2);
            case OutputMeaning.Tokens _ -> {
                FidelityFigure tokens =
                        new FidelityFigure(Measure.TOKEN_COSINE, tokenCosine.mean(), meanToken.cosine());
                yield List.of(direction, tokens, new FidelityFigure(Measure.R2, explained, meanToken.explained()));
            }
            case OutputMeaning.Numbers _ -> List.of(r2, direction);
        };
    }

    private static List<FidelityFigure> join(
            List<FidelityFigure> first, List<FidelityFigure> second, List<FidelityFigure> third) {
        return Stream.of(first, second, third).flatMap(List::stream).toList();
    }

    /** Of nothing there is no share. */
    private static double share(double part, double whole) {
        return whole == 0 ? Double.NaN : part / whole;
    }

    private static Cosines summary(float[] sorted) {
        if (sorted.length == 0) {
            return Cosines.NONE;
        }
        double sum = 0;
        for (float cosine : sorted) {
            sum += cosine;
        }
        return new Cosines(sum / sorted.length, quantile(sorted, 0.5), quantile(sorted, LOW), sorted[0]);
    }

    private static double quantile(float[] sorted, double share) {
        return sorted[(int) (share * (sorted.length - 1))];
    }

    /** From what is low to 1. */
    private static Histogram histogram(float[] sorted) {
        double from = sorted.length == 0 ? 0 : Math.min(quantile(sorted, LOW), 1 - EXACT);
        double width = (1 - from) / STRETCHES;
        List<Long> counts = new ArrayList<>(Collections.nCopies(STRETCHES, 0L));
        for (float cosine : sorted) {
            int stretch = (int) Math.clamp(Math.floor((cosine - from) / width), 0, STRETCHES - 1);
            counts.set(stretch, counts.get(stretch) + 1);
        }
        return new Histogram(from, width, counts);
    }
}
