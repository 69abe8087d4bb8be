import { pino } from "pino";

/** For places where nothing can fail with a 5xx, so that nothing is ever written. */
export const silentLog = pino({ level: "silent" });
