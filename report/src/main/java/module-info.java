/** Pages to look at, made from what runs wrote down. */
module dev.espalier.report {
    requires static transitive org.jspecify;
    requires transitive dev.espalier.train;
    requires com.fasterxml.jackson.databind;
    requires java.desktop;

    exports dev.espalier.report;

    // Charts are written as JSON.
    opens dev.espalier.report to
            com.fasterxml.jackson.databind;
}
