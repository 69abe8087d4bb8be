"""Low-rank adapters trained through a plain model: before each step the sums W + B·A are written into the model, after it
the weights' gradients are carried over to A and B. So the model runs (and compiles) as it is, whatever its layers.
Saved under the names that diffusers and PEFT read."""
import torch
import torch.nn as nn

from tensor_file import load_tensors


class Adapter:
    def __init__(self, model, rank, start=""):
        """`model` is frozen but for the adapted layers' weights, whose gradients this class reads. `start`: a saved adapter to
        go on from; one made for earlier weights of the model is a good start."""
        model.requires_grad_(False)
        self.names, self.modules, self.downs, self.ups = [], [], [], []
        for name, module in model.named_modules():
            if not isinstance(module, (nn.Linear, nn.Conv2d)) or name.startswith(("time_embedding", "conv_in", "conv_out")):
                continue
            weight = module.weight.requires_grad_(True)
            rows, columns = weight.shape[0], weight[0].numel()
            r = min(rank, rows, columns)
            self.names.append(name)
            self.modules.append(module)
            self.downs.append(nn.Parameter(torch.randn(r, columns, device=weight.device) * columns ** -0.5))
            self.ups.append(nn.Parameter(torch.zeros(rows, r, device=weight.device)))
        if start:
            self._load(load_tensors(start))
        self.originals = [m.weight.detach().clone() for m in self.modules]
        self.values = [*self.downs, *self.ups]
        self.means = [v.detach().clone() for v in self.values]

    @torch.no_grad()
    def _load(self, state):
        for name, down, up in zip(self.names, self.downs, self.ups):
            if f"unet.{name}.lora_A.weight" not in state:
                continue  # a layer that the earlier net did not have
            for value, part in ((down, "A"), (up, "B")):
                value.copy_(state[f"unet.{name}.lora_{part}.weight"].float().flatten(1))

    @torch.no_grad()
    def write(self):
        for module, original, down, up in zip(self.modules, self.originals, self.downs, self.ups):
            module.weight.copy_(original + (up @ down).view(original.shape))

    @torch.no_grad()
    def read_gradients(self):
        for module, down, up in zip(self.modules, self.downs, self.ups):
            gradient = module.weight.grad.reshape(len(up), -1).float()
            up.grad, down.grad = gradient @ down.T, up.T @ gradient
            module.weight.grad = None

    def state(self):
        """The averaged adapter; convolutions as a k x k convolution to `rank` channels and a 1 x 1 one back."""
        half, out = len(self.downs), {}
        for i, (name, module) in enumerate(zip(self.names, self.modules)):
            down, up = self.means[i], self.means[half + i]
            if module.weight.ndim == 4:
                down, up = down.view(-1, *module.weight.shape[1:]), up.view(*up.shape, 1, 1)
            out[f"unet.{name}.lora_A.weight"], out[f"unet.{name}.lora_B.weight"] = down, up
        return out


@torch.no_grad()
def merge(unet, state, scale=1.0):
    """Adds a saved adapter to a plain model's weights."""
    modules = dict(unet.named_modules())
    for key in [k for k in state if k.endswith(".lora_A.weight")]:
        weight = modules[key[len("unet."):-len(".lora_A.weight")]].weight
        down = state[key].to(weight.device).float().flatten(1)
        up = state[key.replace("lora_A", "lora_B")].to(weight.device).float().flatten(1)
        weight += scale * (up @ down).view(weight.shape)
