package dev.espalier.graph.model;

import dev.espalier.graph.type.DataType;
import dev.espalier.graph.type.Tensor;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/**
 * Random weights, each tensor from a stream of its own.
 *
 * @param seed any number
 */
record SeededWeights(long seed) implements Weights {

    @Override
    public Tensor tensor(String name, Initialization initialization, long... shape) {
        return Tensor.compute(
                DataType.FLOAT32,
                shape,
                switch (initialization) {
                    case Initialization.Normal(double deviation) -> {
                        NormalStream stream = new NormalStream(random(name));
                        yield i -> deviation * stream.next();
                    }
                    case Initialization.Uniform(double bound) -> {
                        SplittableRandom random = random(name);
                        yield i -> bound * (2 * random.nextDouble() - 1);
                    }
                    case Initialization.Fill(double value) -> i -> value;
                });
    }

    private SplittableRandom random(String name) {
        return new SplittableRandom(seed ^ hash(name));
    }

    /** FNV-1a with 64 bits: {@code String.hashCode} has too few for a thousand names never to meet. */
    private static long hash(String name) {
        long hash = 0xcbf29ce484222325L;
        for (byte value : name.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ Byte.toUnsignedLong(value)) * 0x100000001b3L;
        }
        return hash;
    }

    /**
     * Normal numbers by Marsaglia's polar method. The JDK's own go through {@code Math.exp} and {@code Math.log}, which
     * may differ in the last bit between machines; these do not.
     */
    private static final class NormalStream {
        private final SplittableRandom random;
        private double spare = Double.NaN;

        NormalStream(SplittableRandom random) {
            this.random = random;
        }

        double next() {
            if (!Double.isNaN(spare)) {
                double second = spare;
                spare = Double.NaN;
                return second;
            }
            while (true) {
                double x = 2 * random.nextDouble() - 1;
                double y = 2 * random.nextDouble() - 1;
                double square = x * x + y * y;
                if (square < 1 && square > 0) {
                    double scale = Math.sqrt(-2 * StrictMath.log(square) / square);
                    spare = scale * y;
                    return scale * x;
                }
            }
        }
    }
}
