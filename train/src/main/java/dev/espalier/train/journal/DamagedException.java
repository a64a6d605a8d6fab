package dev.espalier.train.journal;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;

/** A file does not hold what it was written with. */
final class DamagedException extends IOException {
    private static final long serialVersionUID = 1;

    DamagedException(String source, JsonProcessingException broken) {
        super(source + " is damaged: " + broken.getOriginalMessage(), broken);
    }
}
