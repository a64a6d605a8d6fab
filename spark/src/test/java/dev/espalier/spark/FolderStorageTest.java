package dev.espalier.spark;

import dev.espalier.train.study.FolderStorage;
import dev.espalier.train.study.Storage;

final class FolderStorageTest extends StorageContract {
    @Override
    Storage storage() {
        return new FolderStorage(folder.resolve("root folder"));
    }
}
