package dev.espalier.train.task;

import dev.espalier.data.Batch;
import dev.espalier.data.Batches;
import dev.espalier.data.Dataset;
import dev.espalier.data.Encoding;
import dev.espalier.graph.Graph;
import dev.espalier.graph.type.Tensor;
import dev.espalier.runtime.OnnxRuntimeModel;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.IntStream;

/**
 * A model that is imitated, in ONNX Runtime: what it answers, and what its answers look like.
 *
 * @param fitted the model, whose outputs are the tensors that are compared
 * @param runtime computes it
 */
record Original(Fitted fitted, OnnxRuntimeModel runtime) {
    /** Rows that are looked at before training begins. */
    private static final int PROBED = 128;

    /** So many at once. */
    static final int BATCH = 16;

    /**
     * A model.
     *
     * @param fitted the model, fitted to the data
     * @param tensors the names of what is compared: outputs, or tensors within
     */
    static Original of(Fitted fitted, List<String> tensors) {
        Graph model = fitted.model();
        Graph asked = new Graph(model.name(), model.inputs(), model.initializers(), model.nodes(), tensors);
        SequencedMap<String, String> outputs = new LinkedHashMap<>();
        tensors.forEach(tensor -> outputs.put(tensor, tensor));
        return new Original(
                new Fitted(asked, fitted.inputs(), outputs),
                OnnxRuntimeModel.of(asked, Runtime.getRuntime().availableProcessors()));
    }

    /**
     * What it answers.
     *
     * @param fed inputs by the model's names
     * @return all tensors that are compared, by name
     */
    SequencedMap<String, Tensor> answer(Map<String, Tensor> fed) {
        return runtime.run(fed);
    }

    /**
     * How much the numbers of each tensor vary: the variance of what stands at one place of the last axis, over samples and all
     * other axes, in the mean over places.
     *
     * @param rows what is looked at, some of it
     * @param encoding how rows become inputs
     * @return a variance by tensor; 0 for what is the same for all samples
     * @throws IllegalArgumentException if an answer is no number
     */
    SequencedMap<String, Double> spreads(Dataset rows, Encoding encoding) {
        Dataset some =
                rows.rows(IntStream.range(0, Math.min(PROBED, rows.size())).toArray());
        SequencedMap<String, Spread> spreads = new LinkedHashMap<>();
        try (Batches batches = Batches.evaluation(some, encoding, BATCH)) {
            int row = 0;
            while (batches.hasNext()) {
                Batch batch = batches.next();
                SequencedMap<String, Tensor> fed = fitted.feed(batch.inputs());
                for (Map.Entry<String, Tensor> said : answer(fed).entrySet()) {
                    requireFinite(said.getKey(), said.getValue(), row, batch.size());
                    spreads.computeIfAbsent(said.getKey(), _ -> new Spread()).add(said.getValue(), batch.size());
                }
                row += batch.size();
            }
        }
        SequencedMap<String, Double> variances = new LinkedHashMap<>();
        spreads.forEach((tensor, spread) -> variances.put(tensor, spread.variance()));
        return variances;
    }

    private static void requireFinite(String tensor, Tensor said, int first, int size) {
        long each = said.size() / size;
        for (long i = 0; i < said.size(); i++) {
            if (!Double.isFinite(said.getDouble(i))) {
                throw new IllegalArgumentException(
                        "the original says %s of row %d: its output %s is no number there. Check that the inputs are what it wants (range, scale, type), or leave that row out"
                                .formatted(said.getDouble(i), first + i / each + 1, tensor));
            }
        }
    }

    /** Sums for each place of the last axis, and whether samples differ at all. */
    private static final class Spread {
        private final List<double[]> sums = new ArrayList<>();
        private double[] first = {};
        private boolean differs;
        private long count;

        void add(Tensor said, int size) {
            long[] shape = said.shape();
            int places = shape.length < 2 ? 1 : Math.toIntExact(shape[shape.length - 1]);
            while (sums.size() < places) {
                sums.add(new double[2]);
            }
            int each = Math.toIntExact(said.size() / size);
            if (first.length == 0) {
                first = IntStream.range(0, each).mapToDouble(said::getDouble).toArray();
            }
            for (int i = 0; i < said.size(); i++) {
                double value = said.getDouble(i);
                double[] sum = sums.get(i % places);
                sum[0] += value;
                sum[1] += value * value;
                differs |= each != first.length || value != first[i % each];
            }
            count += said.size() / places;
        }

        double variance() {
            if (!differs) {
                return 0;
            }
            double total = 0;
            for (double[] sum : sums) {
                double mean = sum[0] / count;
                total += Math.max(0, sum[1] / count - mean * mean);
            }
            return total / sums.size();
        }
    }
}
