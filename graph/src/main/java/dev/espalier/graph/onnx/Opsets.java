package dev.espalier.graph.onnx;

import ai.onnx.proto.OnnxMl.OperatorSetIdProto;
import java.util.List;

/** The versions of ONNX's operators that are spoken here. */
final class Opsets {
    /** The oldest version that is read; {@link Upgrades} brings it to today's. */
    static final int OLDEST = 7;

    /** The oldest version that is written. */
    static final int LEAST = 13;

    static final int MOST = 24;

    private Opsets() {}

    /** The version of the default domain; those of other domains matter only to nodes of them. */
    static int of(String what, List<OperatorSetIdProto> imports) throws OnnxException {
        long found = 0;
        for (OperatorSetIdProto entry : imports) {
            if (Functions.domain(entry.getDomain()).isEmpty()) {
                if (found != 0 && found != entry.getVersion()) {
                    throw new OnnxException(what + " imports two opsets, " + found + " and " + entry.getVersion());
                }
                found = entry.getVersion();
            }
        }
        if (found == 0) {
            throw new OnnxException(what + " imports no opset of the default domain");
        }
        if (found < OLDEST || found > MOST) {
            throw new OnnxException(
                    what + " is written for opset " + found + "; opsets " + OLDEST + " to " + MOST
                            + " are supported: convert it with onnx.version_converter, or export it anew with opset_version=17");
        }
        return (int) found;
    }

    /** The version of the file format that came with a version of the operators. */
    static int formatVersion(int opset) {
        return opset >= 24 ? 12 : opset >= 23 ? 11 : opset >= 21 ? 10 : opset >= 19 ? 9 : opset >= 15 ? 8 : 7;
    }
}
