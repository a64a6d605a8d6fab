package dev.espalier.core.kernel;

import static jdk.incubator.vector.FloatVector.broadcast;
import static jdk.incubator.vector.FloatVector.fromMemorySegment;
import static jdk.incubator.vector.VectorOperators.MAX;
import static jdk.incubator.vector.VectorOperators.SQRT;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * As many lanes as the processor has, through the Vector API. A lane is a column; the columns that do not fill a vector
 * go to {@link ScalarLanes}, which does the same arithmetic.
 *
 * <p>Three habits make the compiler produce tight loops. They call the Vector API directly, without helpers of our own: its
 * methods are always inlined, ours only while a budget lasts, and a vector that crosses a call is allocated on the heap.
 * They count in long over native memory: bounds checks then leave the loop. And a loop inside a loop has a small constant
 * for a limit, beside the real one: it is unrolled then, and the checks leave the outer loop as well.
 */
final class VectorLanes implements Lanes {
    private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
    private static final VectorSpecies<Integer> BITS = IntVector.SPECIES_PREFERRED;
    private static final int MAGNITUDE = Integer.MAX_VALUE;
    private static final int WIDTH = SPECIES.length();
    private static final long BYTES = (long) WIDTH * Float.BYTES;
    private static final MemorySegment ALL = Memory.ALL;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    private final ScalarLanes rest = new ScalarLanes();

    @Override
    public String name() {
        return "vector, " + WIDTH + " lanes";
    }

    /**
     * {@inheritDoc}
     *
     * <p>The bits of a float without its sign are ordered like its magnitude, NaN last. Four stretches at once keep enough
     * reads under way to saturate the memory.
     */
    @Override
    public float largest(long address, long count) {
        IntVector a = IntVector.zero(BITS);
        IntVector b = a;
        IntVector c = a;
        IntVector d = a;
        long quarter = count / 4 / WIDTH * BYTES;
        for (long at = address; at < address + quarter; at += BYTES) {
            a = a.max(IntVector.fromMemorySegment(BITS, ALL, at, ORDER).and(MAGNITUDE));
            b = b.max(
                    IntVector.fromMemorySegment(BITS, ALL, at + quarter, ORDER).and(MAGNITUDE));
            c = c.max(IntVector.fromMemorySegment(BITS, ALL, at + 2 * quarter, ORDER)
                    .and(MAGNITUDE));
            d = d.max(IntVector.fromMemorySegment(BITS, ALL, at + 3 * quarter, ORDER)
                    .and(MAGNITUDE));
        }
        float largest = Float.intBitsToFloat(a.max(b).max(c.max(d)).reduceLanes(MAX));
        return Math.max(largest, rest.largest(address + 4 * quarter, count - 4 * quarter / Float.BYTES));
    }

    @Override
    public void update(Update rule, long x, long g, long m, long v, int count) {
        FloatVector keepFirst = broadcast(SPECIES, rule.keepFirst());
        FloatVector addFirst = broadcast(SPECIES, rule.addFirst());
        FloatVector minusStep = broadcast(SPECIES, -rule.step());
        FloatVector keepSecond = broadcast(SPECIES, rule.keepSecond());
        FloatVector addSecond = broadcast(SPECIES, rule.addSecond());
        FloatVector scaleSecond = broadcast(SPECIES, rule.scaleSecond());
        FloatVector innerEpsilon = broadcast(SPECIES, rule.innerEpsilon());
        FloatVector outerEpsilon = broadcast(SPECIES, rule.outerEpsilon());
        FloatVector minusDecay = broadcast(SPECIES, -rule.decay());
        FloatVector floor = broadcast(SPECIES, rule.metricFloor());
        boolean floored =
                rule.metricFloor() > 0; // the compiler makes a loop of each: without a floor nothing is compared
        int whole = SPECIES.loopBound(count);
        long end = (long) whole * Float.BYTES;
        for (long at = 0; at < end; at += BYTES) {
            FloatVector gradient = fromMemorySegment(SPECIES, ALL, g + at, ORDER);
            FloatVector first = keepFirst.fma(fromMemorySegment(SPECIES, ALL, m + at, ORDER), addFirst.mul(gradient));
            FloatVector second = keepSecond.fma(
                    fromMemorySegment(SPECIES, ALL, v + at, ORDER),
                    addSecond.mul(gradient).mul(gradient));
            first.intoMemorySegment(ALL, m + at, ORDER);
            second.intoMemorySegment(ALL, v + at, ORDER);
            FloatVector d = scaleSecond.fma(second, innerEpsilon).lanewise(SQRT).add(outerEpsilon);
            if (floored) {
                d = d.blend(floor, d.lt(floor));
            }
            FloatVector change = minusStep.mul(first).div(d);
            FloatVector weight = fromMemorySegment(SPECIES, ALL, x + at, ORDER);
            weight.add(minusDecay.fma(weight, change)).intoMemorySegment(ALL, x + at, ORDER);
        }
        rest.update(rule, x + end, g + end, m + end, v + end, count - whole);
    }

    @Override
    public void load(Update rule, long x, long g, long m, long v, long u, long d, int count) {
        FloatVector keepFirst = broadcast(SPECIES, rule.keepFirst());
        FloatVector addFirst = broadcast(SPECIES, rule.addFirst());
        FloatVector minusStep = broadcast(SPECIES, -rule.step());
        FloatVector keepSecond = broadcast(SPECIES, rule.keepSecond());
        FloatVector addSecond = broadcast(SPECIES, rule.addSecond());
        FloatVector scaleSecond = broadcast(SPECIES, rule.scaleSecond());
        FloatVector innerEpsilon = broadcast(SPECIES, rule.innerEpsilon());
        FloatVector outerEpsilon = broadcast(SPECIES, rule.outerEpsilon());
        FloatVector minusDecay = broadcast(SPECIES, -rule.decay());
        FloatVector floor = broadcast(SPECIES, rule.metricFloor());
        boolean floored =
                rule.metricFloor() > 0; // the compiler makes a loop of each: without a floor nothing is compared
        int whole = SPECIES.loopBound(count);
        long end = (long) whole * Float.BYTES;
        for (long at = 0; at < end; at += BYTES) {
            FloatVector gradient = fromMemorySegment(SPECIES, ALL, g + at, ORDER);
            FloatVector first = keepFirst.fma(fromMemorySegment(SPECIES, ALL, m + at, ORDER), addFirst.mul(gradient));
            FloatVector second = keepSecond.fma(
                    fromMemorySegment(SPECIES, ALL, v + at, ORDER),
                    addSecond.mul(gradient).mul(gradient));
            first.intoMemorySegment(ALL, m + at, ORDER);
            second.intoMemorySegment(ALL, v + at, ORDER);
            FloatVector metric =
                    scaleSecond.fma(second, innerEpsilon).lanewise(SQRT).add(outerEpsilon);
            if (floored) {
                metric = metric.blend(floor, metric.lt(floor));
            }
            metric.intoMemorySegment(ALL, d + at, ORDER);
            FloatVector weight = fromMemorySegment(SPECIES, ALL, x + at, ORDER);
            metric.fma(weight, minusDecay.mul(weight).fma(metric, minusStep.mul(first)))
                    .intoMemorySegment(ALL, u + at, ORDER);
        }
        rest.load(rule, x + end, g + end, m + end, v + end, u + end, d + end, count - whole);
    }

    @Override
    public void loadAndEvaluate(
            Update rule,
            long x,
            long g,
            long m,
            long v,
            long stride,
            int rows,
            int count,
            long theta,
            long pull,
            long kappa,
            boolean flat,
            long sums) {
        FloatVector one = broadcast(SPECIES, 1);
        FloatVector keepFirst = broadcast(SPECIES, rule.keepFirst());
        FloatVector addFirst = broadcast(SPECIES, rule.addFirst());
        FloatVector minusStep = broadcast(SPECIES, -rule.step());
        FloatVector keepSecond = broadcast(SPECIES, rule.keepSecond());
        FloatVector addSecond = broadcast(SPECIES, rule.addSecond());
        FloatVector scaleSecond = broadcast(SPECIES, rule.scaleSecond());
        FloatVector innerEpsilon = broadcast(SPECIES, rule.innerEpsilon());
        FloatVector outerEpsilon = broadcast(SPECIES, rule.outerEpsilon());
        FloatVector minusDecay = broadcast(SPECIES, -rule.decay());
        FloatVector floor = broadcast(SPECIES, rule.metricFloor());
        boolean floored = rule.metricFloor() > 0;
        int whole = SPECIES.loopBound(count);
        long end = (long) whole * Float.BYTES;
        long row = (long) count * Float.BYTES;
        long mask = flat ? 0 : -1; // of a row of equal numbers, and of one that nobody asks for, the beginning will do
        long leasts = sums + Sums.EXTREME * row;
        for (long column = 0; column < end; column += BYTES) {
            FloatVector point = fromMemorySegment(SPECIES, ALL, theta + column, ORDER);
            FloatVector pulls = fromMemorySegment(SPECIES, ALL, pull + (column & mask), ORDER);
            FloatVector t = fromMemorySegment(SPECIES, ALL, sums + column, ORDER);
            FloatVector s = fromMemorySegment(SPECIES, ALL, sums + row + column, ORDER);
            FloatVector r = fromMemorySegment(SPECIES, ALL, sums + 2 * row + column, ORDER);
            FloatVector kappas = fromMemorySegment(SPECIES, ALL, kappa + (column & mask), ORDER);
            FloatVector least = fromMemorySegment(SPECIES, ALL, leasts + (column & mask), ORDER);
            long at = column;
            for (int each = 0; each < LOADED_ROWS && each < rows; each++, at += stride) {
                FloatVector gradient = fromMemorySegment(SPECIES, ALL, g + at, ORDER);
                FloatVector first =
                        keepFirst.fma(fromMemorySegment(SPECIES, ALL, m + at, ORDER), addFirst.mul(gradient));
                FloatVector second = keepSecond.fma(
                        fromMemorySegment(SPECIES, ALL, v + at, ORDER),
                        addSecond.mul(gradient).mul(gradient));
                first.intoMemorySegment(ALL, m + at, ORDER);
                second.intoMemorySegment(ALL, v + at, ORDER);
                FloatVector di =
                        scaleSecond.fma(second, innerEpsilon).lanewise(SQRT).add(outerEpsilon);
                if (floored) {
                    di = di.blend(floor, di.lt(floor));
                }
                FloatVector weight = fromMemorySegment(SPECIES, ALL, x + at, ORDER);
                FloatVector ui = di.fma(weight, minusDecay.mul(weight).fma(di, minusStep.mul(first)));
                ui.intoMemorySegment(ALL, x + at, ORDER);
                FloatVector a = di.sub(kappas).mul(point);
                least = least.min(di);
                FloatVector reciprocal = one.div(di.fma(point, pulls));
                FloatVector w = ui.mul(reciprocal);
                FloatVector wq = w.mul(a.mul(reciprocal));
                t = w.fma(w, t);
                s = w.fma(wq, s);
                r = wq.fma(wq, r);
            }
            t.intoMemorySegment(ALL, sums + column, ORDER);
            s.intoMemorySegment(ALL, sums + row + column, ORDER);
            r.intoMemorySegment(ALL, sums + 2 * row + column, ORDER);
            least.intoMemorySegment(ALL, leasts + (column & mask), ORDER);
        }
        rest.loadAndEvaluate(rule, x, g, m, v, stride, rows, whole, count, theta, pull, kappa, flat, sums);
    }

    @Override
    public void restore(Update rule, long v, long x, long stride, int rows, int count, long theta, long pull) {
        FloatVector zero = broadcast(SPECIES, 0);
        FloatVector scaleSecond = broadcast(SPECIES, rule.scaleSecond());
        FloatVector innerEpsilon = broadcast(SPECIES, rule.innerEpsilon());
        FloatVector outerEpsilon = broadcast(SPECIES, rule.outerEpsilon());
        FloatVector floor = broadcast(SPECIES, rule.metricFloor());
        boolean floored = rule.metricFloor() > 0;
        int whole = SPECIES.loopBound(count);
        long end = (long) whole * Float.BYTES;
        for (long column = 0; column < end; column += BYTES) {
            FloatVector point = fromMemorySegment(SPECIES, ALL, theta + column, ORDER);
            FloatVector pulls = fromMemorySegment(SPECIES, ALL, pull + column, ORDER);
            long at = column;
            for (int each = 0; each < BLOCK_ROWS && each < rows; each++, at += stride) {
                FloatVector di = scaleSecond
                        .fma(fromMemorySegment(SPECIES, ALL, v + at, ORDER), innerEpsilon)
                        .lanewise(SQRT)
                        .add(outerEpsilon);
                if (floored) {
                    di = di.blend(floor, di.lt(floor));
                }
                point.mul(fromMemorySegment(SPECIES, ALL, x + at, ORDER))
                        .div(di.fma(point, pulls))
                        .add(zero)
                        .intoMemorySegment(ALL, x + at, ORDER);
            }
        }
        rest.restore(rule, v + end, x + end, stride, rows, count - whole, theta + end, pull + end);
    }

    @Override
    public boolean forgetsMetric() {
        return WIDTH >= 8;
    }

    @Override
    public void metric(Update rule, long v, long d, int count) {
        FloatVector scaleSecond = broadcast(SPECIES, rule.scaleSecond());
        FloatVector innerEpsilon = broadcast(SPECIES, rule.innerEpsilon());
        FloatVector outerEpsilon = broadcast(SPECIES, rule.outerEpsilon());
        FloatVector floor = broadcast(SPECIES, rule.metricFloor());
        boolean floored = rule.metricFloor() > 0;
        int whole = SPECIES.loopBound(count);
        long end = (long) whole * Float.BYTES;
        for (long at = 0; at < end; at += BYTES) {
            FloatVector metric = scaleSecond
                    .fma(fromMemorySegment(SPECIES, ALL, v + at, ORDER), innerEpsilon)
                    .lanewise(SQRT)
                    .add(outerEpsilon);
            if (floored) {
                metric = metric.blend(floor, metric.lt(floor));
            }
            metric.intoMemorySegment(ALL, d + at, ORDER);
        }
        rest.metric(rule, v + end, d + end, count - whole);
    }

    @Override
    public void metrics(Update rule, long g, long v, int count, long sums) {
        FloatVector keepSecond = broadcast(SPECIES, rule.keepSecond());
        FloatVector addSecond = broadcast(SPECIES, rule.addSecond());
        FloatVector scaleSecond = broadcast(SPECIES, rule.scaleSecond());
        FloatVector innerEpsilon = broadcast(SPECIES, rule.innerEpsilon());
        FloatVector outerEpsilon = broadcast(SPECIES, rule.outerEpsilon());
        int whole = SPECIES.loopBound(count);
        long end = (long) whole * Float.BYTES;
        for (long at = 0; at < end; at += BYTES) {
            FloatVector gradient = fromMemorySegment(SPECIES, ALL, g + at, ORDER);
            FloatVector second = keepSecond.fma(
                    fromMemorySegment(SPECIES, ALL, v + at, ORDER),
                    addSecond.mul(gradient).mul(gradient));
            FloatVector d = scaleSecond.fma(second, innerEpsilon).lanewise(SQRT).add(outerEpsilon);
            fromMemorySegment(SPECIES, ALL, sums + at, ORDER).add(d).intoMemorySegment(ALL, sums + at, ORDER);
        }
        rest.metrics(rule, g + end, v + end, count - whole, sums + end);
    }

    /**
     * {@inheritDoc}
     *
     * <p>Two halves, one of which is zero: {@code max(u − l, 0) + min(u + l, 0)}. NaN stays NaN, and the zero's sign is of no
     * account: a zero u ends as a zero weight, and those are written as +0.
     */
    @Override
    public void soften(long u, int count, float threshold) {
        FloatVector zero = broadcast(SPECIES, 0);
        FloatVector l = broadcast(SPECIES, threshold);
        int whole = SPECIES.loopBound(count);
        long end = (long) whole * Float.BYTES;
        for (long at = 0; at < end; at += BYTES) {
            FloatVector value = fromMemorySegment(SPECIES, ALL, u + at, ORDER);
            value.sub(l).max(zero).add(value.add(l).min(zero)).intoMemorySegment(ALL, u + at, ORDER);
        }
        rest.soften(u + end, count - whole, threshold);
    }

    @Override
    public void magnitudes(long x, int count, long sums) {
        int whole = SPECIES.loopBound(count);
        long end = (long) whole * Float.BYTES;
        for (long at = 0; at < end; at += BYTES) {
            fromMemorySegment(SPECIES, ALL, sums + at, ORDER)
                    .add(fromMemorySegment(SPECIES, ALL, x + at, ORDER).abs())
                    .intoMemorySegment(ALL, sums + at, ORDER);
        }
        rest.magnitudes(x + end, count - whole, sums + end);
    }

    @Override
    public void evaluate(
            long u,
            long uStride,
            long d,
            long dStride,
            int rows,
            int count,
            long theta,
            long pull,
            long kappa,
            long sums) {
        FloatVector one = broadcast(SPECIES, 1);
        int whole = SPECIES.loopBound(count);
        long end = (long) whole * Float.BYTES;
        long row = (long) count * Float.BYTES;
        for (long column = 0; column < end; column += BYTES) {
            FloatVector point = fromMemorySegment(SPECIES, ALL, theta + column, ORDER);
            FloatVector pulls = fromMemorySegment(SPECIES, ALL, pull + column, ORDER);
            FloatVector kappas = fromMemorySegment(SPECIES, ALL, kappa + column, ORDER);
            FloatVector t = fromMemorySegment(SPECIES, ALL, sums + column, ORDER);
            FloatVector s = fromMemorySegment(SPECIES, ALL, sums + row + column, ORDER);
            FloatVector r = fromMemorySegment(SPECIES, ALL, sums + 2 * row + column, ORDER);
            long uAt = u + column;
            long dAt = d + column;
            for (int each = 0; each < BLOCK_ROWS && each < rows; each++, uAt += uStride, dAt += dStride) {
                FloatVector ui = fromMemorySegment(SPECIES, ALL, uAt, ORDER);
                FloatVector di = fromMemorySegment(SPECIES, ALL, dAt, ORDER);
                FloatVector a = di.sub(kappas).mul(point);
                FloatVector reciprocal = one.div(di.fma(point, pulls));
                FloatVector w = ui.mul(reciprocal);
                FloatVector wq = w.mul(a.mul(reciprocal));
                t = w.fma(w, t);
                s = w.fma(wq, s);
                r = wq.fma(wq, r);
            }
            t.intoMemorySegment(ALL, sums + column, ORDER);
            s.intoMemorySegment(ALL, sums + row + column, ORDER);
            r.intoMemorySegment(ALL, sums + 2 * row + column, ORDER);
        }
        rest.evaluate(u, uStride, d, dStride, rows, whole, count, theta, pull, kappa, sums);
    }

    @Override
    public void least(long d, long dStride, int rows, int count, long sums) {
        int whole = SPECIES.loopBound(count);
        long end = (long) whole * Float.BYTES;
        long leasts = sums + (long) Sums.EXTREME * count * Float.BYTES;
        for (long column = 0; column < end; column += BYTES) {
            FloatVector least = fromMemorySegment(SPECIES, ALL, leasts + column, ORDER);
            long dAt = d + column;
            for (int each = 0; each < BLOCK_ROWS && each < rows; each++, dAt += dStride) {
                least = least.min(fromMemorySegment(SPECIES, ALL, dAt, ORDER));
            }
            least.intoMemorySegment(ALL, leasts + column, ORDER);
        }
        rest.least(d, dStride, rows, whole, count, sums);
    }

    @Override
    public void survey(long u, long uStride, long d, long dStride, int rows, int count, long sums) {
        int whole = SPECIES.loopBound(count);
        long end = (long) whole * Float.BYTES;
        long row = (long) count * Float.BYTES;
        for (long column = 0; column < end; column += BYTES) {
            FloatVector magnitudes = fromMemorySegment(SPECIES, ALL, sums + column, ORDER);
            FloatVector sumD = fromMemorySegment(SPECIES, ALL, sums + row + column, ORDER);
            FloatVector sumD2 = fromMemorySegment(SPECIES, ALL, sums + 2 * row + column, ORDER);
            FloatVector most = fromMemorySegment(SPECIES, ALL, sums + Sums.EXTREME * row + column, ORDER);
            long uAt = u + column;
            long dAt = d + column;
            for (int each = 0; each < BLOCK_ROWS && each < rows; each++, uAt += uStride, dAt += dStride) {
                FloatVector ui = fromMemorySegment(SPECIES, ALL, uAt, ORDER);
                FloatVector di = fromMemorySegment(SPECIES, ALL, dAt, ORDER);
                magnitudes = magnitudes.add(ui.abs());
                sumD = sumD.add(di);
                sumD2 = di.fma(di, sumD2);
                most = most.max(di);
            }
            magnitudes.intoMemorySegment(ALL, sums + column, ORDER);
            sumD.intoMemorySegment(ALL, sums + row + column, ORDER);
            sumD2.intoMemorySegment(ALL, sums + 2 * row + column, ORDER);
            most.intoMemorySegment(ALL, sums + Sums.EXTREME * row + column, ORDER);
        }
        rest.survey(u, uStride, d, dStride, rows, whole, count, sums);
    }

    @Override
    public void weigh(
            long u, long uStride, long d, long dStride, int rows, int count, long theta, long pull, long sums) {
        int whole = SPECIES.loopBound(count);
        long end = (long) whole * Float.BYTES;
        for (long column = 0; column < end; column += BYTES) {
            FloatVector point = fromMemorySegment(SPECIES, ALL, theta + column, ORDER);
            FloatVector pulls = fromMemorySegment(SPECIES, ALL, pull + column, ORDER);
            FloatVector sum = fromMemorySegment(SPECIES, ALL, sums + column, ORDER);
            long uAt = u + column;
            long dAt = d + column;
            for (int each = 0; each < BLOCK_ROWS && each < rows; each++, uAt += uStride, dAt += dStride) {
                FloatVector di = fromMemorySegment(SPECIES, ALL, dAt, ORDER);
                FloatVector w = fromMemorySegment(SPECIES, ALL, uAt, ORDER).div(di.fma(point, pulls));
                sum = w.fma(w.div(di), sum);
            }
            sum.intoMemorySegment(ALL, sums + column, ORDER);
        }
        rest.weigh(u, uStride, d, dStride, rows, whole, count, theta, pull, sums);
    }

    @Override
    public void store(long u, long d, int count, long theta, long pull, long x) {
        FloatVector zero = broadcast(SPECIES, 0);
        int whole = SPECIES.loopBound(count);
        long end = (long) whole * Float.BYTES;
        for (long at = 0; at < end; at += BYTES) {
            FloatVector point = fromMemorySegment(SPECIES, ALL, theta + at, ORDER);
            FloatVector divisor = fromMemorySegment(SPECIES, ALL, d + at, ORDER)
                    .fma(point, fromMemorySegment(SPECIES, ALL, pull + at, ORDER));
            point.mul(fromMemorySegment(SPECIES, ALL, u + at, ORDER))
                    .div(divisor)
                    .add(zero)
                    .intoMemorySegment(ALL, x + at, ORDER);
        }
        rest.store(u + end, d + end, count - whole, theta + end, pull + end, x + end);
    }
}
