package dev.espalier.data;

import java.io.IOException;
import java.nio.file.Path;

/** Loads data sets: all of one into memory, or nothing of it. */
public final class Datasets {
    private Datasets() {}

    /**
     * Loads a source.
     *
     * @param source where the samples come from
     * @return its training and its test part
     * @throws IOException if a file cannot be read, or is not what it should be
     */
    public static DataSplit load(DataSource source) throws IOException {
        return switch (source) {
            case DataSource.Digits() -> DigitsResource.load();
            case DataSource.Cifar10(Path folder) -> Cifar10Files.load(folder);
            case DataSource.Mnist(Path folder) -> IdxFiles.load("MNIST", folder, Samples.numbered(10));
            case DataSource.FashionMnist(Path folder) ->
                IdxFiles.load("Fashion-MNIST", folder, IdxFiles.FASHION_CLASSES);
            case DataSource.Images images -> ImageFolder.load(images);
            case DataSource.Csv csv -> CsvFiles.load(csv);
        };
    }
}
