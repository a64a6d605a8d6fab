package dev.espalier.train.recipe;

import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupWeight;
import dev.espalier.core.penalty.Penalty;
import dev.espalier.core.penalty.PenaltyFamily;
import dev.espalier.settings.Conflict;
import dev.espalier.settings.Form;
import dev.espalier.settings.Key;
import dev.espalier.settings.Kind;
import dev.espalier.settings.Kinds;
import dev.espalier.settings.Range;
import dev.espalier.settings.Section;
import dev.espalier.settings.Settings;
import dev.espalier.settings.Values;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The penalty of every group: none, or a member of a family, whose parameters are keys. */
final class PenaltyKind implements Kind {
    static final Key<OptionalDouble> LAMBDA = Key.decimalOrAuto(
            "penalty.lambda",
            Range.notNegative(),
            "strength λ; with a `[target]` where it starts, estimated from the first gradients if it is `auto`");
    private static final Key<GroupWeight> GROUP_WEIGHT = Key.choice(
                    "penalty.group_weight", GroupWeight.class, "whether λ_g is λ·√size or λ")
            .withDefault(new GroupLasso(0).weight());

    private static final Key<GroupCost> COST = Key.choice(
                    "penalty.cost",
                    GroupCost.class,
                    "what λ_g is weighed by: nothing, or the FLOPs, parameters or milliseconds that go with the group")
            .withDefault(GroupCost.NONE);

    private static final Key<String> PILOT = Key.location(
                    "penalty.pilot",
                    "a model trained before, an ONNX file or the folder of a run, relative to where the program is started: groups that"
                            + " are small there bear more of λ, and those that are zero stay zero; if empty, there is none")
            .withDefault("");

    private static final Key<Double> PILOT_POWER = Key.decimal(
                    "penalty.pilot_power", "γ: λ_g is weighed by 1/‖x_g‖^γ of the pilot, 1 on average")
            .in(Range.positive())
            .withDefault(1.0);

    private static final PenaltyKind NONE = new PenaltyKind("none", "no penalty", Optional.empty(), List.of());

    static final Kinds<PenaltyKind> KINDS = kinds(PenaltyFamily.all());

    static final Section SECTION =
            Section.of("penalty", "which penalty every group has", KINDS, Optional.of(NONE.name), List.of());

    /** A method that wants a penalty must have one, and groups within groups one that nests. */
    static final List<Form.Check> CHECKS = List.of(
            new Form.Check(List.of(MethodRecipe.SECTION, SECTION), PenaltyKind::missing),
            new Form.Check(List.of(SECTION), PenaltyKind::whole),
            new Form.Check(List.of(MethodRecipe.SECTION, SECTION, GroupRecipe.SECTION), PenaltyKind::flat));

    private final String name;
    private final String meaning;
    private final Optional<PenaltyFamily> family;
    private final List<Key<Double>> parameters;

    private PenaltyKind(String name, String meaning, Optional<PenaltyFamily> family, List<Key<Double>> parameters) {
        this.name = name;
        this.meaning = meaning;
        this.family = family;
        this.parameters = parameters;
    }

    /** None, and one for each family. */
    static Kinds<PenaltyKind> kinds(List<PenaltyFamily> families) {
        List<PenaltyKind> kinds = new ArrayList<>(List.of(NONE));
        families.forEach(family -> kinds.add(new PenaltyKind(
                family.name(),
                family.meaning(),
                Optional.of(family),
                family.parameters().stream().map(PenaltyKind::key).toList())));
        return Kinds.of(kinds);
    }

    private static Key<Double> key(PenaltyFamily.Parameter parameter) {
        return Key.decimal("penalty." + parameter.name(), parameter.meaning())
                .in(new Range<>(parameter.range(), value -> parameter.legal().test(value)));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String meaning() {
        return meaning;
    }

    @Override
    public List<Key<?>> keys() {
        List<Key<?>> keys = new ArrayList<>();
        if (family.isPresent()) {
            keys.add(LAMBDA);
            keys.addAll(parameters);
            keys.add(GROUP_WEIGHT);
            keys.add(COST);
            keys.add(PILOT);
            keys.add(PILOT_POWER);
        }
        return keys;
    }

    /** λ; empty if it is to be estimated, and 0 without a penalty. */
    static OptionalDouble lambda(Values values) {
        return values.has(LAMBDA) ? values.of(LAMBDA) : OptionalDouble.of(0);
    }

    static GroupCost cost(Values values) {
        return values.has(COST) ? values.of(COST) : GroupCost.NONE;
    }

    /** The model that says how strongly each group is penalised. */
    static Optional<PilotRecipe> pilot(Values values) {
        return values.has(PILOT) && !values.of(PILOT).isEmpty()
                ? Optional.of(new PilotRecipe(Path.of(values.of(PILOT)), values.of(PILOT_POWER)))
                : Optional.empty();
    }

    /** The penalty that a section stands for, with a λ of its own; empty for none. */
    static Optional<Penalty> penalty(Values values, double lambda) {
        return KINDS.of(values).member(values, lambda);
    }

    Optional<Penalty> member(Values values, double lambda) {
        Map<String, Double> numbers = new LinkedHashMap<>();
        parameters.forEach(key -> numbers.put(key.name(), values.of(key)));
        return family.map(known -> known.member(lambda, values.of(GROUP_WEIGHT), numbers));
    }

    private boolean nests() {
        return family.filter(PenaltyFamily::nests).isPresent();
    }

    private static List<Conflict> missing(Settings recipe) {
        Method method = MethodRecipe.of(recipe.section(MethodRecipe.SECTION)).kind();
        PenaltyKind penalty = KINDS.of(recipe.section(SECTION));
        return Conflict.unless(
                !method.penalizes() || penalty.family.isPresent(),
                path(),
                "method.kind = %s needs a penalty: set penalty.kind to %s, or method.kind to baseline"
                        .formatted(method.name(), names(_ -> true)));
    }

    private static List<Conflict> flat(Settings recipe) {
        Method method = MethodRecipe.of(recipe.section(MethodRecipe.SECTION)).kind();
        PenaltyKind penalty = KINDS.of(recipe.section(SECTION));
        boolean nested = GroupRecipe.of(recipe.section(GroupRecipe.SECTION)).join() == GroupRecipe.Join.NESTED;
        return Conflict.unless(
                !method.penalizes() || !nested || penalty.nests(),
                path(),
                "penalty.kind = %s and groups.join = nested do not fit: groups within groups need a penalty that nests; set penalty.kind to %s, or groups.join to joint"
                        .formatted(penalty.name, names(PenaltyKind::nests)));
    }

    /** A factor for each group is for penalties that know of nothing within groups. */
    private static List<Conflict> whole(Settings recipe) {
        Values values = recipe.section(SECTION);
        PenaltyKind penalty = KINDS.of(values);
        boolean within = penalty.nests()
                || penalty.member(values, 1)
                        .filter(member -> member.singleStrength() > 0)
                        .isPresent();
        return Conflict.unless(
                pilot(values).isEmpty() || !within,
                PILOT.path(),
                "%s and penalty.kind = %s do not fit: the penalty acts within groups too; set penalty.kind to group-lasso, group-mcp or group-scad, or leave penalty.pilot out"
                        .formatted(PILOT, penalty.name));
    }

    private static String path() {
        return SECTION.kindKey().orElseThrow().path();
    }

    private static String names(Predicate<PenaltyKind> which) {
        return KINDS.all().stream()
                .filter(kind -> kind.family.isPresent())
                .filter(which)
                .map(PenaltyKind::name)
                .collect(Collectors.joining(" or "));
    }
}
