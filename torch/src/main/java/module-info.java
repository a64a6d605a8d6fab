/** The memory behind arrays of DJL's PyTorch engine, and what of libtorch DJL does not offer. */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"}) // the manifests name the modules
module dev.espalier.torch {
    requires static transitive org.jspecify;
    requires transitive ai.djl.api;
    requires transitive dev.espalier.core;
    requires ai.djl.pytorch_engine;

    exports dev.espalier.torch;
}
