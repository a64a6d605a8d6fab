import dev.espalier.core.penalty.GroupLasso;
import dev.espalier.core.penalty.GroupMcp;
import dev.espalier.core.penalty.GroupScad;
import dev.espalier.core.penalty.NestedLasso;
import dev.espalier.core.penalty.PenaltyFamily;
import dev.espalier.core.penalty.SparseGroupLasso;

/** Groups, penalties, root finders and the weighted proximal step, on the JDK alone. */
@SuppressWarnings("module") // the modules that walled packages are exported to come after this one
module dev.espalier.core {
    requires static transitive org.jspecify;
    // Without it steps are slower and equal: whoever starts the JVM adds it.
    requires static jdk.incubator.vector;

    exports dev.espalier.core.group;
    exports dev.espalier.core.penalty;
    exports dev.espalier.core.prox;
    exports dev.espalier.core.root;
    exports dev.espalier.core.rule;
    exports dev.espalier.core.schedule;
    exports dev.espalier.core.step;
    exports dev.espalier.core.tensor;
    exports dev.espalier.core.check to
            dev.espalier.data,
            dev.espalier.djl,
            dev.espalier.engine,
            dev.espalier.graph,
            dev.espalier.runtime,
            dev.espalier.squad,
            dev.espalier.text,
            dev.espalier.train;
    exports dev.espalier.core.kernel to
            dev.espalier.cuda,
            dev.espalier.engine,
            dev.espalier.train;
    exports dev.espalier.core.numeric to
            dev.espalier.graph;
    exports dev.espalier.core.user to
            dev.espalier.cuda,
            dev.espalier.torch;

    uses PenaltyFamily;

    provides PenaltyFamily with
            GroupLasso.Family,
            GroupMcp.Family,
            GroupScad.Family,
            NestedLasso.Family,
            SparseGroupLasso.Family;
}
