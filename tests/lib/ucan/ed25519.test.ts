// One rule for Ed25519 (docs/enclave.md): what the enclave verifies the server verifies, on every runtime, and nothing
// else.
import { afterAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { toDidKey } from '../../../lib/ucan/did-key.ts';
import { UcanError } from '../../../lib/ucan/fault.ts';
import { createVerify } from '../../../lib/ucan/signature.ts';
import { freePort } from '../../../scripts/dev-stack/port.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { openDraw } from '../../support/draw.ts';
import { type Ed25519Case, edwardsCases } from '../../support/ed25519.ts';
import { openEnclave } from '../../support/enclave.ts';
import { isLong } from '../../support/long.ts';
import { programOf } from '../../support/runtime.ts';
import { SEED } from '../../support/seed.ts';
import { until } from '../../support/until.ts';

const DRAWS = isLong ? 2_000 : 100;
const cases = (() => {
  const draw = openDraw(SEED);
  return Array.from({ length: DRAWS }, () => edwardsCases(draw)).flat();
})();
const expected = tally(cases, ({ isValid }) => isValid);

describe(`${cases.length} signatures at the edges (SEED=${SEED})`, () => {
  test('some of them count', () => {
    const counted = Object.keys(expected).filter((name) => expected[name] !== 0);
    expect(counted).toEqual(['honest', 'a key of mixed order', 'key and nonce of mixed order']);
    expect(expected['honest']).toBe(DRAWS);
  });

  test('the enclave keeps to the rule', () => {
    const { call, put } = openEnclave();
    const verifies = ({ key, message, signature }: Ed25519Case) => {
      put(0, key);
      put(64, signature);
      return call.ed25519_verify(0, put(128, message), message.length, 64) === 1;
    };
    for (const one of cases) expect([one, verifies(one)]).toEqual([one, one.isValid]);
  });

  test('the server keeps to the rule', async () => {
    const verify = createVerify();
    for (const one of cases) {
      const did = toDidKey({ algorithm: 'Ed25519', bytes: one.key });
      const verified = await verify(did, one.message, one.signature).catch((error) => {
        if (error instanceof UcanError) return false;
        throw error;
      });
      expect([one, verified]).toEqual([one, one.isValid]);
    }
  });
});

describe('the server keeps to the rule', () => {
  const folder = temporaryFolder();
  afterAll(folder.remove);

  test('in Node', async () => expect(await runIn('node')).toEqual(expected));

  const deno = programOf('@deno/linux-x64-glibc/deno');
  if (deno) {
    test('in Deno', async () => {
      expect(await runIn(deno, 'run', '--allow-all', '--no-remote', '--quiet')).toEqual(expected);
    });
  }

  const workerd = programOf('@cloudflare/workerd-linux-64/bin/workerd');
  if (workerd) {
    test('in workerd', async () => {
      await bundle('worker', 'export default { fetch: async () => Response.json(await count()) };');
      const port = freePort();
      const config = join(folder.path, 'config.capnp');
      await Bun.write(
        config,
        `using Workerd = import "/workerd/workerd.capnp";
         const config :Workerd.Config = (
           services = [(name = "main", worker = (
             modules = [(name = "worker", esModule = embed "worker.mjs")], compatibilityDate = "2025-01-01",
           ))],
           sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
         );`,
      );
      const child = Bun.spawn([workerd, 'serve', config], { stdout: 'ignore', stderr: 'inherit' });
      try {
        expect(await answerOf(`http://127.0.0.1:${port}`)).toEqual(expected);
      } finally {
        child.kill();
        await child.exited;
      }
    });
  }

  async function answerOf(url: string): Promise<unknown> {
    return (await until('it listens', () => fetch(url).catch(() => undefined))).json();
  }

  async function runIn(...command: string[]): Promise<unknown> {
    const script = await bundle('main', 'console.log(JSON.stringify(await count()));');
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder.path, DENO_NO_UPDATE_CHECK: '1' };
    const child = Bun.spawn([...command, script], { cwd: folder.path, env, stdout: 'pipe', stderr: 'inherit' });
    return JSON.parse(await new Response(child.stdout).text());
  }

  /** A script with `count`, which has the server's own code verify every case. */
  async function bundle(name: string, use: string): Promise<string> {
    const source = join(import.meta.dir, '../../../lib/ucan');
    const hex = cases.map(({ name, ...one }) => [name, ...[one.key, one.message, one.signature].map(toHex)]);
    const entry = join(folder.path, `${name}.ts`);
    await Bun.write(
      entry,
      `import { toDidKey } from '${source}/did-key.ts';
       import { createVerify } from '${source}/signature.ts';
       const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
       async function count() {
         const [verify, counted] = [createVerify(), {}];
         for (const [name, key, message, signature] of ${JSON.stringify(hex)}) {
           const did = toDidKey({ algorithm: 'Ed25519', bytes: bytes(key) });
           const isValid = await verify(did, bytes(message), bytes(signature)).catch(() => false);
           counted[name] = (counted[name] ?? 0) + (isValid ? 1 : 0);
         }
         return counted;
       }
       ${use}`,
    );
    const options = { outdir: folder.path, target: 'browser', format: 'esm', naming: `${name}.mjs` } as const;
    await Bun.build({ entrypoints: [entry], conditions: ['workerd'], ...options });
    return join(folder.path, `${name}.mjs`);
  }
});

/** How many of each kind count. */
function tally(all: readonly Ed25519Case[], counts: (one: Ed25519Case) => boolean): Record<string, number> {
  const counted: Record<string, number> = {};
  for (const one of all) counted[one.name] = (counted[one.name] ?? 0) + (counts(one) ? 1 : 0);
  return counted;
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
