import { useEffect, useState } from "preact/hooks";
import { nixShellLine } from "../contract/nix-shell-line.js";
import type { Package } from "./api.js";

/** The lines that give a shell with exactly this version, each with a button that copies it. */
export function ShellLines({ record }: { record: Package }) {
  const lines = [
    { label: "In a shell", text: nixShellLine(record) },
    { label: "Commit", text: record.last_commit_hash },
  ];
  return (
    <ul class="lines">
      {lines.map(({ label, text }) => (
        <li key={label}>
          <span class="line-label">{label}</span>
          <code>{text}</code>
          <CopyButton text={text} label={label} />
        </li>
      ))}
    </ul>
  );
}

/** How long the button says that it worked. */
const CONFIRMATION_MS = 1600;

function CopyButton({ text, label }: { text: string; label: string }) {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  useEffect(() => {
    const timer = setTimeout(() => setState("idle"), CONFIRMATION_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => setState((await copyText(text)) ? "copied" : "failed");
  return (
    <button type="button" class="copy" aria-label={`Copy: ${label}`} onClick={copy}>
      <span aria-live="polite">{{ idle: "Copy", copied: "Copied", failed: "Press Ctrl-C" }[state]}</span>
    </button>
  );
}

/** The clipboard works on safe origins only; elsewhere an invisible selection does. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.style.position = "fixed";
    area.style.opacity = "0";
    document.body.append(area);
    area.select();
    const worked = document.execCommand("copy");
    area.remove();
    return worked;
  }
}
