import type { Logger } from "@kit/http-kernel";
import type { Engine } from "../engine/engine-api.js";
import type { Expander } from "../expand/expander.js";
import type { Gallery } from "../gallery/gallery.js";
import type { AdapterFolders } from "../generation/resolve-adapter.js";
import type { Studio } from "../generation/studio.js";
import type { PullDesk } from "../models/hub/pull-desk.js";
import type { ModelStore } from "../models/model-store.js";

/** What the routes are made of. */
export interface EaselParts {
  readonly engine: Engine;
  readonly studio: Studio;
  readonly expander: Expander;
  readonly models: ModelStore;
  readonly pulls: PullDesk;
  readonly gallery: Gallery;
  readonly adapters: AdapterFolders;
  /** whether requests carry keys that the server has checked */
  readonly hasKeys: boolean;
  readonly build: BuildInfo;
  /** the engine has been used: the idle clock starts again */
  readonly onEngineUse: () => void;
  readonly log: Logger;
}

export interface BuildInfo {
  readonly version: string;
  readonly gitSha: string;
  readonly buildDate: string;
}
