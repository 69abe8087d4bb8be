"""Records whole denoising loops of diffusers' schedulers over a grid of configs, with a fixed stand-in for the model.

    python tools/golden-schedulers/record.py packages/diffusion/fixtures/schedulers/loops.json

Needs torch and diffusers. The recordings are what packages/diffusion's schedulers are compared with.
"""
import importlib
import itertools
import json
import sys

import diffusers
import torch

SIZE = 16
SD = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear"}


def start_values(count=SIZE):
    return torch.tensor([torch.sin(torch.tensor(i * 1.7 + 0.3)).item() * 1.5 for i in range(count)]).reshape(1, 1, 4, -1)


def noise_values(call, count=SIZE):
    index = torch.arange(count, dtype=torch.float64)
    return (torch.sin(index * 2.1 + call * 0.9 + 0.1) * 1.4).float().reshape(1, 1, 4, -1)


def fake_model(sample, timestep):
    t = float(timestep)
    return 0.4 * sample * float(torch.cos(torch.tensor(t / 250))) + 0.3 * torch.sin(3 * sample + t / 100)


def run(class_name, config, steps, begin):
    scheduler_class = getattr(diffusers, class_name)
    scheduler = scheduler_class(**config)
    module = importlib.import_module(scheduler_class.__module__)
    calls = itertools.count()
    module.randn_tensor = lambda *args, **kwargs: noise_values(next(calls))
    scheduler.set_timesteps(steps)
    if hasattr(scheduler, "set_begin_index"):
        scheduler.set_begin_index(begin)
    timesteps = scheduler.timesteps
    if timesteps[0] == 998:
        # F32 noise: the largest training sigma maps to 998.9999 and is cut to 998; its true timestep is 999.
        timesteps[0] = 999
    if begin == 0:
        sample = start_values() * scheduler.init_noise_sigma
    else:
        sample = scheduler.add_noise(start_values(), noise_values(99), timesteps[begin : begin + 1])
    started = sample.clone()
    for t in timesteps[begin:]:
        output = fake_model(scheduler.scale_model_input(sample, t), t)
        sample = scheduler.step(output, t, sample).prev_sample
    assert torch.isfinite(sample).all(), (class_name, config, steps)
    return {
        "class": class_name,
        "config": config,
        "steps": steps,
        "begin": begin,
        "timesteps": [float(t) for t in timesteps],
        "initNoiseSigma": float(scheduler.init_noise_sigma),
        "started": [float(f"{v:.8g}") for v in started.flatten().tolist()],
        "result": [float(f"{v:.8g}") for v in sample.flatten().tolist()],
    }


def grid():
    spacings = ["leading", "trailing", "linspace"]
    predictions = ["epsilon", "v_prediction", "sample"]
    for spacing, prediction in itertools.product(spacings, predictions):
        base = {**SD, "timestep_spacing": spacing, "prediction_type": prediction}
        for steps in (1, 4, 7, 20):
            yield "DDIMScheduler", {**base, "clip_sample": False, "steps_offset": 1, "set_alpha_to_one": False}, steps
            yield "EulerDiscreteScheduler", {**base, "steps_offset": 1}, steps
            if prediction != "sample":
                yield "EulerAncestralDiscreteScheduler", base, steps
            yield "DPMSolverMultistepScheduler", base, steps
            yield "UniPCMultistepScheduler", base, steps
    for schedule in ("linear", "squaredcos_cap_v2"):
        base = {"beta_schedule": schedule}
        yield "DDIMScheduler", {**base, "clip_sample": True, "clip_sample_range": 0.8}, 10
        yield "EulerDiscreteScheduler", base, 10
        yield "EulerAncestralDiscreteScheduler", base, 10
        yield "DPMSolverMultistepScheduler", base, 10
        yield "DPMSolverMultistepScheduler", {**base, "use_karras_sigmas": True}, 10
        yield "UniPCMultistepScheduler", base, 10
    trained = [0.001 + 0.0002 * i for i in range(100)]
    yield "DDIMScheduler", {"trained_betas": trained, "num_train_timesteps": 100, "clip_sample": False}, 10
    for name in ("DDIMScheduler", "EulerDiscreteScheduler", "EulerAncestralDiscreteScheduler"):
        zero = {**SD, "rescale_betas_zero_snr": True, "prediction_type": "v_prediction", "timestep_spacing": "trailing"}
        if name == "DDIMScheduler":
            zero["clip_sample"] = False
        yield name, zero, 8
    for name in ("DPMSolverMultistepScheduler", "UniPCMultistepScheduler"):
        zero = {**SD, "rescale_betas_zero_snr": True, "prediction_type": "v_prediction", "timestep_spacing": "trailing"}
        yield name, zero, 8
    for name in ("EulerDiscreteScheduler", "DPMSolverMultistepScheduler", "UniPCMultistepScheduler"):
        for option in ("use_karras_sigmas", "use_exponential_sigmas"):
            for steps in (5, 12, 25):
                yield name, {**SD, option: True}, steps
        yield name, {**SD, "final_sigmas_type": "sigma_min"}, 9
    for order in (1, 2, 3):
        for steps in (6, 16):
            yield "DPMSolverMultistepScheduler", {**SD, "solver_order": order}, steps
            yield "UniPCMultistepScheduler", {**SD, "solver_order": order}, steps
    for solver in ("midpoint", "heun"):
        yield "DPMSolverMultistepScheduler", {**SD, "solver_type": solver}, 18
        yield "DPMSolverMultistepScheduler", {**SD, "solver_type": solver, "algorithm_type": "sde-dpmsolver++"}, 18
    yield "DPMSolverMultistepScheduler", {**SD, "euler_at_final": True, "final_sigmas_type": "sigma_min"}, 18
    yield "DPMSolverMultistepScheduler", {**SD, "lower_order_final": False, "use_karras_sigmas": True}, 8
    yield "DPMSolverMultistepScheduler", {**SD, "beta_schedule": "squaredcos_cap_v2", "lambda_min_clipped": -5.1}, 12
    yield "UniPCMultistepScheduler", {**SD, "solver_type": "bh1", "final_sigmas_type": "sigma_min"}, 10
    yield "UniPCMultistepScheduler", {**SD, "disable_corrector": [0, 1]}, 10
    for steps in (1, 2, 4, 8):
        yield "LCMScheduler", {}, steps
        yield "LCMScheduler", {"prediction_type": "v_prediction", "original_inference_steps": 100}, steps


def main():
    loops = []
    for class_name, config, steps in grid():
        loops.append(run(class_name, config, steps, 0))
        if steps in (7, 8, 10, 20):
            loops.append(run(class_name, config, steps, steps - max(1, steps * 6 // 10)))
    with open(sys.argv[1], "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(loop) for loop in loops) + "\n]\n")
    print(f"{len(loops)} loops")


main()
