package dev.espalier.graph.prune;

import dev.espalier.graph.Node;
import dev.espalier.graph.op.Binary;
import dev.espalier.graph.op.Resize;
import dev.espalier.graph.prune.Rule.Carried;
import dev.espalier.graph.prune.Rule.Mapping;
import dev.espalier.graph.prune.Rule.Written;
import dev.espalier.graph.type.Tensor;
import java.util.Arrays;
import java.util.List;

/** Channels pass a resize along axes that it takes as they are; a mean of equal numbers is that number. */
final class ResizeRule {
    private ResizeRule() {}

    static Rule of(Site site, Resize resize) {
        Channels input = site.channels(0);
        boolean passes = input.axes().stream().allMatch(axis -> resize.keeps(axis, site.shape(0), site.outputShape()));
        if (input.none() || !passes) {
            return site.opaque();
        }
        Written written = resize.scales().isEmpty()
                ? (rewriter, node, rule) -> write(rewriter, node, rule, resize)
                : Written.AS_IT_IS;
        return site.mapping(input, input, input.all(), Carried.UNCHANGED, written);
    }

    /** The new lengths name those of the channels too: what is gone comes off. */
    private static void write(Rewriter rewriter, Node node, Mapping rule, Resize resize) {
        Kept left = rewriter.kept(node.output());
        String lengths = rewriter.input(node, rule, 1);
        long[] gone =
                new long[Math.toIntExact(rewriter.shape(node.input(1)).get(0).value())];
        for (int i = 0; i < left.lengths().size(); i++) {
            int place = resize.place(left.channels().axes().get(i), rewriter.shape(node.input(0)));
            if (place >= 0) {
                gone[place] =
                        (long) left.channels().lengths().get(i) - left.lengths().get(i);
            }
        }
        if (Arrays.stream(gone).anyMatch(length -> length != 0)) {
            String name = node.name() + ".lengths";
            if (rewriter.isWeight(node, 1)) {
                Tensor whole = rewriter.weight(node, 1);
                lengths = rewriter.constant(
                        name, Tensor.computeLongs(whole.type(), whole.shape(), i -> whole.getLong(i) - gone[(int) i]));
            } else {
                String smaller = rewriter.fresh(name);
                rewriter.add(new Node(
                        smaller,
                        new Binary(Binary.Function.SUBTRACT),
                        List.of(lengths, rewriter.constant(name + ".gone", Tensor.of(gone))),
                        List.of(smaller)));
                lengths = smaller;
            }
        }
        rewriter.add(new Node(node.name(), resize, List.of(rewriter.input(node, rule, 0), lengths), node.outputs()));
    }
}
