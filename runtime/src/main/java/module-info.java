/** ONNX Runtime as the independent judge: models are run, compared and timed there, and pruning is verified. */
@SuppressWarnings("requires-automatic") // its manifest names the module
module dev.espalier.runtime {
    requires static transitive org.jspecify;
    requires transitive dev.espalier.graph;
    requires com.microsoft.onnxruntime;
    requires java.management;

    exports dev.espalier.runtime;
}
