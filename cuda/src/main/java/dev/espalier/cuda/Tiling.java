package dev.espalier.cuda;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.kernel.StepKernel.SetPlan;
import dev.espalier.core.prox.Regularizer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * A model cut into jobs, as {@code step.cu} takes them: a stretch of a tensor without a penalty, or a tile of one with groups,
 * as many rows of some whole groups as a block of threads has room for. The jobs with the rows of the same groups are a team,
 * and neighbours in the list.
 */
final class Tiling {
    /** Threads of a block, if most groups are not of kernels of 3×3. */
    private static final int USUALLY = 256;

    /** Threads of a block, if they are: as many as two rows of 16 such kernels, which are whole bursts of memory. */
    private static final int FOR_NINES = 288;

    /** Blocks on a multiprocessor at once: one computes while another waits. */
    static final int BLOCKS = 2;

    /** Numbers that a block has room for, of each weight of a tile: u and d of two tiles, m and v of one. */
    static final int NUMBERS = 6;

    /** Memory that a block shares for all else: sums of threads, tasks, solvers. */
    private static final int OTHER_BYTES = 17 << 10;

    /** Floats of a line of memory, the least that a row of a tile should have. */
    private static final int LINE = 32;

    /** Floats of what memory reads at once, a burst. Tiles whose rows are not whole ones move their memory at half the speed. */
    private static final int BURST = 16;

    /** Columns of a tile, at least, where rows are no whole sectors, and so waste a part of one at either end. */
    private static final int RAGGED_COLUMNS = 2 * LINE;

    /** Floats of a sector, the least that memory hands out. */
    private static final int SECTOR = 8;

    /** The share of a block's threads that a tile must use. */
    private static final double LEAST_USE = 0.95;

    /** Weights of a group that lies in one piece, from which on a thread takes several of them. */
    private static final int LONG_PIECE = 64;

    /** Groups of a tile, at most. */
    static final int MOST_GROUPS = 32;

    /** Weights of a thread in a job without groups. */
    private static final int STRETCH = 32;

    /** Weights that a thread looks through. */
    private static final int SCAN = 64;

    /**
     * A job.
     *
     * @param kind how it is done
     * @param set its set, in the order of the tables
     * @param tensor its tensor, in the order of the tables
     * @param part its tensor's number among those of the set
     * @param first the logical index of its first weight
     * @param stride weights from one row to the next
     * @param row its first row
     * @param rows how many rows; weights, without groups
     * @param columns its columns
     * @param width columns of its tensor's tiles, which have as many but for the last
     * @param inner columns of a group
     * @param fold rows that a group, where it lies in one piece, is folded into
     * @param limit weights of that piece
     * @param near whether all places of a thread's weights are equally far from each other, and ints from its first
     * @param group its first group
     * @param groups how many
     * @param members jobs of its team
     * @param member its number among them
     * @param theta where the norm of its first group is
     * @param slot where its sums are
     */
    record Job(
            Kind kind,
            int set,
            int tensor,
            int part,
            long first,
            long stride,
            int row,
            int rows,
            int columns,
            int width,
            int inner,
            int fold,
            int limit,
            boolean near,
            int group,
            int groups,
            int members,
            int member,
            long theta,
            long slot) {}

    /**
     * The tiles of a tensor that is a matrix of columns, each of one group, as boxes of it: all but the last of a row or column are as large.
     *
     * @param columns of a box
     * @param rows of a box
     * @param width columns of the tensor
     * @param height rows of the tensor
     */
    record Boxes(int columns, int rows, long width, long height) {}

    /**
     * Some weights whose gradients are looked at.
     *
     * @param tensor their tensor, in the order of the tables
     * @param first the logical index of the first
     * @param count how many
     */
    record Scan(int tensor, long first, int count) {}

    /**
     * What a GPU has room for.
     *
     * @param atOnce how many blocks run at once, at least: where these are too few for the teams of wide tiles, tiles are narrower
     * @param shared memory of a multiprocessor that its blocks share, in bytes
     */
    record Room(int atOnce, int shared) {
        /** Weights of a thread in a tile, where blocks have so many threads. */
        int deep(int threads) {
            return Math.max((shared / BLOCKS - OTHER_BYTES) / (NUMBERS * Float.BYTES * threads), 1);
        }
    }

    private final Room room;
    private final int threads;
    private final List<Job> jobs = new ArrayList<>();
    private final List<Scan> scans = new ArrayList<>();
    private final List<Integer> firstScans = new ArrayList<>();
    private final List<Integer> firstJobs = new ArrayList<>();
    private final List<int[]> firstMembers = new ArrayList<>();
    private final Map<Integer, Boxes> boxes = new HashMap<>();
    private int largestTeam = 1;
    private long slots;

    /**
     * As yet without jobs.
     *
     * @param groups of the sets that are to be added
     * @param room of the GPU
     */
    Tiling(List<Groups> groups, Room room) {
        this.room = room;
        long all = 0;
        long nines = 0;
        for (AxisGroups part :
                groups.stream().map(Kind::parts).flatMap(List::stream).toList()) {
            long weights = (long) part.outer() * part.count() * part.inner();
            all += weights;
            // What lies in one piece is folded to any width.
            nines += part.outer() > 1 && makesBursts(part, FOR_NINES) && !makesBursts(part, USUALLY) ? weights : 0;
        }
        boolean fit = groups.stream().allMatch(each -> members(Kind.parts(each), FOR_NINES, room) <= room.atOnce());
        threads = 2 * nines > all && fit ? FOR_NINES : USUALLY;
    }

    private static boolean makesBursts(AxisGroups part, int threads) {
        int most = part.inner() > threads ? 0 : mostGroups(part.count(), part.inner(), threads);
        return IntStream.rangeClosed(1, most).anyMatch(groups -> areBursts(groups * part.inner(), threads));
    }

    /** Whether so many columns are whole bursts, a line at least, and have work for the threads. */
    private static boolean areBursts(int columns, int threads) {
        return columns >= LINE && columns % BURST == 0 && haveWork(columns, threads);
    }

    private static boolean haveWork(int columns, int threads) {
        return threads / columns * columns >= LEAST_USE * threads;
    }

    private static int mostGroups(int count, int columns, int threads) {
        return Math.min(Math.min(count, MOST_GROUPS), threads / columns);
    }

    /** Threads of a block. */
    int threads() {
        return threads;
    }

    /** Weights of a thread in a tile. */
    int deep() {
        return room.deep(threads);
    }

    /** All jobs. */
    List<Job> jobs() {
        return jobs;
    }

    /** Where gradients are looked at. */
    List<Scan> scans() {
        return scans;
    }

    /** The first scan of every tensor, and the number of all. */
    List<Integer> firstScans() {
        List<Integer> all = new ArrayList<>(firstScans);
        all.add(scans.size());
        return all;
    }

    /** The first job of every set that was added, and the number of all. */
    List<Integer> firstJobs() {
        List<Integer> all = new ArrayList<>(firstJobs);
        all.add(jobs.size());
        return all;
    }

    /** For every set that was added, the number within a team of the first job of each part, and the number of all. */
    int[] firstMembers(int set) {
        return firstMembers.get(set);
    }

    /** How many sets were added. */
    int sets() {
        return firstJobs.size();
    }

    /** The boxes of the tensors that have some, by their places in the tables. */
    Map<Integer, Boxes> boxes() {
        return boxes;
    }

    /** How many jobs the largest team has: they must all run at once. */
    int largestTeam() {
        return largestTeam;
    }

    /** How many groups all jobs have. */
    long slots() {
        return slots;
    }

    /** Has the gradients of a tensor looked at; tensors are added in the order of the tables. */
    void scan(int tensor, long size) {
        firstScans.add(scans.size());
        long length = (long) SCAN * threads;
        for (long first = 0; first < size; first += length) {
            scans.add(new Scan(tensor, first, (int) Math.min(length, size - first)));
        }
    }

    /**
     * Adds a set.
     *
     * @param kind how it is stepped
     * @param plan its tensors and groups
     * @param set its number
     * @param tensor the number of its first tensor
     * @param theta where the norms of its groups are
     */
    void add(Kind kind, SetPlan plan, int set, int tensor, long theta) {
        firstJobs.add(jobs.size());
        if (kind == Kind.PLAIN || kind == Kind.SINGLE) {
            firstMembers.add(new int[1]);
            for (int i = 0; i < plan.sizes().size(); i++) {
                cut(kind, set, tensor + i, plan.sizes().get(i));
            }
        } else {
            Regularizer regularizer = Objects.requireNonNull(plan.regularizer());
            cut(kind, set, tensor, Kind.parts(regularizer.groups()), theta);
        }
    }

    private void cut(Kind kind, int set, int tensor, long size) {
        long length = (long) STRETCH * threads;
        for (long first = 0; first < size; first += length) {
            int count = (int) Math.min(length, size - first);
            jobs.add(new Job(kind, set, tensor, 0, first, 0, 0, count, 1, 1, 1, 1, 0, true, 0, 0, 1, 0, 0, 0));
        }
    }

    /** How a tensor's share of a group is laid out: columns of a group, rows, and rows that one piece is folded into. */
    private record Shape(AxisGroups part, int columns, int fold, int threads, int deep) {
        /** Of groups that have a tile's threads to themselves; one piece is folded so that as many as there is room for share these. */
        static Shape inOnePiece(AxisGroups part, int threads, int deep) {
            int least = Math.ceilDiv(Math.ceilDiv(part.inner(), deep), SECTOR) * SECTOR;
            int columns = threads / (threads / least) / SECTOR * SECTOR;
            return new Shape(part, columns, Math.ceilDiv(part.inner(), columns), threads, deep);
        }

        static Shape of(AxisGroups part, int threads, int deep) {
            int fold = Math.ceilDiv(part.inner(), threads);
            return new Shape(part, Math.ceilDiv(part.inner(), fold), fold, threads, deep);
        }

        int rows() {
            return Math.multiplyExact(part.outer(), fold);
        }

        /** Whether the places of a thread's weights in a job with some of the rows are ints, equally far from each other. */
        boolean isNear(int row, int rows) {
            long stride = (long) part.count() * part.inner();
            return fold == 1 ? rows * stride <= Integer.MAX_VALUE : rows == fold && row % fold == 0;
        }

        int jobs(int groups) {
            return Math.ceilDiv(rows(), lanes(groups) * deep);
        }

        private int lanes(int groups) {
            return threads / (groups * columns);
        }

        /** Rows of a job with so many groups: no more than it takes for all jobs to be about as long, as a team waits for the last of them. */
        int jobRows(int groups) {
            int lanes = lanes(groups);
            return fold > 1 ? lanes * deep : Math.ceilDiv(Math.ceilDiv(rows(), jobs(groups)), lanes) * lanes;
        }
    }

    private void cut(Kind kind, int set, int tensor, List<AxisGroups> parts, long theta) {
        boolean pieces = kind != Kind.NESTING && parts.size() == 1 && isLongPiece(parts.getFirst());
        List<Shape> shapes = parts.stream()
                .map(part -> pieces ? Shape.inOnePiece(part, threads, deep()) : Shape.of(part, threads, deep()))
                .toList();
        int count = parts.getFirst().count();
        int together = pieces
                ? mostGroups(count, shapes.getFirst().columns(), threads)
                : together(shapes, count, threads, room.atOnce());
        int[] first = new int[shapes.size() + 1];
        for (int part = 0; part < shapes.size(); part++) {
            first[part + 1] = first[part] + shapes.get(part).jobs(together);
        }
        firstMembers.add(first);
        int members = first[shapes.size()];
        largestTeam = Math.max(largestTeam, members);
        for (int group = 0; group < count; group += together) {
            int groups = Math.min(together, count - group);
            for (int part = 0; part < shapes.size(); part++) {
                Shape shape = shapes.get(part);
                AxisGroups axis = shape.part();
                int height = shape.jobRows(together);
                for (int i = 0; i < shape.jobs(together); i++) {
                    jobs.add(new Job(
                            kind,
                            set,
                            tensor + part,
                            part,
                            (long) group * axis.inner(),
                            (long) count * axis.inner(),
                            i * height,
                            Math.min(height, shape.rows() - i * height),
                            groups * shape.columns(),
                            shape.fold() == 1 ? together * shape.columns() : groups * shape.columns(),
                            shape.columns(),
                            shape.fold(),
                            axis.inner(),
                            shape.isNear(i * height, Math.min(height, shape.rows() - i * height)),
                            group,
                            groups,
                            members,
                            first[part] + i,
                            theta + group,
                            slots));
                    slots += groups;
                }
            }
        }
        for (int part = 0; part < shapes.size(); part++) {
            Shape shape = shapes.get(part);
            AxisGroups axis = shape.part();
            if (shape.fold() == 1) {
                long width = (long) count * axis.inner();
                boxes.put(
                        tensor + part,
                        new Boxes(together * shape.columns(), shape.jobRows(together), width, axis.outer()));
            }
        }
    }

    private boolean isLongPiece(AxisGroups part) {
        return part.outer() == 1 && part.inner() >= LONG_PIECE && part.inner() <= threads * deep();
    }

    /** Jobs of a team of groups that do not lie in one piece. */
    private static int members(List<AxisGroups> parts, int threads, Room room) {
        List<Shape> shapes = parts.stream()
                .map(part -> Shape.of(part, threads, room.deep(threads)))
                .toList();
        return members(shapes, together(shapes, parts.getFirst().count(), threads, room.atOnce()));
    }

    private static int members(List<Shape> shapes, int groups) {
        return shapes.stream().mapToInt(shape -> shape.jobs(groups)).sum();
    }

    /** How many groups go into a tile. */
    private static int together(List<Shape> shapes, int count, int threads, int atOnce) {
        if (shapes.stream().anyMatch(shape -> shape.fold() > 1)) {
            return 1;
        }
        int widest = shapes.stream().mapToInt(Shape::columns).max().orElseThrow();
        int most = mostGroups(count, widest, threads);
        boolean bursts = IntStream.rangeClosed(1, most)
                .anyMatch(groups -> areBursts(groups * widest, threads) && members(shapes, groups) <= atOnce);
        int chosen = most;
        for (int groups = most; groups >= 1; groups--) {
            int columns = groups * widest;
            boolean good = bursts ? areBursts(columns, threads) : areLong(columns) && haveWork(columns, threads);
            boolean whole = shapes.size() == 1 && shapes.getFirst().jobs(groups) == 1;
            if (good && whole) {
                return groups; // one job for all rows: nobody has to wait
            }
            chosen = good ? groups : chosen;
        }
        return chosen;
    }

    /** Whether rows of so many columns do not waste much where they are no bursts. */
    private static boolean areLong(int columns) {
        return columns >= (columns % SECTOR == 0 ? LINE : RAGGED_COLUMNS);
    }
}
