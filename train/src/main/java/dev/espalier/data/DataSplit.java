package dev.espalier.data;

/**
 * What a model learns from, and what it is judged by.
 *
 * @param train the training part
 * @param test the test part: samples of the same shape and the same classes
 */
public record DataSplit(Dataset train, Dataset test) {
    /** Checks that the parts fit each other. */
    public DataSplit {
        if (!train.shape().equals(test.shape())) {
            throw new IllegalArgumentException("the samples of %s are %s, but those of %s are %s: they must be alike"
                    .formatted(train.name(), train.shape(), test.name(), test.shape()));
        }
        if (!train.classNames().equals(test.classNames())) {
            throw new IllegalArgumentException("%s has the classes %s, but %s has %s: they must be the same"
                    .formatted(train.name(), train.classNames(), test.name(), test.classNames()));
        }
    }
}
