export type { PayloadCodec } from "./journal.js";
export { openJournalQueue } from "./journal-queue.js";
export { createMemoryQueue } from "./memory-queue.js";
export {
  JobCancelledError,
  type JobQueue,
  type Place,
  QueueClosedError,
  type QueueCounts,
  type QueuedJob,
  QueueFullError,
  type QueueOptions,
  type Ticket,
} from "./queue-api.js";
