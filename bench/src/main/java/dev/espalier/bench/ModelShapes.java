package dev.espalier.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/** The tensors of the paper's models: their names and shapes, and which of them are penalised, along which axis. */
public enum ModelShapes {
    /** VGG-16 with batch normalisation and one linear layer, for 32×32 images. */
    VGG16 {
        @Override
        public List<TensorShape> tensors() {
            List<TensorShape> tensors = new ArrayList<>();
            int in = 3;
            for (int out : new int[] {64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512}) {
                convolution(tensors, "conv" + tensors.size(), in, out, 3);
                in = out;
            }
            linear(tensors, "classifier", 512, 10);
            return tensors;
        }
    },
    /** ResNet-34 of basic blocks, for 32×32 images. */
    RESNET34 {
        @Override
        public List<TensorShape> tensors() {
            List<TensorShape> tensors = new ArrayList<>();
            convolution(tensors, "stem", 3, 64, 3);
            int in = 64;
            int[] blocks = {3, 4, 6, 3};
            for (int stage = 0; stage < blocks.length; stage++) {
                int out = 64 << stage;
                for (int block = 0; block < blocks[stage]; block++) {
                    String name = "stage" + stage + ".block" + block;
                    convolution(tensors, name + ".first", in, out, 3);
                    convolution(tensors, name + ".second", out, out, 3);
                    if (in != out) {
                        convolution(tensors, name + ".shortcut", in, out, 1);
                    }
                    in = out;
                }
            }
            linear(tensors, "classifier", 512, 10);
            return tensors;
        }
    },
    /** BERT-base, uncased, with a question-answering head. */
    BERT_BASE {
        @Override
        public List<TensorShape> tensors() {
            List<TensorShape> tensors = new ArrayList<>();
            tensors.add(TensorShape.free("embeddings.word", 30522, 768));
            tensors.add(TensorShape.free("embeddings.position", 512, 768));
            tensors.add(TensorShape.free("embeddings.type", 2, 768));
            norm(tensors, "embeddings.norm", 768);
            for (int layer = 0; layer < 12; layer++) {
                String name = "layer" + layer;
                for (String part : List.of("query", "key", "value", "output")) {
                    linear(tensors, name + ".attention." + part, 768, 768);
                }
                norm(tensors, name + ".attention.norm", 768);
                linear(tensors, name + ".intermediate", 768, 3072);
                linear(tensors, name + ".output", 3072, 768);
                norm(tensors, name + ".norm", 768);
            }
            linear(tensors, "answers", 768, 2);
            return tensors;
        }
    };

    /**
     * A tensor of a model.
     *
     * @param name its name
     * @param shape its shape
     * @param groupAxis the axis of its groups; −1 if it is not penalised
     */
    public record TensorShape(String name, List<Long> shape, int groupAxis) {

        static TensorShape free(String name, long... shape) {
            return new TensorShape(name, toList(shape), -1);
        }

        static TensorShape grouped(String name, long... shape) {
            return new TensorShape(name, toList(shape), 1);
        }

        private static List<Long> toList(long[] shape) {
            return Arrays.stream(shape).boxed().toList();
        }

        /**
         * The shape as an array.
         *
         * @return number of elements along every dimension
         */
        public long[] dimensions() {
            return shape.stream().mapToLong(Long::longValue).toArray();
        }

        /**
         * Number of weights.
         *
         * @return the product of the shape
         */
        public long size() {
            return shape.stream().reduce(1L, Math::multiplyExact);
        }
    }

    /**
     * All tensors of the model.
     *
     * @return its tensors, in order
     */
    public abstract List<TensorShape> tensors();

    /**
     * A model of linear layers of 1,000 × 1,000, to see how time grows with size.
     *
     * @param layers how many
     * @return their tensors
     */
    public static List<TensorShape> linearLayers(int layers) {
        return IntStream.range(0, layers)
                .mapToObj(layer -> TensorShape.grouped("layer" + layer + ".weight", 1000, 1000))
                .toList();
    }

    /**
     * The name on the command line.
     *
     * @return lower case, with dashes
     */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static void convolution(List<TensorShape> tensors, String name, int in, int out, int kernel) {
        tensors.add(TensorShape.grouped(name + ".weight", out, in, kernel, kernel));
        norm(tensors, name + ".norm", out);
    }

    private static void linear(List<TensorShape> tensors, String name, int in, int out) {
        tensors.add(TensorShape.grouped(name + ".weight", out, in));
        tensors.add(TensorShape.free(name + ".bias", out));
    }

    private static void norm(List<TensorShape> tensors, String name, int size) {
        tensors.add(TensorShape.free(name + ".weight", size));
        tensors.add(TensorShape.free(name + ".bias", size));
    }
}
