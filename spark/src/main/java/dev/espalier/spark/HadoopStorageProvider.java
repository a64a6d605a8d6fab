package dev.espalier.spark;

import dev.espalier.train.study.Storage;
import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;

/** Knows all URIs that Hadoop's client does. */
public final class HadoopStorageProvider implements Storage.Provider {
    /** For the service. */
    public HadoopStorageProvider() {}

    @Override
    public boolean knows(String scheme) {
        try {
            FileSystem.getFileSystemClass(scheme, HadoopStorage.configuration());
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    @Override
    public Storage open(String uri) throws IOException {
        return new HadoopStorage(uri, HadoopStorage.configuration());
    }
}
