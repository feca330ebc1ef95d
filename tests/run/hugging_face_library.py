"""Models of Hugging Face's own library against ours: python3 hugging_face_library.py PATH_OF_CPPLAN.
Exit code 0: both say the same of a text, in both directions; 125: the library is not installed
(scripts/install-peers does it)."""
import json
import os
import struct
import subprocess
import sys
import tempfile

SKIPPED = 125
HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = os.path.join(HERE, "..", "..", "build", "peers", "bin", "python")
CPPLAN = os.path.abspath(sys.argv[1])
TEXT = b"A model that two programs compute is the same model only if both say the same of a text."
BOUND = 1e-4  # of losses and logits, in fp32

os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error", "OMP_NUM_THREADS": "1",
               "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
sys.path.remove(HERE)  # whose cuda.py is not the package that torch imports
try:
    import torch
    import transformers
except ImportError as error:
    if os.path.exists(PEERS) and os.environ.get("CPPLAN_PEERS") != "tried":
        os.environ["CPPLAN_PEERS"] = "tried"
        os.execv(PEERS, [PEERS, "-B", *sys.argv])
    print(f"SKIPPED: Hugging Face's library is not installed ({error}). scripts/install-peers does it")
    sys.exit(SKIPPED)

# Weights so large that attention, and so every position, tells.
BASE = {"hidden_size": 48, "intermediate_size": 80, "num_hidden_layers": 3, "num_attention_heads": 4,
        "num_key_value_heads": 2, "vocab_size": 256, "max_position_embeddings": 128,
        "initializer_range": 0.3, "rms_norm_eps": 1e-5, "head_dim": 16, "bos_token_id": None,
        "eos_token_id": None}
ROPE = {"rope_theta": 5e5, "factor": 4.0, "original_max_position_embeddings": 32}
MODELS = {
    "grouped": {"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}},
    "tied": {"tie_word_embeddings": True, "num_key_value_heads": 4, "head_dim": 12},
    "linear": {"rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}},
    "llama3": {"rope_parameters": ROPE | {"rope_type": "llama3", "low_freq_factor": 1.0,
                                          "high_freq_factor": 4.0}},
    "yarn": {"rope_parameters": ROPE | {"rope_type": "yarn"}},
}


def make(settings, **changes):
    torch.manual_seed(1)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**(BASE | settings | changes)))


def theirs(model):
    tokens = torch.tensor([list(TEXT)])
    with torch.no_grad():
        said = model(tokens, labels=tokens)
    return said.loss.item(), said.logits[0]


def cpplan(*arguments):
    done = subprocess.run([CPPLAN, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done


def ours(folder):
    """Loss and logits of `cpplan checkpoint logits`."""
    with tempfile.TemporaryDirectory() as work:
        tokens, path = os.path.join(work, "tokens.txt"), os.path.join(work, "logits.safetensors")
        with open(tokens, "w") as file:
            file.write(" ".join(map(str, TEXT)))
        said = cpplan("checkpoint", "logits", folder, path, "--tokens", tokens, "--format", "json")
        with open(path, "rb") as file:
            content = file.read()
    length, = struct.unpack("<Q", content[:8])
    entry = json.loads(content[8:8 + length])["logits"]
    assert entry["dtype"] == "F32" and entry["shape"] == [len(TEXT), 256], entry
    logits = torch.frombuffer(bytearray(content[8 + length:]), dtype=torch.float32)
    return json.loads(said.stdout)["loss"], logits.reshape(entry["shape"])


def check_same(a, b, what):
    loss, logits = abs(a[0] - b[0]), (a[1] - b[1]).abs().max().item()
    print(f"{what}: losses {a[0]:.6f} and {b[0]:.6f}, logits at most {logits:.1e} apart")
    assert loss <= BOUND and logits <= BOUND, (what, loss, logits)


def trained(folder, model, *layout):
    """The losses of two steps, and the checkpoint after them."""
    job, record, out = (os.path.join(folder, name) for name in ("job.yaml", "run.json", "out"))
    with open(os.path.join(folder, "text.txt"), "wb") as file:
        file.write(TEXT)
    with open(job, "w") as file:
        file.write(f"base_model: {model}\ndatasets: [{{path: text.txt}}]\nsequence_len: 128\n"
                   "micro_batch_size: 1\ngradient_accumulation_steps: 1\nmax_steps: 2\n"
                   "learning_rate: 0.001\nlr_scheduler: constant\nwarmup_steps: 0\n"
                   f"attn_implementation: flash_attention_2\noutput_dir: {out}\n")
    cpplan("run", job, "--record", record, "--save-every", "2", "--transport", "threads", *layout)
    with open(record) as file:
        return [step["loss"] for step in json.load(file)["steps"]], os.path.join(out, "step-2")


def spell_as_4(folder):
    """rope_theta and rope_scaling, as transformers 4 writes them."""
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        config = json.load(file)
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    config["rope_scaling"] = None if rope["rope_type"] == "default" else rope
    with open(path, "w") as file:
        json.dump(config, file)


def check(name, settings):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        model = make(settings)
        model.save_pretrained(path, max_shard_size="40KB")
        assert len([file for file in os.listdir(path) if file.endswith(".safetensors")]) > 1
        said = theirs(model)
        check_same(ours(path), said, f"{name}, theirs")
        losses, step = trained(folder, path, "-n", "4", "--set", "tensor_parallel_size=2", "--set",
                               "context_parallel_size=2")
        assert abs(losses[0] - said[0]) <= BOUND, (name, losses, said[0])
        back = transformers.AutoModelForCausalLM.from_pretrained(step, dtype=torch.float32)
        check_same(ours(step), theirs(back), f"{name}, ours")
        plain = os.path.join(folder, "plain")
        cpplan("checkpoint", "convert", step, plain, "--dtype", "fp32")
        check_same(theirs(transformers.AutoModelForCausalLM.from_pretrained(plain)), theirs(back),
                   f"{name}, converted")
        spell_as_4(path)
        check_same(ours(path), said, f"{name}, spelled as in transformers 4")


def check_that_positions_tell():
    """Or a wrong rotation would go unseen."""
    for name in ("linear", "llama3", "yarn"):
        rope = MODELS[name]["rope_parameters"]
        plain = {"rope_type": "default", "rope_theta": rope["rope_theta"]}
        apart = (theirs(make(MODELS[name]))[1] - theirs(make({"rope_parameters": plain}))[1]).abs()
        assert apart.max() > 100 * BOUND, (name, apart.max())


if __name__ == "__main__":
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    check_that_positions_tell()
    for name, settings in MODELS.items():
        check(name, settings)
