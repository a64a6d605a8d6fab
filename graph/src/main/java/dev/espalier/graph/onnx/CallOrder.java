package dev.espalier.graph.onnx;

import dev.espalier.graph.GraphException;
import dev.espalier.graph.onnx.Functions.Call;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;

/** Every node behind those whose outputs it reads; otherwise as the file has them. */
final class CallOrder {
    private CallOrder() {}

    static List<Call> sort(List<Call> calls, Set<String> given) {
        Map<String, Integer> makers = new HashMap<>();
        for (int i = 0; i < calls.size(); i++) {
            for (String output : calls.get(i).node().getOutputList()) {
                if (!output.isEmpty()) {
                    makers.putIfAbsent(output, i);
                }
            }
        }
        int[] waiting = new int[calls.size()];
        List<List<Integer>> readers = new ArrayList<>();
        calls.forEach(call -> readers.add(new ArrayList<>()));
        PriorityQueue<Integer> ready = new PriorityQueue<>();
        for (int i = 0; i < calls.size(); i++) {
            for (String input : InnerGraphs.reads(calls.get(i).node())) {
                Integer maker = makers.get(input);
                if (maker != null && !given.contains(input)) {
                    waiting[i]++;
                    readers.get(maker).add(i);
                } else if (!input.isEmpty() && !given.contains(input)) {
                    throw new GraphException(describe(calls.get(i)) + " reads " + input + ", which nothing makes");
                }
            }
            if (waiting[i] == 0) {
                ready.add(i);
            }
        }
        List<Call> sorted = new ArrayList<>();
        while (!ready.isEmpty()) {
            int next = ready.remove();
            sorted.add(calls.get(next));
            for (int reader : readers.get(next)) {
                waiting[reader]--;
                if (waiting[reader] == 0) {
                    ready.add(reader);
                }
            }
        }
        if (sorted.size() < calls.size()) {
            for (int i = 0; i < waiting.length; i++) {
                if (waiting[i] > 0) {
                    throw new GraphException(describe(calls.get(i)) + " is on a cycle, or behind one");
                }
            }
        }
        return sorted;
    }

    private static String describe(Call call) {
        return "node " + call.node().getName() + " (" + call.node().getOpType() + ")";
    }
}
