package dev.espalier.spark;

import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** Takes the process with it that asks for one of its files: {@code crash://…}. */
public final class CrashingFileSystem extends RawLocalFileSystem {
    private static final int STATUS = 3;

    /** For the service. */
    public CrashingFileSystem() {}

    @Override
    public String getScheme() {
        return "crash";
    }

    @Override
    public void initialize(URI uri, Configuration configuration) {
        Runtime.getRuntime().halt(STATUS);
    }
}
