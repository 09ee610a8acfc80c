import { afterEach, describe, expect, test } from 'bun:test';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { type FrontProxy, programAt, startNginx } from '../support/proxies.ts';
import { runProgram } from '../support/run.ts';
import { untilSo } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';
import { sendCode } from './proxied.ts';

const nginx = programAt('nginx');
const OWN_LINE = /proxy_set_header Edge-Connecting-IP .*/;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Place {
  readonly program: Program;
  readonly proxy: FrontProxy;
  /** What `vault doctor` says of the proxies, with the vault's own settings. */
  doctor(vars?: Readonly<Record<string, string>>): Promise<string[]>;
}

/** A vault whose BASE_URL is an nginx with the example, which `edit` changes. */
async function start(trusted: string, edit?: (config: string) => string): Promise<Place> {
  const folder = temporaryFolder();
  ends.push(folder.remove);
  const port = freePort();
  const vars = {
    BASE_URL: `http://127.0.0.1:${port}`,
    TRUSTED_PROXIES: trusted,
    VAULT_SECRET,
    OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
    DATA_DIR: folder.path,
    FOLLOWER: 'false',
  };
  const program = await startProgram(vars, { cwd: folder.path });
  ends.push(() => program.stop('SIGKILL'));
  const setup = { program: nginx as string, folder: folder.path, upstream: program.url, port };
  const proxy = await startNginx(edit ? { ...setup, edit } : setup);
  ends.push(proxy.stop);
  return {
    program,
    proxy,
    async doctor(own = {}) {
      const { out } = await runProgram(['doctor', '--json'], { cwd: folder.path, vars: { ...vars, ...own } });
      const { checks } = JSON.parse(out) as { checks: { name: string; state: string; text: string }[] };
      return checks.filter(({ name }) => name === 'proxies').map(({ state, text }) => `${state} ${text}`);
    },
  };
}

const warnings = ({ program }: Place) =>
  program
    .output()
    .split('\n')
    .filter((line) => line.includes('"level":"warn"'))
    .map((line) => (JSON.parse(line) as { event: string }).event);

/** The warnings, once there is one: a program prints its line beside its answer, and both are read on their own. */
const warned = (place: Place) =>
  untilSo(
    async () => warnings(place),
    (events) => events.length > 0,
  );

describe.skipIf(!nginx)('mistakes at a real nginx', () => {
  test('the example is right: the doctor says whom the vault saw, and the log warns of nothing', async () => {
    const place = await start('127.0.0.1/32');
    expect(await place.doctor()).toEqual([
      'ok the vault saw this machine as 127.0.0.1, also under a forged Edge-Connecting-IP',
    ]);
    expect(await sendCode({ port: place.proxy.port, from: '127.0.0.5' })).toBe(200);
    expect(warnings(place)).toEqual([]);
  });

  test('without the line of the header all clients are one, and each may forge it: log and doctor say both', async () => {
    const place = await start('127.0.0.1/32', (config) => config.replace(OWN_LINE, ''));
    const found: number[] = [];
    for (let n = 1; n <= 4; n++) found.push(await sendCode({ port: place.proxy.port, from: `127.0.0.${n}` }));
    expect(found).toEqual([200, 200, 200, 429]);
    expect(await warned(place)).toEqual(['proxy_names_no_client']);
    expect(await place.doctor()).toEqual([
      'fail clients choose the address that limits count: a forged Edge-Connecting-IP was believed',
      'fail the proxy at 127.0.0.1 names no client in Edge-Connecting-IP: its clients share one limit',
    ]);
    expect(warnings(place)).toEqual(['proxy_names_no_client']);
  });

  test('a proxy that appends to what clients write names nobody who writes', async () => {
    const appending = 'proxy_set_header Edge-Connecting-IP "$http_edge_connecting_ip$remote_addr";';
    const place = await start('127.0.0.1/32', (config) => config.replace(OWN_LINE, appending));
    expect(await place.doctor()).toEqual([
      'fail the proxy at 127.0.0.1 spoils Edge-Connecting-IP where clients write it: they share one limit',
    ]);
  });

  test('a proxy that is not trusted is named in the log and by the doctor', async () => {
    const forwarding = 'proxy_set_header X-Forwarded-For $remote_addr;';
    const place = await start('none', (config) => config.replace(OWN_LINE, forwarding));
    expect(await sendCode({ port: place.proxy.port, from: '127.0.0.5' })).toBe(200);
    expect(await warned(place)).toEqual(['proxy_not_trusted']);
    expect(await place.doctor()).toEqual([
      'fail requests come from 127.0.0.1, which TRUSTED_PROXIES does not list: all clients behind it share one limit',
    ]);
  });

  test('a vault with other keys, or none, is not judged', async () => {
    const place = await start('127.0.0.1/32');
    const [found] = await place.doctor({ VAULT_SECRET: VAULT_SECRET.replace('00', '11') });
    expect(found).toContain('skipped not tried: the vault at');
    await place.proxy.stop();
    expect(await place.doctor()).toEqual([expect.stringContaining('skipped not tried: nothing answers')]);
  });
});
