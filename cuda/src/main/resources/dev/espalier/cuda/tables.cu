// What the threads of a block share; and the tables, whose declarations come before this (Structs.java).

#define PATIENCE 12
#define MOST_CHANGE 0.5
#define MOST_CONDITIONING 16
#define DOUBT 8
#define ROUNDING ((12 + DEEP + 4) * 5.9604644775390625e-8)  // of sums in float; reciprocals may lose a bit more than quotients
#define LARGEST_GRADIENT 1e15f
#define LEAST_NORMAL 1.17549435e-38
#define INFINITE __longlong_as_double(0x7ff0000000000000LL)
#define UNKNOWN __longlong_as_double(0x7ff8000000000000LL)

enum Need { NOTHING, EVALUATION, SURVEY, WEIGHING, EXACT };
enum Branch { ZEROED, SHRUNK, UNTOUCHED };

#define SUMS 4
#define LEAST 3  // the least d of an evaluation, the largest of a survey

// What was done to a group.
struct Counted {
    double penalty;
    float error;
    int evaluations, zeroedWithin;
    unsigned char branch;
    bool counts;
};

// What the threads of a block share about the groups of a tile.
struct Tile {
    float theta[MOST_GROUPS];         // where each is evaluated; from where it is stored
    float pull[MOST_GROUPS];          // l − κθ
    float kappa[MOST_GROUPS];
    unsigned char need[MOST_GROUPS];
    float parts[SUMS][THREADS];       // sums of every thread
    double sums[MOST_GROUPS][SUMS];   // sums of every group over the rows of the block
    Counted counted[MOST_GROUPS];
};

__constant__ Plan plan;     // of all steps
__shared__ Job job;         // at hand, with its tensor and set
__shared__ Tensor tensor;
__shared__ Set set;
__shared__ Tile tile;
__shared__ Job nextJob;     // what comes after, fetched ahead
__shared__ Tensor nextTensor;
__shared__ Set nextSet;
__shared__ float nextThetas[MOST_GROUPS];
