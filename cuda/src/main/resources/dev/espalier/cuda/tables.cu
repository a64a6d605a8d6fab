// What jobs are told and what threads hand each other; the tables' declarations come before this (Structs.java).

#define PATIENCE 12
#define MOST_CHANGE 0.5
#define MOST_CONDITIONING 16
#define DOUBT 8
#define ROUNDING ((12 + DEEP + 5) * 5.9604644775390625e-8)  // of sums in float; reciprocals may lose a bit more than quotients
#define LARGEST_GRADIENT 1e15f
#define LEAST_NORMAL 1.17549435e-38
#define INFINITE __longlong_as_double(0x7ff0000000000000LL)
#define UNKNOWN __longlong_as_double(0x7ff8000000000000LL)

enum Need { NOTHING, EVALUATION, SURVEY, WEIGHING, EXACT };
enum Branch { ZEROED, SHRUNK, UNTOUCHED };

#define SUMS 4
#define LEAST 3  // the least d of an evaluation, the largest of a survey

// A job, its tensor and set, and the norms that its groups had a step ago.
struct Task {
    Job job;
    Tensor tensor;
    Set set;
    float thetas[MOST_GROUPS];
};

// What is asked of the groups of a tile, and what their threads answer.
struct Desk {
    float theta[MOST_GROUPS];      // where each is evaluated; in the end, from where it is stored
    float pull[MOST_GROUPS];       // l − κθ
    unsigned char need[MOST_GROUPS];
    bool again;                    // another answer is wanted
    float parts[SUMS][THREADS];    // sums of every thread
};

__constant__ Plan plan;  // of all steps
