import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { apiKey, setApiKey } from "./api.js";
import { shortcutRows } from "./shortcuts.js";

export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} onClose={onClose} onCancel={onClose} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

export function KeyDialog({ onClose, onChanged }: { onClose: () => void; onChanged: () => void }) {
  const [key, setKey] = useState(apiKey);
  const save = (event: Event): void => {
    event.preventDefault();
    setApiKey(key.trim());
    onChanged();
    onClose();
  };
  return (
    <Dialog title="API key" onClose={onClose}>
      <p class="soft">Needed when the server was started with SERVICE_API_KEY. It is kept in this browser only.</p>
      <form onSubmit={save}>
        <input
          type="password"
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
          aria-label="API key"
          autocomplete="off"
        />
        <div class="row end">
          <button type="button" onClick={onClose}>
            Close
          </button>
          <button type="submit" class="primary">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="keys">
        {shortcutRows.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="row end">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

export function ConfirmDialog({
  title,
  text,
  action,
  onYes,
  onClose,
}: {
  title: string;
  text: string;
  action: string;
  onYes: () => void;
  onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <div class="row end">
        <button type="button" onClick={onClose}>
          Keep
        </button>
        <button
          type="button"
          class="danger"
          onClick={() => {
            onYes();
            onClose();
          }}
        >
          {action}
        </button>
      </div>
    </Dialog>
  );
}
