/** Runs and trains a graph, on the CPU or a GPU, with DJL's PyTorch engine inside. */
@SuppressWarnings("requires-automatic") // its manifest names the module
module dev.espalier.engine {
    requires static transitive org.jspecify;
    requires transitive dev.espalier.graph;
    requires ai.djl.pytorch_engine;
    requires dev.espalier.cuda;
    requires dev.espalier.torch;

    exports dev.espalier.engine;
}
