import { formatDuration } from "@kit/command-line";
import { Box, Text } from "ink";
import type { Status } from "../contract/status.js";
import { type KeyBinding, keyMap, type Scope, shownKeys, viewNames } from "./key-map.js";
import type { Screen } from "./use-screen.js";

const COLUMN = 40;

/** Every key there is, from the one table. */
export function HelpView({ screen }: { screen: Screen }) {
  const scopes: readonly Scope[] = ["everywhere", "editing", ...viewNames];
  const columns = Math.max(1, Math.floor(screen.columns / COLUMN));
  return (
    <Box flexWrap="wrap" width={columns * COLUMN}>
      {scopes.map((scope) => {
        const bindings: readonly KeyBinding[] = keyMap.filter((binding) => binding.scope === scope);
        return bindings.length === 0 ? null : (
          <Box key={scope} flexDirection="column" width={COLUMN} paddingRight={2} marginBottom={1}>
            <Text bold>{scope}</Text>
            {bindings.map((binding) => (
              <Text key={binding.action} wrap="truncate">
                <Text color="cyan">{shownKeys(binding).padEnd(13)}</Text> {binding.doc}
              </Text>
            ))}
          </Box>
        );
      })}
    </Box>
  );
}

interface SettingsProps {
  readonly baseUrl: string;
  readonly inPlace: boolean;
  readonly status: Status | undefined;
  readonly galleryFolder: string | null | undefined;
  readonly galleryReason: string | null | undefined;
}

/** Where the UI is connected to and what the server runs with; changed by flags, variables and the configuration file. */
export function SettingsView({ baseUrl, inPlace, status, galleryFolder, galleryReason }: SettingsProps) {
  const gpu = status?.gpu_info;
  const rows: (readonly [string, string])[] = [
    ["server", inPlace ? `${baseUrl} (started by this UI, ends with it)` : baseUrl],
    ["version", status ? `${status.version} (${status.git_sha}, ${status.build_date})` : "unknown"],
    ["up for", status ? formatDuration(status.uptime_secs * 1000) : "unknown"],
    ["loaded", status?.models_loaded.join(", ") || "nothing"],
    ["gpu", gpu ? `${gpu.name}, ${gpu.vram_used_mb} of ${gpu.vram_total_mb} MB used` : "none"],
    ["pictures", galleryFolder ?? galleryReason ?? "unknown"],
  ];
  return (
    <Box flexDirection="column">
      {rows.map(([name, value]) => (
        <Text key={name}>
          <Text dimColor>{name.padEnd(10)}</Text> {value}
        </Text>
      ))}
      <Box marginTop={1}>
        <Text dimColor>
          Settings come from flags, the environment and the configuration file: run 'easel config show'.
        </Text>
      </Box>
    </Box>
  );
}
