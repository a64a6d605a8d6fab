package dev.espalier.train.inputs;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.espalier.core.check.Reading;
import dev.espalier.data.DataException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.Stream;

/**
 * What Hugging Face's {@code preprocessor_config.json} says of a model's images, as settings.
 *
 * @param height what they are brought to; empty if it does not say
 * @param width what they are brought to; empty if it does not say
 * @param settings how pixels become numbers
 * @param notes what of it is done otherwise here, a sentence each
 */
record ImagePreparation(
        Optional<Integer> height, Optional<Integer> width, SequencedMap<String, String> settings, List<String> notes) {
    static final String FILE = "preprocessor_config.json";

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final double WHITE = 255;
    /** Pillow's number for the filter that we have. */
    private static final int BILINEAR = 2;

    /** The file in the model's folder or, as models are published, in the one above a folder called onnx. */
    static Optional<ImagePreparation> beside(Path model) throws IOException {
        Path folder = Objects.requireNonNullElse(model.toAbsolutePath().getParent(), model);
        Optional<Path> file = Stream.of(folder, folder.endsWith("onnx") ? folder.resolveSibling("") : folder)
                .map(place -> place.resolve(FILE))
                .filter(Files::isRegularFile)
                .findFirst();
        return file.isPresent() ? Optional.of(read(file.get())) : Optional.empty();
    }

    private static ImagePreparation read(Path file) throws IOException {
        JsonNode said;
        try {
            said = JSON.readTree(Reading.text(file));
        } catch (JacksonException malformed) {
            throw DataException.in(file, "no sound JSON: " + malformed.getOriginalMessage(), malformed);
        }
        List<String> notes = new ArrayList<>();
        boolean crops = said.path("do_center_crop").asBoolean(false);
        JsonNode size = crops ? said.path("crop_size") : said.path("size");
        boolean shortest = size.has("shortest_edge");
        if (crops || shortest) {
            notes.add("%s has images %s; here the whole image is brought to the size"
                    .formatted(file, crops ? "cut to their middle" : "brought to a shortest edge"));
        }
        if (said.path("resample").asInt(BILINEAR) != BILINEAR) {
            notes.add("%s wants images resized by Pillow's filter %d; here it is the bilinear one"
                    .formatted(file, said.path("resample").asInt()));
        }
        return new ImagePreparation(
                length(size, shortest ? "shortest_edge" : "height"),
                length(size, shortest ? "shortest_edge" : "width"),
                pixels(said),
                notes);
    }

    private static Optional<Integer> length(JsonNode size, String name) {
        JsonNode length = size.isInt() ? size : size.path(name);
        return length.isInt() ? Optional.of(length.intValue()) : Optional.empty();
    }

    private static SequencedMap<String, String> pixels(JsonNode said) {
        double factor = said.path("do_rescale").asBoolean(true)
                ? said.path("rescale_factor").asDouble(1 / WHITE)
                : 1;
        // What is divided by 255 is not quite 1 any more.
        double white = Math.rint(WHITE * factor * 1e9) / 1e9;
        SequencedMap<String, String> settings = new LinkedHashMap<>();
        if (white != 1) {
            settings.put("data.white", Double.toString(white));
        }
        boolean normalized = said.path("do_normalize").asBoolean(true)
                && said.path("image_mean").isArray()
                && said.path("image_std").isArray();
        if (normalized) {
            settings.put("data.mean", said.path("image_mean").toString());
            settings.put("data.std", said.path("image_std").toString());
        } else {
            settings.put("data.normalize", "false");
        }
        return settings;
    }
}
