package dev.espalier.torch;

import dev.espalier.torch.LibTorch.Graphs;
import dev.espalier.torch.LibTorch.Lookup;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Work of libtorch on a GPU, recorded once and then done again as a whole, for the price of one launch. It reads and writes the
 * same memory each time. What it drops out is drawn anew, by the seed of libtorch's generator when it is replayed.
 *
 * <p>Recordings that share a {@link Pool} use the same memory between their operations: one after the other, never at once.
 */
public final class Recording implements AutoCloseable {
    private final Graphs graphs;
    private final Arena arena;
    private final MemorySegment graph;
    private boolean closed;

    /** A stream that a recording is made in; nobody else uses it. */
    public interface Stream {
        /**
         * CUDA's handle.
         *
         * @return not that of the default stream
         */
        long handle();

        /**
         * Whether what is put into it is being written down, and all of it could be so far.
         *
         * @return false if something could not
         */
        boolean writesDown();

        /** Stops writing down, after something could not be. */
        void abandon();
    }

    /** Memory that recordings have between their operations; libtorch gives it up with the last of them, and then it is no good any more. */
    public static final class Pool {
        private final MemorySegment id;

        /** A pool without memory yet. */
        public Pool() {
            id = required().newPool(Arena.ofAuto());
        }
    }

    private Recording(Graphs graphs, Arena arena, MemorySegment graph) {
        this.graphs = graphs;
        this.arena = arena;
        this.graph = graph;
    }

    private static Graphs required() {
        return Torch.required("CUDA graphs", LibTorch.graphs());
    }

    /**
     * Why nothing can be recorded with this libtorch.
     *
     * @return the reason; empty if it can
     */
    public static Optional<String> whyNot() {
        return LibTorch.graphs() instanceof Lookup.Missing<Graphs>(String reason)
                ? Optional.of(reason)
                : Optional.empty();
    }

    /**
     * Has this thread's work on a GPU put into a stream, as long as something runs.
     *
     * @param gpu number of the GPU, from 0
     * @param stream CUDA's handle
     * @param work what runs
     * @param <T> what it gives
     * @return what it gave
     */
    public static <T> T inStream(int gpu, long stream, Supplier<T> work) {
        Graphs graphs = required();
        MemorySegment guard = graphs.guard(stream, gpu);
        try {
            return work.get();
        } finally {
            graphs.unguard(guard);
        }
    }

    /**
     * Records work, which is not done. It must have been done as ever before, so that libtorch has what it needs once, and it
     * must not wait for the GPU: libtorch offers no way out of what it cannot record, so this should be known.
     *
     * @param gpu number of the GPU, from 0
     * @param stream where it is recorded
     * @param pool the memory that it gets
     * @param work puts operations of libtorch into the current stream
     * @return the recording, to be closed before the network whose arrays it uses
     */
    public static Recording of(int gpu, Stream stream, Pool pool, Runnable work) {
        Graphs graphs = required();
        Arena arena = Arena.ofShared();
        MemorySegment graph = graphs.newGraph(arena);
        Recording recording = new Recording(graphs, arena, graph);
        Optional<RuntimeException> problem = inStream(gpu, stream.handle(), () -> {
            graphs.begin(graph, pool.id);
            Optional<RuntimeException> failure = failure(work);
            if (!stream.writesDown()) {
                // libtorch would end the process. The graph stays where it is: libtorch still knows of it.
                stream.abandon();
                throw new IllegalStateException("something could not be recorded on GPU " + gpu, failure.orElse(null));
            }
            graphs.end(graph);
            return failure;
        });
        if (problem.isPresent()) {
            recording.close();
            throw problem.get();
        }
        return recording;
    }

    private static Optional<RuntimeException> failure(Runnable work) {
        try {
            work.run();
            return Optional.empty();
        } catch (RuntimeException problem) {
            return Optional.of(problem);
        }
    }

    /** Puts the work into the current stream. */
    public void replay() {
        graphs.replay(graph);
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            graphs.destroy(graph);
            arena.close();
        }
    }
}
