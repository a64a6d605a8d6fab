package dev.espalier.torture.number;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.SparseGroupLasso;
import java.util.List;
import java.util.random.RandomGenerator;

/** The penalties that kernels have fast paths for, over groups that they have them for. */
enum Family {
    /** ℓ1/ℓ2. */
    LASSO {
        @Override
        Penalty penalty(double strength, double knee, RandomGenerator random) {
            return new GroupLasso(strength, GroupWeight.NONE);
        }
    },
    /** Group MCP. */
    MCP {
        @Override
        Penalty penalty(double strength, double knee, RandomGenerator random) {
            return new GroupMcp(strength, knee / strength, GroupWeight.NONE);
        }
    },
    /** Group SCAD. */
    SCAD {
        @Override
        Penalty penalty(double strength, double knee, RandomGenerator random) {
            return new GroupScad(strength, knee / strength, random.nextDouble(0.9), GroupWeight.NONE);
        }
    },
    /** ℓ1/ℓ2 and ℓ1. */
    SPARSE_GROUP {
        @Override
        Penalty penalty(double strength, double knee, RandomGenerator random) {
            return new SparseGroupLasso(strength, random.nextDouble(0.01, 0.99), GroupWeight.NONE);
        }
    },
    /** Groups within groups. */
    NESTED {
        @Override
        Penalty penalty(double strength, double knee, RandomGenerator random) {
            return new NestedLasso(strength, random.nextDouble(0.01, 0.99), GroupWeight.NONE);
        }

        @Override
        Groups groups(int count, RandomGenerator random) {
            return NestedGroups.ofParts(joint(count, random));
        }
    },
    /** ℓ1: every weight is a group. */
    SINGLE {
        @Override
        Penalty penalty(double strength, double knee, RandomGenerator random) {
            return random.nextBoolean() ? LASSO.penalty(strength, knee, random) : MCP.penalty(strength, knee, random);
        }

        @Override
        Groups groups(int count, RandomGenerator random) {
            return AxisGroups.single(count);
        }
    };

    /** Where rows are summed up in blocks, and a row of weights is a group, other code runs than where a column is. */
    private static final List<Integer> LENGTHS = List.of(1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 16, 33);

    /** A penalty of a strength that is constant beyond a knee, if it ever is. */
    abstract Penalty penalty(double strength, double knee, RandomGenerator random);

    /** Groups of a shape that kernels have a fast path for. */
    Groups groups(int count, RandomGenerator random) {
        return random.nextInt(4) == 0 ? joint(count, random) : axis(count, random);
    }

    private static AxisGroups axis(int count, RandomGenerator random) {
        int length = LENGTHS.get(random.nextInt(LENGTHS.size()));
        return switch (random.nextInt(3)) {
            case 0 -> new AxisGroups(Math.max(2, length), count, 1);
            case 1 -> new AxisGroups(1, count, Math.max(2, length));
            default -> new AxisGroups(random.nextInt(1, 6), count, random.nextInt(2, 10));
        };
    }

    private static JointGroups joint(int count, RandomGenerator random) {
        return new JointGroups(List.of(axis(count, random), axis(count, random)));
    }
}
