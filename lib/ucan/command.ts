/** Whether it is a command: lower-case segments each behind a slash, or `/` for all of them. */
export function isCommand(text: string): boolean {
  return text === '/' || (/^(?:\/[^/\s]+)+$/u.test(text) && text === text.toLowerCase());
}

/** Whether one who may do `held` may do `asked`: the same, or below it by whole segments, so that `/console/read` is no leave for `/console/readwrite`. */
export function covers(held: string, asked: string): boolean {
  return held === '/' || asked === held || asked.startsWith(`${held}/`);
}
