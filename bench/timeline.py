"""Reads what bench/timeline.c has written: how long the GPU idled in a step, where, and which kernels took how long.

usage: python3 bench/timeline.py FILE KERNEL [steps]     KERNEL: one that a step has once, such as `finish` in ours
       python3 bench/timeline.py --draw OUT.svg LABEL FILE KERNEL [LABEL FILE KERNEL ...]     one step of each, below one another
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


def last_steps(file, mark, steps):
    """When the last steps but one began, which is when a mark ended, and what happened in them, to another mark."""
    events = read(file)
    marks = [i for i, event in enumerate(events) if event[2] == mark]
    if len(marks) < steps + 2:
        sys.exit(f"{file} has {len(marks)} times {mark}, and needs {steps + 2}; there are {sorted({e[2] for e in events})[:20]}")
    return events[marks[-steps - 2]][1], events[marks[-steps - 2] + 1 : marks[-2] + 1]


def busy(part):
    """Stretches without a gap that could be seen, and whether there is more in them than copies."""
    stretches = []
    for start, end, name in part:
        kernel = not name.startswith("copy")
        if stretches and start - stretches[-1][1] < 1 and kernel == stretches[-1][2]:
            stretches[-1][1] = max(stretches[-1][1], end)
        else:
            stretches.append([start, end, kernel])
    return stretches


def draw(out, rows):
    """A picture for a page: time to the right, a row for each file."""
    parts = [(label, *last_steps(file, mark, 1)) for label, file, mark in rows]
    scale = 760 / max(part[-1][1] - first for _, first, part in parts)
    height = 24 + 56 * len(parts)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="800" height="{height}" fill="#fff"/>',
    ]
    for row, (label, first, part) in enumerate(parts):
        y = 20 + 56 * row
        stretches = busy(part)
        working, last = 0, first
        for start, end, _ in stretches:
            working += max(0, end - max(start, last))
            last = max(last, end)
        whole = last - first
        lines.append(f'<text x="20" y="{y + 8}">{label}: {whole / 1e3:.2f} ms, of which the GPU idles {(whole - working) / 1e3:.2f}</text>')
        lines.append(f'<rect x="20" y="{y + 14}" width="{whole * scale:.1f}" height="20" fill="#e8e8e8"/>')
        for start, end, kernel in stretches:
            color = "#2a6f97" if kernel else "#e09f3e"
            lines.append(f'<rect x="{20 + (start - first) * scale:.1f}" y="{y + 14}" width="{max(0.2, (end - start) * scale):.1f}" height="20" fill="{color}"/>')
    lines.append("</svg>")
    with open(out, "w") as file:
        file.write("\n".join(lines) + "\n")


def main(file, mark, steps):
    first, part = last_steps(file, mark, steps)
    idle, gaps, times, counts = 0, collections.Counter(), collections.Counter(), collections.Counter()
    last, before = first, mark
    for start, end, name in part:
        if start > last:
            idle += start - last
            if start - last > SEEN:
                gaps[f"{before[:60]} … {name[:60]}"] += start - last
        times[name] += end - start
        counts[name] += 1
        last, before = max(last, end), name
    print(f"a step: {(part[-1][1] - first) / steps:.1f} us, idle {idle / steps:.1f}, kernels and copies {len(part) / steps:.1f}")
    for name, time in gaps.most_common(12):
        print(f"  idle {time / steps:8.1f} us  {name}")
    for name, time in times.most_common(30):
        print(f"{time / steps:10.1f} us {counts[name] / steps:7.1f}x  {name[:140]}")


if sys.argv[1] == "--draw":
    draw(sys.argv[2], [sys.argv[i : i + 3] for i in range(3, len(sys.argv), 3)])
else:
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 10)
