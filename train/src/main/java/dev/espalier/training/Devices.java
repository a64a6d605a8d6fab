package dev.espalier.training;

import ai.djl.Device;
import dev.espalier.cuda.CudaSteps;
import dev.espalier.djl.torch.Gpus;
import dev.espalier.djl.torch.Torch;
import dev.espalier.kernel.LaneChoice;
import dev.espalier.kernel.StepKernel;

/** What a training needs of the device that it runs on. */
public final class Devices {
    private Devices() {}

    /**
     * The first GPU.
     *
     * @return the device
     * @throws IllegalArgumentException if libtorch cannot compute on one, with what to do
     */
    public static Device gpu() {
        return gpu(Torch.gpus());
    }

    static Device gpu(Gpus gpus) {
        return switch (gpus) {
            case Gpus.Found _ -> Device.gpu(0);
            case Gpus.None(String reason) -> throw new IllegalArgumentException(reason);
        };
    }

    /**
     * What makes the kernels that the optimizer's steps run on, near the weights.
     *
     * @param device where the weights are
     * @return the maker
     */
    static StepKernel.Factory kernels(Device device) {
        if (!device.isGpu()) {
            return LaneChoice.BEST;
        }
        int gpu = device.getDeviceId();
        return new CudaSteps(gpu, () -> Torch.stream(gpu), null);
    }
}
