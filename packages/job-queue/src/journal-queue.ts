import { type JournalOptions, openJournal } from "./journal.js";
import { createQueue } from "./memory-queue.js";
import type { JobQueue, QueueOptions } from "./queue-api.js";

/** The same queue, whose jobs survive the process: the unfinished ones come back from `start`, the finished ones never do. */
export async function openJournalQueue<Payload, Result>(
  options: QueueOptions<Payload, Result> & JournalOptions<Payload>,
): Promise<JobQueue<Payload, Result>> {
  return createQueue(options, await openJournal(options));
}
