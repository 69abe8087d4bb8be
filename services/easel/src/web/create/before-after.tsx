import { useState } from "preact/hooks";

/** The picture it started from over the new one, with a handle to pull; a range input, so that keys and screen readers work. */
export function BeforeAfter({ before, after, alt }: { before: string; after: string; alt: string }) {
  const [share, setShare] = useState(50);
  return (
    <div class="before-after" style={{ "--share": `${share}%` }}>
      <img src={after} alt={alt} />
      <img class="before" src={before} alt="What it started from" />
      <span class="handle" />
      <input
        type="range"
        min={0}
        max={100}
        value={share}
        aria-label="Before and after"
        onInput={(event) => setShare(Number(event.currentTarget.value))}
      />
    </div>
  );
}
