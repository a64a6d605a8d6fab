package dev.espalier.core.kernel;

import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.prox.Branch;
import dev.espalier.core.prox.Summary;
import java.util.Arrays;

/**
 * Every weight of a tensor a group of its own: the unstructured case. A metric of one entry is spherical, so the operator
 * has a closed form, and nothing needs to be kept from step to step.
 */
final class SingleBlock extends Block {
    private static final int CHUNK = 1 << 13;

    private final int size;
    private final Moments moments;
    private final Tally[] tallies;
    private Penalty penalty;
    private PenaltyTerms terms;

    SingleBlock(int size, Moments moments, Penalty penalty) {
        this.size = size;
        this.moments = moments;
        this.penalty = penalty;
        tallies = new Tally[Math.ceilDiv(size, CHUNK)];
        Arrays.setAll(tallies, i -> new Tally());
        terms = PenaltyTerms.of(penalty, 1, 0);
    }

    @Override
    void prepare(double stepSize, double smallStep) {
        terms = PenaltyTerms.of(penalty, 1, stepSize);
    }

    @Override
    public void changePenalty(Penalty other) {
        penalty = other;
    }

    @Override
    int jobs() {
        return tallies.length;
    }

    @Override
    int columns() {
        return CHUNK;
    }

    @Override
    void first(int job, Worker worker) {
        int from = job * CHUNK;
        int count = Math.min(CHUNK, size - from);
        Tally tally = tallies[job];
        tally.clear();
        Rows rows = worker.rows(weights(0), gradients(0), moments);
        rows.open(from, count);
        worker.forgetAim();
        long u = worker.theta; // rows of a worker serve as scratch: there is no θ to look for
        long d = worker.pull;
        worker.lanes().load(update(0), rows.x(), rows.g(), rows.m(), rows.v(), u, d, count);
        boolean softened = terms.singleThreshold() > 0;
        if (softened) {
            worker.lanes().soften(u, count, (float) terms.singleThreshold());
        }
        for (long at = 0; at < (long) count * Float.BYTES; at += Float.BYTES) {
            double metric = Memory.get(d + at);
            double x = Memory.get(u + at) / metric;
            double norm = terms.profile().proximalNorm(Math.abs(x), metric, terms.stepSize());
            Branch branch =
                    norm == 0 ? Branch.ZEROED : norm == Math.abs(x) && !softened ? Branch.UNTOUCHED : Branch.SHRUNK;
            if (terms.stepSize() > 0) { // else u/d is x, but for rounding
                Memory.set(rows.x() + at, branch == Branch.ZEROED ? 0 : (float) Math.copySign(norm, x));
            }
            tally.count(branch, 0, 0, terms.profile().value(norm) + penalty.singleStrength() * norm);
        }
        rows.writeBack(rows.x());
    }

    @Override
    public Summary summary() {
        return Arrays.stream(tallies).map(Tally::summary).reduce(Summary.EMPTY, Summary::plus);
    }

    @Override
    public double penalty() {
        return Arrays.stream(tallies).mapToDouble(Tally::penalty).sum();
    }
}
