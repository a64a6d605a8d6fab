package dev.espalier.data.image;

import dev.espalier.data.Column;
import dev.espalier.data.Columns;
import dev.espalier.data.DataException;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Image files for a model that is trained already: its size and its classes are known. */
public final class ImageFiles {
    private ImageFiles() {}

    /**
     * Files in any order, brought to the model's size as those of its training were.
     *
     * @param files PNG or JPEG files
     * @param field what the model takes
     * @return the images, without labels
     * @throws IOException if a file cannot be read
     */
    public static Dataset of(List<Path> files, Field.Image field) throws IOException {
        return new Dataset("images", files.size(), List.of(column(files, field)), List.of());
    }

    /**
     * A folder with a folder of images for each class.
     *
     * @param folder the folder
     * @param field what the model takes
     * @param classes what it says
     * @return all images with their classes
     * @throws IOException if a file cannot be read, or there are none
     */
    public static Dataset labelled(Path folder, Field.Image field, Field.Category classes) throws IOException {
        List<Path> files = new ArrayList<>();
        List<Integer> labels = new ArrayList<>();
        for (int label = 0; label < classes.values().size(); label++) {
            Path own = folder.resolve(classes.values().get(label));
            if (Files.isDirectory(own)) {
                for (Path file : ImagesKind.images(own)) {
                    files.add(file);
                    labels.add(label);
                }
            }
        }
        if (files.isEmpty()) {
            throw DataException.in(
                    folder,
                    "no images: expected a folder with files that end with %s for each of the classes %s"
                            .formatted(ImageDecoder.ENDINGS, classes.values()));
        }
        Column images = column(files, field);
        return new Dataset(
                String.valueOf(folder.getFileName()),
                files.size(),
                List.of(images),
                List.of(Columns.categories(
                        classes, labels.stream().mapToInt(Integer::intValue).toArray())));
    }

    private static Column column(List<Path> files, Field.Image field) throws IOException {
        byte[][] bytes = new byte[files.size()][];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = ImageDecoder.decode(files.get(i), field);
        }
        return Columns.images(field, bytes, ImageDecoder.WHITE);
    }
}
