/** A page on localhost that shows runs while they train, compares, starts and stops them. */
module dev.espalier.ui {
    requires static transitive org.jspecify;
    requires com.fasterxml.jackson.databind;
    requires transitive dev.espalier.train;
    requires dev.espalier.report;
    requires jdk.httpserver;

    exports dev.espalier.ui;

    // What the page is told is written as JSON.
    opens dev.espalier.ui to
            com.fasterxml.jackson.databind;
}
