"""Writes what ONNX Runtime makes of single operators: operators.json, beside the tests that read it.

    python graph/src/test/python/operators.py

Needs onnx, onnxruntime and numpy. Each case names the record of package op that says the same, with its components.
"""

import json
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import helper

TARGET = pathlib.Path(__file__).parent.parent / "resources/dev/espalier/graph/eval/operators.json"
TYPES = {
    "float32": "FLOAT32", "float64": "FLOAT64", "float16": "FLOAT16", "int8": "INT8", "uint8": "UINT8",
    "int32": "INT32", "int64": "INT64", "uint32": "UINT32", "bool": "BOOL",
}
random = np.random.default_rng(4)
cases = []


def normal(*shape, scale=1.0):
    """Few digits, so that the file stays small; they are exact in single precision all the same."""
    return np.asarray(np.round(random.standard_normal(shape) * scale * 64) / 64, np.float32)


def whole(low, high, *shape, dtype=np.int64):
    return random.integers(low, high, shape).astype(dtype)


def ints(*values):
    return np.array(values, dtype=np.int64)


def write(array):
    return {"type": TYPES[str(array.dtype)], "shape": list(array.shape), "values": array.flatten().tolist()}


def case(record, components, inputs, onnx_name=None, attributes=None, more=(), outputs=1, opset=21):
    """One operator; `more` are inputs that ONNX wants as tensors where the record has components."""
    fed = [array for array in [*inputs, *more] if array is not None]
    names = iter(f"x{i}" for i in range(len(fed)))
    wires = ["" if array is None else next(names) for array in [*inputs, *more]]
    made = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(onnx_name or record, wires, made, **(attributes or {}))
    graph = helper.make_graph(
        [node],
        "case",
        [
            helper.make_tensor_value_info(f"x{i}", helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for i, array in enumerate(fed)
        ],
        [onnx.ValueInfoProto(name=name) for name in made],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    model = onnx.shape_inference.infer_shapes(model)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    results = session.run(None, {f"x{i}": array for i, array in enumerate(fed)})
    cases.append({
        "operator": {"record": record, **components},
        "inputs": [None if array is None else write(array) for array in inputs],
        "outputs": [write(result) for result in results],
    })


def elementwise():
    odd = np.array([0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3, -3, 6, 1e-4, -1e-4, 30, -30, 88, -88], np.float32)
    for name in ["Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "HardSwish", "Identity", "Mish", "Neg", "Relu", "Round",
                 "Sigmoid", "Sign", "Sin", "Softplus", "Softsign", "Tanh"]:
        case("Unary", {"function": name}, [odd], name)
    positive = np.array([1e-6, 0.25, 1, 2, 1e4, np.inf], np.float32)
    for name in ["Log", "Sqrt", "Reciprocal"]:
        case("Unary", {"function": name}, [positive], name)
    special = np.array([np.nan, np.inf, -np.inf, 1], np.float32)
    for name in ["IsNaN", "IsInf", "Abs", "Neg", "Floor"]:
        case("Unary", {"function": name}, [special], name)
    for name in ["Abs", "Neg", "Sign", "Relu"]:
        case("Unary", {"function": name}, [ints(-(2**62) - 1, -1, 0, 3, 2**62 + 1)] if name != "Relu" else
             [np.array([-5, 0, 7], np.int32)], name)
    case("Unary", {"function": "Not"}, [np.array([True, False])], "Not")
    case("LeakyRelu", {"slope": 0.1}, [odd], attributes={"alpha": 0.1})
    case("Elu", {"scale": 1.5}, [odd], attributes={"alpha": 1.5})
    case("Celu", {"scale": 1.5}, [odd], attributes={"alpha": 1.5})
    case("Selu", {"scale": 1.6732632, "gamma": 1.0507010}, [odd],
         attributes={"alpha": 1.6732632, "gamma": 1.0507010})
    case("HardSigmoid", {"slope": 0.3, "shift": 0.4}, [odd], attributes={"alpha": 0.3, "beta": 0.4})
    case("Gelu", {"approximate": False}, [odd])
    case("Gelu", {"approximate": True}, [odd], attributes={"approximate": "tanh"})
    f = np.float32
    case("Clip", {"least": -1, "most": 2}, [odd], more=[np.array(-1, f), np.array(2, f)])
    case("Clip", {"least": 3, "most": 1}, [odd], more=[np.array(3, f), np.array(1, f)])
    case("Clip", {"least": -2, "most": 5}, [ints(-9, -2, 0, 5, 2**60)], more=[np.array(-2), np.array(5)])
    numbers = np.array([0, -0.9, 0.9, 1.5, -1.5, 100.7, -100.7, 2.0**20 + 0.5], np.float32)
    for to in ["float64", "float16", "int32", "int64", "bool"]:
        case("Cast", {"to": TYPES[to]}, [numbers], attributes={"to": helper.np_dtype_to_tensor_dtype(np.dtype(to))})
    for to in ["float32", "int8", "uint8", "int32", "bool"]:
        case("Cast", {"to": TYPES[to]}, [ints(0, 1, -1, 127, 128, 255, 300, -300, 2**31 + 5, 2**53 + 1)],
             attributes={"to": helper.np_dtype_to_tensor_dtype(np.dtype(to))})
    case("Cast", {"to": "FLOAT32"}, [np.array([True, False])], attributes={"to": 1})
    case("Cast", {"to": "INT64"}, [np.array([True, False])], attributes={"to": 7})


def pairs():
    a, b = normal(2, 1, 3), normal(4, 1)
    for name in ["Add", "Sub", "Mul", "Div", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"]:
        case("Binary", {"function": name}, [a, b], name)
    case("Binary", {"function": "Equal"}, [np.round(a), np.round(b)], "Equal")
    case("Binary", {"function": "Pow"}, [np.abs(a), b], "Pow")
    case("Binary", {"function": "Pow"}, [normal(5), ints(0, 1, 2, 3, -2)], "Pow")
    case("Binary", {"function": "Pow"}, [ints(2, 3, -2, 7, 1), ints(10, 0, 3, 2, -1)], "Pow")
    case("Binary", {"function": "Pow"}, [ints(2, 3, 4), np.array([0.5, 2, 0.5], np.float32)], "Pow")
    case("Binary", {"function": "Mod"}, [ints(7, -7, 7, -7, 6), ints(3, 3, -3, -3, 3)], "Mod")
    case("Binary", {"function": "Mod"}, [np.array([7.5, -7.5, 7.5, -7.5], np.float32),
                                         np.array([2, 2, -2, -2], np.float32)], "Mod", {"fmod": 1})
    case("Binary", {"function": "Div"}, [ints(7, -7, 7, -7), ints(2, 2, -2, -2)], "Div")
    case("Binary", {"function": "Div"}, [np.array([200, 255], np.uint8), np.array([3, 2], np.uint8)], "Div")
    case("Binary", {"function": "Mul"}, [np.array([2**20, 7], np.int32), np.array([2**13, 6], np.int32)], "Mul")
    case("Binary", {"function": "PRelu"}, [normal(2, 3, 4), normal(3, 1)], "PRelu")
    for name in ["And", "Or", "Xor"]:
        case("Binary", {"function": name}, [np.array([[True], [False]]), np.array([True, False])], name)
    for name in ["Sum", "Mean", "Min", "Max"]:
        case("Variadic", {"function": name}, [normal(2, 3), normal(1, 3), normal(2, 1)], name)
    case("Variadic", {"function": "Max"}, [ints(1, 2**60 + 1), ints(2**60, 2)], "Max")
    case("Where", {}, [np.array([[True], [False]]), normal(3), normal(2, 1)])
    case("Where", {}, [np.array([True, False, True]), ints(2**60 + 1, 2, 3), np.array(-1)])


def windows(strides, pads, dilations):
    return {"strides": strides, "pads": pads, "dilations": dilations}


def sliding():
    for x, w, bias, groups, slide in [
        (normal(2, 3, 9), normal(4, 3, 3), None, 1, windows([2], [1, 2], [1])),
        (normal(1, 4, 7, 6), normal(6, 2, 3, 2), normal(6), 2, windows([1, 2], [1, 0, 2, 1], [2, 1])),
        (normal(1, 3, 5, 5), normal(3, 1, 3, 3), normal(3), 3, windows([1, 1], [1, 1, 1, 1], [1, 1])),
        (normal(1, 2, 4, 5, 4), normal(2, 2, 2, 3, 1), None, 1, windows([1, 2, 1], [1, 0, 0, 0, 1, 0], [2, 1, 1])),
    ]:
        case("Conv", {**slide, "groups": groups}, [x, w, bias], attributes={
            **slide, "group": groups, "kernel_shape": list(w.shape[2:])})
    image = normal(1, 2, 7, 8)
    for kernel, slide, up in [
        ([3, 2], windows([2, 2], [1, 0, 1, 1], [1, 1]), 0),
        ([3, 3], windows([2, 2], [1, 1, 1, 1], [1, 1]), 1),
        ([2, 2], windows([3, 3], [0, 0, 0, 0], [1, 1]), 1),
        ([2, 2], windows([2, 2], [0, 0, 0, 0], [1, 1]), 1),
        ([2, 3], windows([1, 2], [1, 1, 0, 1], [2, 1]), 0),
    ]:
        attributes = {**slide, "kernel_shape": kernel, "ceil_mode": up}
        common = {**slide, "kernel": kernel, "roundUp": bool(up)}
        case("Pool", {**common, "function": "MAX", "countPadding": False}, [image], "MaxPool", attributes)
        for count in [0, 1]:
            case("Pool", {**common, "function": "AVERAGE", "countPadding": bool(count)}, [image], "AveragePool",
                 {**attributes, "count_include_pad": count})
    case("Pool", {**windows([2], [1, 1], [1]), "kernel": [3], "roundUp": False, "function": "MAX",
                  "countPadding": False}, [-np.abs(normal(1, 1, 5)) - 1], "MaxPool",
         {**windows([2], [1, 1], [1]), "kernel_shape": [3]})
    for name in ["GlobalAveragePool", "GlobalMaxPool"]:
        case("GlobalPool", {"function": "MAX" if "Max" in name else "AVERAGE"}, [image], name)


def products():
    for a, b in [((4,), (4,)), ((3, 4), (4,)), ((4,), (2, 4, 3)), ((2, 1, 3, 4), (5, 4, 2)), ((1, 2), (2, 1)),
                 ((2, 3, 4), (2, 4, 5))]:
        case("MatMul", {}, [normal(*a), normal(*b)])
    case("MatMul", {}, [whole(-9, 9, 2, 3, dtype=np.int32), whole(-9, 9, 3, 2, dtype=np.int32)])
    for a, b, c in [(0, 0, (4,)), (1, 0, (3, 1)), (0, 1, (3, 4)), (1, 1, ()), (0, 1, None)]:
        case("Gemm", {"alpha": 0.5, "beta": 2, "transposeA": bool(a), "transposeB": bool(b)},
             [normal(5, 3) if a else normal(3, 5), normal(4, 5) if b else normal(5, 4),
              None if c is None else normal(*c)], attributes={"alpha": 0.5, "beta": 2.0, "transA": a, "transB": b})


def norms():
    x = normal(2, 3, 4, 2)
    case("BatchNorm", {"epsilon": 0.01, "momentum": 0.9},
         [x, normal(3), normal(3), normal(3), np.abs(normal(3))], "BatchNormalization", {"epsilon": 0.01})
    case("LayerNorm", {"axis": -1, "epsilon": 1e-5}, [x, normal(2), normal(2)], "LayerNormalization")
    case("LayerNorm", {"axis": 2, "epsilon": 1e-3}, [x, normal(4, 2), None], "LayerNormalization",
         {"axis": 2, "epsilon": 1e-3})
    for axis in [0, 1, -1]:
        case("Softmax", {"axis": axis, "logarithm": False}, [x * 30], attributes={"axis": axis})
        case("Softmax", {"axis": axis, "logarithm": True}, [x * 30], "LogSoftmax", {"axis": axis})


def reductions():
    x = normal(2, 3, 4)
    for name in ["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                 "ReduceSumSquare", "ReduceLogSumExp"]:
        for axes, keep in [([1], 1), ([-1, 0], 0), ([], 0)]:
            case("Reduce", {"function": name, "axes": axes, "keep": bool(keep)}, [x], name, {"keepdims": keep},
                 more=[ints(*axes)] if axes else [])
    for name in ["ReduceSum", "ReduceMax", "ReduceProd", "ReduceMean"]:
        case("Reduce", {"function": name, "axes": [0], "keep": False}, [whole(-9, 9, 3, 2, dtype=np.int32)], name,
             {"keepdims": 0}, more=[ints(0)])
    ties = np.array([[1, 3, 3, 0, 0], [2, 2, 2, 2, 2]], np.float32)
    for name in ["ArgMax", "ArgMin"]:
        for axis, keep in [(1, 1), (0, 0), (-1, 0)]:
            case("ArgReduce", {"largest": name == "ArgMax", "axis": axis, "keep": bool(keep)}, [ties], name,
                 {"axis": axis, "keepdims": keep})
    for exclusive in [0, 1]:
        for reverse in [0, 1]:
            case("CumSum", {"axis": 1, "exclusive": bool(exclusive), "reverse": bool(reverse)}, [x],
                 attributes={"exclusive": exclusive, "reverse": reverse}, more=[np.array(1)])
            case("CumSum", {"axis": -1, "exclusive": bool(exclusive), "reverse": bool(reverse)},
                 [whole(-9, 9, 2, 3)], attributes={"exclusive": exclusive, "reverse": reverse}, more=[np.array(-1)])


def moves():
    x = normal(2, 3, 4)
    case("Concat", {"axis": 1}, [x, normal(2, 1, 4), normal(2, 0, 4)], attributes={"axis": 1})
    case("Concat", {"axis": -1}, [ints(1, 2), ints(3)], attributes={"axis": -1})
    case("Split", {"axis": -1, "sizes": [1, 0, 3]}, [x], attributes={"axis": -1}, more=[ints(1, 0, 3)], outputs=3)
    case("Split", {"axis": 1, "sizes": [2, 1]}, [x], attributes={"axis": 1}, more=[ints(2, 1)], outputs=2)
    big = 2**63 - 1
    for starts, ends, axes, steps in [
        ([0, 1], [1, 3], None, None), ([-3], [big], [-1], None), ([-1], [-big - 1], [1], [-1]),
        ([3, 2], [0, -100], [2, 1], [-2, -1]), ([10], [20], [2], [1]), ([-100], [100], [2], [3]), ([2], [1], [1], [1]),
        ([5], [0], [2], [-1]),
    ]:
        case("Slice", {}, [x, ints(*starts), ints(*ends), None if axes is None else ints(*axes),
                           None if steps is None else ints(*steps)])
    case("Gather", {"axis": 1}, [x, np.array([[0, -1], [2, -3]])], attributes={"axis": 1})
    case("Gather", {"axis": -1}, [x, np.array(2)], attributes={"axis": -1})
    case("Gather", {"axis": 0}, [whole(0, 99, 5), np.array([4, 0], np.int32)], attributes={"axis": 0})
    case("GatherElements", {"axis": 1}, [x, whole(-3, 3, 2, 5, 3)], attributes={"axis": 1})
    case("GatherElements", {"axis": 0}, [x, whole(-2, 2, 1, 2, 4)], attributes={"axis": 0})
    for shape in [[3, -1], [0, 0, 2, 2], [-1], [4, 1, 6]]:
        case("Reshape", {"zeroIsZero": False}, [x, ints(*shape)])
    case("Reshape", {"zeroIsZero": True}, [normal(2, 0), ints(0, 5)], attributes={"allowzero": 1})
    for axis in [0, 1, 3, -1]:
        case("Flatten", {"axis": axis}, [x], attributes={"axis": axis})
    for order in [[2, 0, 1], [0, 2, 1], [1, 0, 2], [2, 1, 0], [0, 1, 2]]:
        case("Transpose", {"permutation": order}, [x], attributes={"perm": order})
    case("Transpose", {"permutation": [3, 1, 0, 2]}, [whole(0, 100, 2, 1, 3, 2, dtype=np.uint8)],
         attributes={"perm": [3, 1, 0, 2]})
    case("Transpose", {"permutation": [1, 0]}, [normal(2, 3).astype(np.float16)], attributes={"perm": [1, 0]})
    case("Transpose", {"permutation": [1, 0]}, [whole(-99, 99, 2, 3)], attributes={"perm": [1, 0]})
    case("Squeeze", {"axes": [0, -2]}, [normal(1, 2, 1, 3)], more=[ints(0, -2)])
    case("Unsqueeze", {"axes": [0, -1]}, [normal(2, 3)], more=[ints(0, -1)])
    case("Expand", {}, [normal(3, 1), ints(2, 1, 4)])
    case("Expand", {}, [normal(2, 3), ints(1)])
    case("Tile", {}, [normal(2, 3), ints(2, 2)])
    case("Tile", {}, [normal(2, 1, 3), ints(1, 3, 0)])
    for mode in ["constant", "reflect", "edge", "wrap"]:
        for pads in [[0, 1, 2, 0, 2, 3], [1, 0, 0, 0, 0, 0], [0, -1, 1, 1, 0, -2]]:
            if min(pads) < 0 and mode == "wrap":
                continue
            if mode == "reflect" and pads[0]:
                pads = [1, 0, 0, 1, 1, 2]
            case("Pad", {"mode": mode.upper(), "pads": pads, "value": 0.5 if mode == "constant" else 0}, [x],
                 attributes={"mode": mode}, more=[ints(*pads), np.array(0.5, np.float32)]
                 if mode == "constant" else [ints(*pads)])
    case("ShapeOf", {"start": 0, "end": 2**62}, [x], "Shape")
    case("ShapeOf", {"start": -2, "end": -1}, [x], "Shape", {"start": -2, "end": -1})
    case("Size", {}, [x])
    value = helper.make_tensor("value", 1, [1], [2.5])
    case("ConstantOfShape", {"value": 2.5}, [ints(2, 3)], attributes={"value": value})
    case("ConstantOfShape", {"value": 2.5}, [np.zeros(0, np.int64)], attributes={"value": value})
    for start, end, step in [(0, 5, 1), (5, -3, -2), (3, 3, 1), (0, 5, 2)]:
        case("Range", {}, [np.array(start), np.array(end), np.array(step)])
    case("Range", {}, [np.array(0, np.float32), np.array(1, np.float32), np.array(0.3, np.float32)])
    case("Range", {}, [np.array(1, np.float32), np.array(-1, np.float32), np.array(-0.5, np.float32)])
    for upper in [0, 1]:
        for diagonal in [0, -1, 2]:
            case("Trilu", {"upper": bool(upper), "diagonal": diagonal}, [x], attributes={"upper": upper},
                 more=[np.array(diagonal)])
    case("Dropout", {"ratio": 0.5}, [normal(4)])


for make in [elementwise, pairs, sliding, products, norms, reductions, moves]:
    make()
TARGET.parent.mkdir(parents=True, exist_ok=True)
TARGET.write_text("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
print(f"{len(cases)} cases, {TARGET.stat().st_size} bytes")
