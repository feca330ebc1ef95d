"""Models between cpplan and Hugging Face: python3 hugging_face.py CASE PATH_OF_CPPLAN. Exit code 0:
the case holds.

Folders are read and written here by the published formats alone (safetensors, config.json, the names
of transformers' LlamaForCausalLM), and the model is computed in plain Python."""
import array
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

CPPLAN = sys.argv[2]
H, HEADS, KV, D, F, LAYERS, VOCAB, EPSILON, THETA = 24, 4, 2, 6, 40, 2, 256, 1e-5, 10000.0
TEXT = b"A model that two programs compute is the same model only if both say the same of a text."
CODES = {"F32": ("f", 4), "F64": ("d", 8)}


def shapes():
    layer = {"input_layernorm": [H], "post_attention_layernorm": [H],
             "self_attn.q_proj": [HEADS * D, H], "self_attn.k_proj": [KV * D, H],
             "self_attn.v_proj": [KV * D, H], "self_attn.o_proj": [H, HEADS * D],
             "mlp.gate_proj": [F, H], "mlp.up_proj": [F, H], "mlp.down_proj": [H, F]}
    named = {"model.embed_tokens.weight": [VOCAB, H], "model.norm.weight": [H],
             "lm_head.weight": [VOCAB, H]}
    for i in range(LAYERS):
        named |= {f"model.layers.{i}.{name}.weight": shape for name, shape in layer.items()}
    return named


def drawn_weights():
    rng = random.Random(7)
    def draw(shape):
        size = math.prod(shape)
        center = 1.0 if len(shape) == 1 else 0.0
        return list(array.array("f", (center + rng.gauss(0, 0.1) for _ in range(size))))
    return {name: draw(shape) for name, shape in shapes().items()}


def write_safetensors(path, weights):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, values in weights.items():
        packed = array.array("f", values).tobytes()
        header[name] = {"dtype": "F32", "shape": shapes()[name],
                        "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    with open(path, "rb") as file:
        content = file.read()
    length, = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8:8 + length]), content[8 + length:]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        code, size = CODES[entry["dtype"]]
        begin, end = entry["data_offsets"]
        assert end - begin == size * math.prod(entry["shape"]), name
        values = array.array(code)
        values.frombytes(data[begin:end])
        tensors[name] = (entry["shape"], list(values))
    return tensors


def write_model(folder, weights):
    """As save_pretrained does with a small max_shard_size: two files and their index."""
    os.mkdir(folder)
    names, half = list(weights), len(weights) // 2
    files = {"model-00001-of-00002.safetensors": names[:half],
             "model-00002-of-00002.safetensors": names[half:]}
    for file, held in files.items():
        write_safetensors(os.path.join(folder, file), {name: weights[name] for name in held})
    index = {"metadata": {}, "weight_map": {n: file for file, held in files.items() for n in held}}
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": H,
              "intermediate_size": F, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
              "num_key_value_heads": KV, "head_dim": D, "vocab_size": VOCAB,
              "max_position_embeddings": 128, "rms_norm_eps": EPSILON, "rope_theta": THETA,
              "hidden_act": "silu", "tie_word_embeddings": False, "torch_dtype": "float32"}
    for file, content in (("model.safetensors.index.json", index), ("config.json", config)):
        with open(os.path.join(folder, file), "w") as out:
            json.dump(content, out)


def read_model(folder):
    with open(os.path.join(folder, "model.safetensors.index.json")) as file:
        places = json.load(file)["weight_map"]
    files = {name: read_safetensors(os.path.join(folder, name)) for name in set(places.values())}
    return {name: files[file][name] for name, file in places.items()}


def norm(x, weight):
    scale = 1 / math.sqrt(sum(v * v for v in x) / len(x) + EPSILON)
    return [v * scale * w for v, w in zip(x, weight)]


def linear(x, weight):
    width = len(x)
    return [sum(a * b for a, b in zip(x, weight[row:row + width]))
            for row in range(0, len(weight), width)]


def rotate(heads, position):
    """transformers' rotate_half: feature j turns with feature j + D/2."""
    turned = list(heads)
    for first in range(0, len(heads), D):
        for j in range(D // 2):
            angle = position * THETA ** (-2 * j / D)
            low, high = heads[first + j], heads[first + j + D // 2]
            turned[first + j] = low * math.cos(angle) - high * math.sin(angle)
            turned[first + j + D // 2] = high * math.cos(angle) + low * math.sin(angle)
    return turned


def attend(q, keys, values):
    out = []
    for head in range(HEADS):
        group = head // (HEADS // KV) * D
        query = q[head * D:(head + 1) * D]
        scores = [sum(a * b for a, b in zip(query, k[group:group + D])) / math.sqrt(D)
                  for k in keys]
        top = max(scores)
        shares = [math.exp(s - top) for s in scores]
        total = sum(shares)
        out += [sum(p * v[group + j] for p, v in zip(shares, values)) / total for j in range(D)]
    return out


def layer_forward(rows, weights, prefix):
    get = lambda name: weights[f"{prefix}.{name}.weight"]
    keys, values, done = [], [], []
    for position, x in enumerate(rows):
        y = norm(x, get("input_layernorm"))
        keys.append(rotate(linear(y, get("self_attn.k_proj")), position))
        values.append(linear(y, get("self_attn.v_proj")))
        q = rotate(linear(y, get("self_attn.q_proj")), position)
        x = [a + b for a, b in zip(x, linear(attend(q, keys, values), get("self_attn.o_proj")))]
        y = norm(x, get("post_attention_layernorm"))
        gate, up = linear(y, get("mlp.gate_proj")), linear(y, get("mlp.up_proj"))
        hidden = [g / (1 + math.exp(-g)) * u for g, u in zip(gate, up)]
        done.append([a + b for a, b in zip(x, linear(hidden, get("mlp.down_proj")))])
    return done


def logits_of(weights, tokens):
    table = weights["model.embed_tokens.weight"]
    rows = [table[t * H:(t + 1) * H] for t in tokens]
    for i in range(LAYERS):
        rows = layer_forward(rows, weights, f"model.layers.{i}")
    return [linear(norm(x, weights["model.norm.weight"]), weights["lm_head.weight"]) for x in rows]


def loss_of(weights, tokens):
    total = 0.0
    for logits, label in zip(logits_of(weights, tokens), tokens[1:]):
        top = max(logits)
        total += top + math.log(sum(math.exp(l - top) for l in logits)) - logits[label]
    return total / (len(tokens) - 1)


def job(folder, model):
    with open(os.path.join(folder, "text.txt"), "wb") as file:
        file.write(TEXT)
    path = os.path.join(folder, "job.yaml")
    with open(path, "w") as file:
        file.write(f"""base_model: {model}
datasets: [{{path: text.txt}}]
sequence_len: 128
micro_batch_size: 1
gradient_accumulation_steps: 1
max_steps: 100
learning_rate: 0.01
lr_scheduler: constant
warmup_steps: 0
attn_implementation: flash_attention_2
output_dir: {folder}/out
""")
    return path


def losses(folder, model, *flags):
    record = os.path.join(folder, "record.json")
    done = subprocess.run([CPPLAN, "run", job(folder, model), "--record", record, *flags],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (done.stdout, done.stderr)
    with open(record) as file:
        return [step["loss"] for step in json.load(file)["steps"]]


def cpplan(*arguments):
    return subprocess.run([CPPLAN, *arguments], capture_output=True, text=True, timeout=60)


def close(a, b, bound=1e-5):
    assert abs(a - b) <= bound * abs(b), (a, b)


def loads():
    """A folder as Hugging Face's library saves one is where a run starts, under any layout."""
    with tempfile.TemporaryDirectory() as folder:
        model, weights = os.path.join(folder, "model"), drawn_weights()
        write_model(model, weights)
        expected = loss_of(weights, TEXT)
        close(losses(folder, model, "--steps", "1", "--transport", "threads")[0], expected)
        close(losses(folder, model, "--steps", "1", "--transport", "threads", "-n", "4", "--set",
                     "tensor_parallel_size=2", "--set", "pipeline_parallel_size=2")[0], expected)
        shape = cpplan("run", job(folder, model), "--set", "cpplan.model.hidden_size=48")
        assert shape.returncode == 1 and "has the shape" in shape.stderr, shape
        with open(os.path.join(model, "config.json"), "r+") as file:
            config = json.load(file) | {"rope_scaling": {"rope_type": "longrope", "factor": 8.0}}
            file.seek(0)
            json.dump(config, file)
        scaled = cpplan("run", job(folder, model))
        assert scaled.returncode == 1 and "longrope" in scaled.stderr, scaled


def says():
    """`checkpoint logits` of a folder, and what is no text."""
    with tempfile.TemporaryDirectory() as folder:
        model, weights = os.path.join(folder, "model"), drawn_weights()
        write_model(model, weights)
        tokens, out = (os.path.join(folder, name) for name in ("tokens.txt", "out.safetensors"))
        def said(text, target=out):
            with open(tokens, "w") as file:
                file.write(text)
            return cpplan("checkpoint", "logits", model, target, "--tokens", tokens)
        done = said(", ".join(map(str, TEXT)))
        assert done.returncode == 0, done
        close(float(re.search(r"loss ([\d.]+), mean of 87 next tokens", done.stdout).group(1)),
              loss_of(weights, TEXT))
        shape, logits = read_safetensors(out)["logits"]
        expected = [value for row in logits_of(weights, TEXT) for value in row]
        assert shape == [len(TEXT), VOCAB]
        assert max(abs(a - b) for a, b in zip(logits, expected)) < 1e-5
        for text, why in (("1 256", "token 256 is not of the model"), ("1 x2", 'has "x2" among'),
                          (" ", "has no tokens")):
            wrong = said(text, out + ".2")
            assert wrong.returncode == 3 and why in wrong.stderr, wrong
        assert "file exists" in said("1 2").stderr
        assert cpplan("checkpoint", "logits", model).returncode == 2


def saves():
    """A checkpoint is such a folder: its weights are those with which the run goes on."""
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model")
        write_model(model, drawn_weights())
        curve = losses(folder, model, "--steps", "4", "--save-every", "3", "--transport", "threads",
                       "-n", "2", "--set", "tensor_parallel_size=2")
        step = os.path.join(folder, "out", "step-3")
        stored = read_model(step)
        assert {name: shape for name, (shape, _) in stored.items()} == shapes()
        weights = {name: values for name, (_, values) in stored.items()}
        close(loss_of(weights, TEXT), curve[3])
        started = losses(folder, step, "--steps", "1", "--transport", "threads", "--set",
                         f"output_dir={folder}/other")
        close(started[0], curve[3])
        converted = os.path.join(folder, "double")
        done = cpplan("checkpoint", "convert", step, converted, "--dtype", "fp64")
        assert done.returncode == 0, done
        assert {name: values for name, (_, values) in read_model(converted).items()} == weights
        again = cpplan("checkpoint", "convert", step, converted)
        assert again.returncode == 3 and "is there already" in again.stderr, again


if __name__ == "__main__":
    {case.__name__: case for case in (loads, says, saves)}[sys.argv[1]]()
