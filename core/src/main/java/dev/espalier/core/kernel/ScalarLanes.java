package dev.espalier.core.kernel;

/** One lane: the obvious twin of {@link VectorLanes}, and its last few columns. */
final class ScalarLanes implements Lanes {

    @Override
    public String name() {
        return "scalar";
    }

    @Override
    public float largest(long address, long count) {
        float largest = 0;
        for (long i = 0; i < count; i++) {
            largest = Math.max(largest, Math.abs(Memory.get(address + i * Float.BYTES)));
        }
        return largest;
    }

    @Override
    public void update(Update rule, long x, long g, long m, long v, int count) {
        for (long at = 0; at < (long) count * Float.BYTES; at += Float.BYTES) {
            float first = moments(rule, g + at, m + at, v + at);
            float metric = rule.metric(Memory.get(v + at));
            Memory.set(x + at, rule.stepped(metric, Memory.get(x + at), first));
        }
    }

    @Override
    public void load(Update rule, long x, long g, long m, long v, long u, long d, int count) {
        for (long at = 0; at < (long) count * Float.BYTES; at += Float.BYTES) {
            float first = moments(rule, g + at, m + at, v + at);
            float metric = rule.metric(Memory.get(v + at));
            Memory.set(d + at, metric);
            Memory.set(u + at, rule.preconditioned(metric, Memory.get(x + at), first));
        }
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
        loadAndEvaluate(rule, x, g, m, v, stride, rows, 0, count, theta, pull, kappa, flat, sums);
    }

    /** The same, from a column on. */
    void loadAndEvaluate(
            Update rule,
            long x,
            long g,
            long m,
            long v,
            long stride,
            int rows,
            int from,
            int count,
            long theta,
            long pull,
            long kappa,
            boolean flat,
            long sums) {
        long row = (long) count * Float.BYTES;
        for (long column = (long) from * Float.BYTES; column < row; column += Float.BYTES) {
            float point = Memory.get(theta + column);
            float rest = Memory.get(pull + column);
            float bend = Memory.get(kappa + column);
            float t = Memory.get(sums + column);
            float s = Memory.get(sums + row + column);
            float r = Memory.get(sums + 2 * row + column);
            for (int each = 0; each < rows; each++) {
                long at = column + each * stride;
                float first = moments(rule, g + at, m + at, v + at);
                float di = rule.metric(Memory.get(v + at));
                float ui = rule.preconditioned(di, Memory.get(x + at), first);
                Memory.set(x + at, ui);
                float reciprocal = 1 / Math.fma(di, point, rest);
                float w = ui * reciprocal;
                float wq = w * ((di - bend) * point * reciprocal);
                t = Math.fma(w, w, t);
                s = Math.fma(w, wq, s);
                r = Math.fma(wq, wq, r);
                if (!flat) {
                    long least = sums + Sums.EXTREME * row + column;
                    Memory.set(least, Math.min(Memory.get(least), di));
                }
            }
            put(sums, row, column, t, s, r);
        }
    }

    @Override
    public void restore(Update rule, long v, long x, long stride, int rows, int count, long theta, long pull) {
        for (long column = 0; column < (long) count * Float.BYTES; column += Float.BYTES) {
            float point = Memory.get(theta + column);
            float rest = Memory.get(pull + column);
            for (int each = 0; each < rows; each++) {
                long at = column + each * stride;
                float divisor = Math.fma(rule.metric(Memory.get(v + at)), point, rest);
                Memory.set(x + at, point * Memory.get(x + at) / divisor + 0f);
            }
        }
    }

    @Override
    public boolean forgetsMetric() {
        return false;
    }

    @Override
    public void metric(Update rule, long v, long d, int count) {
        for (long at = 0; at < (long) count * Float.BYTES; at += Float.BYTES) {
            Memory.set(d + at, rule.metric(Memory.get(v + at)));
        }
    }

    @Override
    public void metrics(Update rule, long g, long v, int count, long sums) {
        for (long at = 0; at < (long) count * Float.BYTES; at += Float.BYTES) {
            float metric = rule.metric(rule.second(Memory.get(v + at), Memory.get(g + at)));
            Memory.set(sums + at, Memory.get(sums + at) + metric);
        }
    }

    /** Updates both moments of a weight; returns the first. */
    private static float moments(Update rule, long g, long m, long v) {
        float gradient = Memory.get(g);
        float first = rule.first(Memory.get(m), gradient);
        Memory.set(m, first);
        Memory.set(v, rule.second(Memory.get(v), gradient));
        return first;
    }

    @Override
    public void soften(long u, int count, float threshold) {
        for (long at = 0; at < (long) count * Float.BYTES; at += Float.BYTES) {
            float value = Memory.get(u + at);
            Memory.set(u + at, Math.max(value - threshold, 0f) + Math.min(value + threshold, 0f));
        }
    }

    @Override
    public void magnitudes(long x, int count, long sums) {
        for (long at = 0; at < (long) count * Float.BYTES; at += Float.BYTES) {
            Memory.set(sums + at, Memory.get(sums + at) + Math.abs(Memory.get(x + at)));
        }
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
        evaluate(u, uStride, d, dStride, rows, 0, count, theta, pull, kappa, sums);
    }

    /** The columns from {@code from} on. */
    void evaluate(
            long u,
            long uStride,
            long d,
            long dStride,
            int rows,
            int from,
            int count,
            long theta,
            long pull,
            long kappa,
            long sums) {
        long row = (long) count * Float.BYTES;
        for (long column = (long) from * Float.BYTES; column < row; column += Float.BYTES) {
            float point = Memory.get(theta + column);
            float rest = Memory.get(pull + column);
            float bend = Memory.get(kappa + column);
            float t = Memory.get(sums + column);
            float s = Memory.get(sums + row + column);
            float r = Memory.get(sums + 2 * row + column);
            for (int each = 0; each < rows; each++) {
                float ui = Memory.get(u + column + each * uStride);
                float di = Memory.get(d + column + each * dStride);
                float a = (di - bend) * point;
                float reciprocal = 1 / Math.fma(di, point, rest);
                float w = ui * reciprocal;
                float wq = w * (a * reciprocal);
                t = Math.fma(w, w, t);
                s = Math.fma(w, wq, s);
                r = Math.fma(wq, wq, r);
            }
            put(sums, row, column, t, s, r);
        }
    }

    @Override
    public void least(long d, long dStride, int rows, int count, long sums) {
        least(d, dStride, rows, 0, count, sums);
    }

    /** The columns from {@code from} on. */
    void least(long d, long dStride, int rows, int from, int count, long sums) {
        long row = (long) count * Float.BYTES;
        for (long column = (long) from * Float.BYTES; column < row; column += Float.BYTES) {
            float least = Memory.get(sums + Sums.EXTREME * row + column);
            for (int each = 0; each < rows; each++) {
                least = Math.min(least, Memory.get(d + column + each * dStride));
            }
            Memory.set(sums + Sums.EXTREME * row + column, least);
        }
    }

    private static void put(long sums, long row, long column, float a, float b, float c) {
        Memory.set(sums + column, a);
        Memory.set(sums + row + column, b);
        Memory.set(sums + 2 * row + column, c);
    }

    @Override
    public void survey(long u, long uStride, long d, long dStride, int rows, int count, long sums) {
        survey(u, uStride, d, dStride, rows, 0, count, sums);
    }

    /** The columns from {@code from} on. */
    void survey(long u, long uStride, long d, long dStride, int rows, int from, int count, long sums) {
        long row = (long) count * Float.BYTES;
        for (long column = (long) from * Float.BYTES; column < row; column += Float.BYTES) {
            float magnitudes = Memory.get(sums + column);
            float sumD = Memory.get(sums + row + column);
            float sumD2 = Memory.get(sums + 2 * row + column);
            float most = Memory.get(sums + Sums.EXTREME * row + column);
            for (int each = 0; each < rows; each++) {
                float ui = Memory.get(u + column + each * uStride);
                float di = Memory.get(d + column + each * dStride);
                magnitudes += Math.abs(ui);
                sumD += di;
                sumD2 = Math.fma(di, di, sumD2);
                most = Math.max(most, di);
            }
            put(sums, row, column, magnitudes, sumD, sumD2);
            Memory.set(sums + Sums.EXTREME * row + column, most);
        }
    }

    @Override
    public void weigh(
            long u, long uStride, long d, long dStride, int rows, int count, long theta, long pull, long sums) {
        weigh(u, uStride, d, dStride, rows, 0, count, theta, pull, sums);
    }

    /** The columns from {@code from} on. */
    void weigh(
            long u,
            long uStride,
            long d,
            long dStride,
            int rows,
            int from,
            int count,
            long theta,
            long pull,
            long sums) {
        for (long column = (long) from * Float.BYTES; column < (long) count * Float.BYTES; column += Float.BYTES) {
            float point = Memory.get(theta + column);
            float rest = Memory.get(pull + column);
            float sum = Memory.get(sums + column);
            for (int each = 0; each < rows; each++) {
                float di = Memory.get(d + column + each * dStride);
                float w = Memory.get(u + column + each * uStride) / Math.fma(di, point, rest);
                sum = Math.fma(w, w / di, sum);
            }
            Memory.set(sums + column, sum);
        }
    }

    @Override
    public void store(long u, long d, int count, long theta, long pull, long x) {
        for (long at = 0; at < (long) count * Float.BYTES; at += Float.BYTES) {
            float point = Memory.get(theta + at);
            float z = point * Memory.get(u + at) / Math.fma(Memory.get(d + at), point, Memory.get(pull + at));
            Memory.set(x + at, z + 0f); // + 0 turns −0 into 0
        }
    }
}
