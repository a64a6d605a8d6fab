package dev.espalier.train.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class LambdaControllerTest {
    private static final double REACHED_AFTER = 0.6;
    private static final int UPDATES = 250;
    private static final int GROUPS = 150;

    /** What the controller steers: a λ for some steps, then the share of groups that are not zero. */
    private interface Plant {
        double share(double lambda);
    }

    /** A group is zero from its own λ on, which works with delay, and returns far below that. */
    private static final class Thresholds implements Plant {
        private final double[] zeroAbove;
        private final double[] aliveBelow;
        private final boolean[] zero;
        private final double delay;
        private double effective;

        Thresholds(SplittableRandom random, int groups, double right, double spread, double delay) {
            zeroAbove = new double[groups];
            aliveBelow = new double[groups];
            zero = new boolean[groups];
            this.delay = delay;
            effective = Double.NaN;
            for (int i = 0; i < groups; i++) {
                zeroAbove[i] = right * Math.exp(spread * random.nextGaussian());
                aliveBelow[i] = zeroAbove[i] * 0.5 * Math.exp(-0.5 * Math.abs(random.nextGaussian()));
            }
        }

        @Override
        public double share(double lambda) {
            double logarithm = Math.log(lambda);
            effective = Double.isNaN(effective) ? logarithm : effective + (logarithm - effective) / delay;
            double strength = Math.exp(effective);
            int left = 0;
            for (int i = 0; i < zero.length; i++) {
                zero[i] = strength > (zero[i] ? aliveBelow[i] : zeroAbove[i]);
                left += zero[i] ? 0 : 1;
            }
            return (double) left / zero.length;
        }
    }

    /** Every group is drawn to a norm of its own by the loss and shrunk by λ, step by step. */
    private static final class Shrinkage implements Plant {
        private static final int STEPS = 10;

        private final double[] norms;
        private final double[] wanted;
        private final double[] curvature;
        private final double rate;

        Shrinkage(SplittableRandom random, int groups, double right, double spread, double speed) {
            norms = new double[groups];
            wanted = new double[groups];
            curvature = new double[groups];
            rate = speed / right;
            for (int i = 0; i < groups; i++) {
                wanted[i] = Math.exp(0.3 * random.nextGaussian());
                norms[i] = wanted[i];
                curvature[i] = right * Math.exp(spread * random.nextGaussian()) / wanted[i];
            }
        }

        @Override
        public double share(double lambda) {
            int left = 0;
            for (int i = 0; i < norms.length; i++) {
                for (int step = 0; step < STEPS; step++) {
                    // What is zero has lost its partners in other layers, and with them half of its gradient.
                    double pull = curvature[i] * (wanted[i] - norms[i]) * (norms[i] == 0 ? 0.5 : 1);
                    double change = Math.clamp(rate * (pull - lambda), -0.2, 0.2);
                    norms[i] = Math.max(0, norms[i] + change);
                }
                left += norms[i] > 0 ? 1 : 0;
            }
            return (double) left / norms.length;
        }
    }

    /** The middle λ, how far the start is off, the target. */
    static Stream<Arguments> cases() {
        return DoubleStream.of(1e-6, 1e-1)
                .boxed()
                .flatMap(right -> DoubleStream.of(0.01, 1, 100)
                        .boxed()
                        .flatMap(off -> DoubleStream.of(0.05, 0.1, 0.25, 0.5, 0.8)
                                .mapToObj(target -> Arguments.of(right, off, target))));
    }

    private static double finalShare(LambdaController controller, Plant plant, int updates) {
        double share = 1;
        for (int i = 0; i < updates; i++) {
            share = plant.share(controller.next((double) i / updates, share));
        }
        return share;
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theTargetIsMetFromAnyStartThoughGroupsDieLateAndReturnReluctantly(double right, double off, double target) {
        for (double spread : new double[] {0.5, 1, 1.5}) {
            for (double delay : new double[] {1, 3, 6}) {
                Plant plant = new Thresholds(new SplittableRandom(5), GROUPS, right, spread, delay);
                LambdaController controller = new LambdaController(right * off, target, REACHED_AFTER);
                double share = finalShare(controller, plant, UPDATES);
                assertEquals(target, share, 0.03, "spread " + spread + ", delay " + delay);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void theTargetIsMetFromAnyStartThoughGroupsShrinkSlowly(double right, double off, double target) {
        for (double spread : new double[] {0.5, 1, 1.5}) {
            for (double speed : new double[] {0.005, 0.02}) {
                Plant plant = new Shrinkage(new SplittableRandom(5), GROUPS, right, spread, speed);
                LambdaController controller = new LambdaController(right * off, target, REACHED_AFTER);
                double share = finalShare(controller, plant, UPDATES);
                assertEquals(target, share, 0.03, "spread " + spread + ", speed " + speed);
            }
        }
    }

    @Test
    void howOftenItIsAskedMattersLittle() {
        for (int updates : new int[] {60, 1000}) {
            Plant plant = new Thresholds(new SplittableRandom(5), GROUPS, 1e-3, 1, updates / 100.0 + 1);
            LambdaController controller = new LambdaController(1e-4, 0.25, REACHED_AFTER);
            assertEquals(0.25, finalShare(controller, plant, updates), 0.03, updates + " updates");
        }
    }

    @Test
    void theWayToTheTargetBeginsAtOneAndEndsInTime() {
        LambdaController controller = new LambdaController(1, 0.2, 0.5);
        assertEquals(1, controller.wanted(0));
        assertEquals(0.2 + 0.8 / 8, controller.wanted(0.25), 1e-15);
        assertEquals(0.2, controller.wanted(0.5));
        assertEquals(0.2, controller.wanted(1));
    }

    @Test
    void aShareOnItsWayLeavesTheStrengthAlone() {
        LambdaController controller = new LambdaController(0.3, 0.2, 0.5);
        assertEquals(0.3, controller.lambda());
        for (double progress = 0; progress <= 1; progress += 0.125) {
            assertEquals(0.3, controller.next(progress, controller.wanted(progress)));
        }
    }

    @Test
    void whateverHappensTheStrengthStaysWithinSixPowersOfTen() {
        LambdaController up = new LambdaController(1e-3, 0.05, 0.1);
        LambdaController down = new LambdaController(1e-3, 0.9, 1);
        for (int i = 0; i <= 100; i++) {
            up.next(i / 100.0, 1);
            down.next(i / 100.0, 0);
        }
        assertEquals(1e3, up.lambda(), 1e-9);
        assertEquals(1e-9, down.lambda(), 1e-20);
    }

    @Test
    void aResumedControllerGoesOnBitForBit() {
        LambdaController whole = new LambdaController(1e-3, 0.2, 0.5);
        LambdaController first = new LambdaController(1e-3, 0.2, 0.5);
        LambdaController second = new LambdaController(1e-3, 0.2, 0.5);
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < 50; i++) {
            double share = random.nextDouble();
            whole.next(i / 100.0, share);
            first.next(i / 100.0, share);
        }
        second.state()
                .forEach((name, memory) ->
                        memory.copyFrom(Objects.requireNonNull(first.state().get(name))));
        assertEquals(whole.lambda(), second.lambda());
        for (int i = 50; i <= 100; i++) {
            double share = random.nextDouble();
            assertEquals(whole.next(i / 100.0, share), second.next(i / 100.0, share));
        }
    }

    @Test
    void badNumbersAreRefusedByName() {
        assertRefused("start", () -> new LambdaController(0, 0.5, 0.5));
        assertRefused("target", () -> new LambdaController(1, 1, 0.5));
        assertRefused("target", () -> new LambdaController(1, Double.NaN, 0.5));
        assertRefused("reachedAfter", () -> new LambdaController(1, 0.5, 0));
        LambdaController controller = new LambdaController(1, 0.5, 0.5);
        assertRefused("share", () -> controller.next(0, 1.5));
        assertRefused("share", () -> controller.next(0, Double.NaN));
        controller.next(0.5, 1);
        assertRefused("progress", () -> controller.next(0.4, 1));
        assertRefused("progress", () -> controller.next(1.1, 1));
    }

    private static void assertRefused(String name, Runnable call) {
        String message = assertThrows(IllegalArgumentException.class, call::run).toString();
        assertTrue(message.contains(name), message);
    }
}
