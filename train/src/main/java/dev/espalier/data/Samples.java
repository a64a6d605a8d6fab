package dev.espalier.data;

import dev.espalier.check.Check;
import java.util.ArrayList;
import java.util.List;

/** The data sets of this package: bytes for images, floats for vectors, and some samples of another data set. */
final class Samples {
    private Samples() {}

    /** Images, one array of bytes a sample; {@code white} is the byte that counts as 1. */
    static Dataset ofBytes(
            String name, SampleShape shape, List<String> classNames, List<byte[]> samples, int[] labels, int white) {
        byte[][] values = samples.toArray(byte[][]::new);
        for (byte[] sample : values) {
            Check.sameSize("a sample of " + name, sample.length, shape.toString(), shape.size());
        }
        // A table, since dividing each pixel anew costs more than all else that is done to it.
        float[] intensities = new float[256];
        for (int i = 0; i < intensities.length; i++) {
            intensities[i] = (float) i / white;
        }
        return new Held(name, shape, classNames, labels, (sample, target, offset) -> {
            byte[] source = values[sample];
            for (int i = 0; i < source.length; i++) {
                target[offset + i] = intensities[Byte.toUnsignedInt(source[i])];
            }
        });
    }

    /** Vectors, one array a sample. */
    static Dataset ofFloats(
            String name, SampleShape shape, List<String> classNames, List<float[]> samples, int[] labels) {
        float[][] values = samples.toArray(float[][]::new);
        for (float[] sample : values) {
            Check.sameSize("a sample of " + name, sample.length, shape.toString(), shape.size());
        }
        return new Held(
                name,
                shape,
                classNames,
                labels,
                (sample, target, offset) -> System.arraycopy(values[sample], 0, target, offset, values[sample].length));
    }

    /** Some samples of another data set, which stay where they are. */
    static Dataset some(String name, Dataset of, int[] samples) {
        int[] chosen = samples.clone();
        int[] labels = new int[chosen.length];
        for (int i = 0; i < chosen.length; i++) {
            labels[i] = of.label(chosen[i]);
        }
        return new Held(
                name,
                of.shape(),
                of.classNames(),
                labels,
                (sample, target, offset) -> of.copy(chosen[sample], target, offset));
    }

    /** The samples of each class, in order. */
    static List<int[]> byClass(Dataset all) {
        List<List<Integer>> classes = new ArrayList<>();
        all.classNames().forEach(_ -> classes.add(new ArrayList<>()));
        for (int sample = 0; sample < all.size(); sample++) {
            classes.get(all.label(sample)).add(sample);
        }
        return classes.stream()
                .map(samples -> samples.stream().mapToInt(Integer::intValue).toArray())
                .toList();
    }

    /** The names of classes that have numbers only. */
    static List<String> numbered(int classes) {
        List<String> names = new ArrayList<>(classes);
        for (int i = 0; i < classes; i++) {
            names.add(Integer.toString(i));
        }
        return List.copyOf(names);
    }

    @FunctionalInterface
    private interface Copier {
        void copy(int sample, float[] target, int offset);
    }

    private static final class Held implements Dataset {
        private final String name;
        private final SampleShape shape;
        private final List<String> classNames;
        private final int[] labels;
        private final Copier copier;

        private Held(String name, SampleShape shape, List<String> classNames, int[] labels, Copier copier) {
            Check.atLeast("the number of samples of " + name, labels.length, 1);
            for (int label : labels) {
                Check.atLeast("a label of " + name, label, 0);
                Check.atMost("a label of " + name, label, classNames.size() - 1);
            }
            this.name = name;
            this.shape = shape;
            this.classNames = List.copyOf(classNames);
            this.labels = labels.clone();
            this.copier = copier;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public SampleShape shape() {
            return shape;
        }

        @Override
        public List<String> classNames() {
            return classNames;
        }

        @Override
        public int size() {
            return labels.length;
        }

        @Override
        public int label(int sample) {
            return labels[sample];
        }

        @Override
        public void copy(int sample, float[] target, int offset) {
            copier.copy(sample, target, offset);
        }

        @Override
        public String toString() {
            return "%s: %d samples of %s, %d classes".formatted(name, labels.length, shape, classNames.size());
        }
    }
}
