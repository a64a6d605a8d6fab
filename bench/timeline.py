"""Reads what bench/timeline.c has written: how long the GPU idled in a step, where, and which kernels took how long.

usage: python3 bench/timeline.py FILE KERNEL [steps]     KERNEL: one that a step has once, such as `finish` in ours
"""

import collections
import sys

SEEN = 3  # microseconds from which on a gap is told


def read(file):
    events = []
    with open(file, errors="replace") as lines:
        for line in lines:
            parts = line.rstrip("\n").split(" ", 2)
            if len(parts) == 3:
                events.append((int(parts[0]) / 1e3, int(parts[1]) / 1e3, parts[2]))
    return sorted(events)


def main(file, mark, steps):
    events = read(file)
    marks = [i for i, event in enumerate(events) if event[2] == mark]
    if len(marks) < steps + 2:
        sys.exit(f"{file} has {len(marks)} times {mark}, and needs {steps + 2}; there are {sorted({e[2] for e in events})[:20]}")
    part = events[marks[-steps - 2] + 1 : marks[-2] + 1]
    idle, gaps, times, counts = 0, collections.Counter(), collections.Counter(), collections.Counter()
    last, before = part[0][0], ""
    for start, end, name in part:
        if start > last:
            idle += start - last
            if start - last > SEEN:
                gaps[f"{before[:60]} … {name[:60]}"] += start - last
        times[name] += end - start
        counts[name] += 1
        last, before = max(last, end), name
    print(f"a step: {(part[-1][1] - part[0][0]) / steps:.1f} us, idle {idle / steps:.1f}, kernels and copies {len(part) / steps:.1f}")
    for name, time in gaps.most_common(12):
        print(f"  idle {time / steps:8.1f} us  {name}")
    for name, time in times.most_common(30):
        print(f"{time / steps:10.1f} us {counts[name] / steps:7.1f}x  {name[:140]}")


main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 10)
