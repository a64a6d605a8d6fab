package dev.espalier.core.prox;

import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.NestedProfile;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.Profile;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The weighted proximal operator in decimal arithmetic of any precision, for numbers of any size: what results at the ends of the
 * range are compared with. Roots are sought with few digits and then proved with 200: {@code t} is above one just below a root, and
 * below it just above.
 */
final class BigProx {
    private static final MathContext SEARCH = new MathContext(40, RoundingMode.HALF_EVEN);
    private static final MathContext UP = new MathContext(20, RoundingMode.UP);
    private static final MathContext PROOF = new MathContext(200, RoundingMode.HALF_EVEN);
    private static final BigDecimal SMALL_STEP = new BigDecimal("1e-30");
    private static final BigDecimal AROUND = new BigDecimal("1e-15");
    private static final BigDecimal ONE = BigDecimal.ONE;
    private static final BigDecimal ZERO = BigDecimal.ZERO;

    private final BigDecimal stepSize;

    /** The pieces of the outer group's slope. */
    private final List<Piece> pieces;

    private BigProx(double stepSize, List<Piece> pieces) {
        this.stepSize = new BigDecimal(stepSize);
        this.pieces = pieces;
    }

    /** A piece of a slope, {@code height − bend·r} up to the next one. */
    record Piece(BigDecimal from, BigDecimal height, BigDecimal bend) {
        boolean flat() {
            return height.signum() == 0;
        }
    }

    /** The pieces of a penalty's slope by its definition. */
    static List<Piece> pieces(Penalty penalty) {
        return switch (penalty) {
            case GroupMcp mcp -> scad(mcp.lambda(), mcp.beta(), 0);
            case GroupScad scad -> scad(scad.lambda(), scad.beta(), scad.flat());
            case GroupLasso lasso -> List.of(new Piece(ZERO, new BigDecimal(lasso.lambda()), ZERO));
            case NestedLasso nested -> List.of(new Piece(ZERO, new BigDecimal(nested.outerStrength(1)), ZERO));
            default ->
                List.of(new Piece(
                        ZERO,
                        new BigDecimal(penalty.profile(penalty.strength(1)).slope(0)),
                        ZERO));
        };
    }

    private static List<Piece> scad(double lambda, double beta, double flat) {
        BigDecimal height = new BigDecimal(lambda);
        BigDecimal knee = height.multiply(new BigDecimal(beta));
        BigDecimal sloping = ONE.subtract(new BigDecimal(flat));
        Piece falling = new Piece(
                knee.multiply(new BigDecimal(flat)),
                height.divide(sloping, PROOF),
                ONE.divide(new BigDecimal(beta), PROOF).divide(sloping, PROOF));
        Piece last = new Piece(knee, ZERO, ZERO);
        return flat == 0 ? List.of(falling, last) : List.of(new Piece(ZERO, height, ZERO), falling, last);
    }

    /** A local minimiser as {@code z_i = u_i/(d_i + ρ)}; none for zero, whose ρ is infinite. */
    record Candidate(BigDecimal theta, @Nullable BigDecimal ratio) {}

    /** The minimisers: more than one where their objectives are equal but for 1e-9 of what they differ in. */
    static List<BigDecimal[]> solve(Penalty outer, NestedProfile penalty, double[] x, double[] d, double stepSize) {
        return new BigProx(stepSize, pieces(outer)).solve(penalty, x, d);
    }

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Part(int[] indices, BigDecimal[] u, BigDecimal[] d) {
        /** The same with fewer digits: a double may have hundreds. */
        Part rounded() {
            return new Part(indices, BigProx.rounded(u), BigProx.rounded(d));
        }

        BigDecimal normOfU(MathContext context) {
            return norm(u, context);
        }
    }

    private List<BigDecimal[]> solve(NestedProfile penalty, double[] x, double[] d) {
        BigDecimal[] u = new BigDecimal[x.length];
        BigDecimal[] metric = new BigDecimal[x.length];
        for (int i = 0; i < x.length; i++) {
            metric[i] = new BigDecimal(d[i]).round(PROOF);
            u[i] = new BigDecimal(Math.abs(x[i])).multiply(metric[i]).round(PROOF);
        }
        List<Integer> free = new ArrayList<>();
        List<List<Integer>> members = new ArrayList<>();
        penalty.inner().forEach(profile -> members.add(new ArrayList<>()));
        for (int i = 0; i < x.length; i++) {
            (penalty.owner(i) == NestedProfile.NONE ? free : members.get(penalty.owner(i))).add(i);
        }
        List<Part> children = new ArrayList<>();
        List<BigDecimal> thresholds = new ArrayList<>();
        for (int child = 0; child < members.size(); child++) {
            BigDecimal threshold = threshold(penalty.inner().get(child));
            if (members.get(child).size() == 1) {
                int i = members.get(child).getFirst();
                u[i] = u[i].subtract(threshold).max(ZERO);
                free.add(i);
            } else {
                children.add(part(members.get(child), u, metric));
                thresholds.add(threshold);
            }
        }
        Part freePart = part(free, u, metric);
        if (!children.isEmpty()) {
            return List.<BigDecimal[]>of(tree(freePart, children, thresholds, threshold(penalty.outer()), x.length));
        }
        List<BigDecimal[]> all = new ArrayList<>();
        for (Candidate candidate : flat(freePart)) {
            BigDecimal[] z = new BigDecimal[x.length];
            Arrays.fill(z, ZERO);
            BigDecimal ratio = candidate.ratio();
            for (int i = 0; i < freePart.u.length && ratio != null; i++) {
                z[freePart.indices[i]] = freePart.u[i].divide(freePart.d[i].add(ratio, PROOF), PROOF);
            }
            all.add(z);
        }
        return List.copyOf(all);
    }

    private BigDecimal threshold(Profile norm) {
        return stepSize.multiply(new BigDecimal(norm.slope(0))).round(PROOF);
    }

    private static Part part(List<Integer> members, BigDecimal[] u, BigDecimal[] d) {
        int[] indices = members.stream()
                .mapToInt(Integer::intValue)
                .filter(i -> u[i].signum() > 0)
                .toArray();
        return new Part(
                indices,
                IntStream.of(indices).mapToObj(i -> u[i]).toArray(BigDecimal[]::new),
                IntStream.of(indices).mapToObj(i -> d[i]).toArray(BigDecimal[]::new));
    }

    private static BigDecimal[] rounded(BigDecimal[] values) {
        return Arrays.stream(values).map(value -> value.round(SEARCH)).toArray(BigDecimal[]::new);
    }

    private static BigDecimal norm(BigDecimal[] values, MathContext context) {
        BigDecimal sum = ZERO;
        for (BigDecimal value : values) {
            sum = sum.add(value.multiply(value, context), context);
        }
        return sum.round(context).sqrt(SEARCH);
    }

    private BigDecimal pull(Piece piece, BigDecimal theta) {
        return stepSize.multiply(piece.height().subtract(piece.bend().multiply(theta)))
                .max(ZERO)
                .round(PROOF);
    }

    /** {@code t(θ)} and {@code −t'(θ)/2} with denominators {@code e_i θ + l}, where {@code p_i} are their slopes. */
    private static BigDecimal[] evaluate(
            BigDecimal[] u, BigDecimal[] e, BigDecimal[] p, BigDecimal l, BigDecimal theta, MathContext context) {
        BigDecimal t = ZERO;
        BigDecimal fall = ZERO;
        for (int i = 0; i < u.length; i++) {
            BigDecimal divisor = e[i].multiply(theta, context).add(l, context);
            BigDecimal w = u[i].divide(divisor, context);
            BigDecimal square = w.multiply(w, context);
            t = t.add(square, context);
            fall = fall.add(square.multiply(p[i], context).divide(divisor, context), context);
        }
        return new BigDecimal[] {t, fall};
    }

    /** Newton's step on the reciprocal, from the left; with a root of t that is rounded up it is a little short. */
    private static BigDecimal step(BigDecimal[] tAndFall) {
        BigDecimal t = tAndFall[0];
        BigDecimal root = t.round(UP).sqrt(UP);
        return t.subtract(ONE).divide(root.add(ONE), SEARCH).multiply(t, SEARCH).divide(tAndFall[1], SEARCH);
    }

    private List<Candidate> flat(Part part) {
        if (part.u.length == 0) {
            return List.of(new Candidate(ZERO, null));
        }
        BigDecimal[] x = new BigDecimal[part.u.length];
        Arrays.setAll(x, i -> part.u[i].divide(part.d[i], PROOF));
        BigDecimal normOfX = norm(x, PROOF);
        List<Candidate> candidates = new ArrayList<>();
        if (part.normOfU(PROOF).compareTo(pull(pieces.getFirst(), ZERO)) <= 0) {
            candidates.add(new Candidate(ZERO, null));
        }
        for (int k = 0; k < pieces.size(); k++) {
            Piece piece = pieces.get(k);
            BigDecimal from = piece.from();
            BigDecimal end =
                    k + 1 == pieces.size() ? normOfX : pieces.get(k + 1).from().min(normOfX);
            if (from.compareTo(normOfX) > 0) {
                continue;
            }
            if (piece.flat()) {
                candidates.add(new Candidate(normOfX, ZERO));
            } else {
                root(part, piece, from, end, candidates);
            }
        }
        List<Candidate> best = new ArrayList<>();
        for (Candidate candidate : candidates) {
            int order = best.isEmpty() ? 0 : compare(part, x, candidate, best.getFirst());
            if (order < 0) {
                best.clear();
            }
            if (order <= 0) {
                best.add(candidate);
            }
        }
        return best;
    }

    private void root(Part part, Piece piece, BigDecimal from, BigDecimal end, List<Candidate> candidates) {
        BigDecimal kappa = stepSize.multiply(piece.bend());
        BigDecimal[] p = new BigDecimal[part.d.length];
        Arrays.setAll(p, i -> part.d[i].subtract(kappa));
        BigDecimal largest = Arrays.stream(p).reduce(BigDecimal::max).orElseThrow();
        if (largest.signum() <= 0) {
            return;
        }
        BigDecimal threshold = stepSize.multiply(piece.height());
        BigDecimal theta =
                part.normOfU(PROOF).subtract(threshold).divide(largest, SEARCH).max(from);
        if (theta.compareTo(end.multiply(ONE.add(SMALL_STEP))) > 0
                || (theta.signum() == 0 && threshold.signum() == 0)) {
            return;
        }
        Part few = part.rounded();
        BigDecimal[] fewOfP = rounded(p);
        for (int iteration = 0; iteration < 300; iteration++) {
            BigDecimal pull = pull(piece, theta).round(SEARCH);
            BigDecimal[] tAndFall = evaluate(few.u, few.d, fewOfP, pull, theta, SEARCH);
            if (tAndFall[1].signum() <= 0 || (iteration == 0 && tAndFall[0].compareTo(ONE.subtract(AROUND)) < 0)) {
                return; // rises, or the piece begins beyond the root
            }
            BigDecimal next = theta.add(step(tAndFall));
            if (next.compareTo(end.multiply(ONE.add(SMALL_STEP))) > 0) {
                return;
            }
            if (next.subtract(theta).compareTo(theta.multiply(SMALL_STEP)) <= 0) {
                prove(part, piece, p, next, from, end);
                candidates.add(new Candidate(next, pull(piece, next).divide(next, PROOF)));
                return;
            }
            theta = next.round(SEARCH);
        }
        throw new AssertionError("no root after 300 steps");
    }

    /** That {@code t} falls through one here, by its values with 200 digits. */
    private void prove(Part part, Piece piece, BigDecimal[] p, BigDecimal theta, BigDecimal from, BigDecimal end) {
        BigDecimal before = theta.multiply(ONE.subtract(AROUND)).max(from);
        BigDecimal after = theta.multiply(ONE.add(AROUND)).min(end);
        BigDecimal[] atBefore = evaluate(part.u, part.d, p, pull(piece, before), before, PROOF);
        BigDecimal[] atAfter = evaluate(part.u, part.d, p, pull(piece, after), after, PROOF);
        BigDecimal slack = before.compareTo(from) == 0 || after.compareTo(end) == 0 ? SMALL_STEP : ZERO;
        if (atBefore[0].compareTo(ONE.subtract(slack)) < 0 || atAfter[0].compareTo(ONE.add(slack)) > 0) {
            throw new AssertionError("the reference is no root: t = " + atBefore[0].round(SEARCH) + " before and "
                    + atAfter[0].round(SEARCH) + " after");
        }
    }

    /** Negative if the longer of two is better, zero if they are as good but for 1e-9. */
    private int compare(Part part, BigDecimal[] x, Candidate longer, Candidate shorter) {
        BigDecimal ratio = longer.ratio() == null ? ZERO : longer.ratio();
        BigDecimal saved = ZERO;
        for (int i = 0; i < x.length; i++) {
            BigDecimal divisor = part.d[i].add(ratio, PROOF);
            BigDecimal left = ratio.divide(divisor, PROOF);
            BigDecimal term;
            if (shorter.ratio() == null) {
                term = ONE.divide(divisor, PROOF).multiply(left.add(ONE), PROOF);
            } else {
                BigDecimal other = part.d[i].add(shorter.ratio(), PROOF);
                term = shorter.ratio()
                        .subtract(ratio, PROOF)
                        .divide(divisor.multiply(other, PROOF), PROOF)
                        .multiply(left.add(shorter.ratio().divide(other, PROOF), PROOF), PROOF);
            }
            saved = saved.add(term.multiply(part.u[i], PROOF).multiply(part.u[i], PROOF), PROOF);
        }
        saved = saved.divide(BigDecimal.TWO, PROOF);
        BigDecimal paid = rise(shorter.theta(), longer.theta());
        BigDecimal margin = rise(ZERO, longer.theta()).multiply(new BigDecimal("1e-9"));
        return paid.subtract(saved, PROOF).abs().compareTo(margin) <= 0 ? 0 : paid.compareTo(saved);
    }

    private BigDecimal rise(BigDecimal from, BigDecimal to) {
        BigDecimal sum = ZERO;
        for (int k = 0; k < pieces.size(); k++) {
            Piece piece = pieces.get(k);
            BigDecimal start = piece.from().max(from);
            BigDecimal stop =
                    k + 1 == pieces.size() ? to : pieces.get(k + 1).from().min(to);
            if (stop.compareTo(start) > 0) {
                BigDecimal pulls = pull(piece, start).add(pull(piece, stop), PROOF);
                sum = sum.add(stop.subtract(start, PROOF).multiply(pulls, PROOF).divide(BigDecimal.TWO, PROOF), PROOF);
            }
        }
        return sum;
    }

    private BigDecimal[] tree(Part free, List<Part> all, List<BigDecimal> thresholds, BigDecimal threshold, int size) {
        BigDecimal[] z = new BigDecimal[size];
        Arrays.fill(z, ZERO);
        List<Part> living = new ArrayList<>();
        List<BigDecimal> inner = new ArrayList<>();
        List<BigDecimal> excesses = new ArrayList<>(List.of(free.normOfU(PROOF)));
        BigDecimal largest = Arrays.stream(free.d).reduce(ZERO, BigDecimal::max);
        for (int child = 0; child < all.size(); child++) {
            BigDecimal excess = all.get(child).normOfU(PROOF).subtract(thresholds.get(child));
            if (excess.signum() > 0) {
                living.add(all.get(child));
                inner.add(thresholds.get(child));
                excesses.add(excess);
                largest = Arrays.stream(all.get(child).d).reduce(largest, BigDecimal::max);
            }
        }
        BigDecimal excess = norm(excesses.toArray(BigDecimal[]::new), PROOF).subtract(threshold);
        if (excess.signum() <= 0) {
            return z;
        }
        BigDecimal theta = excess.divide(largest, SEARCH);
        BigDecimal[] tau = new BigDecimal[living.size()];
        Part fewFree = free.rounded();
        BigDecimal few = threshold.round(SEARCH);
        List<Part> fewLiving = living.stream().map(Part::rounded).toList();
        while (true) {
            BigDecimal[] tAndFall = evaluate(fewFree.u, fewFree.d, fewFree.d, few, theta, SEARCH);
            for (int child = 0; child < tau.length; child++) {
                Part part = fewLiving.get(child);
                tau[child] = tau(part, inner.get(child), few, theta);
                BigDecimal above = ZERO;
                BigDecimal below = ZERO;
                for (int i = 0; i < part.u.length; i++) {
                    BigDecimal e = part.d[i].multiply(theta, SEARCH).add(few, SEARCH);
                    BigDecimal divisor = e.multiply(tau[child], SEARCH).add(inner.get(child), SEARCH);
                    BigDecimal w = part.u[i].divide(divisor, SEARCH);
                    BigDecimal share = w.multiply(w, SEARCH).divide(divisor, SEARCH);
                    above = above.add(share.multiply(part.d[i], SEARCH), SEARCH);
                    below = below.add(share.multiply(e, SEARCH), SEARCH);
                }
                BigDecimal square = tau[child].multiply(tau[child], SEARCH);
                tAndFall[0] = tAndFall[0].add(square, SEARCH);
                tAndFall[1] = tAndFall[1].add(square.multiply(above, SEARCH).divide(below, SEARCH), SEARCH);
            }
            BigDecimal step = step(tAndFall);
            if (step.compareTo(theta.multiply(SMALL_STEP)) <= 0) {
                break;
            }
            theta = theta.add(step, SEARCH);
        }
        for (int i = 0; i < free.u.length; i++) {
            BigDecimal divisor = free.d[i].multiply(theta).add(threshold);
            z[free.indices[i]] = free.u[i].multiply(theta).divide(divisor, PROOF);
        }
        for (int child = 0; child < tau.length; child++) {
            Part part = living.get(child);
            for (int i = 0; i < part.u.length; i++) {
                BigDecimal e = part.d[i].multiply(theta).add(threshold);
                BigDecimal divisor = e.multiply(tau[child]).add(inner.get(child));
                z[part.indices[i]] =
                        part.u[i].multiply(theta).multiply(tau[child]).divide(divisor, PROOF);
            }
        }
        BigDecimal miss = norm(z, PROOF).divide(theta, PROOF).subtract(ONE).abs();
        if (miss.compareTo(new BigDecimal("1e-15")) > 0) {
            throw new AssertionError("the reference is no root: ‖z‖ misses θ by " + miss.round(SEARCH));
        }
        return z;
    }

    private static BigDecimal tau(Part part, BigDecimal inner, BigDecimal outer, BigDecimal theta) {
        BigDecimal[] e = new BigDecimal[part.u.length];
        Arrays.setAll(e, i -> part.d[i].multiply(theta, SEARCH).add(outer, SEARCH));
        BigDecimal largest = Arrays.stream(e).reduce(ZERO, BigDecimal::max);
        BigDecimal tau = part.normOfU(PROOF).subtract(inner).divide(largest, SEARCH);
        while (true) {
            BigDecimal step = step(evaluate(part.u, e, e, inner, tau, SEARCH));
            if (step.compareTo(tau.multiply(SMALL_STEP)) <= 0) {
                return tau;
            }
            tau = tau.add(step, SEARCH);
        }
    }
}
