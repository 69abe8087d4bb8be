import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { vulkanVariables } from "./vulkan-driver.js";

/** A machine's folders, made for one test. */
function makePlaces(files: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), "easel-vulkan-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const places = {
    device: join(root, "nvidia0"),
    driverFolders: [join(root, "icd")],
    libraryFolders: [join(root, "none"), join(root, "lib")],
  };
  return { places, folder: join(root, "scratch"), library: join(root, "lib/libEGL_nvidia.so.0") };
}

describe("the driver WebGPU finds on a server with an NVIDIA card", () => {
  test("is the card's EGL library where only the driver that needs a screen is registered", () => {
    const { places, folder, library } = makePlaces({
      nvidia0: "",
      "lib/libEGL_nvidia.so.0": "",
      "icd/nvidia_icd.json": '{"ICD":{"library_path":"libGLX_nvidia.so.0"}}',
    });
    const file = vulkanVariables({}, folder, places)["VK_DRIVER_FILES"];
    expect(JSON.parse(readFileSync(file ?? "", "utf8"))).toMatchObject({ ICD: { library_path: library } });
  });

  test("is the registered one where that is the EGL library already", () => {
    const { places, folder } = makePlaces({
      nvidia0: "",
      "lib/libEGL_nvidia.so.0": "",
      "icd/nvidia_icd.json": '{"ICD":{"library_path":"libEGL_nvidia.so.0"}}',
    });
    expect(vulkanVariables({}, folder, places)).toEqual({});
  });

  test("is the user's choice where there is one", () => {
    const { places, folder } = makePlaces({ nvidia0: "", "lib/libEGL_nvidia.so.0": "" });
    expect(vulkanVariables({ VK_DRIVER_FILES: "/mine.json" }, folder, places)).toEqual({});
    expect(vulkanVariables({ VK_ICD_FILENAMES: "/mine.json" }, folder, places)).toEqual({});
  });

  test("is left to the loader without a card or without the library", () => {
    const noCard = makePlaces({ "lib/libEGL_nvidia.so.0": "" });
    expect(vulkanVariables({}, noCard.folder, noCard.places)).toEqual({});
    const noLibrary = makePlaces({ nvidia0: "" });
    expect(vulkanVariables({}, noLibrary.folder, noLibrary.places)).toEqual({});
  });
});
