package dev.espalier.graph.onnx;

import dev.espalier.graph.Graph;

/**
 * What an ONNX file holds.
 *
 * @param graph the model, with the file's own notes as its metadata
 * @param opset the version of the operators that the file was written for
 * @param producer the program that wrote the file; empty if it does not say
 * @param dequantization how far the file's whole numbers were read as fractions
 */
public record OnnxModel(Graph graph, int opset, String producer, Dequantization dequantization) {}
