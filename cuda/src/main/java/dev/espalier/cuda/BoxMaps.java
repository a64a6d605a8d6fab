package dev.espalier.cuda;

import dev.espalier.cuda.Tiling.Boxes;
import dev.espalier.cuda.driver.Gpu;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/**
 * Maps by which a GPU copies the tiles of tensors into the memory that a block shares: of each tensor four, one for its weights, one
 * for its gradients and one for each moment. They are written anew only where something has moved.
 */
final class BoxMaps {
    /** What a tensor's maps are of: x, g, m and v. */
    private static final int MAPS = 4;

    private static final int BYTES = MAPS * Gpu.BOX_MAP_BYTES;

    /** Columns or rows of a box, at most; bytes that addresses, rows and boxes are multiples of. */
    private static final int MOST = 256;

    private static final int ALIGNMENT = 16;

    private final Gpu gpu;
    private final Map<Integer, Place> places = new HashMap<>();
    private final Gpu.Memory maps;
    private final MemorySegment mapsHere;
    private boolean changed;

    /** A tensor's maps: where they are, and the addresses that they are for. */
    private static final class Place {
        private final Boxes boxes;
        private final long at;
        private final long[] addresses = new long[MAPS];

        Place(Boxes boxes, long at) {
            this.boxes = boxes;
            this.at = at;
        }
    }

    /**
     * As yet of nothing.
     *
     * @param resources will give back what this takes
     * @param boxes of all tensors that have some, by their places in the tables
     */
    BoxMaps(Gpu gpu, Resources resources, Map<Integer, Boxes> boxes) {
        this.gpu = gpu;
        if (gpu.copiesBoxes()) {
            boxes.forEach((tensor, some) -> {
                if (isPossible(some)) {
                    places.put(tensor, new Place(some, (long) places.size() * BYTES));
                }
            });
        }
        maps = resources.keep(gpu.allocate((long) places.size() * BYTES));
        mapsHere =
                resources.keep(gpu.allocatePinned((long) places.size() * BYTES)).segment();
    }

    private static boolean isPossible(Boxes boxes) {
        return boxes.columns() <= MOST
                && boxes.rows() <= MOST
                && boxes.columns() * Float.BYTES % ALIGNMENT == 0
                && boxes.width() * Float.BYTES % ALIGNMENT == 0
                && boxes.width() <= Integer.MAX_VALUE;
    }

    /**
     * Where the maps of a tensor are on the GPU.
     *
     * @param tensor its place in the tables
     * @param addresses of its weights, gradients and moments
     * @return the address; 0 if its tiles cannot be copied so
     */
    long of(int tensor, long... addresses) {
        Place place = places.get(tensor);
        if (place == null) {
            return 0;
        }
        for (int i = 0; i < MAPS; i++) {
            if (addresses[i] == 0 || addresses[i] % ALIGNMENT != 0) {
                return 0;
            }
            if (place.addresses[i] != addresses[i]) {
                Boxes boxes = place.boxes;
                gpu.describeBoxes(
                        mapsHere.asSlice(place.at + (long) i * Gpu.BOX_MAP_BYTES, Gpu.BOX_MAP_BYTES),
                        addresses[i],
                        boxes.width(),
                        boxes.height(),
                        boxes.columns(),
                        boxes.rows());
                place.addresses[i] = addresses[i];
                changed = true;
            }
        }
        return maps.address() + place.at;
    }

    /** Bytes of a box of a tensor; 0 if it has no maps. */
    int boxBytes(int tensor) {
        Place place = places.get(tensor);
        return place == null ? 0 : place.boxes.columns() * place.boxes.rows() * Float.BYTES;
    }

    /** Puts the copy of what has changed to the GPU into a stream. */
    void upload(long stream) {
        if (changed) {
            gpu.copyIn(mapsHere, maps.address(), stream);
            changed = false;
        }
    }
}
