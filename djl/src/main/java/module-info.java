/** Proximal optimizers for models of the Deep Java Library, on its PyTorch engine. */
module dev.espalier.djl {
    requires static transitive org.jspecify;
    requires transitive dev.espalier.torch;

    exports dev.espalier.djl;
}
