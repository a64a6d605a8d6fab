package dev.espalier.torch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.Device;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.ndarray.types.SparseFormat;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.training.GradientCollector;
import dev.espalier.core.tensor.Place;
import dev.espalier.core.tensor.TensorView;
import dev.espalier.torch.LibTorch.Cuda;
import dev.espalier.torch.LibTorch.Lookup;
import dev.espalier.torch.LibTorch.OneDnnSwitch;
import dev.espalier.torch.LibTorch.Tensors;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class TorchTest {
    private final NDManager manager = NDManager.newBaseManager(Device.cpu(), "PyTorch");

    @AfterEach
    void close() {
        manager.close();
    }

    @Test
    void viewAndArrayAreTheSameMemory() {
        NDArray onHeapOnce = manager.create(new float[] {1, 2, 3, 4, 5, 6}, new Shape(2, 3));
        NDArray ofTorch = manager.arange(6f).add(1).reshape(2, 3);
        for (NDArray array : List.of(onHeapOnce, ofTorch)) {
            TensorView view = Torch.view(array);
            assertArrayEquals(new long[] {2, 3}, view.shape());
            assertTrue(view.contiguous());
            assertEquals(6, view.get(5));
            view.set(4, 50);
            assertEquals(50, array.getFloat(1, 1));
            array.muli(2);
            assertEquals(100, view.get(4));
            assertEquals(Torch.address(array), view.segment().address());
        }
    }

    /** As all gradients of a model are made to lie side by side: libtorch goes on adding to them. */
    @Test
    void aGradientIsMovedIntoOtherMemory() {
        NDArray parameter = manager.create(new float[] {1, 2, 3, 4}, new Shape(2, 2));
        parameter.setRequiresGradient(true);
        NDArray room = manager.zeros(new Shape(6));
        NDArray factors = manager.create(new float[] {5, 6, 7, 8}, new Shape(2, 2));
        backward(parameter, factors);
        assertTrue(Torch.shares());
        Torch.share(parameter.getGradient(), room.get("1:5").reshape(2, 2));
        backward(parameter, factors);
        assertArrayEquals(new float[] {0, 5, 6, 7, 8, 0}, room.toFloatArray());
        assertEquals(Torch.address(room) + Float.BYTES, Torch.address(parameter.getGradient()));
        Torch.zero(room);
        assertArrayEquals(new float[4], parameter.getGradient().toFloatArray());
        assertThrows(IllegalArgumentException.class, () -> Torch.share(parameter.getGradient(), room));
    }

    private static void backward(NDArray parameter, NDArray factors) {
        JniUtils.setGradMode(true);
        try {
            NDArray sum = parameter.mul(factors).sum();
            JniUtils.backward((PtNDArray) sum, (PtNDArray) sum.onesLike(), false, false);
        } finally {
            JniUtils.setGradMode(false);
        }
    }

    @Test
    void stridedArraysAreNotCopied() {
        NDArray array = manager.arange(12f).reshape(3, 4);
        NDArray transposed = array.transpose();
        NDArray sliced = array.get("1:, ::2");
        TensorView view = Torch.view(transposed);
        assertFalse(view.contiguous());
        assertArrayEquals(new long[] {1, 4}, view.strides());
        view.set(1, -1); // (0, 1) of the transpose is (1, 0)
        assertEquals(-1, array.getFloat(1, 0));
        assertEquals(List.of(-1.0, 6.0, 8.0, 10.0), elements(Torch.view(sliced)));
        assertEquals(Torch.address(array) + 16, Torch.address(sliced));
    }

    @Test
    void anAxisOfOnePlaceDoesNotMakeAnArrayStrided() {
        NDArray array =
                manager.arange(6f).reshape(2, 3).transpose().expandDims(0).get(":, 1:2"); // (1, 1, 2)
        assertFalse(Torch.view(array).contiguous());
        NDArray column = manager.arange(3f).reshape(3, 1).transpose(); // (1, 3), whose first stride may be anything
        assertTrue(Torch.view(column).contiguous());
        assertEquals(List.of(0.0, 1.0, 2.0), elements(Torch.view(column)));
    }

    @Test
    void scalarsAndEmptyArraysHaveViews() {
        assertEquals(List.of(7.0), elements(Torch.view(manager.create(7f))));
        assertEquals(0, Torch.view(manager.create(new Shape(0, 3))).size());
    }

    @Test
    void gradientsHaveViews() {
        NDArray weights = manager.create(new float[] {1, 2, 3});
        weights.setRequiresGradient(true);
        try (GradientCollector collector = Engine.getEngine("PyTorch").newGradientCollector()) {
            collector.backward(weights.square().sum());
        }
        try (NDArray gradient = weights.getGradient()) {
            assertEquals(List.of(2.0, 4.0, 6.0), elements(Torch.view(gradient)));
            JniUtils.zeroGrad((PtNDArray) weights);
            assertEquals(List.of(0.0, 0.0, 0.0), elements(Torch.view(gradient)), "the same memory, zeroed");
        }
    }

    @Test
    void whatHasNoFloatMemoryIsRefused() {
        NDArray sparse = manager.create(new float[] {0, 1, 0, 2}).toSparse(SparseFormat.COO);
        NDArray closed = manager.create(1f);
        closed.close();
        NDArray named = manager.create(new double[] {1, 2});
        named.setName("conv.weight");
        assertMessage(named, "array conv.weight of shape (2) holds float64: it must be float32");
        assertMessage(manager.create(new long[] {1}), "holds int64: it must be float32");
        assertMessage(manager.create("text"), "holds strings");
        assertMessage(sparse, "is sparse (COO): it must be dense");
        assertThrows(IllegalStateException.class, () -> Torch.view(closed));
        assertEquals(Torch.address(named), Torch.address(named.reshape(2, 1)), "any type has an address");
        assertTrue(Torch.address(manager.zeros(new Shape(2), DataType.INT8)) != 0);
    }

    private static void assertMessage(NDArray array, String part) {
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> Torch.view(array))
                .getMessage());
        assertTrue(message.contains(part), message);
    }

    /** oneDNN and libtorch's own loops add up in another order: results are close, and the switch is seen to work by that. */
    @Test
    void oneDnnIsSwitched() {
        NDArray images = manager.randomUniform(-1, 1, new Shape(4, 16, 12, 12));
        NDArray weights = manager.randomUniform(-1, 1, new Shape(16, 16, 3, 3));
        OneDnn before = Torch.oneDnn();
        try {
            assertEquals(new OneDnn.Known(true), Torch.switchOneDnn(true));
            NDArray with = convolution(images, weights);
            assertEquals(new OneDnn.Known(false), Torch.switchOneDnn(false));
            assertEquals(new OneDnn.Known(false), Torch.oneDnn());
            NDArray without = convolution(images, weights);
            assertEquals(0, with.sub(without).abs().max().getFloat(), 1e-3f);
        } finally {
            Torch.switchOneDnn(before.equals(new OneDnn.Known(true)));
        }
    }

    @Test
    void whatIsNotFoundIsAValueWithAReason() {
        Logger.getLogger(LibTorch.class.getName()).setLevel(Level.OFF);
        Lookup<SymbolLookup> empty = new Lookup.Found<>(name -> Optional.empty());
        Lookup<SymbolLookup> none = new Lookup.Missing<>("libtorch is not there");
        Lookup<OneDnnSwitch> missing = LibTorch.find("the switch", empty, OneDnnSwitch::in);
        String reason = Torch.state(missing) instanceof OneDnn.Unknown(String why) ? why : "";
        assertTrue(reason.contains("_ZN2at13globalContextEv"), reason);
        assertEquals(
                new OneDnn.Unknown("libtorch is not there"),
                Torch.state(LibTorch.find("the switch", none, OneDnnSwitch::in)));
        String message = String.valueOf(assertThrows(
                        UnsupportedOperationException.class,
                        () -> Torch.required("memory", LibTorch.find("memory", empty, Tensors::in)))
                .getMessage());
        assertTrue(message.contains("aoti_torch_get_data_ptr"), message);
    }

    private static Lookup<Cuda> cuda(int count) throws ReflectiveOperationException {
        MethodHandle stream = MethodHandles.lookup()
                .findStatic(
                        TorchTest.class,
                        "streamOfGpu1",
                        MethodType.methodType(int.class, int.class, MemorySegment.class));
        return new Lookup.Found<>(new Cuda(MethodHandles.constant(byte.class, (byte) count), stream));
    }

    @SuppressWarnings("UnusedMethod") // found by its name
    private static int streamOfGpu1(int gpu, MemorySegment result) {
        result.set(ValueLayout.ADDRESS, 0, MemorySegment.ofAddress(4096));
        return gpu == 1 ? 0 : 1;
    }

    @Test
    void gpusAreCountedAndHaveStreams() throws ReflectiveOperationException {
        assertEquals(new Gpus.Found(2), Torch.gpus(cuda(2)));
        String reason = Torch.gpus(cuda(0)) instanceof Gpus.None(String why) ? why : "";
        assertTrue(reason.contains("nvidia-smi"), reason);
        Cuda two = Torch.required("GPUs", cuda(2));
        assertEquals(4096, two.currentStream(1));
        String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> two.currentStream(0))
                .getMessage());
        assertTrue(message.contains("no GPU 0"), message);
    }

    @Test
    void aLibtorchForTheProcessorSaysHowToGetOneForGpus() {
        assumeTrue(Torch.gpus() instanceof Gpus.None, "there is a GPU here");
        String reason = Torch.gpus() instanceof Gpus.None(String why) ? why : "";
        assertTrue(reason.contains("PYTORCH_LIBRARY_PATH") || reason.contains("nvidia-smi"), reason);
        assumeTrue(LibTorch.cuda() instanceof Lookup.Missing, "this libtorch knows CUDA");
        assertThrows(UnsupportedOperationException.class, () -> Torch.stream(0));
    }

    @Test
    void devicesHavePlaces() {
        assertEquals(Place.HOST, Torch.place(Device.cpu()));
        assertEquals(Place.gpu(3), Torch.place(Device.gpu(3)));
        assertThrows(IllegalArgumentException.class, () -> Torch.place(Device.of("npu", 0)));
    }

    @Test
    void anArrayOnAGpuIsSeenThere() {
        assumeTrue(Torch.gpus() instanceof Gpus.Found, "there is no GPU here");
        try (NDManager far = NDManager.newBaseManager(Device.gpu(0), "PyTorch")) {
            NDArray array = far.ones(new Shape(2, 3)).transpose();
            TensorView view = Torch.view(array);
            assertEquals(Place.gpu(0), view.place());
            assertArrayEquals(new long[] {1, 3}, view.strides());
            assertEquals(Torch.address(array), view.segment().address());
            assertThrows(IllegalStateException.class, () -> view.get(0));
            assertEquals(0, Torch.stream(0), "DJL works in CUDA's default stream");
        }
    }

    @Test
    void bfloat16HoldsUntilItIsClosed() {
        NDArray one = manager.ones(new Shape(2, 2)).mul(1 + 1e-3f);
        try (Torch.Switched _ = Torch.bfloat16(manager.getDevice())) {
            try (Torch.Switched _ = Torch.bfloat16(manager.getDevice())) {
                assertEquals(DataType.UNKNOWN, one.matMul(one).getDataType(), "DJL has no name for it");
            }
            NDArray rounded = one.matMul(one).toType(DataType.FLOAT32, false);
            assertEquals(2, rounded.getFloat(0, 0), "1.001 is 1 in bfloat16");
        }
        assertEquals(DataType.FLOAT32, one.matMul(one).getDataType());
        assertEquals(2 * 1.002001f, one.matMul(one).getFloat(0, 0), 1e-6f);
    }

    @Test
    void tuningSwitchesOneDnnOffWhereItIsSlow() {
        boolean slow = System.getProperty("os.arch", "").equals("aarch64");
        OneDnn before = Torch.oneDnn();
        try {
            assertEquals(new OneDnn.Known(!slow), Torch.tune());
        } finally {
            Torch.switchOneDnn(before.equals(new OneDnn.Known(true)));
        }
    }

    private static NDArray convolution(NDArray images, NDArray weights) {
        Shape one = new Shape(1, 1);
        return JniUtils.convolution((PtNDArray) images, (PtNDArray) weights, null, one, one, one, 1);
    }

    private static List<Double> elements(TensorView view) {
        return LongStream.range(0, view.size()).mapToObj(view::get).toList();
    }
}
