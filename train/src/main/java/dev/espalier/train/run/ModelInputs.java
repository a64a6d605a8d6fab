package dev.espalier.train.run;

import dev.espalier.core.check.Check;
import dev.espalier.data.Batches;
import dev.espalier.data.Dataset;
import dev.espalier.data.Encoding;
import dev.espalier.graph.Graph;
import dev.espalier.graph.prune.SampleInputs;
import dev.espalier.graph.type.Tensor;
import dev.espalier.train.task.EncodingNote;
import dev.espalier.train.task.Fitted;
import dev.espalier.train.task.RawInputs;
import dev.espalier.train.task.Signature;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.UnaryOperator;

/** What a model's file is run on, under its own names for it. */
public interface ModelInputs {
    /** {@return what to call them} */
    String name();

    /** {@return how many samples there are} */
    int size();

    /** {@return the rows that they were made of, in the same order, to be looked at; empty if they are made up} */
    Optional<Dataset> rows();

    /**
     * All samples, once and in order.
     *
     * @param batchSize how many at a time
     * @return the batches; to be closed
     */
    Feed batches(int batchSize);

    /** Batches of tensors by the model's names. One is good until the next is asked for. */
    interface Feed extends Iterator<Map<String, Tensor>>, AutoCloseable {
        @Override
        void close();
    }

    /**
     * Rows of data.
     *
     * @param rows the rows; what models are to say of them is left out
     * @param encoding how they become a model's inputs, unless the model itself knows
     * @param model the model
     * @param what what messages call the model
     * @return the rows as the model takes them
     * @throws IllegalArgumentException if they do not fit; the message names what the model wants
     */
    static ModelInputs of(Dataset rows, Encoding encoding, Graph model, String what) {
        Dataset unlabelled = new Dataset(rows.name(), rows.size(), rows.inputs(), List.of(), rows.block());
        Optional<SequencedMap<String, String>> raw = RawInputs.names(model);
        Encoding taken = raw.isEmpty()
                ? encoding
                : EncodingNote.of(model).orElse(encoding).raw();
        Encoding inputs = new Encoding(taken.inputs(), List.of());
        UnaryOperator<SequencedMap<String, Tensor>> names = raw.<UnaryOperator<SequencedMap<String, Tensor>>>map(
                        own -> batch -> renamed(batch, own))
                .orElseGet(() -> {
                    Fitted fitted = new Signature(rows.name(), Signature.inputsOf(inputs.inputFields()), List.of())
                            .fit(model, what);
                    return fitted::feed;
                });
        return new ModelInputs() {
            @Override
            public String name() {
                return rows.name();
            }

            @Override
            public int size() {
                return rows.size();
            }

            @Override
            public Optional<Dataset> rows() {
                return Optional.of(unlabelled);
            }

            @Override
            public Feed batches(int batchSize) {
                Batches batches = Batches.evaluation(unlabelled, inputs, batchSize);
                return new Feed() {
                    @Override
                    public boolean hasNext() {
                        return batches.hasNext();
                    }

                    @Override
                    public Map<String, Tensor> next() {
                        return names.apply(batches.next().inputs());
                    }

                    @Override
                    public void close() {
                        batches.close();
                    }
                };
            }
        };
    }

    private static SequencedMap<String, Tensor> renamed(Map<String, Tensor> batch, Map<String, String> names) {
        SequencedMap<String, Tensor> renamed = new LinkedHashMap<>();
        batch.forEach((name, tensor) -> {
            String own = names.get(name);
            if (own != null) {
                renamed.put(own, tensor);
            }
        });
        return renamed;
    }

    /**
     * Random numbers, which show whether two models compute nearly the same function, but not what that is worth on data.
     *
     * @param model the model
     * @param size how many samples
     * @param length of every free axis but the first
     * @param seed where chance starts from
     * @return samples as {@link SampleInputs} draws them
     */
    static ModelInputs random(Graph model, int size, long length, long seed) {
        Check.atLeast("size", size, 1);
        return new ModelInputs() {
            @Override
            public String name() {
                return "random numbers";
            }

            @Override
            public int size() {
                return size;
            }

            @Override
            public Optional<Dataset> rows() {
                return Optional.empty();
            }

            @Override
            public Feed batches(int batchSize) {
                return new Feed() {
                    private int done;

                    @Override
                    public boolean hasNext() {
                        return done < size;
                    }

                    @Override
                    public Map<String, Tensor> next() {
                        if (!hasNext()) {
                            throw new NoSuchElementException("all %d samples are drawn".formatted(size));
                        }
                        int count = Math.min(batchSize, size - done);
                        Map<String, Tensor> drawn = new SampleInputs(count, length, seed + done).draw(model);
                        done += count;
                        return drawn;
                    }

                    @Override
                    public void close() {
                        // There is nothing to give back.
                    }
                };
            }
        };
    }
}
