// What services' tests share. Nothing here is used by a running program.
export {};
