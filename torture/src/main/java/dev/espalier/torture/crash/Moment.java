package dev.espalier.torture.crash;

import java.util.Arrays;

/** What a training is at, as the stack of its thread tells: nothing in the program has to say so. */
enum Moment {
    /** Anything, from the start of the process on. */
    START("", ""),
    /** The model comes to its device. */
    LOADING("engine.Network", "<init>"),
    /** A step is recorded for the first time. */
    RECORDING("engine.Recorder", "record"),
    /** A step that was recorded is queued. */
    STEP("engine.Recorded", "run"),
    /** The test part is gone through. */
    EVALUATION("train.run.Session", "evaluate"),
    /** A checkpoint is written. */
    CHECKPOINT("train.run.Checkpoints", "save"),
    /** What came out is pruned, measured and written. */
    DELIVERY("train.run.Export", "deliver");

    private final String type;
    private final String method;

    Moment(String type, String method) {
        this.type = "dev.espalier." + type;
        this.method = method;
    }

    /** The class that is at work then. */
    String type() {
        return type;
    }

    /** Its method. */
    String method() {
        return method;
    }

    /** Whether a stack is in it. */
    boolean isIn(StackTraceElement[] stack) {
        return this == START
                || Arrays.stream(stack)
                        .anyMatch(frame -> frame.getClassName().equals(type)
                                && frame.getMethodName().equals(method));
    }
}
