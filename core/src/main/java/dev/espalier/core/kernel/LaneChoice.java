package dev.espalier.core.kernel;

import dev.espalier.core.rule.UpdateRule;
import java.lang.System.Logger.Level;
import java.util.List;

/** Which inner loops a step runs on, on the processor. */
public enum LaneChoice implements StepKernel.Factory {
    /** Vector lanes where the Vector API is there, else one lane, with a word in the log on what would help. */
    BEST {
        @Override
        Lanes lanes() {
            return Vectors.AVAILABLE ? VECTOR.lanes() : SCALAR.lanes();
        }
    },
    /** One lane: slow, and the same to the last bit. */
    SCALAR {
        @Override
        Lanes lanes() {
            return new ScalarLanes();
        }
    },
    /** Vector lanes; fails without the Vector API. */
    VECTOR {
        @Override
        Lanes lanes() {
            return new VectorLanes();
        }
    };

    abstract Lanes lanes();

    @Override
    public StepKernel create(UpdateRule rule, List<StepKernel.SetPlan> sets, int threads) {
        return new HostKernel(this, rule, sets, threads);
    }

    private static final class Vectors {
        static final boolean AVAILABLE = available();

        private static boolean available() {
            if (ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent()) {
                return true;
            }
            System.getLogger(LaneChoice.class.getName())
                    .log(
                            Level.WARNING,
                            "The Vector API is not there, so steps run on one lane, about three times slower."
                                    + " Pass --add-modules jdk.incubator.vector to java.");
            return false;
        }
    }
}
