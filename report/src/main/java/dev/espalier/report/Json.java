package dev.espalier.report;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdScalarSerializer;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;

/** Charts as JSON that may stand in a script element. */
final class Json {
    /** More digits than anyone sees in a chart. */
    private static final MathContext DIGITS = new MathContext(7);

    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .addModule(new SimpleModule()
                    .addSerializer(Double.class, new ShortNumber(Double.class))
                    .addSerializer(double.class, new ShortNumber(double.class)))
            .build();

    private Json() {}

    /** An array of objects, each with its kind. */
    static Html of(List<Chart> charts) {
        try {
            String json = MAPPER.writerFor(new TypeReference<List<Chart>>() {}).writeValueAsString(charts);
            // No tag can end the script element: outside of strings, JSON has no such character.
            return new Html(json.replace("<", "\\u003c"));
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Rounds; what is not finite becomes null, because JSON has no word for it. */
    private static final class ShortNumber extends StdScalarSerializer<Double> {
        private static final long serialVersionUID = 1L;

        ShortNumber(Class<Double> type) {
            super(type);
        }

        @Override
        public void serialize(Double value, JsonGenerator out, SerializerProvider provider) throws IOException {
            if (Double.isFinite(value)) {
                out.writeNumber(
                        new BigDecimal(value).round(DIGITS).stripTrailingZeros().toString());
            } else {
                out.writeNull();
            }
        }
    }
}
