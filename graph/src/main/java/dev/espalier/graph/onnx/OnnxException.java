package dev.espalier.graph.onnx;

import java.io.IOException;

/** Says why a file cannot be read as an ONNX model: its bytes, its versions, its tensors or its external data. */
public final class OnnxException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * A file that cannot be read.
     *
     * @param message what is wrong, and what would be right
     */
    public OnnxException(String message) {
        super(message);
    }

    /**
     * A file that cannot be read.
     *
     * @param message what is wrong, and what would be right
     * @param cause what noticed it
     */
    public OnnxException(String message, Throwable cause) {
        super(message, cause);
    }
}
