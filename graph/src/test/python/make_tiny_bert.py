"""Writes a tiny BERT with random weights, inputs and what transformers makes of them: python make_tiny_bert.py FOLDER

Needs torch, transformers and safetensors.
"""

import os
import sys

import torch
from safetensors.torch import save_file
from transformers import BertConfig, BertForQuestionAnswering

torch.manual_seed(1)
config = BertConfig(
    vocab_size=40,
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=32,
    max_position_embeddings=24,
    type_vocab_size=2,
    layer_norm_eps=1e-7,
    attn_implementation="eager",
)
model = BertForQuestionAnswering(config).eval()
with torch.no_grad():
    for name, parameter in model.named_parameters():
        # Far from the usual start, so that nothing is nearly zero or nearly linear.
        parameter.add_(0.3 * torch.randn_like(parameter))

folder = sys.argv[1]
model.save_pretrained(folder)
for needless in ("generation_config.json",):
    if os.path.exists(os.path.join(folder, needless)):
        os.remove(os.path.join(folder, needless))

input_ids = torch.randint(0, config.vocab_size, (3, 11))
attention_mask = torch.ones(3, 11, dtype=torch.int64)
attention_mask[1, 7:] = 0
attention_mask[2, 3:] = 0
token_type_ids = torch.zeros(3, 11, dtype=torch.int64)
token_type_ids[:, 5:] = 1
with torch.no_grad():
    outputs = model(
        input_ids=input_ids,
        attention_mask=attention_mask,
        token_type_ids=token_type_ids,
        output_hidden_states=True,
    )
save_file(
    {
        "input_ids": input_ids,
        "attention_mask": attention_mask,
        "token_type_ids": token_type_ids,
        "start_logits": outputs.start_logits.contiguous(),
        "end_logits": outputs.end_logits.contiguous(),
        "last_hidden_state": outputs.hidden_states[-1].contiguous(),
    },
    os.path.join(folder, "expected.safetensors"),
)
