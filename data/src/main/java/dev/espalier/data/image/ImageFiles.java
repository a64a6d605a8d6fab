package dev.espalier.data.image;

import dev.espalier.data.Column;
import dev.espalier.data.Columns;
import dev.espalier.data.Context;
import dev.espalier.data.DataException;
import dev.espalier.data.Dataset;
import dev.espalier.data.Field;
import dev.espalier.data.Problems;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
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
     * @param progress who is told as they are decoded
     * @return the images, without labels
     * @throws IOException if files cannot be read; all of them are named
     */
    public static Dataset of(List<Path> files, Field.Image field, Context.Progress progress) throws IOException {
        return new Dataset("images", files.size(), List.of(column(files, field, progress)), List.of());
    }

    /**
     * A folder with a folder of images for each class.
     *
     * @param folder the folder
     * @param field what the model takes
     * @param classes what it says
     * @param progress who is told as they are decoded
     * @return all images with their classes
     * @throws IOException if files cannot be read, all of which are named, or there are none
     */
    public static Dataset labelled(Path folder, Field.Image field, Field.Category classes, Context.Progress progress)
            throws IOException {
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
        Column images = column(files, field, progress);
        return new Dataset(
                String.valueOf(folder.getFileName()),
                files.size(),
                List.of(images),
                List.of(Columns.categories(
                        classes, labels.stream().mapToInt(Integer::intValue).toArray())));
    }

    private static Column column(List<Path> files, Field.Image field, Context.Progress progress) throws IOException {
        byte[][] bytes = new byte[files.size()][];
        Problems problems = new Problems();
        for (int i = 0; i < bytes.length; i++) {
            Path file = files.get(i);
            try {
                bytes[i] = ImageDecoder.decode(file, field);
            } catch (DataException broken) {
                problems.add(broken);
            } catch (NoSuchFileException missing) {
                problems.add(DataException.in(file, "no such file", missing));
            }
            progress.at("images", i + 1L, bytes.length);
        }
        problems.requireNone();
        return Columns.images(field, bytes, ImageDecoder.WHITE);
    }
}
