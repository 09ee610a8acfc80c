import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';

/** Whether somebody is at a terminal who can answer. A script is not asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks at the terminal. Only `yes` is yes: an empty line, Ctrl-C and the end of the input are no. */
export async function saysYes(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const closed = once(lines, 'close').then(() => '');
  const answer = await Promise.race([lines.question(`${question} Type yes: `).catch(() => ''), closed]);
  lines.close();
  return answer.trim().toLowerCase() === 'yes';
}
