package dev.espalier.spark;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.espalier.train.study.Storage;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

final class HadoopStorageTest extends StorageContract {
    @Override
    Storage storage() throws IOException {
        return new HadoopStorage(folder.resolve("root folder").toUri().toString(), new Configuration());
    }

    @Test
    void knowsWhatHadoopKnows() {
        HadoopStorageProvider provider = new HadoopStorageProvider();
        assertTrue(provider.knows("hdfs"));
        assertTrue(provider.knows("viewfs"));
        assertFalse(provider.knows("gopher"));
    }

    @Test
    void isFoundAsAService() throws IOException {
        // An HDFS client connects when it is first asked for a file.
        assertInstanceOf(HadoopStorage.class, Storage.of("hdfs://localhost:1/studies/one"));
        assertThrows(IllegalArgumentException.class, () -> Storage.of("gopher://localhost/study"));
    }
}
