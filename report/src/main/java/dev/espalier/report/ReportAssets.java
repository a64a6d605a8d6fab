package dev.espalier.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** What every report looks by and is drawn by: one style sheet, one script, and the library of charts that the script uses. */
public final class ReportAssets {
    private static final String LIBRARY_VERSION = "/META-INF/maven/org.webjars/echarts/pom.properties";

    private ReportAssets() {}

    /** {@return the style sheet, light and dark} */
    public static String style() {
        return Template.resource("report.css");
    }

    /**
     * {@return the script} It draws what the element {@code charts} holds, and later whatever {@code espalierReport.show} is given.
     */
    public static String script() {
        return Template.resource("report.js");
    }

    /** {@return ECharts, which must be loaded before the script} */
    public static String library() {
        Properties versions = new Properties();
        try (InputStream in = ReportAssets.class.getResourceAsStream(LIBRARY_VERSION)) {
            if (in == null) {
                throw new IllegalStateException("the library of charts is not on the class path");
            }
            versions.load(in);
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
        return Template.resource(
                "/META-INF/resources/webjars/echarts/%s/echarts.min.js".formatted(versions.getProperty("version")));
    }
}
