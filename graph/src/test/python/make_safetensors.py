"""Writes a file with every supported type, by the format's own library: python make_safetensors.py FILE

Needs torch and safetensors. The tests compare with the values below.
"""

import sys

import torch
from safetensors.torch import save_file

numbers = [0, 1, 2, 100]
signed = [0, 1, -2, 100]
fractions = [0.0, 1.5, -2.25, 0.1]

tensors = {
    "f64": torch.tensor(fractions, dtype=torch.float64).reshape(2, 2),
    "f32": torch.tensor(fractions, dtype=torch.float32).reshape(4, 1),
    "f16": torch.tensor(fractions, dtype=torch.float16),
    "bf16": torch.tensor(fractions, dtype=torch.bfloat16),
    "i64": torch.tensor([0, 1, -2, 2**53 + 1], dtype=torch.int64),
    "i32": torch.tensor(signed, dtype=torch.int32),
    "i16": torch.tensor(signed, dtype=torch.int16),
    "i8": torch.tensor(signed, dtype=torch.int8),
    "u64": torch.tensor(numbers, dtype=torch.uint64),
    "u32": torch.tensor([0, 1, 2, 2**32 - 1], dtype=torch.uint32),
    "u16": torch.tensor([0, 1, 2, 2**16 - 1], dtype=torch.uint16),
    "u8": torch.tensor([0, 1, 2, 255], dtype=torch.uint8),
    "bool": torch.tensor([False, True, True, False]),
    "a scalar": torch.tensor(0.1),
    "empty": torch.zeros(3, 0, 2),
    "größe": torch.tensor([1.0, 2.0, 3.0]),
}

save_file(tensors, sys.argv[1], metadata={"format": "pt"})
