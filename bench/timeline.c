// Writes down when every kernel and every copy on a GPU began and ended, with CUPTI: a line for each, in nanoseconds.
//
// Built and used beside any program, a JVM included, with CUDA's toolkit at hand:
//   gcc -shared -fPIC -I/usr/local/cuda/include bench/timeline.c -o libtimeline.so -L/usr/local/cuda/lib64 -lcupti
//   CUDA_INJECTION64_PATH=$PWD/libtimeline.so TIMELINE=kernels.txt ./espalier bench --training --device gpu --model vgg16
//   python3 bench/timeline.py kernels.txt finish      # the last ten steps: idle time, where it is, and kernels by their time

#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef KERNEL
#define KERNEL CUpti_ActivityKernel10 // of CUDA 13; CUpti_ActivityKernel9 in 12
#endif
#define ROOM (8 << 20)

static FILE *lines;

static void line(unsigned long long from, unsigned long long to, const char *what) {
    fprintf(lines, "%llu %llu %s\n", from, to, what);
}

static void CUPTIAPI give(uint8_t **buffer, size_t *size, size_t *most) {
    *size = ROOM;
    *buffer = aligned_alloc(8, ROOM);
    *most = 0;
}

static void CUPTIAPI take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t filled) {
    CUpti_Activity *record = NULL;
    char text[64];
    while (cuptiActivityGetNextRecord(buffer, filled, &record) == CUPTI_SUCCESS) {
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
            KERNEL *kernel = (KERNEL *) record;
            line(kernel->start, kernel->end, kernel->name);
        } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
            CUpti_ActivityMemcpy5 *copy = (CUpti_ActivityMemcpy5 *) record;
            snprintf(text, sizeof text, "copy of %llu bytes, kind %d", (unsigned long long) copy->bytes, copy->copyKind);
            line(copy->start, copy->end, text);
        } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
            CUpti_ActivityMemset4 *fill = (CUpti_ActivityMemset4 *) record;
            line(fill->start, fill->end, "fill");
        }
    }
    free(buffer);
}

static void end(void) {
    cuptiActivityFlushAll(1);
    fclose(lines);
}

// Called by the driver, when the program first asks for a GPU.
int InitializeInjection(void) {
    const char *name = getenv("TIMELINE");
    lines = fopen(name ? name : "timeline.txt", "w");
    if (!lines) return 0;
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET);
    cuptiActivityRegisterCallbacks(give, take);
    cuptiActivityFlushPeriod(300);
    atexit(end);
    return 1;
}
