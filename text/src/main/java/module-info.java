import dev.espalier.data.DataKind;
import dev.espalier.text.TextKind;

/** Texts as tokens, and data sets of texts. */
@SuppressWarnings("requires-automatic") // its manifest names the module
module dev.espalier.text {
    requires static transitive org.jspecify;
    requires transitive com.fasterxml.jackson.databind;
    requires transitive dev.espalier.data;
    requires ai.djl.tokenizers;

    exports dev.espalier.text;

    provides DataKind with
            TextKind;
}
