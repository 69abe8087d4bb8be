import { useEffect, useState } from "preact/hooks";
import { expandPrompt } from "../api.js";

interface Props {
  readonly prompt: string;
  readonly model: string;
  readonly onUse: (prompt: string) => void;
  readonly onClose: () => void;
}

/** Offers richer prompts; nothing is used before one is chosen. */
export function ExpandPanel({ prompt, model, onUse, onClose }: Props) {
  // The words that were there when the panel opened: choosing one of the offers must not ask for new ones.
  const [asked] = useState(prompt);
  const [offers, setOffers] = useState<readonly string[]>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const stop = new AbortController();
    expandPrompt(asked, model, stop.signal).then(
      (answer) => setOffers(answer.expanded),
      (error: Error) => !stop.signal.aborted && setProblem(error.message),
    );
    return () => stop.abort();
  }, [asked, model]);
  return (
    <section class="offers" aria-label="Expanded prompts">
      {problem ? (
        <p class="problem" role="alert">
          {problem}
        </p>
      ) : offers === undefined ? (
        <p class="soft">Thinking…</p>
      ) : (
        offers.map((offer) => (
          <button
            key={offer}
            type="button"
            class="offer"
            onClick={() => {
              onUse(offer);
              onClose();
            }}
          >
            {offer}
          </button>
        ))
      )}
      <button type="button" class="quiet" onClick={onClose}>
        {offers ? "Keep mine" : "Close"}
      </button>
    </section>
  );
}
