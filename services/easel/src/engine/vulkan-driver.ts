/**
 * WebGPU on a server with an NVIDIA card. Vulkan's loader learns of drivers from small files; NVIDIA's own names a library that needs an X
 * server, and images for servers often carry no such file at all. The card's EGL library is a complete Vulkan driver without a
 * screen, so where nothing else is said the loader is pointed at that.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface DriverPlaces {
  /** exists where there is a card */
  readonly device: string;
  /** where the loader itself looks for driver files */
  readonly driverFolders: readonly string[];
  readonly libraryFolders: readonly string[];
}

const EGL_LIBRARY = "libEGL_nvidia.so.0";

/** Where Linux distributions and NVIDIA's containers put things. */
const USUAL_PLACES: DriverPlaces = {
  device: "/dev/nvidia0",
  driverFolders: ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"],
  libraryFolders: [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/nvidia/lib64",
  ],
};

/** The variables that the engine's process needs beside its own; none where the user has chosen a driver or the loader finds one that works without a screen. */
export function vulkanVariables(
  environment: NodeJS.ProcessEnv,
  folder: string,
  places: DriverPlaces = USUAL_PLACES,
): NodeJS.ProcessEnv {
  const chosen = environment["VK_DRIVER_FILES"] ?? environment["VK_ICD_FILENAMES"];
  if (chosen !== undefined || !existsSync(places.device) || places.driverFolders.some(namesEglDriver)) return {};
  const library = places.libraryFolders.map((place) => join(place, EGL_LIBRARY)).find((path) => existsSync(path));
  if (library === undefined) return {};
  const file = join(folder, "nvidia-egl-vulkan.json");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    file,
    JSON.stringify({ file_format_version: "1.0.0", ICD: { library_path: library, api_version: "1.3.0" } }),
  );
  return { VK_DRIVER_FILES: file };
}

function namesEglDriver(folder: string): boolean {
  if (!existsSync(folder)) return false;
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .some((name) => readFileSync(join(folder, name), "utf8").includes(EGL_LIBRARY));
}
