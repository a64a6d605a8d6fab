package dev.espalier.core.kernel;

import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.Arena;

/** One thread's scratch memory, made once for the largest job there is. */
final class Worker {

    /** Addresses: a row each of θ, of its pull and of its κ, and the column sums. */
    final long theta;

    final long pull;
    final long kappa;
    final long sums;

    /** Addresses of a few rows each of u and d, and of d of the block that is being stepped; zero where that is not kept. */
    final long u;

    final long d;
    final long kept;

    private final Lanes lanes;
    private final Rows rows;

    Worker(Lanes lanes, int columns, long kept, Arena arena) {
        this.lanes = lanes;
        theta = allocate(arena, columns);
        pull = allocate(arena, columns);
        kappa = allocate(arena, columns);
        sums = allocate(arena, Sums.COUNT * columns);
        u = allocate(arena, Lanes.BLOCK_ROWS * (columns + GroupedBlock.PADDING));
        d = allocate(arena, Lanes.BLOCK_ROWS * (columns + GroupedBlock.PADDING));
        this.kept = kept;
        rows = new Rows(allocate(arena, 4 * columns), columns, TensorView.of(new float[1]));
    }

    private static long allocate(Arena arena, int floats) {
        return arena.allocate((long) floats * Float.BYTES, 64).address();
    }

    Lanes lanes() {
        return lanes;
    }

    Rows rows(TensorView weights, TensorView gradients, Block.Moments moments) {
        rows.bind(weights, gradients, moments);
        return rows;
    }
}
