package dev.espalier.core.kernel;

import dev.espalier.core.tensor.TensorView;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

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

    private @Nullable Block aimBlock;
    private int aimTurn;
    private int aimCell;
    private int aimInner;
    private int aimFrom;
    private int aimTo;

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

    /**
     * Whether the rows of θ, its pull and its κ hold something already. If not, the caller must write it there: from now on they are
     * taken to hold it.
     *
     * @param block whose columns
     * @param turn a number of its own for all that a block aims at at one time
     * @param cell the cell of the first group
     * @param inner columns of a group
     * @param from the first column
     * @param to the one behind the last
     */
    boolean aimsAt(Block block, int turn, int cell, int inner, int from, int to) {
        boolean same = block == aimBlock
                && turn == aimTurn
                && cell == aimCell
                && inner == aimInner
                && from == aimFrom
                && to == aimTo;
        aimBlock = block;
        aimTurn = turn;
        aimCell = cell;
        aimInner = inner;
        aimFrom = from;
        aimTo = to;
        return same;
    }

    /** The rows of θ and its pull are written to for something else. */
    void forgetAim() {
        aimBlock = null;
    }

    Lanes lanes() {
        return lanes;
    }

    Rows rows(TensorView weights, TensorView gradients, Block.Moments moments) {
        rows.bind(weights, gradients, moments);
        return rows;
    }
}
