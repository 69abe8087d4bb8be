export { type TinyCheckpointOptions, writeTinyCheckpoint } from "./tiny-checkpoint.js";
