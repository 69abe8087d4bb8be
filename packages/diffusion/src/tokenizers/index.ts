export { type ClipTokenizer, openClipTokenizer } from "./clip-tokenizer.js";
