import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildBinary } from '../support/binary.ts';
import { temporaryFolder } from '../support/databases.ts';
import { spawnNpmStart, startEnv } from '../support/dev-world.ts';
import { outputUntil } from '../support/output.ts';
import { growTree, killTree, treeEnded } from '../support/tree.ts';

const ROOT = join(import.meta.dir, '../..');

// The demo's test ends the whole dev stack as npm does. Here it ends at earlier steps, and behind other shells: the chain
// runs then, as a process of its own. One builds the program, the others have it built.

const [BUILDING, STARTING] = ['Building', 'chain  '] as const;

let program: Awaited<ReturnType<typeof buildBinary>>;
beforeAll(async () => {
  program = await buildBinary();
});
afterAll(() => program.remove());

let folder: ReturnType<typeof temporaryFolder>;
let known: number[];
beforeEach(() => {
  folder = temporaryFolder();
  known = [];
});
afterEach(() => {
  killTree(known);
  folder.remove();
});

/** `npm start` in a dev stack of this test's own, once it has printed `text`. */
async function startNpm(text: typeof BUILDING | typeof STARTING, ...options: string[]) {
  const built = text === BUILDING ? {} : { WORLD_PROGRAM: program.path };
  const npm = spawnNpmStart({ ...startEnv(folder.path), ...built }, ...options);
  known = [npm.pid];
  await outputUntil(npm.stdout, text);
  known = growTree(known);
  return npm;
}

test('SIGTERM to npm alone while the vault is built ends everything, with exit code 0, once it is built', async () => {
  const begun = Date.now();
  const npm = await startNpm(BUILDING);
  npm.kill('SIGTERM');
  expect(await npm.exited).toBe(0);
  await treeEnded(known);
  expect(existsSync(join(folder.path, 'stack.json'))).toBe(false);
  const built = join(ROOT, 'dist/vault');
  expect(statSync(built).mtimeMs).toBeGreaterThanOrEqual(begun);
  expect(Bun.spawnSync([built, '--version'], { env: {} }).exitCode).toBe(0);
});

test('SIGINT to npm alone while the dev stack starts ends everything, with exit code 0', async () => {
  const npm = await startNpm(STARTING);
  npm.kill('SIGINT');
  expect(await npm.exited).toBe(0);
  await treeEnded(known);
  expect(existsSync(join(folder.path, 'stack.json'))).toBe(false);
});

/** Runs npm's script and waits for it, as cmd does: the signals of npm end here. */
const WAITING_SHELL = '#!/bin/sh\nsh "$@"\nexit $?\n';

test.each(['SIGTERM', 'SIGKILL'] as const)(
  '%s to npm ends everything behind a shell that passes no signals on',
  async (signal) => {
    const shell = join(folder.path, 'shell');
    writeFileSync(shell, WAITING_SHELL);
    chmodSync(shell, 0o755);
    const npm = await startNpm(STARTING, `--script-shell=${shell}`);
    // npm, the shell, the script and the chain.
    expect(known.length).toBeGreaterThan(3);
    npm.kill(signal);
    await npm.exited;
    await treeEnded(known);
    expect(existsSync(join(folder.path, 'stack.json'))).toBe(false);
  },
);
