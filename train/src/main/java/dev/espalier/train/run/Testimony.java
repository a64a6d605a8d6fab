package dev.espalier.train.run;

import dev.espalier.engine.Network;
import dev.espalier.graph.type.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a file says of a test part, batch by batch. ONNX Runtime is asked about all of it, or only about the first samples: if a network says the same
 * of these, it is asked about the others. What was said is kept as far as there is room, so that another file is held against it
 * without asking again.
 */
final class Testimony implements Function<Map<String, Tensor>, SequencedMap<String, Tensor>>, AutoCloseable {
    /** How far a network's outputs may be from ONNX Runtime's, as a share of the largest: other machines add up in another order. */
    private static final double TOLERANCE = 1e-3;

    /** How many numbers are kept. */
    private static final long ROOM = 1L << 26;

    private final Function<Map<String, Tensor>, SequencedMap<String, Tensor>> file;
    private final long wanted;
    private final Consumer<String> note;
    private final List<SequencedMap<String, Tensor>> kept = new ArrayList<>();
    private @Nullable Network network;
    private @Nullable Testimony other;
    private long room = ROOM;
    private long samples;
    private int batches;
    private double difference;

    /**
     * Nothing said yet.
     *
     * @param file ONNX Runtime, with the file
     * @param wanted samples that it is asked about at least; 0 for all
     * @param network makes a network of what is in the file, in single precision; asked if not all are wanted
     * @param note is told if the network says something else
     */
    Testimony(
            Function<Map<String, Tensor>, SequencedMap<String, Tensor>> file,
            long wanted,
            Supplier<Network> network,
            Consumer<String> note) {
        this.file = file;
        this.wanted = wanted;
        this.network = wanted > 0 ? network.get() : null;
        this.note = note;
    }

    /** From now on compares what is said with what another one has said of the same batches. */
    Testimony heldAgainst(Testimony earlier) {
        other = earlier;
        return this;
    }

    @Override
    public SequencedMap<String, Tensor> apply(Map<String, Tensor> inputs) {
        SequencedMap<String, Tensor> said = samples < wanted ? checked(inputs) : again(inputs);
        Testimony earlier = other;
        if (earlier != null) {
            difference = Math.max(difference, difference(earlier.of(batches, inputs), said));
        }
        long numbers = said.values().stream().mapToLong(Tensor::size).sum();
        if (kept.size() == batches && numbers <= room) {
            kept.add(said);
            room -= numbers;
        }
        batches++;
        samples += inputs.values().iterator().next().shape()[0];
        return said;
    }

    /** What is said of a batch by whoever is asked by now: the network, if it has said the same as the file. Nothing is compared or kept. */
    SequencedMap<String, Tensor> again(Map<String, Tensor> inputs) {
        return network == null ? file.apply(inputs) : network.predict(inputs);
    }

    private SequencedMap<String, Tensor> checked(Map<String, Tensor> inputs) {
        SequencedMap<String, Tensor> said = file.apply(inputs);
        Network doubted = network;
        if (doubted != null) {
            double apart = difference(said, doubted.predict(inputs));
            double largest =
                    said.values().stream().mapToDouble(Testimony::largest).max().orElse(0);
            if (!(apart <= TOLERANCE * largest)) {
                note.accept(String.format(
                        Locale.ROOT,
                        "ONNX Runtime and the network differ by %.2g where outputs are up to %.2g: ONNX Runtime judges all samples",
                        apart,
                        largest));
                close();
            }
        }
        return said;
    }

    private SequencedMap<String, Tensor> of(int batch, Map<String, Tensor> inputs) {
        return batch < kept.size() ? kept.get(batch) : again(inputs);
    }

    /** The largest difference between what this one and the other have said. */
    double difference() {
        return difference;
    }

    /** Samples that ONNX Runtime was asked about; 0 for all. */
    long judged() {
        return network == null ? 0 : Math.min(samples, wanted);
    }

    private static double largest(Tensor tensor) {
        double largest = 0;
        for (long i = 0; i < tensor.size(); i++) {
            largest = Math.max(largest, Math.abs(tensor.getDouble(i)));
        }
        return largest;
    }

    private static double difference(Map<String, Tensor> left, Map<String, Tensor> right) {
        double largest = 0;
        for (Map.Entry<String, Tensor> output : left.entrySet()) {
            Tensor there = right.get(output.getKey());
            if (there == null) {
                throw new IllegalStateException("the other model has no output " + output.getKey());
            }
            for (long i = 0; i < there.size(); i++) {
                double apart = Math.abs(output.getValue().getDouble(i) - there.getDouble(i));
                largest = apart <= largest ? largest : apart; // not a number is the largest
            }
        }
        return largest;
    }

    @Override
    public void close() {
        if (network != null) {
            network.close();
            network = null;
        }
    }
}
