"""Whole training steps in PyTorch on a GPU, to be held beside `./espalier bench --training --device gpu`.

The same models, shapes and random samples: forward, loss, backward, clipping, fused AdamW; no penalty.
usage: python3 bench/pytorch/training.py vgg16|resnet34|bert-base float32|tf32|bf16 [steps [deterministic]]
deterministic: with kernels of cuDNN only whose bits are the same from run to run, as ours are
"""

import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


def vgg16():
    layers, width = [], 3
    for plan in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
        if plan == 0:
            layers.append(nn.MaxPool2d(2))
        else:
            layers += [nn.Conv2d(width, plan, 3, padding=1, bias=False), nn.BatchNorm2d(plan), nn.ReLU()]
            width = plan
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(512, 10))


class Block(nn.Module):
    def __init__(self, width, out, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU(),
            nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out))
        self.shortcut = nn.Identity() if width == out else nn.Sequential(
            nn.Conv2d(width, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


def resnet34():
    layers, width = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()], 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            layers.append(Block(width, 64 << stage, 2 if stage and not block else 1))
            width = 64 << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


class Layer(nn.Module):
    def __init__(self, hidden=768, heads=12):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(hidden, hidden) for _ in range(4))
        self.up, self.down = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)
        self.norms = nn.ModuleList(nn.LayerNorm(hidden, eps=1e-12) for _ in range(2))

    def forward(self, x):
        parts = [f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.query, self.key, self.value)]
        mixed = F.scaled_dot_product_attention(*parts, dropout_p=0.1).transpose(1, 2).flatten(2)
        x = self.norms[0](x + F.dropout(self.out(mixed), 0.1))
        return self.norms[1](x + F.dropout(self.down(F.gelu(self.up(x))), 0.1))


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places, self.types = nn.Embedding(30522, 768), nn.Embedding(512, 768), nn.Embedding(2, 768)
        self.norm = nn.LayerNorm(768, eps=1e-12)
        self.layers = nn.Sequential(*(Layer() for _ in range(12)))
        self.answer = nn.Linear(768, 2)

    def forward(self, ids):
        x = self.words(ids) + self.places.weight[: ids.shape[1]] + self.types.weight[0]
        return self.answer(self.layers(F.dropout(self.norm(x), 0.1))).transpose(1, 2)


def main(name, precision, steps, deterministic):
    torch.manual_seed(7)
    torch.backends.cudnn.deterministic = deterministic
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision != "float32"
    texts = name == "bert-base"
    model = {"vgg16": vgg16, "resnet34": resnet34, "bert-base": Bert}[name]().cuda()
    if texts:
        samples, x = 32, torch.randint(0, 30522, (32, 384), device="cuda")
        y = torch.randint(0, 384, (32, 2), device="cuda")
        for table in (model.words, model.places, model.types):
            table.weight.requires_grad_(False)
    else:
        model = model.to(memory_format=torch.channels_last)
        samples, x = 128, torch.randn(128, 3, 32, 32, device="cuda").to(memory_format=torch.channels_last)
        y = torch.randint(0, 10, (128,), device="cuda")
    weights = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=1e-4, fused=True, capturable=True)

    def step(clear):
        optimizer.zero_grad(set_to_none=clear)
        with torch.autocast("cuda", torch.bfloat16, enabled=precision == "bf16"):
            out = model(x)
            loss = F.cross_entropy(out.flatten(0, 1), y.flatten()) if texts else F.cross_entropy(out, y)
        loss.backward()
        nn.utils.clip_grad_norm_(weights, 1.0, foreach=True)
        optimizer.step()
        return loss

    def measure(how, run):
        times = []
        for i in range(steps + 10):
            torch.cuda.synchronize()
            start = time.perf_counter()
            run()
            torch.cuda.synchronize()
            if i >= 10:
                times.append(1e3 * (time.perf_counter() - start))
        median = statistics.median(times)
        print(f"{how:12} {median:8.2f} ms (least {min(times):.2f})   {1e3 * samples / median:9,.0f} samples/s", flush=True)

    print(f"{name}, {samples} samples a step, {precision}, PyTorch {torch.__version__}, {torch.cuda.get_device_name()}")
    measure("eager", lambda: step(True).item())
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step(True)
    torch.cuda.synchronize()
    optimizer.zero_grad(set_to_none=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step(True)
    measure("CUDA graph", lambda: (graph.replay(), loss.item()))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 50, "deterministic" in sys.argv[4:])
