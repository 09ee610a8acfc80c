import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildBinary } from '../support/binary.ts';
import { temporaryFolder } from '../support/databases.ts';
import { growTree, killTree } from '../support/tree.ts';

const ROOT = join(import.meta.dir, '../..');

// Each starts the dev stack, and one builds the program first, as the demo's test does: the others have it built.

const BUILDING = 'Building';

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

/**
 * `npm start` in a dev stack of this test's own, once it has printed `text`. It installs nothing, as other tests run,
 * and builds nothing but for a test of just that.
 */
async function startNpm(text: string, ...options: string[]) {
  const world = { WORLD_DIR: folder.path, WORLD_PORTS: 'free' };
  const built = text === BUILDING ? {} : { WORLD_PROGRAM: program.path };
  const own = { HOME: folder.path, ...world, ...built, npm_config_update_notifier: 'false' };
  const env = { PATH: process.env['PATH'] ?? '', ...own };
  const npm = Bun.spawn(['npm', 'start', '--ignore-scripts', ...options], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  known = [npm.pid];
  const said = Promise.withResolvers<void>();
  let output = '';
  const read = async () => {
    for await (const chunk of npm.stdout.pipeThrough(new TextDecoderStream())) {
      output += chunk;
      if (output.includes(text)) said.resolve();
    }
    said.reject(new Error(`npm start ended:\n${output}`));
  };
  read();
  await said.promise;
  known = growTree(known);
  return npm;
}

/** Resolves when nothing runs any more of what npm had started then, or started since. */
async function ended(): Promise<void> {
  for (let left = growTree(known); left.length > 0; left = growTree(known)) {
    known = [...new Set([...known, ...left])];
    await Bun.sleep(50);
  }
}

test.each([
  ['SIGTERM', 'the whole dev stack runs', 'npm run demo'],
  ['SIGTERM', 'the vault is built', BUILDING],
  ['SIGINT', 'the dev stack starts', 'chain  '],
] as const)('%s to npm alone while %s ends everything, with exit code 0', async (signal, _, text) => {
  const npm = await startNpm(text);
  npm.kill(signal);
  expect(await npm.exited).toBe(0);
  await ended();
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
    const npm = await startNpm('npm run demo', `--script-shell=${shell}`);
    expect(known.length).toBeGreaterThan(5);
    npm.kill(signal);
    await npm.exited;
    await ended();
    expect(existsSync(join(folder.path, 'stack.json'))).toBe(false);
  },
);
