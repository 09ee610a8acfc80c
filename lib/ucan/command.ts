/** Whether a text is a command: lower-case segments, each after a slash, or `/` for all commands. */
export function isCommand(text: string): boolean {
  return text === '/' || (/^(?:\/[^/\s]+)+$/u.test(text) && text === text.toLowerCase());
}

/**
 * Whether `held` allows `asked`: the same command or one below it, by whole segments. `/console/read` does not allow
 * `/console/readwrite`.
 */
export function covers(held: string, asked: string): boolean {
  return held === '/' || asked === held || asked.startsWith(`${held}/`);
}
