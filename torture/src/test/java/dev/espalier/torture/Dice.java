package dev.espalier.torture;

import java.io.IOException;

/** The smallest campaign: throws a die, and complains of sixes if the die is loaded. */
public final class Dice implements Campaign {
    /** The seed of a die that fails. */
    static final long LOADED = 6;

    @Override
    public String name() {
        return "dice";
    }

    @Override
    public String description() {
        return "throws a die";
    }

    @Override
    public Figures run(Effort effort) throws IOException, InterruptedException {
        Figures figures = effort.figures();
        effort.forEach((number, random) -> {
            int eyes = random.nextInt(1, 7);
            figures.add("thrown", 1);
            if (eyes == (effort.seed() == LOADED ? 6 : 7)) {
                figures.fail("case " + number + ": " + eyes);
            }
        });
        return figures;
    }
}
