/** The optimizer step as CUDA kernels, compiled and launched from Java. */
@SuppressWarnings("module") // it names a module that is compiled later
module dev.espalier.cuda {
    requires static transitive org.jspecify;
    requires transitive dev.espalier.core;

    exports dev.espalier.cuda;
    exports dev.espalier.cuda.driver to
            dev.espalier.engine;
}
