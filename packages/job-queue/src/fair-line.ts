/** Who is next when clients take turns: one lane a client, one job from each lane in every round, first come first served inside a lane. */
export interface FairLine {
  readonly size: number;
  add(clientKey: string, id: string): void;
  /** Removes and returns the next id. */
  next(): string | undefined;
  remove(id: string): boolean;
  /** All ids in the order `next` would give them. */
  order(): string[];
  waitingOf(clientKey: string): number;
}

export function createFairLine(): FairLine {
  // The lane in front is the one whose turn it is. A served lane goes to the back; an emptied one disappears.
  let lanes: { readonly key: string; readonly ids: string[] }[] = [];
  let size = 0;

  return {
    get size() {
      return size;
    },
    add(key, id) {
      const lane = lanes.find((candidate) => candidate.key === key);
      if (lane) lane.ids.push(id);
      else lanes.push({ key, ids: [id] });
      size++;
    },
    next() {
      const lane = lanes.shift();
      const id = lane?.ids.shift();
      if (!lane || id === undefined) return undefined;
      if (lane.ids.length > 0) lanes.push(lane);
      size--;
      return id;
    },
    remove(id) {
      for (const lane of lanes) {
        const at = lane.ids.indexOf(id);
        if (at < 0) continue;
        lane.ids.splice(at, 1);
        if (lane.ids.length === 0) lanes = lanes.filter((other) => other !== lane);
        size--;
        return true;
      }
      return false;
    },
    order() {
      const longest = Math.max(0, ...lanes.map((lane) => lane.ids.length));
      const ids: string[] = [];
      for (let round = 0; round < longest; round++) {
        for (const lane of lanes) if (round < lane.ids.length) ids.push(lane.ids[round]!);
      }
      return ids;
    },
    waitingOf: (key) => lanes.find((lane) => lane.key === key)?.ids.length ?? 0,
  };
}
