import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Running, startRestarting } from '../../scripts/restarting.ts';
import { temporaryFolder } from '../support/databases.ts';

let folder: ReturnType<typeof temporaryFolder>;
let program: Running;
let printed: string[];
beforeEach(() => {
  folder = temporaryFolder();
  printed = [];
  mkdirSync(join(folder.path, 'lib/deep'), { recursive: true });
  save('lib/deep/word.ts', 'export const word = "first";');
  save('server.ts', 'import { word } from "./lib/deep/word.ts"; console.log(word); setInterval(() => {}, 1000);');
  program = startRestarting({
    start,
    root: folder.path,
    sources: ['server.ts', 'lib'],
    say: (text) => printed.push(text),
  });
});
afterEach(async () => {
  program.stop();
  await program.ended;
  folder.remove();
});

function save(name: string, text: string): void {
  writeFileSync(join(folder.path, name), text);
}

function start(): Bun.Subprocess {
  const child = Bun.spawn([process.execPath, 'server.ts'], { cwd: folder.path, stdio: ['ignore', 'pipe', 'ignore'] });
  const read = async () => {
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream()))
      printed.push(...chunk.trim().split('\n'));
  };
  read();
  return child;
}

/** Waits until the last line is this one; the test's own timeout ends it. */
async function untilPrinted(line: string | RegExp): Promise<void> {
  while (!(typeof line === 'string' ? printed.at(-1) === line : line.test(printed.at(-1) ?? ''))) await Bun.sleep(10);
}

test('a saved file starts the program again, wherever it lies, and as what it is written', async () => {
  await untilPrinted('first');
  save('lib/deep/word.ts', 'export const word = "second";');
  await untilPrinted('second');
  // As editors save that put a new file in the place of the old one.
  save('server.ts~', 'console.log("third"); setInterval(() => {}, 1000);');
  renameSync(join(folder.path, 'server.ts~'), join(folder.path, 'server.ts'));
  await untilPrinted('third');
  expect(printed.filter((line) => line.startsWith('↻'))).toEqual([
    '↻ lib/deep/word.ts changed: the vault starts again',
    '↻ server.ts changed: the vault starts again',
  ]);
});

test('a program that ended by a mistake starts again once it is put right', async () => {
  await untilPrinted('first');
  save('lib/deep/word.ts', 'export const word = ;');
  await untilPrinted(/^The vault ended with 1\./);
  save('lib/deep/word.ts', 'export const word = "right";');
  await untilPrinted('right');
});

test('other files change nothing, and stop ends the program', async () => {
  await untilPrinted('first');
  save('notes.txt', 'not a source');
  save('lib/deep/.word.ts.swp', 'not a source');
  save('lib/deep/word.ts', 'export const word = "second";');
  await untilPrinted('second');
  program.stop();
  await program.ended;
  save('lib/deep/word.ts', 'export const word = "third";');
  await Bun.sleep(200);
  expect(printed.at(-1)).toBe('second');
  expect(printed.filter((line) => line.startsWith('↻'))).toHaveLength(1);
});
