import { afterEach, beforeEach, expect, test } from 'bun:test';
import { temporaryFolder } from '../../support/databases.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { runProgram } from '../../support/run.ts';
import { until } from '../../support/until.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

let folder: ReturnType<typeof temporaryFolder>;
const programs: Program[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  for (const program of programs.splice(0)) await program.stop('SIGKILL');
  folder.remove();
});

const secret = VAULT_SECRET.replace('00', 'ff');
const operator = { Authorization: `Bearer ${secret}` };
const statusOf = async (url: string, init?: RequestInit) => (await fetch(url, init)).status;

async function start(vars: Readonly<Record<string, string>>) {
  const program = await startProgram({ OPERATOR_SECRET: secret, ...vars }, { cwd: folder.path });
  programs.push(program);
  const line = program
    .output()
    .split('\n')
    .find((one) => one.includes('"listening"'));
  const { adminUrl } = JSON.parse(line ?? '{}') as { adminUrl?: string };
  return { program, url: program.url, adminUrl: adminUrl as string };
}

test('ADMIN_PORT serves metrics and console there only, and /readyz on both', async () => {
  const { program, url, adminUrl } = await start({ ADMIN_PORT: '0' });
  expect(adminUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const admin = ['/metrics', '/console', '/console/main.js', '/v1/console/overview', '/v1/console/registrations?did=x'];
  for (const path of admin) {
    expect([path, await statusOf(url + path, { headers: operator })]).toEqual([path, 404]);
    expect([path, await statusOf(adminUrl + path, { headers: operator })]).not.toEqual([path, 404]);
  }
  expect(await statusOf(`${adminUrl}/v1/console/overview`)).toBe(401);
  for (const path of ['/api/status', '/healthz', '/pay', '/api/sessions/status', '/enclave.wasm', '/']) {
    expect([path, await statusOf(adminUrl + path)]).toEqual([path, 404]);
  }
  const head = { ...operator, 'Content-Type': 'application/json' };
  const token = { method: 'POST', headers: head, body: '{"app":"default"}' };
  expect([
    await statusOf(`${url}/v1/console/token`, token),
    await statusOf(`${adminUrl}/v1/console/token`, token),
  ]).toEqual([404, 200]);
  expect([await statusOf(`${url}/readyz`), await statusOf(`${adminUrl}/readyz`)]).toEqual([200, 200]);
  // The walk around a proxy's path rules leads nowhere.
  for (const path of ['/x/..\\metrics', '/.\\metrics', '/%2e/metrics', '/.\\v1/console/overview'])
    expect(await statusOf(url + path, { headers: operator })).toBe(404);
  expect(await program.stop()).toBe(0);
});

test('ADMIN_PORT: a page that DNS rebinding leads there reads no metrics', async () => {
  const { adminUrl } = await start({ ADMIN_PORT: '0' });
  expect(await statusOf(`${adminUrl}/metrics`)).toBe(200);
  expect(await statusOf(`${adminUrl}/metrics`, { headers: { Host: 'evil.example' } })).toBe(403);
  expect(await statusOf(`${adminUrl}/v1/console/overview`, { headers: { Host: 'admin.internal', ...operator } })).toBe(
    200,
  );
});

test('a terminal reads where the console is', async () => {
  const program = await startProgram({ ADMIN_PORT: '0', LOG_FORMAT: 'pretty' }, { cwd: folder.path });
  programs.push(program);
  const said = await until('it says where', () => /http:\/\/127\.0\.0\.1:\d+\/console/.exec(program.output()));
  expect(await statusOf(said[0])).toBe(200);
});

test('a port that is taken stops the start with 1, and names its flag', async () => {
  const { adminUrl } = await start({ ADMIN_PORT: '0' });
  const { code, err } = await runProgram(['serve', '--port', '0', '--admin-port', new URL(adminUrl).port], {
    cwd: folder.path,
  });
  expect([code, err.split('\n').length]).toEqual([1, 2]);
  expect(err).toContain('--admin-port');
});

test('the port of the main listener is refused', async () => {
  const same = await runProgram(['serve', '--port', '9999', '--admin-port', '9999'], { cwd: folder.path });
  expect([same.code, same.err]).toEqual([2, expect.stringContaining('ADMIN_PORT must differ from PORT')]);
});
