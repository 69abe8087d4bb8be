import { type Static, Type } from "typebox";

const GpuInfo = Type.Object({
  name: Type.String(),
  vram_total_mb: Type.Integer(),
  vram_used_mb: Type.Integer(),
});

export const Status = Type.Object({
  version: Type.String(),
  git_sha: Type.String(),
  build_date: Type.String(),
  models_loaded: Type.Array(Type.String()),
  busy: Type.Boolean(),
  gpu_info: Type.Union([GpuInfo, Type.Null()], { description: "Null without a GPU." }),
  uptime_secs: Type.Integer({ minimum: 0 }),
});
export type Status = Static<typeof Status>;

export const Health = Type.Object({ status: Type.Literal("ok") });
