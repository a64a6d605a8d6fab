#!/usr/bin/env python3
"""Small PyTorch models, exported to ONNX by both of PyTorch's exporters, with inputs and PyTorch's own outputs.

The importer's tests read what real exporters write, so nothing here is made by hand: each family of models is a
narrow copy of the original architecture (torchvision, transformers) or a few lines of plain PyTorch, and each variant
of a family is one call of torch.onnx.export. A variant named NAME consists of

    NAME.onnx            the model, its weights inline (but for families whose name ends in "-external")
    NAME.in.INPUT.npy    one seeded input; a dynamic variant is fed other lengths than those it was traced with
    NAME.out.I.npy       PyTorch's I-th output for these inputs

All that is random comes from a fixed seed. Weights, biases, affines and running statistics are all random, so that an
operand that is swapped, forgotten or broadcast along the wrong axis shows in the outputs. Each variant must pass the
ONNX checker, and ONNX Runtime must agree with PyTorch within 1e-4. What exporters write down about the exporting
machine (stack traces, source paths) is removed.

    export_models.py --resources            write the chosen variants and their README.md to ../resources/exports
    export_models.py --output DIRECTORY     write all variants
    export_models.py --output D --only RE   write those whose name has a match of the regular expression
    export_models.py --list                 print the names

Needs torch, torchvision, transformers, onnx, onnxruntime and onnxscript.
"""
import argparse
import contextlib
import dataclasses
import importlib.metadata
import io
import logging
import math
import pathlib
import re
import sys
import tempfile
import time
import typing
import warnings
import zlib

import numpy
import onnx
import onnxruntime
import torch
import torchvision
import transformers
from torch import nn
from torch.nn import functional

SEED = 20240229
TOLERANCE = 1e-4
RESOURCES = pathlib.Path(__file__).resolve().parent.parent / "resources" / "exports"

TRACED = {"batch": 2, "length": 8}  # the lengths at export
FED = {"batch": 3, "length": 5}     # the lengths of a dynamic variant's inputs


@dataclasses.dataclass(frozen=True)
class Variant:
    """One call of an exporter: "ts" is the TorchScript-based one, "dynamo" the one based on torch.export."""

    exporter: str
    opset: typing.Optional[int] = None  # None is the exporter's default
    dynamic: bool = False
    raw: bool = False                   # without the exporter's own folding and optimizations

    def suffix(self):
        parts = [self.exporter]
        if self.opset is not None:
            parts.append(f"opset{self.opset}")
        if self.raw:
            parts.append("raw")
        parts.append("dynamic" if self.dynamic else "static")
        return "-".join(parts)


@dataclasses.dataclass(frozen=True)
class Family:
    """A model, what it is fed (name, kind, dimensions; a string among the dimensions is a symbol) and its variants."""

    name: str
    origin: str
    build: typing.Callable[[], nn.Module]
    inputs: tuple
    variants: tuple


def both(*opsets, dynamo=(18,), raw=False):
    """Both exporters with their default opset, static and dynamic; further opsets are by turns dynamic and static."""
    variants = [Variant(exporter, dynamic=dynamic) for exporter in ("ts", "dynamo") for dynamic in (False, True)]
    variants += [Variant("ts", opset, dynamic=index % 2 == 0) for index, opset in enumerate(opsets)]
    variants += [Variant("dynamo", opset, dynamic=index % 2 == 0) for index, opset in enumerate(dynamo)]
    if raw:
        variants += [Variant(exporter, dynamic=True, raw=True) for exporter in ("ts", "dynamo")]
    return tuple(variants)


# ---------------------------------------------------------------- convolutional networks

def vgg(batch_norm):
    network = torchvision.models.VGG(
        torchvision.models.vgg.make_layers([8, "M", 12, "M", 16, 16, "M"], batch_norm=batch_norm), init_weights=False)
    network.avgpool = nn.AdaptiveAvgPool2d(2)
    network.classifier = nn.Sequential(
        nn.Linear(16 * 2 * 2, 24), nn.ReLU(True), nn.Dropout(0.5), nn.Linear(24, 5))
    return network


class ResNet(torchvision.models.ResNet):
    """torchvision's ResNet, whose widths are fixed, with narrow stages."""

    def __init__(self, block, widths=(4, 6, 8), layers=(1, 2, 1), classes=5):
        nn.Module.__init__(self)
        self._norm_layer = nn.BatchNorm2d
        self.inplanes, self.dilation, self.groups, self.base_width = widths[0], 1, 1, 64
        self.conv1 = nn.Conv2d(3, widths[0], 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(widths[0])
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = self._make_layer(block, widths[0], layers[0])
        self.layer2 = self._make_layer(block, widths[1], layers[1], stride=2)
        self.layer3 = self._make_layer(block, widths[2], layers[2], stride=2)
        self.layer4 = nn.Identity()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(widths[2] * block.expansion, classes)


def mobilenet_v2():
    network = torchvision.models.MobileNetV2(
        num_classes=5, width_mult=0.125, round_nearest=4,
        inverted_residual_setting=[[1, 16, 1, 1], [6, 24, 2, 2], [6, 32, 1, 2]])
    channels = network.features[-1][0].in_channels
    network.features[-1] = torchvision.ops.Conv2dNormActivation(
        channels, 32, kernel_size=1, norm_layer=nn.BatchNorm2d, activation_layer=nn.ReLU6)
    network.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(32, 5))
    return network


def mobilenet_v3():
    block = torchvision.models.mobilenetv3.InvertedResidualConfig
    return torchvision.models.MobileNetV3([
        block(8, 3, 8, 8, True, "RE", 2, 1, 1),
        block(8, 3, 16, 12, False, "RE", 2, 1, 1),
        block(12, 5, 24, 12, True, "HS", 1, 1, 1),
        block(12, 5, 24, 16, True, "HS", 2, 2, 1),
    ], last_channel=32, num_classes=5)


def densenet():
    return torchvision.models.DenseNet(
        growth_rate=4, block_config=(2, 3), num_init_features=8, bn_size=2, num_classes=5)


def squeezenet():
    fire = torchvision.models.squeezenet.Fire
    network = torchvision.models.SqueezeNet("1_1", num_classes=5)
    network.features = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(inplace=True), nn.MaxPool2d(3, stride=2, ceil_mode=True),
        fire(8, 4, 8, 8), fire(16, 4, 8, 8), nn.MaxPool2d(3, stride=2, ceil_mode=True), fire(16, 6, 12, 12))
    network.classifier = nn.Sequential(
        nn.Dropout(0.5), nn.Conv2d(24, 5, 1), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1)))
    return network


def efficientnet():
    block = torchvision.models.efficientnet.MBConvConfig
    return torchvision.models.EfficientNet([
        block(1, 3, 1, 8, 8, 1, 1, 1), block(4, 3, 2, 8, 12, 2, 1, 1), block(4, 5, 2, 12, 16, 1, 1, 1),
    ], dropout=0.2, last_channel=32, num_classes=5)


def shufflenet():
    return torchvision.models.ShuffleNetV2([2, 2, 2], [8, 8, 16, 16, 24], num_classes=5)


def convnext():
    block = torchvision.models.convnext.CNBlockConfig
    return torchvision.models.ConvNeXt([block(8, 12, 1), block(12, None, 1)], num_classes=5)


class Convolutions(nn.Module):
    """Convolutions of one and two dimensions, dilated, grouped, depthwise, strided, with uneven padding."""

    def __init__(self):
        super().__init__()
        self.dilated = nn.Conv2d(3, 8, 3, padding=2, dilation=2)
        self.grouped = nn.Conv2d(8, 12, 3, padding=1, groups=4, bias=False)
        self.depthwise = nn.Conv2d(12, 24, (3, 5), padding=(1, 2), groups=12)
        self.same = nn.Conv2d(24, 8, (4, 2), padding="same")
        self.strided = nn.Conv2d(8, 6, (3, 2), stride=(2, 1), padding=(0, 1), dilation=(1, 3))
        self.uneven = nn.Conv2d(6, 6, 3)
        self.reflected = nn.Conv2d(6, 4, 3, padding=1, padding_mode="reflect")
        self.line = nn.Conv1d(4, 5, 3, padding=1)

    def forward(self, image):
        x = functional.relu(self.dilated(image))
        x = functional.relu(self.grouped(x))
        x = functional.relu(self.depthwise(x))
        x = functional.relu(self.same(x))
        x = functional.relu(self.strided(x))
        x = functional.relu(self.uneven(functional.pad(x, (1, 2, 0, 3))))
        x = functional.relu(self.reflected(x))
        return self.line(x.flatten(2))


class Activations(nn.Module):
    """A chain of linear layers, each followed by another activation."""

    def __init__(self):
        super().__init__()
        self.activations = nn.ModuleList([
            nn.PReLU(6), nn.PReLU(), nn.LeakyReLU(0.2), nn.ELU(0.7), nn.Hardtanh(-0.5, 1.5), nn.Softplus(), nn.Mish(),
            nn.GELU(), nn.GELU(approximate="tanh"), nn.SELU(), nn.CELU(1.3), nn.Softsign(), nn.Hardsigmoid(),
            nn.Hardswish(), nn.SiLU(), nn.ReLU6(), nn.LogSigmoid(), nn.Tanh(), nn.Sigmoid(), nn.Softmax(-1),
            nn.LogSoftmax(1)])
        self.layers = nn.ModuleList([nn.Linear(6, 6) for _ in self.activations])

    def forward(self, features):
        x = features
        collected = features
        for layer, activation in zip(self.layers, self.activations):
            x = activation(2 * layer(x))
            collected = collected + x
        return x, collected


class Pools(nn.Module):
    """Pooling with and without rounding up and counted padding; adaptive pooling."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(2, 4, 3, padding=1)
        self.pools = nn.ModuleList([
            nn.AvgPool2d(3, stride=2, padding=1, ceil_mode=True, count_include_pad=False),
            nn.AvgPool2d(3, stride=2, padding=1, ceil_mode=True, count_include_pad=True),
            nn.AvgPool2d((2, 3), stride=(2, 1), padding=(1, 0)),
            nn.AvgPool2d(2),
            nn.MaxPool2d(3, stride=2, padding=1, ceil_mode=True),
            nn.MaxPool2d((2, 3), stride=1, dilation=2),
            nn.AdaptiveAvgPool2d((3, 5)),
            nn.AdaptiveAvgPool2d((3, 1)),
            nn.AdaptiveMaxPool2d(1)])
        self.line = nn.AvgPool1d(3, stride=2, padding=1)

    def forward(self, image):
        x = self.stem(image)
        flat = [pool(x).flatten(1) for pool in self.pools]
        return torch.cat(flat + [self.line(x.flatten(2)).flatten(1)], dim=1)


class Pads(nn.Module):
    """Padding with a constant, by reflection and by repeating the edge; cropping by negative padding."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(2, 3, 3)
        self.second = nn.Conv2d(3, 2, 3)

    def forward(self, image):
        x = self.first(functional.pad(image, (1, 0, 2, 1), mode="reflect"))
        x = self.second(functional.pad(x, (0, 2, 1, 1), mode="replicate"))
        x = functional.pad(x, (1, 1, 0, 2), value=0.5)
        return functional.pad(x, (-1, 2, 0, -1)), functional.pad(x.flatten(2), (2, 1), mode="reflect")


class Norms(nn.Module):
    """Normalizations other than batch and layer norm."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)
        self.group = nn.GroupNorm(4, 8)
        self.instance = nn.InstanceNorm2d(8, affine=True)
        self.scale = nn.Parameter(torch.ones(6))

    def forward(self, image):
        x = self.instance(functional.relu(self.group(self.stem(image))))
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.scale


class Decoder(nn.Module):
    """What turns a small image into a larger one."""

    def __init__(self):
        super().__init__()
        self.first = nn.ConvTranspose2d(3, 6, 3, stride=2, padding=1, output_padding=1)
        self.second = nn.Conv2d(6, 4, 3, padding=1)

    def forward(self, image):
        x = functional.interpolate(torch.relu(self.first(image)), scale_factor=2.0, mode="nearest")
        return functional.pixel_shuffle(self.second(x), 2)


# ---------------------------------------------------------------- fully connected and hand-written networks

def mlp():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 12, bias=False),
                         nn.BatchNorm1d(12), nn.Tanh(), nn.Linear(12, 4))


class Block(nn.Module):
    """A transformer block written down plainly: lengths are read from the shapes and put into reshapes."""

    def __init__(self, width=16, heads=2):
        super().__init__()
        self.heads = heads
        self.first_norm, self.second_norm = nn.LayerNorm(width), nn.LayerNorm(width, eps=1e-6)
        self.joint = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def attend(self, x):
        batch, length, width = x.shape
        parts = self.joint(x).reshape(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        query, key, value = parts[0], parts[1], parts[2]
        weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(width // self.heads), dim=-1)
        return self.output((weights @ value).transpose(1, 2).reshape(batch, length, width))

    def forward(self, tokens):
        x = tokens + self.attend(self.first_norm(tokens))
        return x + self.narrow(functional.gelu(self.wide(self.second_norm(x))))


class LanguageModel(nn.Module):
    """A decoder: position ids from arange, causal attention, the embedding tied with the output layer."""

    def __init__(self, words=19, width=16, heads=2):
        super().__init__()
        self.heads = heads
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(16, width)
        self.joint = nn.Linear(width, 3 * width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, input_ids):
        batch, length = input_ids.shape
        positions = torch.arange(length, device=input_ids.device).unsqueeze(0).expand(batch, -1)
        x = self.words(input_ids) + self.positions(positions)
        query, key, value = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                             for part in self.joint(x).chunk(3, dim=-1))
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.head(self.norm(x + mixed.transpose(1, 2).reshape(batch, length, -1)))


class MaskedAttention(nn.Module):
    """Attention under a padding mask and a causal mask, by masked_fill and by where; mean over what is not padding."""

    def __init__(self, width=16):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.register_buffer("causal", torch.ones(16, 16, dtype=torch.bool).tril())

    def forward(self, tokens, mask):
        length = tokens.size(1)
        scores = self.query(tokens) @ self.key(tokens).transpose(1, 2) * 0.25
        scores = scores.masked_fill(mask.unsqueeze(1) == 0, float("-inf"))
        scores = torch.where(self.causal[:length, :length], scores, torch.full_like(scores, -1e4))
        mixed = scores.softmax(-1) @ self.value(tokens)
        weights = mask.unsqueeze(-1).expand(mixed.size()).float()
        return mixed, (mixed * weights).sum(1) / weights.sum(1).clamp(min=1e-9)


class Reductions(nn.Module):
    """Means, variances, norms, extremes and sums along one axis, several and all."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 6)

    def forward(self, tokens):
        x = self.layer(tokens)
        variance, mean = torch.var_mean(x, dim=-1, unbiased=False, keepdim=True)
        normal = (x - mean) * torch.rsqrt(variance + 1e-5)
        pooled = torch.stack([x.mean(1), x.std(1), x.amax(1), x.amin(dim=1), x.sum(1), x.norm(dim=1),
                              torch.logsumexp(x, 1), (x * 0.5).prod(dim=1), x.max(dim=1).values, x.abs().sum(1)], dim=1)
        return normal, pooled, x.mean(), x.argmax(-1), x.cumsum(1), x.var(dim=(1, 2)), functional.normalize(x, dim=-1)


class Shapes(nn.Module):
    """Moves data about: chunk, split, cat, stack, slices with steps, roll, repeat, gather, triangles, bounds."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 12)
        self.register_buffer("picked", torch.tensor([2, 0, 1]))

    def forward(self, tokens):
        x = self.layer(tokens)
        left, right = x.chunk(2, dim=-1)
        first, second, third = right.split([1, 2, 3], dim=-1)
        mixed = torch.cat([third, left[..., ::2], second, first], dim=-1)
        stacked = torch.stack([mixed, mixed.roll(1, -1)], dim=1).flatten(1, 2)
        sliced = stacked[:, 1:-1:2, -4:]
        chosen = torch.index_select(left, 2, self.picked) + left[:, :, self.picked]
        folded = left.unflatten(-1, (2, 3)).permute(0, 3, 1, 2).unsqueeze(1).squeeze(1)
        repeated = chosen[:, :1].repeat(1, 2, 3) + chosen[:, -1:].expand(-1, 2, -1).repeat(1, 1, 3)
        products = torch.tril(left @ left.transpose(1, 2)) + torch.triu(left @ right.transpose(1, 2), 1)
        gathered = torch.gather(right, 2, (left > 0).long())
        bounded = torch.minimum(torch.maximum(left, -right), torch.ones(())) ** 2
        clamped = left.clamp(-0.5) - right.clamp(max=0.3)
        return sliced, folded, repeated, products, gathered + bounded + clamped


class Tile(nn.Module):
    """torch.tile, of which the TorchScript exporter makes a conditional on what is known all along."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 4)

    def forward(self, tokens):
        return self.layer(tokens).tile(1, 2, 3)


# ---------------------------------------------------------------- transformers

def vit():
    return torchvision.models.VisionTransformer(
        image_size=16, patch_size=4, num_layers=2, num_heads=2, hidden_dim=16, mlp_dim=24, num_classes=5)


class Outputs(nn.Module):
    """A Hugging Face model with positional inputs and a plain tuple of outputs."""

    def __init__(self, model, names, outputs):
        super().__init__()
        self.model, self.names, self.outputs = model, names, outputs

    def forward(self, *inputs):
        result = self.model(**dict(zip(self.names, inputs)))
        return tuple(result[output] for output in self.outputs)


def bert(kind, attention, outputs):
    config = transformers.BertConfig(
        vocab_size=31, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
        max_position_embeddings=16, type_vocab_size=2, attn_implementation=attention)
    return Outputs(kind(config), ("input_ids", "attention_mask", "token_type_ids"), outputs)


def distilbert(attention):
    config = transformers.DistilBertConfig(
        vocab_size=31, dim=16, n_layers=2, n_heads=2, hidden_dim=24, max_position_embeddings=16,
        attn_implementation=attention)
    return Outputs(transformers.DistilBertModel(config), ("input_ids", "attention_mask"), ("last_hidden_state",))


# ---------------------------------------------------------------- the table of all families

def image(channels=3, side=32):
    return (("image", "float", ("batch", channels, side, side)),)


FEATURES = (("features", "float", ("batch", 6)),)
TOKENS = (("tokens", "float", ("batch", "length", 16)),)
SMALL_TOKENS = (("tokens", "float", ("batch", "length", 6)),)
IDS = ("input_ids", "ids", ("batch", "length"))
MASK = ("attention_mask", "mask", ("batch", "length"))
SEGMENTS = ("token_type_ids", "segments", ("batch", "length"))
TORCHVISION, TRANSFORMERS, PLAIN = "torchvision", "transformers", "plain PyTorch"

FAMILIES = (
    Family("mlp", PLAIN, mlp, FEATURES, both(13, 21, dynamo=(18, 21, 17), raw=True)),
    Family("vgg", TORCHVISION, lambda: vgg(False), image(), both(13)),
    Family("vgg-bn", TORCHVISION, lambda: vgg(True), image(), both(13, 14, 16, dynamo=(18, 21, 17), raw=True)),
    Family("resnet-basic", TORCHVISION, lambda: ResNet(torchvision.models.resnet.BasicBlock), image(side=20),
           both(13, 18, dynamo=(21, 18), raw=True)),
    Family("resnet-bottleneck", TORCHVISION, lambda: ResNet(torchvision.models.resnet.Bottleneck), image(side=20),
           both(14, 20)),
    Family("mobilenet-v2", TORCHVISION, mobilenet_v2, image(side=20), both(13, 17, dynamo=(18, 21))),
    Family("mobilenet-v3", TORCHVISION, mobilenet_v3, image(side=20), both(13, 14, dynamo=(21, 18))),
    Family("densenet", TORCHVISION, densenet, image(side=20), both(16, 18)),
    Family("squeezenet", TORCHVISION, squeezenet, image(side=20), both(13, dynamo=(18, 21))),
    Family("efficientnet", TORCHVISION, efficientnet, image(), both(17)),
    Family("shufflenet", TORCHVISION, shufflenet, image(), both(17)),
    Family("convnext", TORCHVISION, convnext, image(), both(13, 17)),
    Family("vit", TORCHVISION, vit, image(side=16), both(14, 17, 20, dynamo=(21, 18), raw=True)),
    Family("bert-eager", TRANSFORMERS,
           lambda: bert(transformers.BertModel, "eager", ("last_hidden_state", "pooler_output")),
           (IDS, MASK, SEGMENTS), both(14, 17, 18, dynamo=(18, 21), raw=True)),
    Family("bert-sdpa", TRANSFORMERS,
           lambda: bert(transformers.BertModel, "sdpa", ("last_hidden_state", "pooler_output")),
           (IDS, MASK, SEGMENTS), both(14, 17, 20, dynamo=(21, 18))),
    Family("bert-qa-eager", TRANSFORMERS,
           lambda: bert(transformers.BertForQuestionAnswering, "eager", ("start_logits", "end_logits")),
           (IDS, MASK, SEGMENTS), both(14, 18, dynamo=(21, 18))),
    Family("bert-qa-sdpa", TRANSFORMERS,
           lambda: bert(transformers.BertForQuestionAnswering, "sdpa", ("start_logits", "end_logits")),
           (IDS, MASK, SEGMENTS), both(14, 17, raw=True)),
    Family("distilbert-eager", TRANSFORMERS, lambda: distilbert("eager"), (IDS, MASK), both(14, 17)),
    Family("distilbert-sdpa", TRANSFORMERS, lambda: distilbert("sdpa"), (IDS, MASK), both(14, 17, dynamo=(18, 21))),
    Family("block", PLAIN, Block, TOKENS, both(13, 16, 17, 20, dynamo=(18, 21, 17), raw=True)),
    Family("language-model", PLAIN, LanguageModel, (IDS,), both(14, 17, 21, dynamo=(21, 18), raw=True)),
    Family("masked-attention", PLAIN, MaskedAttention, TOKENS + (("mask", "mask", ("batch", "length")),),
           both(13, 17, dynamo=(18, 21))),
    Family("convolutions", PLAIN, Convolutions, image(side=12), both(13, 18, dynamo=(21, 18))),
    Family("activations", PLAIN, Activations, FEATURES, both(13, 16, 18, 20, dynamo=(18, 21), raw=True)),
    Family("pools", PLAIN, Pools, image(2, 15), both(13, 18, dynamo=(18, 21))),
    Family("pads", PLAIN, Pads, image(2, 8), both(13, 18, dynamo=(21, 18))),
    Family("reductions", PLAIN, Reductions, SMALL_TOKENS, both(13, 17, 18, 20, dynamo=(18, 21), raw=True)),
    Family("shapes", PLAIN, Shapes, SMALL_TOKENS, both(14, 16, 18, 21, dynamo=(21, 18), raw=True)),
    Family("tile", PLAIN, Tile, SMALL_TOKENS, both(13)),
    Family("norms", PLAIN, Norms, image(side=8), both(17, 21)),
    Family("decoder", PLAIN, Decoder, image(side=4), both(13, 18)),
    Family("mlp-external", PLAIN, mlp, FEATURES, (Variant("dynamo"), Variant("ts", 17, dynamic=True))),
)

# What the tests of the repository read: every family of networks, both exporters, many opsets, in few bytes.
CHOSEN = (
    "mlp-ts-opset13-dynamic",
    "mlp-external-dynamo-static",
    "vgg-bn-dynamo-raw-dynamic",
    "resnet-basic-dynamo-opset21-dynamic",
    "resnet-bottleneck-ts-opset14-dynamic",
    "mobilenet-v2-ts-opset17-static",
    "mobilenet-v3-dynamo-opset18-static",
    "densenet-ts-opset16-dynamic",
    "squeezenet-ts-opset13-dynamic",
    "vit-dynamo-opset21-dynamic",
    "bert-eager-ts-opset17-static",
    "bert-qa-sdpa-dynamo-dynamic",
    "distilbert-sdpa-ts-dynamic",
    "block-ts-opset13-dynamic",
    "language-model-dynamo-dynamic",
    "convolutions-ts-opset18-static",
    "activations-ts-opset13-dynamic",
    "pools-ts-opset13-dynamic",
    "pads-dynamo-static",
    "reductions-dynamo-opset18-dynamic",
    "shapes-ts-dynamic",
)


# ---------------------------------------------------------------- seeded weights and inputs

def randomize(model, generator):
    """Draws all parameters and running statistics: matrices keep the scale of their input, nothing is 0 or 1."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() >= 2:
                fan_in = 1 if "embedding" in name else parameter[0].numel()
                parameter.normal_(0, 1 / math.sqrt(fan_in), generator=generator)
            elif name.endswith("weight"):
                parameter.uniform_(0.5, 1.5, generator=generator)
            else:
                parameter.normal_(0, 0.2, generator=generator)
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                buffer.normal_(0, 0.2, generator=generator)
            elif name.endswith("running_var"):
                buffer.uniform_(0.5, 1.5, generator=generator)


def draw(kind, shape, generator):
    """One input. A mask keeps at least its first element, as a softmax over nothing is not a number."""
    if kind == "float":
        return torch.randn(shape, generator=generator)
    if kind == "ids":
        return torch.randint(0, 19, shape, generator=generator)
    if kind == "segments":
        return torch.randint(0, 2, shape, generator=generator)
    mask = torch.ones(shape, dtype=torch.int64)
    for row in range(1, shape[0]):
        mask[row, shape[1] - 1 - row % (shape[1] - 1):] = 0
    return mask


def draw_inputs(family, lengths, generator):
    return tuple(draw(kind, tuple(lengths.get(d, d) for d in dimensions), generator)
                 for _, kind, dimensions in family.inputs)


def generator_of(family, purpose):
    return torch.Generator().manual_seed(SEED ^ zlib.crc32(f"{family.name}/{purpose}".encode()))


# ---------------------------------------------------------------- export

def symbols(dimensions):
    return {axis: d for axis, d in enumerate(dimensions) if isinstance(d, str)}


def export(model, family, variant, inputs, path):
    """One call of torch.onnx.export; what it logs and prints is of no interest unless it fails."""
    options = {"input_names": [name for name, _, _ in family.inputs], "dynamo": variant.exporter == "dynamo"}
    if variant.opset is not None:
        options["opset_version"] = variant.opset
    if variant.exporter == "dynamo":
        options |= {"external_data": False, "optimize": not variant.raw}
        if variant.dynamic:
            options["dynamic_shapes"] = dynamic_shapes(family)
    else:
        options |= {"do_constant_folding": not variant.raw, "keep_initializers_as_inputs": variant.raw}
        if variant.dynamic:
            options["dynamic_axes"] = {name: symbols(dimensions) for name, _, dimensions in family.inputs}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        torch.onnx.export(model, inputs, str(path), **options)


def dynamic_shapes(family):
    shapes = tuple(symbols(dimensions) for _, _, dimensions in family.inputs)
    # A forward with *inputs is one parameter that holds them all.
    return (shapes,) if family.origin == TRANSFORMERS else shapes


def strip(model):
    """Removes what the exporters say about where and from what source lines they ran."""
    del model.metadata_props[:]
    model.doc_string = ""
    for function in model.functions:
        strip_record(function)
        for node in function.node:
            strip_node(node)
        for info in function.value_info:
            strip_record(info)
    strip_graph(model.graph)


def strip_graph(graph):
    strip_record(graph)
    for records in (graph.input, graph.output, graph.value_info, graph.initializer):
        for record in records:
            strip_record(record)
    for node in graph.node:
        strip_node(node)


def strip_node(node):
    strip_record(node)
    for attribute in node.attribute:
        attribute.doc_string = ""
        for graph in [attribute.g] if attribute.HasField("g") else attribute.graphs:
            strip_graph(graph)


def strip_record(record):
    record.doc_string = ""
    if hasattr(record, "metadata_props"):
        del record.metadata_props[:]


def save(model, family, path):
    """Weights stay inline; a family "-external" keeps all its tensors in NAME.weights beside the model."""
    if family.name.endswith("-external"):
        weights = path.with_suffix(".weights")
        weights.unlink(missing_ok=True)
        onnx.save(model, path, save_as_external_data=True, all_tensors_to_one_file=True, location=weights.name,
                  size_threshold=0, convert_attribute=False)
    else:
        onnx.save(model, path)


def opset_of(model):
    return next(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))


def check(path, inputs, outputs):
    """The checker's verdict, no path of this machine, and ONNX Runtime's outputs against PyTorch's."""
    onnx.checker.check_model(str(path), full_check=True)
    found = re.search(rb"(/[\w.-]+){2,}\.py\b|site-packages", path.read_bytes())
    if found:
        raise AssertionError(f"the file names a source path: {found.group()}")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    actual = session.run(None, {entry.name: inputs[entry.name] for entry in session.get_inputs()})
    if len(actual) != len(outputs):
        raise AssertionError(f"{len(actual)} outputs, PyTorch has {len(outputs)}")
    for index, (left, right) in enumerate(zip(actual, outputs)):
        if left.shape != right.shape or not numpy.isfinite(left).all():
            raise AssertionError(f"output {index} is {left.shape}, PyTorch's is {right.shape}; or not finite")
        error = numpy.max(numpy.abs(left - right) / numpy.maximum(1, numpy.abs(right)), initial=0)
        if error > TOLERANCE:
            raise AssertionError(f"output {index} differs by {error:.3g}, allowed is {TOLERANCE}")


def write(family, variant, directory):
    """Exports and checks one variant; returns its row of the table."""
    name = name_of(family, variant)
    torch.manual_seed(SEED)
    model = family.build().eval()
    randomize(model, generator_of(family, "weights"))
    traced = draw_inputs(family, TRACED, generator_of(family, "traced"))
    fed = draw_inputs(family, FED if variant.dynamic else TRACED, generator_of(family, "fed"))
    with torch.no_grad():
        result = model(*fed)
    outputs = [tensor.numpy() for tensor in (result if isinstance(result, (tuple, list)) else [result])]

    with tempfile.TemporaryDirectory() as scratch:
        exported = pathlib.Path(scratch) / "model.onnx"
        export(model, family, variant, traced, exported)
        proto = onnx.load(exported)
    if variant.opset is not None and opset_of(proto) != variant.opset:
        raise AssertionError(f"opset {variant.opset} was asked for, the exporter wrote {opset_of(proto)}")
    strip(proto)

    path = directory / f"{name}.onnx"
    save(proto, family, path)
    inputs = {entry: tensor.numpy() for (entry, _, _), tensor in zip(family.inputs, fed)}
    try:
        check(path, inputs, outputs)
    except Exception:
        path.rename(path.with_suffix(".onnx.failed"))
        raise
    for entry, array in inputs.items():
        numpy.save(directory / f"{name}.in.{entry}.npy", array)
    for index, array in enumerate(outputs):
        numpy.save(directory / f"{name}.out.{index}.npy", array)
    return name, family, variant, opset_of(proto), path.stat().st_size


def name_of(family, variant):
    return f"{family.name}-{variant.suffix()}"


# ---------------------------------------------------------------- README and main

README_HEAD = """# Models as PyTorch exports them

Narrow models with random weights, in evaluation mode, written by PyTorch's two ONNX exporters: `ts` is the one
based on TorchScript, `dynamo` the one based on `torch.export`. Each comes with inputs (`NAME.in.INPUT.npy`) and
PyTorch's outputs for them (`NAME.out.I.npy`); ONNX Runtime gives the same within 1e-4. A model with dynamic axes is
fed other lengths than those it was traced with. Written by
[`export_models.py --resources`](../../python/export_models.py) with
{versions}.

| name | origin | exporter | opset | dynamic axes | notes |
|---|---|---|---|---|---|"""


def readme(rows):
    versions = ", ".join(f"{package} {importlib.metadata.version(package).split('+')[0]}" for package in
                         ("torch", "torchvision", "transformers", "onnx", "onnxscript", "onnxruntime"))
    lines = [README_HEAD.format(versions=versions)]
    for name, family, variant, opset, _ in rows:
        axes = sorted({d for _, _, dimensions in family.inputs for d in dimensions if isinstance(d, str)})
        notes = [note for note, holds in (
            ("default opset", variant.opset is None),
            ("no folding, initializers also inputs", variant.raw and variant.exporter == "ts"),
            ("not optimized", variant.raw and variant.exporter == "dynamo"),
            (f"external data in `{name}.weights`", family.name.endswith("-external"))) if holds]
        lines.append(f"| `{name}` | {family.origin} | {variant.exporter} | {opset} | "
                     f"{', '.join(axes) if variant.dynamic else 'none'} | {'; '.join(notes)} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--resources", action="store_true", help="write the chosen variants to ../resources/exports")
    parser.add_argument("--output", type=pathlib.Path, help="write all variants to this directory")
    parser.add_argument("--only", default="", help="a regular expression that a name must match somewhere")
    parser.add_argument("--list", action="store_true", help="print the names")
    arguments = parser.parse_args()
    everything = [(family, variant) for family in FAMILIES for variant in family.variants
                  if re.search(arguments.only, name_of(family, variant))]
    if arguments.list:
        print(*(name_of(*pair) for pair in everything), sep="\n")
        return 0
    if arguments.resources == (arguments.output is not None):
        parser.error("give either --resources or --output DIRECTORY")
    directory = RESOURCES if arguments.resources else arguments.output
    directory.mkdir(parents=True, exist_ok=True)
    if arguments.resources:
        everything = [pair for pair in everything if name_of(*pair) in CHOSEN]
        for stale in directory.glob("*.*"):
            stale.unlink()

    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    rows, failures = [], []
    for family, variant in everything:
        started = time.monotonic()
        try:
            row = write(family, variant, directory)
            rows.append(row)
            print(f"{row[0]}: opset {row[3]}, {row[4]} bytes, {time.monotonic() - started:.1f} s", flush=True)
        except Exception as failure:  # one model that cannot be exported must not hide the others
            failures.append(name_of(family, variant))
            print(f"{failures[-1]}: FAILED, {type(failure).__name__}: {str(failure).strip()[:600]}", flush=True)
    if arguments.resources:
        (directory / "README.md").write_text(readme(rows))
    print(f"{len(rows)} written, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
