#!/usr/bin/env python3
"""PyTorch's fused AdamW on a GPU, on the shapes of a model: what `./espalier bench --device gpu` is compared with.

    step.py vgg16|bert-base [rounds]

Says what a step takes by itself, and behind a look for gradients that are not finite, as torch.amp.GradScaler has it before a
fused optimizer: that is what ours does before every step. Milliseconds, medians of rounds of 50 steps.
"""
import statistics
import sys

import torch


def convolutions():
    channels = 3
    for width in [64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512]:
        yield from [(width, channels, 3, 3), (width,), (width,)]
        channels = width
    yield from [(10, 512), (10,)]


def transformer():
    yield from [(30522, 768), (512, 768), (2, 768), (768,), (768,)]
    for _ in range(12):
        for rows, columns in [(768, 768)] * 4 + [(3072, 768), (768, 3072)]:
            yield from [(rows, columns), (rows,)]
        yield from [(768,)] * 4
    yield from [(2, 768), (2,)]


MODELS = {'vgg16': convolutions, 'bert-base': transformer}


def time_of(step, rounds, steps=50):
    for _ in range(20):
        step()
    times = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        for _ in range(steps):
            step()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / steps)
    return statistics.median(times)


def main(model, rounds=9):
    weights = [torch.nn.Parameter(torch.randn(shape, device='cuda') * 0.02) for shape in MODELS[model]()]
    for weight in weights:
        weight.grad = torch.randn_like(weight) * 1e-3
    optimizer = torch.optim.AdamW(weights, lr=1e-3, weight_decay=5e-3, fused=True)
    alone = time_of(optimizer.step, int(rounds))
    gradients = [weight.grad for weight in weights]
    found, scale = torch.zeros((), device='cuda'), torch.ones((), device='cuda')

    def checked():
        found.zero_()
        torch._amp_foreach_non_finite_check_and_unscale_(gradients, found, scale)
        optimizer.found_inf = found
        optimizer.step()

    optimizer.grad_scale = None
    behind = time_of(checked, int(rounds))
    count = sum(weight.numel() for weight in weights)
    print(f'{model}, {count:,} weights, PyTorch {torch.__version__}, {torch.cuda.get_device_name()}')
    print(f'AdamW {alone:.3f} ms; behind a look at its gradients {behind:.3f} ms')


if __name__ == '__main__':
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in MODELS:
        sys.exit(__doc__)
    main(*sys.argv[1:])
