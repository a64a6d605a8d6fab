package org.example;

import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.PenaltyFamily;
import dev.espalier.core.penalty.Profile;
import java.util.List;
import java.util.Map;

/** A norm whose slope is λ_g up to a cap, and then falls to zero over the same length again. */
public record CappedNorm(double lambda, double cap, GroupWeight weight) implements Penalty {
    @Override
    public double strength(long size) {
        return weight.strength(lambda, size);
    }

    @Override
    public Profile profile(double strength) {
        return strength == 0
                ? Profile.of(new Profile.Piece(0, 0, 0))
                : Profile.of(
                        new Profile.Piece(0, strength, 0),
                        new Profile.Piece(cap, 2 * strength, strength / cap),
                        new Profile.Piece(2 * cap, 0, 0));
    }

    /** Names it. */
    public static final class Family implements PenaltyFamily {
        private static final Parameter CAP = Parameter.positive("cap", "where the slope begins to fall");

        @Override
        public String name() {
            return "capped-norm";
        }

        @Override
        public String meaning() {
            return "a norm that spares 100% of what is long";
        }

        @Override
        public List<Parameter> parameters() {
            return List.of(CAP);
        }

        @Override
        public Penalty member(double lambda, GroupWeight weight, Map<String, Double> values) {
            return new CappedNorm(lambda, CAP.of(values), weight);
        }
    }
}
