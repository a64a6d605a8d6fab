package dev.espalier.train.recipe;

import java.nio.file.Path;

/**
 * A model that was trained before, whose groups say how strongly each is penalised: {@code λ_g = λ·√|g|·w_g} with w_g in proportion to
 * {@code 1/‖x_g‖^power} there.
 *
 * @param file an ONNX file, or the folder of a run
 * @param power γ > 0
 */
public record PilotRecipe(Path file, double power) {}
