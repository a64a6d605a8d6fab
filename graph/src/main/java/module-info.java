/** Models as graphs: typed operators, shapes, ONNX and safetensors, the paper's architectures. */
@SuppressWarnings({
    "module", // the modules that walled packages are exported to come after this one
    "requires-automatic" // the manifests name the modules
})
module dev.espalier.graph {
    requires static transitive org.jspecify;
    requires transitive dev.espalier.core;
    requires com.fasterxml.jackson.databind;
    requires com.google.protobuf;
    requires org.tribuo.util.onnx;

    exports dev.espalier.graph;
    exports dev.espalier.graph.eval;
    exports dev.espalier.graph.group;
    exports dev.espalier.graph.model;
    exports dev.espalier.graph.objective;
    exports dev.espalier.graph.onnx;
    exports dev.espalier.graph.op;
    exports dev.espalier.graph.prune;
    exports dev.espalier.graph.quantize;
    exports dev.espalier.graph.safetensors;
    exports dev.espalier.graph.type;
    exports dev.espalier.graph.pass to
            dev.espalier.engine,
            dev.espalier.train;
}
