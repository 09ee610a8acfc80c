import { afterEach, beforeEach, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { startDevStack } from '../../../scripts/dev-stack/dev-stack.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { settled } from '../../support/settled.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
  process.env['WORLD_PORTS'] = 'free';
});
afterEach(() => {
  delete process.env['WORLD_PORTS'];
  folder.remove();
});

test('a dev stack that is told to stop at a step ends what runs, and begins nothing more', async () => {
  const stop = new AbortController();
  const said: string[] = [];
  const say = (text: string) => {
    said.push(text);
    stop.abort();
  };
  expect(await settled(startDevStack(folder.path, say, stop.signal))).toThrow('aborted');
  const [, url = ''] = /(http:\S+)/.exec(said.join('\n')) ?? [];
  expect(said).toEqual([`chain      ${url} (anvil, chain 84532)`]);
  expect(await settled(fetch(url))).toThrow();
  // The bundler, which would come next, begins its log.
  expect(readdirSync(folder.path)).not.toContain('bundler.log');
});
