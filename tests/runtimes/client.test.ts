import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { outputUntil } from '../support/output.ts';
import { makeProject, type Project, programOf } from '../support/runtime.ts';
import { startVault, type TestVault } from '../support/vault.ts';

let t: TestVault;
let project: Project;
beforeAll(async () => {
  project = await makeProject('bun');
  t = await startVault({ MAX_VERIFY_SENDS_PER_IP: '100' });
  project.write('use.mjs', USE(t.url));
});
afterAll(async () => {
  project.remove();
  await t.stop();
});

/** An answer, a refusal with its parts, and the first event of a stream. */
const USE = (url: string) => `import { createClient, VaultClientError } from 'vault/client';
const operatorSecret = 'ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';
export async function use() {
  const vault = createClient({ url: '${url}', operatorSecret });
  const { chainId } = await vault.status();
  const identifier = 'runtime' + Math.random().toString(36).slice(2) + '@example.com';
  const { ok } = await vault.verify.send({ identifier, channel: 'email' });
  const error = await vault.verify.send({ identifier: 'nobody', channel: 'email' }).catch((error) => error);
  const { token } = await vault.call('POST /v1/console/token', { app: 'default' });
  let first;
  for await (const { type } of vault.events(token, { after: 0, channel: 'audit' })) {
    first = type;
    break;
  }
  return { chainId, ok, isError: error instanceof VaultClientError, word: error.error, status: error.status, first };
}
`;
const EXPECTED = { chainId: 84532, ok: true, isError: true, word: 'Invalid identifier', status: 400 };

describe('the package of the client works', () => {
  const run = async (...command: string[]) => {
    const print = "import { use } from './use.mjs';\nconsole.log(JSON.stringify(await use()));\nprocess.exit(0);";
    const script = project.write('print.mjs', print);
    const env = { PATH: process.env['PATH'] ?? '', HOME: project.path, DENO_NO_UPDATE_CHECK: '1' };
    const child = Bun.spawn([...command, script], { cwd: project.path, env, stdout: 'pipe', stderr: 'inherit' });
    return JSON.parse(await new Response(child.stdout).text());
  };

  test('in Bun', async () => expect(await run(process.execPath)).toMatchObject(EXPECTED));
  test('in Node', async () => expect(await run('node')).toMatchObject(EXPECTED));

  const deno = programOf('@deno/linux-x64-glibc/deno');
  test.skipIf(!deno)('in Deno', async () =>
    expect(await run(deno ?? '', 'run', '--allow-all', '--no-remote', '--quiet')).toMatchObject(EXPECTED),
  );

  const workerd = programOf('@cloudflare/workerd-linux-64/bin/workerd');
  test.skipIf(!workerd)('in workerd', async () => {
    const entry = project.write(
      'worker.entry.mjs',
      `import { use } from './use.mjs';
export default { fetch: () => use().then((found) => Response.json(found), (error) => new Response(error.stack)) };`,
    );
    await Bun.build({ entrypoints: [entry], outdir: project.path, target: 'browser', naming: 'worker.js' });
    const config = project.write('config.capnp', CONFIG);
    const child = Bun.spawn([workerd ?? '', 'serve', '--control-fd=1', config], {
      cwd: project.path,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    // It says so on a line: {"event":"listen","socket":"http","port":38123}.
    const { port } = JSON.parse(await outputUntil(child.stdout, '}'));
    expect(await (await fetch(`http://127.0.0.1:${port}`)).json()).toMatchObject(EXPECTED);
    child.kill();
    await child.exited;
  });
});

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (modules = [(name = "worker", esModule = embed "worker.js")], compatibilityDate = "2025-01-01")),
    (name = "internet", network = (allow = ["public", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;
