import { expect, test } from 'bun:test';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Secp256k1 } from 'ox';
import { temporaryFolder } from './databases.ts';

const ROOT = join(import.meta.dir, '../..');

const DRAWS = `
import { expect, test } from 'bun:test';
import * as bare from 'crypto';
import { randomBytes, randomUUID } from 'node:crypto';
import { P256, Secp256k1 } from '${join(ROOT, 'node_modules/ox')}';
test('draws', () => {
  console.log('drawn', JSON.stringify([
    randomBytes(4).toString('hex'), bare.randomUUID(), randomUUID(), crypto.randomUUID(), Math.random(),
    crypto.getRandomValues(new Uint32Array(2)), Secp256k1.randomPrivateKey(), P256.randomPrivateKey(),
  ]));
});
`;

test('the values of a file are those of the seed and its path', async () => {
  const folder = temporaryFolder();
  const drawn = async (name: string, SEED: string): Promise<string> => {
    const file = join(folder.path, `${name}.test.ts`);
    await Bun.write(file, DRAWS);
    const env = { ...process.env, SEED };
    const child = Bun.spawn([process.execPath, 'test', file], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'ignore'] });
    const output = await new Response(child.stdout).text();
    return /drawn .*/.exec(output)?.[0] ?? output;
  };
  const one = await drawn('a', '1');
  expect(one).toStartWith('drawn');
  expect(await drawn('a', '1')).toBe(one);
  expect(await drawn('a', '2')).not.toBe(one);
  expect(await drawn('b', '1')).not.toBe(one);
  folder.remove();
});

test('random values are of their form, and no two are alike', () => {
  const drawn = Array.from({ length: 100 }, () => Math.random());
  expect(drawn.every((value) => value >= 0 && value < 1)).toBe(true);
  expect(randomUUID()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const all = [...drawn, randomUUID(), randomBytes(16).toString('hex'), Secp256k1.randomPrivateKey()];
  expect(new Set(all).size).toBe(all.length);
});
