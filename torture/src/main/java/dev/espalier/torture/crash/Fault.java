package dev.espalier.torture.crash;

import java.util.EnumSet;
import java.util.Set;

/** What can go wrong with an operation on a file. */
enum Fault {
    /** It fails, as of a bad sector; the next one does not. */
    ERROR("I/O error", EnumSet.allOf(Operation.class)),
    /** From here on nothing more fits on the disk. */
    FULL("disk full", EnumSet.of(Operation.OPEN, Operation.WRITE, Operation.FOLDER)),
    /** The system takes a part of what is written and says so, as it may. */
    SHORT("short write", EnumSet.of(Operation.WRITE)),
    /** The process ends before it. */
    KILL("killed", EnumSet.allOf(Operation.class)),
    /** The process ends in the middle of it. */
    TORN("torn write", EnumSet.of(Operation.WRITE)),
    /** The power is cut before it: what was not forced to disk is not there, nor is any name that was not. */
    CUT("power cut", EnumSet.allOf(Operation.class)),
    /** The power is cut, and the file system keeps names but not what is in the files. */
    CONTENTS_LOST("power cut, contents lost", EnumSet.allOf(Operation.class)),
    /** The power is cut, and the file system keeps what is in the files, but not what they were called last. */
    RENAMES_LOST("power cut, renames lost", EnumSet.allOf(Operation.class)),
    /** The disk says that something is on it, and it is not; some operations later the power is cut. */
    LIE("fsync that lies", EnumSet.of(Operation.FORCE, Operation.SETTLE));

    private final String words;

    @SuppressWarnings("ImmutableEnumChecker") // nobody else has it, and nobody changes it
    private final Set<Operation> strikes;

    Fault(String words, Set<Operation> strikes) {
        this.words = words;
        this.strikes = strikes;
    }

    /** What people call it. */
    String words() {
        return words;
    }

    /** Whether it can happen to such an operation. */
    boolean strikes(Operation operation) {
        return strikes.contains(operation);
    }

    /** What is done to a file or a folder. */
    enum Operation {
        /** A file is opened, and made if it is to be written. */
        OPEN,
        /** Bytes are read. */
        READ,
        /** Bytes are written. */
        WRITE,
        /** The end of a file is cut off. */
        TRUNCATE,
        /** A file is forced to disk. */
        FORCE,
        /** A folder is forced to disk: what is in it under which name. */
        SETTLE,
        /** A file takes another name. */
        RENAME,
        /** A file is deleted. */
        DELETE,
        /** A folder is made. */
        FOLDER,
        /** A folder's files are listed. */
        LIST,
        /** A file is looked at: whether it is there, and how large. */
        LOOK
    }
}
