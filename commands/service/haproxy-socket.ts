import { connect } from 'node:net';
import { isCode } from '../storage/durable.ts';

const ANSWER_MS = 5_000;
const ANSWER_CHARS_MAX = 1_048_576;

/** HAProxy's answer on its own socket. Throws an `Error` if it refuses, or does not answer. */
export function askHaproxy(path: string, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const fail = (problem: string) => reject(new Error(`HAProxy at ${path}: ${problem} ("${command}")`));
    const socket = connect(path, () => socket.write(`${command}\n`));
    socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error('no answer')));
    socket
      .on('data', (chunk) => {
        answer += chunk;
        if (answer.length > ANSWER_CHARS_MAX) socket.destroy(new Error('the answer is too long'));
      })
      .on('error', (error) => fail(isCode(error, 'EACCES') ? 'run this as root (sudo)' : error.message))
      .on('close', () => {
        // An order that is followed has no answer.
        if (command.startsWith('set ') && answer.trim() !== '') fail(answer.trim());
        else resolve(answer);
      });
  });
}

/** The servers of the vault's backend, each with its status, such as `UP` or `DOWN`. */
export async function serversOf(path: string): Promise<Map<string, string>> {
  const [head = '', ...lines] = (await askHaproxy(path, 'show stat')).trim().split('\n');
  const names = head.replace('# ', '').split(',');
  const cellOf = (line: string, name: string) => line.split(',')[names.indexOf(name)] ?? '';
  const own = lines.filter((line) => cellOf(line, 'pxname') === 'vaults');
  return new Map(own.map((line) => [cellOf(line, 'svname'), cellOf(line, 'status')]));
}
