package dev.espalier.train.journal;

/**
 * The figure that tells most of how faithful one output of a model is.
 *
 * @param output the output's name
 * @param figure its fidelity, that of a trivial model, and the skill
 */
public record OutputFidelity(String output, FidelityFigure figure) {}
