package dev.espalier.graph.eval;

import dev.espalier.graph.type.Tensor;

/**
 * What a model thinks of one sample: a number for each class, among those of a batch.
 *
 * @param tensor the numbers of all samples
 * @param from where those of this one begin
 * @param count number of classes
 */
public record Logits(Tensor tensor, long from, int count) {

    /**
     * The likeliest class.
     *
     * @return the first one with the largest number
     */
    public int largest() {
        int largest = 0;
        for (int i = 1; i < count; i++) {
            largest = get(i) > get(largest) ? i : largest;
        }
        return largest;
    }

    /**
     * The loss if the right class is known: {@code −ln softmax(logits)[label]}.
     *
     * @param label the right class
     * @return at least 0
     */
    public double crossEntropy(int label) {
        double top = get(largest());
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += Math.exp(get(i) - top);
        }
        return Math.log(sum) + top - get(label);
    }

    private double get(int index) {
        return tensor.getDouble(from + index);
    }
}
