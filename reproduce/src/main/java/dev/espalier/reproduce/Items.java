package dev.espalier.reproduce;

import java.util.List;
import java.util.stream.Collectors;

/** Everything that can be reproduced. */
public final class Items {
    /** The place of what is not in the paper. */
    static final String BEYOND = "Beyond the paper";

    /** In the order of the paper; what goes beyond it comes last. */
    public static final List<Item> ALL = List.of(
            new Penalties(),
            new Convergence(),
            new Iterations(),
            new TrainedTable("table1", "Table 1", PaperTable.VGG16),
            new TrainedTable("table2", "Table 2", PaperTable.BERT),
            new OptimizerTable(),
            new TrainedTable("table4", "Table 4", PaperTable.RESNET34),
            new PrunedLayers(),
            new IndirectSparsity(),
            new ThresholdCurve(),
            new McpExactness(),
            new TrainedTable("best-vgg16", BEYOND, PaperTable.BEST_VGG16),
            new TrainedTable("best-bert", BEYOND, PaperTable.BEST_BERT),
            new TrainedTable("best-resnet34", BEYOND, PaperTable.BEST_RESNET34));

    private Items() {}

    /**
     * Finds an item.
     *
     * @param name its name
     * @return the item
     * @throws IllegalArgumentException if there is none of that name
     */
    public static Item of(String name) {
        return ALL.stream()
                .filter(item -> item.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no item %s to reproduce: choose one of %s"
                        .formatted(name, ALL.stream().map(Item::name).collect(Collectors.joining(", ")))));
    }
}
