"""Which weight decay makes groups zero without any penalty: ResNet-34 on CIFAR-10 in PyTorch, with Adam (decay within the gradient) or AdamW.

usage: python3 bench/pytorch/decay.py DIR adam|adamw [epochs [epochs at a tenth of the rate]]
DIR has CIFAR-10's binary batches. Prints how many groups of weights, by input and by output channel, are zero or nearly so.
"""

import sys

import torch
import torch.nn.functional as F
from training import resnet34


def images(directory, names):
    raw = b"".join(open(f"{directory}/{name}.bin", "rb").read() for name in names)
    rows = torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(-1, 3073).cuda()
    x = rows[:, 1:].view(-1, 3, 32, 32).float() / 255
    mean, deviation = (torch.tensor(v, device="cuda").view(1, 3, 1, 1) for v in ((0.4914, 0.4822, 0.4465), (0.247, 0.2435, 0.2616)))
    return ((x - mean) / deviation).contiguous(memory_format=torch.channels_last), rows[:, 0].long()


def augmented(x):
    """Moved by up to four pixels, and every other image turned round."""
    n = x.shape[0]
    padded = F.pad(x, (4, 4, 4, 4))
    rows, columns = (torch.randint(0, 9, (n, 1), device="cuda") + torch.arange(32, device="cuda") for _ in range(2))
    columns = torch.where(torch.rand(n, 1, device="cuda") < 0.5, columns, columns.flip(1))
    picked = padded.permute(0, 2, 3, 1)[torch.arange(n, device="cuda").view(-1, 1, 1), rows.unsqueeze(2), columns.unsqueeze(1)]
    return picked.permute(0, 3, 1, 2)


def census(model):
    for axis, name in ((1, "by input"), (0, "by output")):
        weights = [p.detach() for p in model.parameters() if p.dim() > 1]
        norms = torch.cat([w.transpose(0, axis).flatten(1).norm(dim=1) for w in weights])
        shares = ", ".join(f"{(norms > t).float().mean().item():.2%} above {t:g}" for t in (0, 1e-12, 1e-8, 1e-5, 1e-3))
        print(f"   groups {name} ({len(norms)}): {shares}", flush=True)


def main(directory, kind, epochs, slow):
    torch.manual_seed(1)
    x, labels = images(directory, [f"data_batch_{i}" for i in range(1, 6)])
    test, answers = images(directory, ["test_batch"])
    model = resnet34().cuda().to(memory_format=torch.channels_last)
    make = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind]
    optimizer = make(model.parameters(), lr=torch.tensor(1e-3), weight_decay=5e-4, fused=True, capturable=True)
    batch, target = x[:128].clone(memory_format=torch.channels_last), labels[:128].clone()

    def step():
        with torch.autocast("cuda", torch.bfloat16):
            loss = F.cross_entropy(model(batch), target)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for epoch in range(1, epochs + slow + 1):
        if epoch == epochs + 1:
            optimizer.param_groups[0]["lr"].fill_(1e-4)
        order = torch.randperm(len(x), device="cuda")[: len(x) // 128 * 128].view(-1, 128)
        for rows in order:
            batch.copy_(augmented(x[rows]))
            target.copy_(labels[rows])
            graph.replay()
        if epoch % 5 == 0 or epoch == epochs + slow:
            model.eval()
            with torch.no_grad(), torch.autocast("cuda", torch.bfloat16):
                right = sum((model(test[i : i + 1000]).argmax(1) == answers[i : i + 1000]).sum().item() for i in range(0, 10000, 1000))
            model.train()
            print(f"{kind}, epoch {epoch}: {right / 100:.2f} % of the test part", flush=True)
            census(model)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int((sys.argv + ["30"])[3]), int((sys.argv + ["", "10"])[4]))
