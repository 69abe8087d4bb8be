"""The noise schedule (scaled linear, v-prediction) and the DDIM step, shared by training and sampling."""
import numpy as np
import torch

STEPS = 1000
BETA_START, BETA_END = 0.00085, 0.02

_betas = torch.linspace(BETA_START ** 0.5, BETA_END ** 0.5, STEPS, dtype=torch.float64) ** 2
_alpha_bar = torch.cumprod(1 - _betas, 0)


class Schedule:
    """`signal[t]` and `noise[t]` scale picture and noise; index STEPS is the clean picture."""

    def __init__(self, device):
        one, zero = torch.ones(1), torch.zeros(1)
        self.signal = torch.cat([_alpha_bar.sqrt().float(), one]).to(device)
        self.noise = torch.cat([(1 - _alpha_bar).sqrt().float(), zero]).to(device)
        self.snr = (_alpha_bar / (1 - _alpha_bar)).float().to(device)

    def at(self, t):
        return self.signal[t].view(-1, 1, 1, 1), self.noise[t].view(-1, 1, 1, 1)

    def add_noise(self, z, noise, t):
        a, s = self.at(t)
        return a * z + s * noise

    def step(self, x, v, t, to):
        """DDIM from time t to time `to`, given the predicted v."""
        a, s = self.at(t)
        a2, s2 = self.at(to)
        clean = a * x - s * v
        noise = s * x + a * v
        return a2 * clean + s2 * noise

    def velocity_between(self, x, landed, t, to):
        """The v that carries x at time t exactly to `landed` at time `to` in one DDIM step."""
        a, s = self.at(t)
        a2, s2 = self.at(to)
        clean = (landed - (s2 / s) * x) / (a2 - s2 * a / s)
        return (a * x - clean) / s


def trailing(steps):
    """The times of a sampler with `timestep_spacing: trailing`, and STEPS (clean) at the end."""
    times = np.round(np.arange(STEPS, 0, -STEPS / steps)).astype(int) - 1
    return [int(t) for t in times] + [STEPS]


def config():
    return {"_class_name": "DDIMScheduler", "_diffusers_version": "0.30.0", "beta_end": BETA_END, "beta_schedule": "scaled_linear",
            "beta_start": BETA_START, "clip_sample": False, "num_train_timesteps": STEPS, "prediction_type": "v_prediction",
            "rescale_betas_zero_snr": False, "set_alpha_to_one": True, "skip_prk_steps": True, "steps_offset": 1,
            "timestep_spacing": "trailing", "trained_betas": None}
