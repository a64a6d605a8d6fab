package dev.espalier.core.step;

import dev.espalier.core.check.Check;
import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * The output {@code x_R} of Algorithms 1 and 2, R drawn uniformly from the steps done: what the convergence theorem speaks
 * of. (The other output, the last iterate, is the model itself.)
 *
 * <p>Whatever the number of steps turns out to be: step t replaces the kept copy with probability 1/t, so a run of T steps
 * copies the model about ln T times.
 */
public final class UniformIterate {
    private final SequencedMap<String, float[]> kept = new LinkedHashMap<>();

    /** The random generator's state, the steps seen, the step kept. */
    private final long[] counters;

    /**
     * A sampler for a model.
     *
     * @param parameters what to keep
     * @param seed the random generator's seed
     */
    public UniformIterate(List<Parameter> parameters, long seed) {
        counters = new long[] {seed, 0, 0};
        for (Parameter parameter : parameters) {
            kept.put(parameter.name(), new float[Math.toIntExact(parameter.size())]);
        }
    }

    /**
     * Offers the weights after a step.
     *
     * @param weights every parameter's weights by name
     */
    public void offer(Map<String, TensorView> weights) {
        kept.forEach((name, copy) -> find(weights, name, copy.length)); // before anything is changed
        long step = ++counters[1];
        if (Math.floorMod(nextLong(), step) != 0) {
            return;
        }
        counters[2] = step;
        kept.forEach((name, copy) -> {
            TensorView view = find(weights, name, copy.length);
            for (int i = 0; i < copy.length; i++) {
                copy[i] = (float) view.get(i);
            }
        });
    }

    /**
     * Writes the kept weights back.
     *
     * @param weights every parameter's weights by name; overwritten
     */
    public void restore(Map<String, TensorView> weights) {
        kept.forEach((name, copy) -> find(weights, name, copy.length)); // before anything is changed
        kept.forEach((name, copy) -> {
            TensorView view = find(weights, name, copy.length);
            for (int i = 0; i < copy.length; i++) {
                view.set(i, copy[i]);
            }
        });
    }

    private static TensorView find(Map<String, TensorView> weights, String name, int size) {
        TensorView view = weights.get(name);
        if (view == null) {
            throw new IllegalArgumentException("there are no weights of " + name + " among " + weights.keySet());
        }
        Check.sameSize("weights of " + name, view.size(), "the parameter", size);
        return view;
    }

    /**
     * Which step's weights are kept.
     *
     * @return R, from 1; zero before the first step
     */
    public long step() {
        return counters[2];
    }

    /**
     * All that the sampler keeps between steps, as live memory by name.
     *
     * @return the memory, in a fixed order
     * @see StateFile
     */
    public SequencedMap<String, MemorySegment> state() {
        SequencedMap<String, MemorySegment> state = new LinkedHashMap<>();
        state.put("uniform/counters", MemorySegment.ofArray(counters));
        kept.forEach((name, copy) -> state.put("uniform/" + name, MemorySegment.ofArray(copy)));
        return state;
    }

    /** SplitMix64 (Steele, Lea and Flood, 2014): one long of state, so that it can be saved. */
    private long nextLong() {
        counters[0] += 0x9E3779B97F4A7C15L;
        long z = counters[0];
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
