package dev.espalier.recipe;

import dev.espalier.graph.group.GroupRules;
import dev.espalier.graph.group.PaperRules;
import dev.espalier.graph.group.Selector;
import java.util.List;

/** The model that is trained. */
public sealed interface ModelRecipe {

    /** Kinds of models. */
    enum Kind {
        /** The paper's VGG-16. */
        VGG16,
        /** The paper's ResNet-34. */
        RESNET34,
        /** A few convolutions and a linear layer. */
        SMALL_CNN,
        /** A perceptron with hidden layers. */
        MLP,
        /** BERT for question answering, from a checkpoint. */
        BERT,
        /** Any model, from an ONNX file. */
        ONNX,
        /** A model that a Java program makes; not for the command line. */
        OWN
    }

    /**
     * The kind of the model.
     *
     * @return its kind
     */
    Kind kind();

    /**
     * What the paper groups and freezes in this model. For models that are not in the paper: every weight of every layer
     * grouped in the same way, and nothing frozen.
     *
     * @return the rules
     */
    default PaperRules paperRules() {
        return switch (kind()) {
            case VGG16 -> PaperRules.VGG16;
            case RESNET34 -> PaperRules.RESNET34;
            case BERT -> PaperRules.BERT;
            case SMALL_CNN, MLP, ONNX, OWN -> new PaperRules(GroupRules.everything(), Selector.nothing());
        };
    }

    /** VGG-16. */
    record Vgg16() implements ModelRecipe {
        @Override
        public Kind kind() {
            return Kind.VGG16;
        }
    }

    /**
     * ResNet-34.
     *
     * @param width channels of its first stage; each stage has twice as many as the one before
     */
    record ResNet34(int width) implements ModelRecipe {
        /** Checks the width. */
        public ResNet34 {
            ModelKeys.WIDTH.require(width);
        }

        @Override
        public Kind kind() {
            return Kind.RESNET34;
        }
    }

    /**
     * A small convolutional network.
     *
     * @param channels output channels of each convolution
     * @param batchNorm whether a batch normalisation follows each convolution
     */
    record SmallCnn(List<Integer> channels, boolean batchNorm) implements ModelRecipe {
        /** Checks the numbers of channels. */
        public SmallCnn {
            channels = List.copyOf(ModelKeys.CHANNELS.require(channels));
        }

        @Override
        public Kind kind() {
            return Kind.SMALL_CNN;
        }
    }

    /**
     * A perceptron.
     *
     * @param hidden width of each hidden layer
     */
    record Mlp(List<Integer> hidden) implements ModelRecipe {
        /** Checks the widths. */
        public Mlp {
            hidden = List.copyOf(ModelKeys.HIDDEN.require(hidden));
        }

        @Override
        public Kind kind() {
            return Kind.MLP;
        }
    }

    /**
     * BERT.
     *
     * @param checkpoint a folder with {@code config.json}, {@code model.safetensors} and the vocabulary
     */
    record Bert(String checkpoint) implements ModelRecipe {
        /** Checks the folder's name. */
        public Bert {
            ModelKeys.CHECKPOINT.require(checkpoint);
        }

        @Override
        public Kind kind() {
            return Kind.BERT;
        }
    }

    /**
     * A model in a file.
     *
     * @param file the ONNX file; training starts from its weights
     */
    record Onnx(String file) implements ModelRecipe {
        /** Checks the file's name. */
        public Onnx {
            ModelKeys.FILE.require(file);
        }

        @Override
        public Kind kind() {
            return Kind.ONNX;
        }
    }

    /** A model that a Java program makes. */
    record Own() implements ModelRecipe {
        @Override
        public Kind kind() {
            return Kind.OWN;
        }
    }
}
