package dev.espalier.graph.group;

import dev.espalier.graph.Graph;

/**
 * What the paper groups and what it freezes, for each of its networks. Convolutions are grouped by channels, linear layers
 * by rows (all weights that leave one input); biases and norms are in no group.
 *
 * @param rules which weights are grouped
 * @param frozen which parameters stay as they are
 */
public record PaperRules(GroupRules rules, Selector frozen) {

    /** VGG-16: the input channels of all convolutions and of the linear layer, 4,227 groups. */
    public static final PaperRules VGG16 = new PaperRules(GroupRules.everything(), Selector.nothing());

    /** ResNet-34: the input channels of all convolutions, shortcuts included, and of the linear layer, 8,067 groups. */
    public static final PaperRules RESNET34 = new PaperRules(GroupRules.everything(), Selector.nothing());

    /**
     * BERT: the rows of every weight matrix, of attention and feed-forward layers and of the head, 83,712 groups for
     * BERT-base. Embeddings are tables, not matrices that multiply: they are in no group, and frozen, their norm
     * included.
     */
    public static final PaperRules BERT =
            new PaperRules(GroupRules.everything(), Selector.parametersMatching("(.*\\.)?embeddings\\..*"));

    /**
     * The groups of a model.
     *
     * @param graph the model
     * @return its groups by these rules
     */
    public ModelGroups derive(Graph graph) {
        return rules.derive(graph);
    }
}
