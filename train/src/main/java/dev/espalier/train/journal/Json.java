package dev.espalier.train.journal;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.KeyDeserializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.ser.std.StdScalarSerializer;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * The records of this package as JSON: names in lower case with underscores. JSON has no numbers that are not finite: they
 * are written as null, which is read as NaN.
 */
final class Json {
    private static final String METRICS = "metrics";

    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .addModule(numbers())
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES) // written by a newer version
            .withConfigOverride(
                    SequencedMap.class,
                    map -> map.setSetterInfo(JsonSetter.Value.forValueNulls(Nulls.AS_EMPTY))) // written by an older one
            .withConfigOverride(
                    String.class,
                    text -> text.setSetterInfo(JsonSetter.Value.forValueNulls(Nulls.AS_EMPTY))) // likewise
            .build();

    private Json() {}

    /** On one line. */
    static String line(Object value) {
        try {
            return MAPPER.writeValueAsString(value);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** On many lines, for people. */
    static String pretty(Object value) {
        try {
            return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(value) + "\n";
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    static <T> T parse(String text, Class<T> type) throws JsonProcessingException {
        if (!(MAPPER.readTree(text) instanceof ObjectNode tree)) {
            throw new JsonParseException(null, "it is no JSON object");
        }
        nameTrainScore(tree);
        Map<String, Metric> metrics = new HashMap<>();
        for (JsonNode metric : tree.path(METRICS)) {
            Metric known = MAPPER.treeToValue(metric, Metric.class);
            if (known == null) {
                throw new JsonParseException(null, METRICS + " holds a null");
            }
            metrics.put(known.name(), known);
        }
        @Nullable T value = MAPPER.reader().withAttribute(METRICS, metrics).treeToValue(tree, type);
        if (value == null) { // what an empty file, and the word null, are read as
            throw new JsonParseException(null, "there is nothing in it");
        }
        return value;
    }

    /** Earlier versions counted one thing in training, and the first of them nothing but accuracy. */
    private static void nameTrainScore(ObjectNode line) {
        for (String old : List.of("train_score", "train_accuracy")) {
            if (line.has(old)) {
                line.putObject("train_scores").set(line.path("train_metric").asText("accuracy"), line.get(old));
            }
        }
    }

    /** A score stands under its metric's name; what else is to know of the metric is said once, beside all scores. */
    private static final class MetricReader extends KeyDeserializer {
        @Override
        public Metric deserializeKey(String name, DeserializationContext context) {
            Object known = ((Map<?, ?>) context.getAttribute(METRICS)).get(name);
            // All that earlier versions knew were shares.
            return known instanceof Metric metric ? metric : Metric.share(name);
        }
    }

    private static final class MetricWriter extends StdScalarSerializer<Metric> {
        private static final long serialVersionUID = 1L;

        MetricWriter() {
            super(Metric.class);
        }

        @Override
        public void serialize(Metric metric, JsonGenerator out, SerializerProvider provider) throws IOException {
            out.writeFieldName(metric.name());
        }
    }

    private static SimpleModule numbers() {
        return new SimpleModule()
                .addKeySerializer(Metric.class, new MetricWriter())
                .addKeyDeserializer(Metric.class, new MetricReader())
                .addSerializer(Double.class, new FiniteSerializer(Double.class))
                .addSerializer(double.class, new FiniteSerializer(double.class))
                .addDeserializer(Double.class, new NumberReader())
                .addDeserializer(double.class, new NumberReader());
    }

    private static final class FiniteSerializer extends StdScalarSerializer<Double> {
        private static final long serialVersionUID = 1L;

        FiniteSerializer(Class<Double> type) {
            super(type);
        }

        @Override
        public void serialize(Double value, JsonGenerator out, SerializerProvider provider) throws IOException {
            if (Double.isFinite(value)) {
                out.writeNumber(value);
            } else {
                out.writeNull();
            }
        }
    }

    private static final class NumberReader extends StdScalarDeserializer<Double> {
        private static final long serialVersionUID = 1L;

        NumberReader() {
            super(double.class);
        }

        @Override
        public Double deserialize(JsonParser in, DeserializationContext context) throws IOException {
            return in.getDoubleValue();
        }

        @Override
        public Double getNullValue(DeserializationContext context) {
            return Double.NaN;
        }
    }
}
