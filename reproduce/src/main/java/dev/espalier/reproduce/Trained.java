package dev.espalier.reproduce;

import dev.espalier.graph.Graph;
import dev.espalier.graph.onnx.OnnxReader;
import dev.espalier.train.journal.RunFolder;
import dev.espalier.train.journal.RunResult;
import dev.espalier.train.recipe.Recipe;
import dev.espalier.train.task.RawInputs;
import java.io.IOException;

/**
 * A training that is finished.
 *
 * @param recipe how it was trained
 * @param folder where it is
 * @param result what came out
 */
record Trained(Recipe recipe, RunFolder folder, RunResult result) {

    /** The model as trained, without what encodes its inputs. */
    Graph model() throws IOException {
        return RawInputs.without(OnnxReader.read(folder.model()).graph());
    }
}
