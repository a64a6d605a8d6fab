/** Blocks of the Deep Java Library (DJL) as graphs. */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"}) // the manifests name the modules
module dev.espalier.blocks {
    requires static transitive org.jspecify;
    requires transitive ai.djl.api;
    requires transitive dev.espalier.graph;

    exports dev.espalier.blocks;
}
