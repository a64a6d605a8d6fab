// What the host writes (Tables.java), and what the threads of a block share.

#define BATCH 4             // weights that a thread has under way at once
#define MOST_PIECES 8
#define MOST_PARTS 8
#define MOST_RANK 8
#define MOST_GROUPS 64      // of a tile
#define MOST_NESTED 32      // the same, where they have groups within them
#define PATIENCE 12
#define MOST_CHANGE 0.5
#define MOST_CONDITIONING 16
#define ROUNDING ((12 + DEEP + 4) * 5.9604644775390625e-8)  // of sums in float; reciprocals may lose a bit more than quotients
#define LARGEST_GRADIENT 1e15f
#define LEAST_NORMAL 1.17549435e-38
#define INFINITE __longlong_as_double(0x7ff0000000000000LL)
#define UNKNOWN __longlong_as_double(0x7ff8000000000000LL)

enum Kind { PLAIN, SINGLE, GROUPED, NESTING, SUBGRADIENTS };
enum Need { NOTHING, EVALUATION, SURVEY, EXACT };
enum Branch { ZEROED, SHRUNK, UNTOUCHED };

struct Strides {
    long long rank;
    long long shape[MOST_RANK];
    long long strides[MOST_RANK];
};

struct Layout {
    Strides weights, gradients;
};

// Where a tensor is in this step. A moment that the rule does not have is null, and so is the layout of what is contiguous.
struct Tensor {
    float *x;
    const float *g;
    float *m;
    float *v;
    const Layout *layout;
};

struct Piece {
    double from, height, bend;
};

// A set of tensors in this step: the rule (Update), the penalty (PenaltyTerms) and, where groups nest, NestedSolver's l and l_c.
struct Set {
    float keepFirst, addFirst, step, keepSecond, addSecond, scaleSecond, innerEpsilon, outerEpsilon, decay;
    int idle, fast, kneed;
    double stepSize, smallStep, threshold, kappa, knee, singleThreshold, singleStrength;
    double outerStrength, innerStrength[MOST_PARTS];
    double size;                      // of a group, in weights
    long long count;                  // of groups
    int parts, pieces;
    int firstMember[MOST_PARTS + 1];  // of the jobs of a team, by part
    int unused;
    Piece piece[MOST_PIECES];
};

struct Job {
    int kind, set, tensor, part;
    long long first;     // the logical index of its first weight
    long long stride;    // weights from one row to the next
    int row, rows;       // its first row, and how many
    int columns, inner;  // columns, and columns of a group
    int fold, limit;     // a group that lies in one piece is folded into so many rows, and has so many weights
    int group, groups;   // its first group, and how many
    int team, members;   // its team, and how many jobs that has
    int member, unused;  // its number there
    long long theta;     // where the norms of its groups are
    long long slot;      // where its sums are
};

struct Stats {
    long long evaluations;
    double penalty;
    float error;
    int zeroed, shrunk, untouched, zeroedWithin, unused;
};

struct Flags {
    int bad;         // a gradient is not finite: the step does nothing
    int stragglers;  // groups that ask for the exact operator
};

struct Scan {
    int tensor, count;
    long long first;
};

struct Plan {
    const Tensor *tensors;
    const Set *sets;
    const Job *jobs;
    const Scan *scans;
    float *thetas;
    double *sums;
    unsigned *arrivals;
    Stats *jobStats;
    Stats *setStats;
    const int *firstJobs;  // of every set, and their end
    unsigned *largest;
    Flags *flags;
    int4 *stragglers;      // set, group and evaluations so far
    int jobCount, scanCount, setCount, teamCount;
    long long slots;       // of all jobs: the sums of odd rounds follow those of even ones
};

// Tables.java writes them so.
static_assert(sizeof(Tensor) == 40 && sizeof(Layout) == 272 && sizeof(Set) == 432 && sizeof(Job) == 96, "sizes");
static_assert(sizeof(Stats) == 40 && sizeof(Flags) == 8 && sizeof(Scan) == 16 && sizeof(Plan) == 128, "sizes");

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
