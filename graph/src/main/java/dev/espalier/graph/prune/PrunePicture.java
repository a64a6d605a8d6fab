package dev.espalier.graph.prune;

import java.util.List;
import java.util.Locale;

/**
 * A picture of the layers of a model, before (light) and after (dark): bars whose heights are numbers of weights, on a
 * logarithmic scale, because layers differ by orders of magnitude and so does what is left of them.
 */
public final class PrunePicture {
    private static final int BAR = 14;
    private static final int STEP = 20;
    private static final int HEIGHT = 240;
    private static final int LEFT = 60;
    private static final int TOP = 30;
    private static final int LABELS = 220;
    private static final String LIGHT = "#b7cfe8";
    private static final String DARK = "#1f4e8c";

    private PrunePicture() {}

    /**
     * Draws.
     *
     * @param layers the layers, from front to back
     * @return the picture as SVG
     */
    public static String svg(List<LayerPlan> layers) {
        int decades = decades(layers);
        int width = LEFT + Math.max(layers.size(), 1) * STEP + 20;
        StringBuilder picture = new StringBuilder(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\""
                        + " font-size=\"10\">%n<title>Weights of each layer before (light) and after (dark)</title>%n",
                width,
                TOP + HEIGHT + LABELS));
        for (int decade = 0; decade <= decades; decade++) {
            double y = TOP + HEIGHT - (double) HEIGHT * decade / decades;
            picture.append(String.format(
                    Locale.ROOT,
                    "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#dddddd\"/>"
                            + "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">10<tspan dy=\"-4\">%d</tspan></text>%n",
                    LEFT,
                    y,
                    width,
                    y,
                    LEFT - 6,
                    y + 3,
                    decade));
        }
        for (int i = 0; i < layers.size(); i++) {
            int x = LEFT + 4 + i * STEP;
            LayerPlan layer = layers.get(i);
            picture.append(bar(x, layer.weightsBefore(), decades, LIGHT, layer));
            picture.append(bar(x, layer.weightsAfter(), decades, DARK, layer));
            picture.append(label(x, layer.name()));
        }
        return picture.append("</svg>\n").toString();
    }

    private static int decades(List<LayerPlan> layers) {
        long most = layers.stream().mapToLong(LayerPlan::weightsBefore).max().orElse(1);
        return Math.max((int) Math.ceil(Math.log10((double) Math.max(most, 1))), 1);
    }

    private static String bar(int x, long weights, int decades, String colour, LayerPlan layer) {
        // A single weight still has a bar; no weight has none.
        double height = weights == 0 ? 0 : Math.max(HEIGHT * Math.log10((double) weights) / decades, 1);
        return String.format(
                Locale.ROOT,
                "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\">"
                        + "<title>%s: %,d of %,d weights</title></rect>%n",
                x,
                TOP + HEIGHT - height,
                BAR,
                height,
                colour,
                escape(layer.name()),
                layer.weightsAfter(),
                layer.weightsBefore());
    }

    private static String label(int x, String name) {
        int middle = x + BAR / 2 + 3;
        int below = TOP + HEIGHT + 8;
        return String.format(
                Locale.ROOT,
                "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" transform=\"rotate(-90 %d %d)\">%s</text>%n",
                middle,
                below,
                middle,
                below,
                escape(name));
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
