"""The optimizer's step, left out when the gradient is not finite. On an H200 that happened to single steps of every stage, in
bursts, for a reason not found (no input was at fault); one such step spoils weights and averages for good."""
import torch


def careful_step(optimizer, values, most=1.0):
    """-> the gradient's norm, and 1 where the step was left out. The fused optimizer reads the flag on the device: asking for
    its value here would make the processor wait for the GPU every step."""
    norm = torch.nn.utils.clip_grad_norm_(values, most)
    optimizer.grad_scale, optimizer.found_inf = None, (~torch.isfinite(norm)).float()
    optimizer.step()
    return norm, optimizer.found_inf


def finite(value):
    """For sums that are only logged: a step that was left out counts as nothing."""
    return value.detach().nan_to_num(0.0, 0.0, 0.0)
