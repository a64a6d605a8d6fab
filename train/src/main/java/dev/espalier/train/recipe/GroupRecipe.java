package dev.espalier.train.recipe;

import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.PaperRules;
import dev.espalier.graph.group.Selector;
import dev.espalier.settings.Key;
import dev.espalier.settings.Range;
import dev.espalier.settings.Section;
import dev.espalier.settings.Values;
import java.util.List;

/**
 * Which weights are grouped, and which stay as they are. Patterns are regular expressions that match a parameter's whole
 * name; a weight that is both included and excluded is excluded.
 *
 * @param rules what to start from
 * @param include weights that are grouped as well
 * @param exclude weights that are not grouped after all
 * @param join what becomes of layers that read the same channels
 * @param heads whether an attention has a group for each head, in place of those of its layers
 * @param dimensions whether it has groups for the dimensions of each head instead
 * @param stream whether a residual stream has a group for each dimension, in place of those of the layers at it
 * @param frozen parameters that stay as they are, besides those that the paper freezes if {@code rules} is its own
 */
public record GroupRecipe(
        Rules rules,
        List<String> include,
        List<String> exclude,
        Join join,
        boolean heads,
        boolean dimensions,
        boolean stream,
        List<String> frozen) {

    /** What to start from. */
    public enum Rules {
        /** What the paper groups and freezes in this model. */
        PAPER,
        /** Every weight of every convolution and linear layer, and nothing frozen. */
        ALL,
        /** Nothing. */
        NONE
    }

    /** What becomes of layers that read the same channels, as query, key and value of an attention do. */
    public enum Join {
        /** Each layer has groups of its own. */
        NONE,
        /** They share their groups. */
        JOINT,
        /** They share their groups, and within these each has its own. */
        NESTED
    }

    private static final Key<Rules> RULES = Key.choice(
                    "groups.rules",
                    Rules.class,
                    "what to start from: what the paper groups and freezes in this model, every weight, or none")
            .withDefault(Rules.PAPER);
    private static final Key<List<String>> INCLUDE = patterns("groups.include", "names of weights to group as well");
    private static final Key<List<String>> EXCLUDE =
            patterns("groups.exclude", "names of weights not to group after all");
    private static final Key<Join> JOIN = Key.choice(
                    "groups.join",
                    Join.class,
                    "what becomes of layers that read the same channels, as query, key and value do: groups of their own,"
                            + " groups that they share, or such with their own within")
            .withDefault(Join.NONE);
    private static final Key<Boolean> HEADS = Key.flag(
                    "groups.heads",
                    "whether an attention has one group for each head, in place of those of its four layers")
            .withDefault(false);
    private static final Key<Boolean> DIMENSIONS = Key.flag(
                    "groups.dimensions",
                    "whether an attention has a group for each dimension of query and key of each head, and one for each of the"
                            + " value with what reads it, in place of those of its layers; of all four where one matrix makes the"
                            + " three. Goes before `heads`")
            .withDefault(false);
    private static final Key<Boolean> STREAM = Key.flag(
                    "groups.stream",
                    "whether a residual stream has one group for each dimension, of all that writes to it, embeddings included, and"
                            + " reads it behind a normalisation, in place of the groups of these layers; for models that normalise"
                            + " before their layers")
            .withDefault(false);
    private static final Key<List<String>> FROZEN = patterns(
            "groups.frozen",
            "names of parameters that are neither trained nor grouped, besides those of `rules`; batch normalisations of which all are"
                    + " frozen keep their statistics");

    static final Section SECTION =
            Section.of("groups", List.of(RULES, INCLUDE, EXCLUDE, JOIN, HEADS, DIMENSIONS, STREAM, FROZEN));

    private static Key<List<String>> patterns(String path, String meaning) {
        return Key.texts(path, meaning).in(Range.patterns()).withDefault(List.of());
    }

    /**
     * Which weights are grouped: none that is frozen, since what does not change can neither become zero nor be counted for it.
     *
     * @param paper what the paper groups and freezes in the model
     * @return the rules
     */
    public GroupRules groupRules(PaperRules paper) {
        GroupRules chosen = start(paper).rules();
        for (String pattern : include) {
            chosen = chosen.include(Selector.parametersMatching(pattern));
        }
        for (String pattern : exclude) {
            chosen = chosen.exclude(Selector.parametersMatching(pattern));
        }
        chosen = chosen.exclude(frozenParameters(paper));
        GroupRules joined = switch (join) {
            case NONE -> chosen;
            case JOINT -> chosen.joinConsumers();
            case NESTED -> chosen.nestConsumers();
        };
        GroupRules attended = dimensions ? joined.groupHeadDimensions() : heads ? joined.groupHeads() : joined;
        return stream ? attended.groupStreams() : attended;
    }

    /**
     * Which parameters stay as they are.
     *
     * @param paper what the paper groups and freezes in the model
     * @return their selector
     */
    public Selector frozenParameters(PaperRules paper) {
        return frozen.stream()
                .map(Selector::parametersMatching)
                .reduce(start(paper).frozen(), Selector::or);
    }

    private PaperRules start(PaperRules paper) {
        return switch (rules) {
            case PAPER -> paper;
            case ALL -> new PaperRules(GroupRules.everything(), Selector.nothing());
            case NONE -> new PaperRules(GroupRules.nothing(), Selector.nothing());
        };
    }

    static GroupRecipe of(Values values) {
        return new GroupRecipe(
                values.of(RULES),
                values.of(INCLUDE),
                values.of(EXCLUDE),
                values.of(JOIN),
                values.of(HEADS),
                values.of(DIMENSIONS),
                values.of(STREAM),
                values.of(FROZEN));
    }
}
