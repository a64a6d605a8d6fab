package dev.espalier.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.core.group.AxisGroups;
import dev.espalier.core.group.Groups;
import dev.espalier.core.group.JointGroups;
import dev.espalier.core.group.NestedGroups;
import dev.espalier.core.kernel.StepKernel.SetPlan;
import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Regularizer;
import dev.espalier.cuda.Tiling.Job;
import dev.espalier.cuda.Tiling.Room;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Jobs cover every weight once, whatever the shape: what a kernel does with a job is written out here once more. */
class TilingTest {
    /** Of an H200. */
    private static final int AT_ONCE = 132;

    private static final int SHARED = 228 << 10;
    private static final Room ROOM = new Room(AT_ONCE, SHARED);

    private static Tiling tiling(Groups groups, Penalty penalty) {
        return tiling(new Tiling(List.of(groups), ROOM), groups, penalty);
    }

    private static Tiling tiling(Tiling tiling, Groups groups, Penalty penalty) {
        SetPlan plan = new SetPlan(
                IntStream.range(0, groups.tensorSizes().size())
                        .mapToObj(i -> "w" + i)
                        .toList(),
                groups.tensorSizes(),
                new Regularizer(penalty, groups),
                true);
        tiling.add(Kind.of(plan), plan, 0, 0, 0);
        return tiling;
    }

    /** The group that owns each weight of every tensor, by the jobs; counts doubled and missing ones. */
    private static void assertCovered(Groups groups, Tiling tiling) {
        int[][] owners = new int[groups.tensorSizes().size()][];
        for (int tensor = 0; tensor < owners.length; tensor++) {
            owners[tensor] = new int[Math.toIntExact(groups.tensorSizes().get(tensor))];
        }
        for (Job job : tiling.jobs()) {
            int lanes = tiling.threads() / job.columns();
            assertTrue(lanes >= 1 && job.rows() <= lanes * tiling.deep() && job.rows() >= 1, job::toString);
            assertEquals(job.groups() * job.inner(), job.columns());
            for (int row = job.row(); row < job.row() + job.rows(); row++) {
                for (int column = 0; column < job.columns(); column++) {
                    int group = column / job.inner();
                    int within = row % job.fold() * job.inner() + column % job.inner();
                    if (job.fold() == 1 || within < job.limit()) {
                        long index = job.first()
                                + row / job.fold() * job.stride()
                                + (job.fold() == 1 ? column : (long) group * job.limit() + within);
                        int owner = job.group() + group;
                        assertEquals(0, owners[job.tensor()][(int) index], "twice");
                        owners[job.tensor()][(int) index] = owner + 1;
                    }
                }
            }
        }
        for (int group = 0; group < groups.count(); group++) {
            int expected = group + 1;
            groups.forEach(group, (tensor, index) -> assertEquals(expected, owners[tensor][(int) index]));
        }
    }

    @Test
    void jobsCoverEveryWeightOnceAndKnowItsGroup() {
        int[] sizes = {1, 2, 3, 9, 17, 64, 257, 700};
        for (int outer : sizes) {
            for (int count : sizes) {
                for (int inner : sizes) {
                    AxisGroups groups = new AxisGroups(outer, count, inner);
                    if ((long) outer * count * inner <= 200_000 && outer * inner > 1) {
                        for (Groups most : List.of(new AxisGroups(512, 512, 9), new AxisGroups(512, 512, 1))) {
                            Tiling tiling = new Tiling(List.of(most), ROOM);
                            assertCovered(groups, tiling(tiling, groups, new GroupLasso(1)));
                        }
                    }
                }
            }
        }
    }

    @Test
    void tensorsOfDifferentShapesShareTheirGroups() {
        JointGroups joint = new JointGroups(
                List.of(new AxisGroups(30, 70, 1), new AxisGroups(7, 70, 9), new AxisGroups(1, 70, 300)));
        assertCovered(joint, tiling(joint, new GroupLasso(1)));
        JointGroups narrow = new JointGroups(List.of(new AxisGroups(300, 70, 1), new AxisGroups(7, 70, 2)));
        assertCovered(narrow, tiling(NestedGroups.ofParts(narrow), new NestedLasso(1, 0.5)));
    }

    @Test
    void theJobsOfATeamAreNeighboursWithAllRowsOfTheSameGroups() {
        JointGroups joint = new JointGroups(List.of(new AxisGroups(768, 70, 1), new AxisGroups(3072, 70, 1)));
        Tiling tiling = tiling(NestedGroups.ofParts(joint), new NestedLasso(1, 0.5));
        List<Job> jobs = tiling.jobs();
        for (int i = 0; i < jobs.size(); i++) {
            Job job = jobs.get(i);
            Job first = jobs.get(i - job.member());
            assertEquals(first.members(), job.members());
            assertEquals(first.group(), job.group());
            assertEquals(first.slot() + (long) job.member() * job.groups(), job.slot());
            assertEquals(job.part(), job.member() < tiling.firstMembers(0)[1] ? 0 : 1);
            assertTrue(job.groups() <= 32);
        }
        assertEquals(tiling.firstMembers(0)[2], tiling.largestTeam());
    }

    @Test
    void noJobOfATeamIsLongerThanItNeedBe() {
        List<Job> jobs = tiling(new AxisGroups(400, 768, 1), new GroupLasso(1)).jobs();
        assertEquals(
                List.of(104, 104, 104, 88), // and not 128, 128, 128, 16; whole eights of lanes
                jobs.subList(0, 4).stream().map(Job::rows).toList());
    }

    @Test
    void rowsOfATileAreLongEnoughForMemory() {
        Job linear =
                tiling(new AxisGroups(768, 768, 1), new GroupLasso(1)).jobs().getFirst();
        assertEquals(32, linear.columns());
        Job convolution =
                tiling(new AxisGroups(512, 512, 9), new GroupLasso(1)).jobs().getFirst();
        assertEquals(144, convolution.columns()); // 16 kernels: with 64 bytes each for rows
        Job odd = tiling(new AxisGroups(512, 512, 25), new GroupLasso(1)).jobs().getFirst();
        assertEquals(125, odd.columns()); // no bursts: two lines at least
    }

    @Test
    void blocksAreAsWideAsMostGroupsLikeIt() {
        AxisGroups kernels = new AxisGroups(512, 512, 9);
        AxisGroups matrix = new AxisGroups(512, 512, 1);
        AxisGroups larger = new AxisGroups(5120, 512, 1);
        AxisGroups pieces = new AxisGroups(1, 512, 288);
        assertEquals(288, new Tiling(List.of(kernels), ROOM).threads());
        assertEquals(256, new Tiling(List.of(matrix), ROOM).threads());
        assertEquals(288, new Tiling(List.of(kernels, matrix), ROOM).threads());
        assertEquals(256, new Tiling(List.of(kernels, larger), ROOM).threads());
        assertEquals(256, new Tiling(List.of(pieces), ROOM).threads());
        assertEquals(256, new Tiling(List.of(), ROOM).threads());
    }

    /** A team must run at once: on a small GPU rows are rather no whole bursts. */
    @Test
    void tilesAreNotWiderThanTeamsCanBeLarge() {
        AxisGroups kernels = new AxisGroups(512, 512, 9);
        for (int atOnce : new int[] {16, 20}) {
            Tiling tiling = tiling(new Tiling(List.of(kernels), new Room(atOnce, SHARED)), kernels, new GroupLasso(1));
            assertTrue(tiling.largestTeam() <= atOnce, () -> tiling.largestTeam() + " at once");
            assertEquals(atOnce == 20 ? 144 : 72, tiling.jobs().getFirst().columns());
        }
    }

    /** Where most groups are kernels of 3×3, others are cut as wide as these like it: but not if it makes teams too large. */
    @Test
    void teamsAreNoLargerForTheSakeOfOthers() {
        AxisGroups kernels = new AxisGroups(512, 4096, 9);
        for (int inner = 1; inner <= 300; inner++) {
            for (int outer : new int[] {300, 1024, 4096}) {
                AxisGroups groups = new AxisGroups(outer, 24, inner);
                int alone = tiling(groups, new GroupLasso(1)).largestTeam();
                Tiling beside = new Tiling(List.of(kernels, groups), ROOM);
                int team = tiling(beside, groups, new GroupLasso(1)).largestTeam();
                assertTrue(team <= Math.max(alone, AT_ONCE), groups + ": " + team + " instead of " + alone);
            }
        }
    }

    @Test
    void groupsThatLieInOnePieceShareATile() {
        for (int inner : new int[] {768, 3072}) {
            Tiling tiling = tiling(new AxisGroups(1, 768, inner), new GroupLasso(1));
            List<Job> jobs = tiling.jobs();
            int room = tiling.threads() * tiling.deep() / inner;
            assertEquals(Math.ceilDiv(768, room), jobs.size());
            assertTrue(jobs.getFirst().columns() >= 0.9 * tiling.threads(), jobs.getFirst()::toString);
        }
    }

    @Test
    void gradientsAreLookedAtToTheLast() {
        Tiling tiling = new Tiling(List.of(), ROOM);
        tiling.scan(3, 40_000);
        tiling.scan(4, 1);
        assertEquals(List.of(0, 3, 4), tiling.firstScans());
        assertEquals(
                40_001, tiling.scans().stream().mapToInt(Tiling.Scan::count).sum());
        assertEquals(40_000 - 2 * 16_384, tiling.scans().get(2).count());
    }
}
