"""Trains the prompt expander for a given time and leaves export/expander.tar.

    python3 train.py --minutes 4 --work DIR [--data DIR]

DATA holds lexicon.json and tokenizer.json (default: beside this file). Needs torch, tokenizers, numpy, safetensors; no network. Runs beside other work on
the same GPU. A killed run goes on from WORK/checkpoint.pt with the time it had left when the same line is given again.
"""
import argparse, json, math, multiprocessing as mp, os, queue, random, re, signal, sys, tarfile, time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
END, START, MODE0 = 0, 1, 2


def make_batches(folder, seed, batch, out, stop):
    """A worker: 8 batches at a time, sorted by length so that little is padding. A batch is (ids, loss mask)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["RAYON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    sys.path.insert(0, HERE)
    from tokenizers import Tokenizer
    from grammar import MODES, Grammar
    tok, g = Tokenizer.from_file(os.path.join(folder, "tokenizer.json")), Grammar(os.path.join(folder, "lexicon.json"), seed)
    while not stop.is_set():
        pairs = [g.pair() for _ in range(8 * batch)]
        before = tok.encode_batch_fast([" " + p for p, _, _ in pairs])
        after = tok.encode_batch_fast([" " + e for _, _, e in pairs])
        rows = [([START, *b.ids, MODE0 + MODES.index(m), *a.ids, END], len(b.ids) + 1) for (_, m, _), b, a in zip(pairs, before, after)]
        rows = sorted((r for r in rows if len(r[0]) <= 200), key=lambda r: len(r[0]))
        parts = [rows[i * len(rows) // 8:(i + 1) * len(rows) // 8] for i in range(8)]
        random.shuffle(parts)
        for part in parts:
            width = max(len(r) for r, _ in part)
            ids, mask = np.zeros((len(part), width), np.uint16), np.zeros((len(part), width), np.bool_)
            for i, (r, at) in enumerate(part):
                ids[i, :len(r)] = r
                mask[i, at:len(r) - 1] = True  # position t predicts t + 1: from the mode token on
            while not stop.is_set():
                try:
                    out.put((ids, mask), timeout=1)
                    break
                except queue.Full:
                    pass


class Pool:
    """Batches are used again while the workers are slower than the GPU; the oldest leave first."""

    def __init__(self, source, most):
        self.source, self.most, self.items, self.made = source, most, [], 0

    def next(self):
        while True:
            try:
                self.items.append(self.source.get(timeout=60) if len(self.items) < 8 else self.source.get_nowait())
                self.made += 1
            except queue.Empty:
                break
        del self.items[:max(0, len(self.items) - self.most)]
        return random.choice(self.items)


def sample(net, tok, asked, temperature=.7, seed=0, limit=110):
    """Expansions of [(prompt, mode)], all at once. Rows are padded on the right, which a causal model does not see; short texts need no cache."""
    import torch
    from grammar import MODES
    device = next(net.parameters()).device
    gen = torch.Generator(device).manual_seed(seed)
    rows = [[START, *tok.encode(" " + p.lower()).ids, MODE0 + MODES.index(m)] for p, m in asked]
    begin, open_rows = [len(r) for r in rows], set(range(len(rows)))
    with torch.no_grad():
        for _ in range(limit):
            at = sorted(open_rows)
            if not at:
                break
            width = max(len(rows[i]) for i in at)
            ids = torch.tensor([rows[i] + [END] * (width - len(rows[i])) for i in at], device=device)
            h = net.hidden(ids)[torch.arange(len(at), device=device), torch.tensor([len(rows[i]) - 1 for i in at], device=device)]
            z = net.logits(h).float()
            picked = z.argmax(-1) if temperature == 0 else torch.multinomial((z / temperature).softmax(-1), 1, generator=gen)[:, 0]
            for i, t in zip(at, picked.tolist()):
                if t == END or len(rows[i]) > 250:
                    open_rows.discard(i)
                else:
                    rows[i].append(t)
    return [tok.decode(r[n:]).strip() for r, n in zip(rows, begin)]


PEOPLE = ("cat", "a red fox", "rocket", "two apples", "birthday cake", "a happy robot reading a book", "eiffel tower", "old sailor", "Barack Obama", "my grandmother's kitchen", "dragon breathing fire", "pikachu",
          "sunset", "a car on a road", "blue whale", "house", "a snowman in winter, flat style", "quantum computer", "dog and cat", "penguin", "strawberry ice cream", "黒い猫")


def judge(net, tok, folder, n):
    """Share of words of unseen prompts that come back, and examples."""
    from grammar import ASKING, Grammar
    g, kept, total, whole, lines = Grammar(os.path.join(folder, "lexicon.json"), 987654321), 0, 0, 0, []
    skip = {"a", "an", "the", "of", "picture", "image", "drawing", "illustration", "icon", "emoji", "painting", "photo", *" ".join(ASKING).split()}
    asked = [g.pair()[:2] for _ in range(n)] + [(p, m) for p in PEOPLE for m in ("doodle", "doodle", "tags", "prose")]
    for i, ((p, m), e) in enumerate(zip(asked, sample(net, tok, asked))):
        have = re.findall(r"\w+", e.lower())
        words = [w for w in re.findall(r"\w+", p.lower()) if w not in skip]
        k = sum(w in have for w in words)
        kept, total, whole = kept + k, total + len(words), whole + (k == len(words))
        if i < 100 or i >= n:
            lines.append(f"{p}  <{m}>  {e}")
    return f"words kept {kept / max(1, total):.4f}, prompts wholly kept {whole / len(asked):.4f} of {len(asked)}", lines


def export(net, tok_file, work, info, judged):
    from safetensors.torch import save_file
    out = os.path.join(work, "export")
    os.makedirs(out, exist_ok=True)
    save_file({k: v.detach().half().cpu().contiguous() for k, v in net.state_dict().items()}, os.path.join(out, "model.safetensors"))
    c = net.c
    json.dump(dict(c, architectures=["LlamaForCausalLM"], model_type="llama", hidden_act="silu", tie_word_embeddings=True, attention_bias=False, mlp_bias=False, bos_token_id=START, eos_token_id=END, dtype="float16"), open(os.path.join(out, "config.json"), "w"), indent=1)
    json.dump(info, open(os.path.join(out, "training.json"), "w"), indent=1)
    open(os.path.join(out, "tokenizer.json"), "w", encoding="utf-8").write(open(tok_file, encoding="utf-8").read())
    open(os.path.join(out, "samples.txt"), "w", encoding="utf-8").write("\n".join([judged[0], *judged[1]]) + "\n")
    with tarfile.open(os.path.join(out, "expander.tar.tmp"), "w") as t:
        for f in ("model.safetensors", "config.json", "training.json", "tokenizer.json", "samples.txt"):
            t.add(os.path.join(out, f), f)
        if os.path.exists(os.path.join(work, "train.log")):
            t.add(os.path.join(work, "train.log"), "train.log")
    os.replace(os.path.join(out, "expander.tar.tmp"), os.path.join(out, "expander.tar"))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--minutes", type=float, default=4)
    p.add_argument("--work", required=True)
    p.add_argument("--data", default=HERE)
    p.add_argument("--batch", type=int, default=2048)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--workers", type=int, default=4)
    p.add_argument("--judge", type=int, default=400)
    p.add_argument("--threads", type=int, default=0)
    a = p.parse_args()
    os.makedirs(a.work, exist_ok=True)
    begin = time.time()
    stop, source = mp.Event(), mp.Queue(64)
    state_file = os.path.join(a.work, "checkpoint.pt")
    seed0 = int(time.time()) % 100000 * 100
    crew = [mp.Process(target=make_batches, args=(a.data, seed0 + i, a.batch, source, stop), daemon=True) for i in range(a.workers)]
    for w in crew:
        w.start()
    import torch
    import torch.nn.functional as F
    from tokenizers import Tokenizer
    sys.path.insert(0, HERE)
    from net import Llama
    if a.threads:
        torch.set_num_threads(a.threads)
    log_file = open(os.path.join(a.work, "train.log"), "a", buffering=1)

    def log(text):
        line = f"[{time.time() - begin:7.1f}s] {text}"
        print(line, flush=True)
        log_file.write(line + "\n")

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = True
    net = Llama().to(device)
    decay = [q for n, q in net.named_parameters() if q.ndim == 2 and "embed" not in n]
    other = [q for n, q in net.named_parameters() if not (q.ndim == 2 and "embed" not in n)]
    opt = torch.optim.AdamW([dict(params=decay, weight_decay=.1), dict(params=other, weight_decay=0)], lr=a.lr, betas=(.9, .95), fused=device == "cuda")
    step, spent = 0, 0.0
    if os.path.exists(state_file):
        s = torch.load(state_file, map_location=device)
        net.load_state_dict(s["net"])
        opt.load_state_dict(s["opt"])
        step, spent = s["step"], s["spent"]
    tok_file = os.path.join(a.data, "tokenizer.json")
    tok = Tokenizer.from_file(tok_file)
    log(f"{device}, {sum(q.numel() for q in net.parameters()) / 1e6:.2f} M parameters, step {step}, {spent:.0f} s spent before")
    pool = Pool(source, 1500)
    reserve = min(25.0, a.minutes * 60 * .15)  # judging and writing
    limit = a.minutes * 60 - reserve
    pool.next()
    t0, saved, shown, tokens, losses = time.time(), time.time(), time.time(), 0, []
    while True:
        done = (spent + time.time() - t0) / limit
        if done >= 1:
            break
        lr = a.lr * min(1, (step + 1) / 200) * (.02 + .98 * .5 * (1 + math.cos(math.pi * done)))
        for group in opt.param_groups:
            group["lr"] = lr
        ids, mask = pool.next()
        ids, mask = torch.from_numpy(ids.astype(np.int32)).to(device, non_blocking=True).long(), torch.from_numpy(mask).to(device, non_blocking=True)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            h = net.hidden(ids[:, :-1])
            z = net.logits(h[mask[:, :-1]])
        loss = F.cross_entropy(z.float(), ids[:, 1:][mask[:, :-1]])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        step += 1
        tokens += ids.numel()
        losses.append(loss.detach())
        if time.time() - shown > 10:
            mean = torch.stack(losses).mean().item()
            log(f"step {step} loss {mean:.4f} lr {lr:.2e} {tokens / (time.time() - shown) / 1e3:.0f}k tokens/s, {pool.made} batches made, {done * 100:.0f} %")
            shown, tokens, losses = time.time(), 0, []
        if time.time() - saved > 30:
            torch.save(dict(net=net.state_dict(), opt=opt.state_dict(), step=step, spent=spent + time.time() - t0), state_file + ".tmp")
            os.replace(state_file + ".tmp", state_file)
            saved = time.time()
    spent += time.time() - t0
    stop.set()
    torch.save(dict(net=net.state_dict(), opt=opt.state_dict(), step=step, spent=spent), state_file + ".tmp")
    os.replace(state_file + ".tmp", state_file)
    info = dict(steps=step, seconds=round(spent, 1), batch=a.batch, batches_made=pool.made, lr=a.lr, device=torch.cuda.get_device_name() if device == "cuda" else "cpu", parameters=sum(q.numel() for q in net.parameters()))
    export(net, tok_file, a.work, info, ("not judged yet", []))
    judged = judge(net.float().eval(), tok, a.data, a.judge)
    log(judged[0])
    for line in judged[1][-40:]:
        log(line)
    export(net, tok_file, a.work, info, judged)
    log(f"DONE {os.path.getsize(os.path.join(a.work, 'export', 'expander.tar')) / 2**20:.2f} MiB")
    source.cancel_join_thread()
    for w in crew:
        w.terminate()


if __name__ == "__main__":
    mp.set_start_method("spawn")
    main()
