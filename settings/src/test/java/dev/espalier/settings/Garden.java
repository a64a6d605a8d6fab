package dev.espalier.settings;

import java.util.List;
import java.util.Optional;

/** A form that is about something else than training: a tree, its shape, and who waters it. */
final class Garden {
    static final Key<Double> HEIGHT =
            Key.decimal("tree.height", "how high it is, in metres").in(Range.positive());
    static final Key<Boolean> EVERGREEN =
            Key.flag("tree.evergreen", "whether it keeps its leaves").withDefault(false);

    static final Key<Integer> ARMS = Key.whole("shape.arms", "branches on either side")
            .in(Range.atLeast(1))
            .withDefault(3);
    static final Key<Integer> FAN_ARMS =
            Key.whole("shape.arms", "branches in all").in(Range.atLeast(2)).withDefault(7);
    static final Key<Double> ANGLE = Key.decimal("shape.angle", "between two branches, in degrees");
    static final Key<String> WALL = Key.text("shape.wall", "what it leans on").in(Range.notBlank());

    static final Key<List<String>> HELPERS =
            Key.texts("water.helpers", "who helps").withDefault(List.of());
    static final Key<Integer> EVERY =
            Key.whole("water.every", "after how many days").in(Range.atLeast(1)).withDefault(2);
    static final Key<String> CAN =
            Key.text("water.can", "where the can stands").withDefault("shed").changeable();
    static final Key<List<Long>> DAYS =
            Key.longWholes("water.days", "days that are left out").withDefault(List.of());

    /** A kind with a class of its own. */
    static final class Fan implements Kind {
        @Override
        public String name() {
            return "fan";
        }

        @Override
        public String meaning() {
            return "branches like the sticks of a fan";
        }

        @Override
        public List<Key<?>> keys() {
            return List.of(FAN_ARMS, ANGLE);
        }

        @Override
        public void check(Values values) {
            if (values.of(FAN_ARMS) * values.of(ANGLE) > 180) {
                throw new IllegalArgumentException("%s = %d times %s = %s must be at most 180"
                        .formatted(FAN_ARMS, values.of(FAN_ARMS), ANGLE, values.of(ANGLE)));
            }
        }
    }

    static final Variant<Integer> CORDON =
            new Variant<>("cordon", "arms to the left and to the right", List.of(ARMS), values -> 2 * values.of(ARMS));
    static final Variant<Integer> FREE = new Variant<>("free", "as it likes", List.of(), _ -> 0);

    static final Section TREE = Section.of("tree", List.of(HEIGHT, EVERGREEN));
    static final Section SHAPE = Section.of(
            "shape",
            "how it is trained",
            Kinds.<Kind>of(List.of(FREE, CORDON, new Fan())),
            Optional.of("free"),
            List.of(WALL.withDefault("house")));
    static final Section WATER = Section.of("water", List.of(HELPERS, EVERY, CAN, DAYS));

    static final Form FORM = new Form(
            "garden",
            List.of(TREE, SHAPE, WATER),
            List.of(new Form.Check(
                    List.of(TREE, SHAPE),
                    garden -> Conflict.unless(
                            !garden.section(SHAPE).kind().equals("fan") || garden.of(HEIGHT) < 4,
                            "tree.height",
                            "tree.height = %s and shape.kind = fan do not fit: no wall is that high"
                                    .formatted(garden.of(HEIGHT))))));

    private Garden() {}

    static Settings read(String toml, String... overrides) {
        return FORM.parse("garden.toml", toml, List.of(overrides));
    }
}
